package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/store"
)

// ledgerTime bounds the doctor's check of the ledger.
const ledgerTime = 20 * time.Second

// logMost is several times the size that SQLite normally keeps of its write-ahead log.
const logMost = 256 << 20

func newDoctor(s *settings) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the installation and say what is wrong", Args: cobra.NoArgs,
		Long: "Check the installation: settings, files, the database, the clock, jobs, keys, backups, webhooks, users, the\n" +
			"ledger. Each finding is a sentence and a command that helps. Run it with the server's settings.\n" +
			"Exit code 0: all is well. 1: warnings. 2: something is broken. 3: something could not be checked, for example\nbecause a setting is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := examine(cmd, s)
			if err := printFindings(cmd.OutOrStdout(), found, asJSON); err != nil {
				return coded{codeUnchecked, err}
			}
			if code := doctor.Exit(found); code > 0 {
				return coded{code, nil}
			}
			return nil
		},
	}

	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return endsWith(codeUnchecked, cmd)
}

// examine opens the database as it is. A failure to open it is the finding.
func examine(cmd *cobra.Command, s *settings) []doctor.Finding {
	ctx := cmd.Context()
	failed := func(severity doctor.Severity, err error, do string) []doctor.Finding {
		return []doctor.Finding{{Check: "database", Severity: severity, Says: oneLine(err.Error()), Do: do}}
	}
	if err := s.mustExist(); err != nil {
		return failed(doctor.Unchecked, fmt.Errorf("there is no database yet: %w", err), "loyalty migrate up")
	}

	key, err := s.masterKeyOrNew()
	if err != nil {
		return failed(doctor.Broken, err, "loyalty serve --help")
	}

	db, err := s.openWith(ctx, key)
	if err != nil {
		return failed(doctor.Unchecked, err, "loyalty migrate status")
	}
	defer func() { _ = db.Close() }() // only read

	return doctor.Examine(ctx, patientOf(s, db))
}

// patientOf describes this installation.
func patientOf(s *settings, db *store.Store) *doctor.Patient {
	host, _, _ := net.SplitHostPort(s.listen) // checked already
	p := &doctor.Patient{
		Now: time.Now, Environment: environment(), Settings: s.known, Listen: s.listen, Local: isLoopback(host),
		PublicHosts: s.publicHosts, TrustedProxies: s.trustedProxies, Space: doctor.Space, Store: db, BackupDir: s.backupDir,
		Keys: adminOf(db).Keys, Jobs: job.NewJobs(job.JobsOptions{Store: db}).List, LedgerTime: ledgerTime, LogMost: logMost,
		OldestPostgres: store.OldestPostgres,
	}

	if clock != nil {
		p.Now = clock
	}

	if s.embedded() {
		p.Folder = filepath.Dir(s.databaseFile())
		p.ClockRight, _ = readRight(s.databaseFile() + clockSuffix) // a start reports a fault of the file
		p.SecretFiles = append(p.SecretFiles, s.databaseFile())
		if s.masterKey == "" {
			p.SecretFiles = append(p.SecretFiles, filepath.Join(s.data, masterKeyFile))
		}
	}

	for _, name := range secretFlags {
		if path := os.Getenv(envName(name) + "_FILE"); path != "" {
			p.SecretFiles = append(p.SecretFiles, path)
		}
	}

	if s.replicaURL != "" {
		p.Replicas = func(ctx context.Context) ([]store.Replica, error) {
			return replicasNow(ctx, db, store.ReplicaOptions{URLs: replicaURLs(s.replicaURL), Lag: s.replicaLag}, readyTime)
		}
	}

	if issuer := s.outside.issuer; issuer != "" && withConsole {
		p.Issuer, p.Provider = issuer, func(ctx context.Context) error { return discover(ctx, issuer) }
	}
	if s.redisURL != "" {
		p.Redis = func(ctx context.Context) error { return ratelimit.Ping(ctx, s.redisURL) }
	}

	return p
}

// environment are the names of the variables that are set.
func environment() (names []string) {
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// variables are the variables that any command of the program reads.
func variables(root *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) {
		for _, name := range f.Annotations[inEnvironment] {
			names = append(names, name)
			if slices.Contains(secretFlags, f.Name) {
				names = append(names, name+"_FILE")
			}
		}
	}

	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.PersistentFlags().VisitAll(add)
		c.Flags().VisitAll(add)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}

	walk(root)
	return names
}

func printFindings(w io.Writer, found []doctor.Finding, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Findings []doctor.Finding `json:"findings"`
		}{found})
	}

	for _, f := range found {
		if _, err := fmt.Fprintf(w, "%-11s %-16s %s\n", f.Check, f.Severity, oneLine(f.Says)); err != nil {
			return err
		}
		if f.Do != "" {
			fmt.Fprintf(w, "%-28s %s\n", "", f.Do)
		}
	}

	return nil
}
