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

// What is around the program: settings, files, the network, the disk.

// settings finds variables that nothing reads: a misspelt setting is silently its default.
func settings(_ context.Context, p *Patient) (list []Finding) {
	for _, name := range p.Environment {
		if strings.HasPrefix(name, "LOYALTY_") && !slices.Contains(p.Settings, name) {
			list = append(list, Finding{Severity: Warning, Says: name + " is set, and no setting has that name", Do: "loyalty serve --help"})
		}
	}
	return list
}

// secrets finds files that hold secrets and that others can read.
func secrets(_ context.Context, p *Patient) (list []Finding) {
	for _, path := range p.SecretFiles {
		info, err := os.Stat(path)
		if err != nil {
			list = append(list, unchecked(err)...)
		} else if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("%s can be read by others than its owner (mode %04o)", path, mode), Do: "chmod 600 " + path})
		}
	}
	return list
}

func network(_ context.Context, p *Patient) (list []Finding) {
	for _, text := range p.TrustedProxies {
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Bits() == 0 {
			list = append(list, Finding{
				Severity: Broken, Says: "every address is a trusted proxy, so callers can name any address as their own", Do: "LOYALTY_TRUSTED_PROXIES=10.0.0.2 loyalty serve",
			})
		}
	}
	if !p.Local && len(p.PublicHosts)+len(p.TrustedProxies) == 0 {
		list = append(list, Finding{
			Severity: Warning, Says: "it listens on " + p.Listen + ", and neither a public host nor a trusted proxy is set: behind a proxy that changes the host, signatures fail",
			Do: "LOYALTY_PUBLIC_HOSTS=loyalty.example.com loyalty serve",
		})
	}
	return list
}

// When a disk is too full.
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
		return []Finding{{Severity: Broken, Says: fmt.Sprintf("%d MiB are free where the database lies: writes fail soon", free>>20), Do: "df -h " + p.Folder}}
	case total > 0 && free*100/total < spaceWarn:
		return []Finding{{Severity: Warning, Says: fmt.Sprintf("%d %% of the disk are free where the database lies", free*100/total), Do: "df -h " + p.Folder}}
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
		says, known := replicaStates[r.State]
		if known {
			list = append(list, Finding{Severity: Warning, Says: r.Name + " " + says + ": the primary answers its reads", Do: "psql -c 'TABLE pg_stat_replication'"})
		}
	}
	return list
}

var replicaStates = map[string]string{
	"behind":   "is behind the primary",
	"away":     "does not answer",
	"unknown":  "has not answered yet",
	"promoted": "is a primary itself, not a standby",
	"foreign":  "follows another server, or another timeline, than LOYALTY_DATABASE_URL's",
}

func redis(ctx context.Context, p *Patient) []Finding {
	if p.Redis == nil {
		return nil
	}
	if err := p.Redis(ctx); err != nil {
		return []Finding{{Severity: Warning, Says: "Redis does not answer, so rate limits hold for each node alone: " + err.Error(), Do: "redis-cli ping"}}
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
		return []Finding{{
			Severity: Warning, Says: "nobody can sign in by the provider of LOYALTY_OIDC_ISSUER: " + err.Error(),
			Do: "curl " + strings.TrimSuffix(p.Issuer, "/") + "/.well-known/openid-configuration",
		}}
	}
	return nil
}
