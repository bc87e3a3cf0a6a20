package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/tracing"
)

// settings are the choices of an installation. Each is a flag and an environment variable of the same name; the flag
// wins.
type settings struct {
	listen, manageAt, console, databaseURL, data, region, masterKey, redisURL, log, docs string
	publicHosts, trustedProxies                                                          []string
	signingDebug, replayGuard, noMigrate, manageOpen                                     bool
	manageGiven                                                                          bool // manageAt was set
	bodyMemory                                                                           int  // MiB
	poolBatches, poolReads                                                               int
	backupDir, masterKeyOld                                                              string
	backupKeep                                                                           int
	ledgerProof                                                                          string
	copied                                                                               string           // the copy of the file before its migration
	tracing                                                                              *tracing.Tracing // nil: no tracing
	webhooksAllow                                                                        []string
	egressProxy                                                                          string
	known                                                                                []string // the variables that any command reads
	replicaURL                                                                           string
	replicaLag                                                                           time.Duration
	consoleURL                                                                           string // without a trailing slash
	consoleImages                                                                        []string
	outside                                                                              outside
	clockTrustedText                                                                     string
	clockTrusted                                                                         time.Time // the clock is trusted up to then
	touched                                                                              time.Time // when the embedded database was last written before it was opened
}

// leastBodyMemory is enough for the largest body while it is processed.
const leastBodyMemory = 192

// maxPool is the largest sensible pool of connections for one node.
const maxPool = 1000

// secretFlags can also be read from the file that LOYALTY_…_FILE names.
var secretFlags = []string{"database-url", "master-key", "master-key-old",
	"redis-url", "replica-url", "secret", "oidc-client-secret"}

func (s *settings) flags(f *pflag.FlagSet) {
	f.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address to serve on, host:port")
	f.StringVar(&s.manageAt, "manage", "127.0.0.1:8081",
		"address for operators (metrics, health, profiles), host:port, or off")
	f.BoolVar(&s.manageOpen, "manage-open", false,
		"let other machines reach the address for operators; any caller can read the program's memory there")
	f.StringVar(&s.console, "console", "",
		"the console, under /console/: on, off, or an address of its own, host:port (default: on if only this machine can reach the address to serve on)")
	f.StringSliceVar(&s.consoleImages, "console-images", nil,
		"hosts whose pictures the console shows, separated by commas (cdn.example.com, *.example.com); pictures of other hosts become links")
	f.StringVar(&s.consoleURL, "console-url", "",
		"https://HOST under which users reach the console; needed for sign-in by a provider, and for passkeys from other machines")
	s.outside.flags(f)
	f.StringVar(&s.databaseURL, "database-url", "", "postgres://… or sqlite:path (default: loyalty.db in the data folder)")
	f.StringVar(&s.data, "data", "./data", "folder of the embedded database and its master key")
	f.StringVar(&s.region, "region", "local", "region that signatures name")
	f.StringVar(&s.masterKey, "master-key", "",
		"64 hex digits that seal secrets and personal data (default: master.key in the data folder)")
	f.StringVar(&s.masterKeyOld, "master-key-old", "",
		"64 hex digits of the previous master key, while it is being replaced (default: master.key.old in the data folder)")
	f.StringVar(&s.redisURL, "redis-url", "", "redis://…, to share rate limits between nodes")
	f.StringVar(&s.log, "log", "text",
		"format and level of the log: text or json, then debug, info, warn or error (json,warn)")
	f.StringVar(&s.docs, "docs", "",
		"the portal at /docs: off, read, or try to send requests from its pages (default: try on a loopback address, else read)")
	f.StringSliceVar(&s.publicHosts, "public-hosts", nil,
		"further host names under which clients sign, separated by commas")
	f.StringSliceVar(&s.trustedProxies, "trusted-proxies", nil,
		"addresses or networks whose X-Forwarded-For, -Proto, -Host and -Port are believed")
	f.StringSliceVar(&s.webhooksAllow, "webhooks-allow", nil,
		"internal networks that webhooks may call, on any port and without TLS, separated by commas")
	f.StringVar(&s.egressProxy, "egress-proxy", "",
		"http://… proxy through which webhooks are called; HTTP_PROXY and similar variables are not used")
	f.BoolVar(&s.signingDebug, "signing-debug", false,
		"say in the refusal of a signature what was expected; for development on a loopback address only")
	f.BoolVar(&s.replayGuard, "replay-guard", false, "refuse a signed write that arrives twice")
	f.IntVar(&s.bodyMemory, "body-memory", api.DefaultBodyMemory>>20,
		"MiB that the bodies of all requests may take together; beyond it a request is answered 503")
	f.BoolVar(&s.noMigrate, "no-migrate", false,
		"refuse to start on a database that needs migrations instead of migrating it")
	f.IntVar(&s.poolBatches, "pool-batches", 0,
		"connections to PostgreSQL for events (default: pool_max_conns of the database's URL, else 16)")
	f.IntVar(&s.poolReads, "pool-reads", 0,
		"connections for reads, administration and jobs (default: pool_max_conns of the database's URL, else 16)")
	f.StringVar(&s.replicaURL, "replica-url", "",
		"postgres://… addresses of standbys of the database, separated by commas, that answer lists, reports and reads of one customer")
	f.DurationVar(&s.replicaLag, "replica-lag", 5*time.Second,
		"how old a list or a report from a standby may be, from 1s to 10m")
	f.StringVar(&s.backupDir, "backup-dir", "",
		"folder for backups: the server makes one a day, and keeps the list of opt-outs there")
	f.IntVar(&s.backupKeep, "backup-keep", 7, "number of daily backups that the server keeps")
	f.StringVar(&s.ledgerProof, "ledger-proof", "03:00",
		"the time of day, in the programme's zone, after which one server proves the ledger, or off")
	f.StringVar(&s.clockTrustedText, "clock-trusted", "",
		"trust this machine's clock until this day or instant, although it is a day or more ahead of everything in the embedded database")

	markEnvironment(f)
}

// envName is the variable of a flag.
func envName(flag string) string {
	return "LOYALTY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fault is an error that names the faulty setting.
func fault(flag string, format string, args ...any) error {
	return coded{codeUsage, fmt.Errorf("%s: %w", envName(flag), fmt.Errorf(format, args...))}
}

// read fills missing flags from the environment and checks all that can be checked without I/O.
func (s *settings) read(f *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failed error
	f.VisitAll(func(flag *pflag.Flag) {
		if failed == nil && !flag.Changed {
			failed = fromEnvironment(f, flag, lookup)
		}
	})
	if failed != nil {
		return failed
	}
	manage := f.Lookup("manage")
	s.manageGiven = manage != nil && manage.Changed
	return s.check()
}

// fromEnvironment gives a flag the value of its variable, or of the file that its variable names.
func fromEnvironment(f *pflag.FlagSet, flag *pflag.Flag, lookup func(string) (string, bool)) error {
	name := flag.Annotations[inEnvironment]
	if name == nil {
		return nil
	}

	value, _ := lookup(name[0])
	if path, _ := lookup(name[0] + "_FILE"); path != "" && slices.Contains(secretFlags, flag.Name) {
		if value != "" {
			return fault(flag.Name, "is set together with %s_FILE: set only one of them", name[0])
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return coded{codeUsage, fmt.Errorf("%s_FILE: %w", name[0], err)}
		}
		value = strings.TrimSpace(string(text))
	}

	if value == "" {
		return nil
	}
	if err := f.Set(flag.Name, value); err != nil {
		return fault(flag.Name, "%q is not a valid value", value)
	}

	return nil
}

// inEnvironment marks a flag with a variable.
const inEnvironment = "environment"

func markEnvironment(f *pflag.FlagSet) {
	f.VisitAll(func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{inEnvironment: {envName(flag.Name)}}
		flag.Usage += " (" + envName(flag.Name) + ")"
	})
}

// logger writes the log in the chosen format and level. flush writes pending lines.
func (s *settings) logger(w io.Writer) (logger *slog.Logger, flush func(), err error) {
	options := &slog.HandlerOptions{}
	json, err := s.logForm(options)
	if err != nil {
		return nil, nil, err
	}
	handler, flush := server.LogTogether(w, func(w io.Writer) slog.Handler {
		if json {
			return slog.NewJSONHandler(w, options)
		}
		return slog.NewTextHandler(w, options)
	})
	return slog.New(handler), flush, nil
}

// logForm reports whether the log is JSON, and sets its level if one is named.
func (s *settings) logForm(options *slog.HandlerOptions) (json bool, err error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug,
		"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	for part := range strings.SplitSeq(s.log, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		level, isLevel := levels[part]
		switch {
		case isLevel:
			options.Level = level
		case part == "json" || part == "text":
			json = part == "json"
		default:
			return false, fault("log", "%q must be text or json, then debug, info, warn or error", s.log)
		}
	}

	return json, nil
}

// parseMasterKey reads 32 bytes as 64 hex digits. Its error does not repeat them.
func parseMasterKey(text string) (key [32]byte, err error) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != len(key) {
		return key, fmt.Errorf("must be 64 hex digits (32 bytes), not %d characters", len(strings.TrimSpace(text)))
	}
	return [32]byte(raw), nil
}

// manageOff is the value that switches the management listener off.
const manageOff = "off"

// The values of LOYALTY_DOCS.
const (
	docsOff  = "off"
	docsRead = "read"
	docsTry  = "try"
)

func (s *settings) check() error {
	host, _, err := hostPort(s.listen)
	if err != nil {
		return fault("listen", "%w", err)
	}
	if err := s.checkManage(); err != nil {
		return err
	}
	if err := checkConsole(s); err != nil {
		return err
	}
	if err := checkConsoleURL(s.consoleURL); err != nil {
		return err
	}

	s.consoleURL = strings.TrimRight(s.consoleURL, "/")
	if err := s.outside.check(s.consoleURL); err != nil {
		return err
	}
	if s.signingDebug && !isLoopback(host) {
		return fault("signing-debug", "is for development on a loopback address only, not on %s", s.listen)
	}
	if s.signingDebug && (len(s.trustedProxies) > 0 || len(s.publicHosts) > 0) {
		return fault("signing-debug", "is for development: it cannot be combined with trusted proxies or public hosts")
	}
	if s.bodyMemory < leastBodyMemory {
		return fault("body-memory", "must be %d MiB or more", leastBodyMemory)
	}

	for flag, size := range map[string]int{"pool-batches": s.poolBatches, "pool-reads": s.poolReads} {
		if size < 0 || size > maxPool {
			return fault(flag, "%d must be from 1 to %d, or 0 for the default", size, maxPool)
		}
	}

	if s.region == "" || strings.Trim(s.region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return fault("region", "%q must be letters, digits, hyphens and underscores", s.region)
	}

	for flag, text := range map[string]string{"master-key": s.masterKey, "master-key-old": s.masterKeyOld} {
		if text == "" {
			continue
		}
		if _, err := parseMasterKey(text); err != nil {
			return fault(flag, "%w", err)
		}
	}

	if s.masterKeyOld != "" && s.masterKeyOld == s.masterKey {
		return fault("master-key-old", "is the same as LOYALTY_MASTER_KEY: give the previous key, or unset it")
	}
	if _, err := s.logForm(&slog.HandlerOptions{}); err != nil {
		return err
	}
	if _, _, err := proofTime(s); err != nil {
		return fault("ledger-proof", "%q is neither a time of day, such as 03:00, nor off", s.ledgerProof)
	}
	if s.clockTrusted, err = parseClockTrusted(s.clockTrustedText); err != nil {
		return err
	}
	if s.backupKeep < 1 {
		return fault("backup-keep", "%d must be 1 or more", s.backupKeep)
	}
	if !slices.Contains([]string{"", docsOff, docsRead, docsTry}, s.docs) {
		return fault("docs", "%q must be off, read or try", s.docs)
	}

	for _, text := range s.trustedProxies {
		if _, err := netip.ParseAddr(text); err != nil {
			if _, err := netip.ParsePrefix(text); err != nil {
				return fault("trusted-proxies", "%q is neither an address nor a network", text)
			}
		}
	}

	if s.replicaLag < leastReplicaLag || s.replicaLag > mostReplicaLag {
		return fault("replica-lag", "%s must be from 1s to 10m", s.replicaLag)
	}
	if err := checkReplicaURLs(s.replicaURL, !strings.HasPrefix(s.databaseURL, "postgres")); err != nil {
		return fault("replica-url", "%w", err)
	}

	return s.checkDatabase()
}

// checkDatabase checks the address of the database. Its errors never show it, because it may hold a password.
func (s *settings) checkDatabase() error {
	scheme, rest, found := strings.Cut(s.databaseURL, ":")
	switch {
	case s.databaseURL == "":
		return nil
	case found && rest != "" && slices.Contains([]string{"sqlite", "postgres", "postgresql"}, scheme):
		return nil
	}
	return fault("database-url", "is neither postgres://… nor sqlite:path")
}
