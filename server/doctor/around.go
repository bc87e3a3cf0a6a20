package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Checks of the program's surroundings: settings, files, the network, the disk.

// settings finds variables that the program does not read: a misspelt setting silently keeps its default.
func settings(_ context.Context, p *Patient) (list []Finding) {
	for _, name := range Unread(p.Environment, p.Settings) {
		list = append(list, warn("setting_unknown", "loyalty serve --help", args{"setting": name}))
	}
	return list
}

// Unread are the variables of an environment that are named like settings but are not.
func Unread(environment, settings []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(name string) bool {
		return !strings.HasPrefix(name, "LOYALTY_") || slices.Contains(settings, name)
	})
}

// secrets finds files with secrets that other users can read.
func secrets(_ context.Context, p *Patient) (list []Finding) {
	for _, path := range p.SecretFiles {
		info, err := os.Stat(path)
		if err != nil {
			list = append(list, unchecked(err)...)
		} else if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
			list = append(list, warn("secret_readable", "chmod 600 "+path,
				args{"path": path, "mode": fmt.Sprintf("%04o", mode)}))
		}
	}
	return list
}

func network(_ context.Context, p *Patient) (list []Finding) {
	for _, text := range p.TrustedProxies {
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Bits() == 0 {
			list = append(list, broken("proxy_everybody", "LOYALTY_TRUSTED_PROXIES=10.0.0.2 loyalty serve", nil))
		}
	}
	if !p.Local && len(p.PublicHosts)+len(p.TrustedProxies) == 0 {
		list = append(list, warn("host_unnamed", "LOYALTY_PUBLIC_HOSTS=loyalty.example.com loyalty serve",
			args{"listen": p.Listen}))
	}
	return list
}

// The least free space of a disk.
const (
	spaceWarn  = 10 // percent that should be free
	spaceBreak = 64 << 20
)

func disk(_ context.Context, p *Patient) []Finding {
	if p.Folder == "" {
		return nil
	}
	free, total, ok := p.Space(p.Folder)
	switch {
	case !ok:
		return nil
	case free < spaceBreak:
		return []Finding{broken("disk_full", "df -h "+p.Folder, args{"free": free >> 20})}
	case total > 0 && free*100/total < spaceWarn:
		return []Finding{warn("disk_filling", "df -h "+p.Folder, args{"free": free * 100 / total})}
	}
	return nil
}

func replicas(ctx context.Context, p *Patient) (list []Finding) {
	if p.Replicas == nil {
		return nil
	}
	all, err := p.Replicas(ctx)
	if err != nil {
		return unchecked(err)
	}
	for _, r := range all {
		if slices.Contains(replicasAmiss, r.State) {
			list = append(list, warn("replica_"+r.State, "psql -c 'TABLE pg_stat_replication'", args{"replica": r.Name}))
		}
	}
	return list
}

// replicasAmiss are the states in which a standby answers no reads.
var replicasAmiss = []string{"behind", "away", "unknown", "promoted", "foreign"}

func redis(ctx context.Context, p *Patient) []Finding {
	if p.Redis == nil {
		return nil
	}
	if err := p.Redis(ctx); err != nil {
		return []Finding{warn("redis_away", "redis-cli ping", args{"fault": err})}
	}
	return nil
}

// provider asks the identity provider for its configuration. While it does not answer, or
// reports another issuer than the setting, no user can sign in through it.
func provider(ctx context.Context, p *Patient) []Finding {
	if p.Provider == nil {
		return nil
	}
	if err := p.Provider(ctx); err != nil {
		return []Finding{warn("provider_away", "curl "+strings.TrimSuffix(p.Issuer, "/")+"/.well-known/openid-configuration",
			args{"fault": err})}
	}
	return nil
}
