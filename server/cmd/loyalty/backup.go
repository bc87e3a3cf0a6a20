package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

func newBackup(s *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup", Short: "Copy the running database, prove copies, list them",
		Long: "Copy the database while it is in use, in its own format: an SQLite file, or what pg_dump writes. Every copy is\n" +
			"opened and its ledger proven, and has a manifest beside it (FILE.json). With LOYALTY_BACKUP_DIR the server makes one\n" +
			"a day by itself, and keeps the list of opt-outs there. loyalty restore puts a backup back.",
	}
	cmd.AddCommand(newBackupCreate(s), newBackupVerify(s), newBackupList(s))
	return cmd
}

func newBackupCreate(s *settings) *cobra.Command {
	keep := 0
	cmd := &cobra.Command{
		Use: "create [FILE]", Short: "Make a copy and prove it", Args: cobra.MaximumNArgs(1),
		Long: "Make a copy of the database as it is at one instant. Writers do not wait for it, and all that was acknowledged\n" +
			"before is in it. Without FILE it goes into LOYALTY_BACKUP_DIR, named by the time. PostgreSQL is copied by pg_dump of\n" +
			"the server's version, and checked in a temporary database if the role may create one (CREATEDB).\n" +
			"Exit code 0: made and proven, or read to its end where it could not be opened. 1: it failed, or the ledger of the copy\n" +
			"does not hold.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o := backup.Options{URL: s.databaseURL, Folder: s.backupDir, Keep: keep}
			if len(args) > 0 {
				o.Path = args[0]
			} else if s.backupDir == "" {
				return fault("backup-dir", "is not set: set it, or name the file to write")
			} else if err := makeBackupDir(s); err != nil {
				return err
			}
			return use(cmd.Context(), s.openToCopy, func(db *store.Store) error {
				o.Store = db
				return createBackup(cmd, o)
			})
		},
	}

	cmd.Flags().IntVar(&keep, "keep", 0,
		"number of copies named by time to keep in the folder; older ones are deleted (default: all)")
	return cmd
}

func createBackup(cmd *cobra.Command, o backup.Options) error {
	backup.Background()
	bar := newProgress(cmd.ErrOrStderr(), "backup")
	stop := bar.during()
	o.Steps, o.Problem = bar.step, func(what string) { fmt.Fprintln(cmd.OutOrStdout(), oneLine(what)) }
	b, err := backup.Create(cmd.Context(), o)
	stop()
	if b != nil && (err == nil || errors.Is(err, backup.ErrBroken)) {
		describe(cmd.OutOrStdout(), b)
	}
	if err == nil {
		err = archive.NewOptOutList(filepath.Join(filepath.Dir(b.Path), archive.OptOutsFile)).Keep(cmd.Context(), o.Store)
	}
	if err != nil {
		return coded{codeFailed, err}
	}

	return nil
}

// checkedWords describe how a copy was checked.
var checkedWords = map[string]string{
	backup.Proven: "opened, and its ledger holds",
	backup.Read:   "read to its end; opening it needs a role that may create databases (CREATEDB)",
	backup.Broken: "opened, and its ledger does NOT hold",
}

func describe(w io.Writer, b *backup.Backup) {
	fmt.Fprintf(w, "%s: %s, schema %d with %s; %s\n", b.Path, sizeText(b.Size), b.Schema,
		archive.Journal{Events: b.Events, Last: b.LastEvent}, checkedWords[b.Checked])
}

func sizeText(octets int64) string {
	switch {
	case octets >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(octets)/(1<<30))
	case octets >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(octets)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", octets>>10)
}

func newBackupVerify(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Compare a copy with its manifest, and prove its ledger", Args: cobra.ExactArgs(1),
		Long: "Compare a copy with its manifest, byte by byte, then open it and prove its ledger. The copy does not change. A copy\n" +
			"of PostgreSQL is opened in a temporary database beside LOYALTY_DATABASE_URL.\n" +
			"Exit code 0: it is good. 1: it is damaged, or its ledger does not hold. 3: it could only be read, not opened.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o := backup.Options{Path: args[0], URL: s.databaseURL}
			if s.embedded() {
				return verifyBackup(cmd, o)
			}
			return use(cmd.Context(), s.openUnsealed, func(db *store.Store) error {
				o.Store = db
				return verifyBackup(cmd, o)
			})
		},
	}
}

func verifyBackup(cmd *cobra.Command, o backup.Options) error {
	backup.Background()
	bar := newProgress(cmd.ErrOrStderr(), "verify")
	stop := bar.during()
	o.Steps, o.Problem = bar.step, func(what string) { fmt.Fprintln(cmd.OutOrStdout(), oneLine(what)) }
	b, err := backup.Verify(cmd.Context(), o)
	stop()
	if err != nil {
		return coded{codeFailed, err}
	}

	describe(cmd.OutOrStdout(), b)
	if b.Checked == backup.Read {
		return coded{codeUnchecked, nil}
	}

	return nil
}

func newBackupList(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "list [FOLDER]", Short: "List the copies in a folder, the newest first", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := s.backupDir
			if len(args) > 0 {
				folder = args[0]
			}
			if folder == "" {
				return fault("backup-dir", "is not set: set it, or name the folder")
			}

			list, err := backup.List(folder)
			if err != nil {
				return coded{codeFailed, err}
			}

			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "FILE\tMADE\tKIND\tSIZE\tSCHEMA\tEVENTS\tLAST EVENT\tMASTER KEY\tCHECKED")
			for _, b := range list {
				last := time.Time{}
				if b.Events > 0 {
					last = time.UnixMilli(b.LastEvent)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n",
					filepath.Base(b.Path), instantText(b.MadeAt), b.Kind, sizeText(b.Size),
					b.Schema, b.Events, instantText(last), b.MasterKey, b.Checked)
			}

			return table.Flush()
		},
	}
}

// backups is the server's work on backups, if it has a folder for them.
type backups struct {
	app     *app
	folder  string
	url     string
	keep    int
	optOuts *archive.OptOutList
}

// make makes a backup for the job.
func (b *backups) make(ctx context.Context) error {
	made, err := backup.Create(ctx, backup.Options{
		Store: b.app.store, URL: b.url, Folder: b.folder, Keep: b.keep,
		Problem: func(what string) { b.app.logger.Error("backup", "problem", what) },
	})
	if err == nil {
		b.app.logger.Info("backup made", "file", made.Path, "octets", made.Size,
			"events", made.Events, "checked", made.Checked)
	}
	return err
}

// optOutsEvery is how often the list of opt-outs is compared with the journal. Each opt-out is written when it is
// committed; the comparison adds those of other nodes and commands, and those that could not be written.
const optOutsEvery = time.Minute

// optOutsPatience bounds how long the answer to an opt_out waits for the list: a disk that does not answer must not
// delay it.
const optOutsPatience = 2 * time.Second

// keepOptOuts maintains the list of opt-outs until ctx ends. It first adds the journal's opt-outs that the list lacks.
func (b *backups) keepOptOuts(ctx context.Context) {
	tick := time.NewTicker(optOutsEvery)
	defer tick.Stop()
	for {
		if err := b.optOuts.Keep(ctx, b.app.store); err != nil && ctx.Err() == nil {
			b.app.logger.Error("the list of opt-outs beside the backups", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// optedOut writes committed opt-outs before they are answered.
func (b *backups) optedOut(customers []loyalty.ID, at time.Time) {
	written := make(chan error, 1)
	go func() { written <- b.optOuts.Add(customers, at) }()

	wait := time.NewTimer(optOutsPatience)
	defer wait.Stop()
	select {
	case err := <-written:
		if err != nil {
			b.app.logger.Error("the list of opt-outs beside the backups", "error", err)
		}
	case <-wait.C:
		b.app.logger.Error("the list of opt-outs beside the backups", "error", "writing it takes too long")
	}
}

// backupsOf is nil without a folder.
func backupsOf(s *settings, a *app) *backups {
	if s.backupDir == "" {
		return nil
	}
	return &backups{
		app: a, folder: s.backupDir, url: s.databaseURL, keep: s.backupKeep,
		optOuts: archive.NewOptOutList(filepath.Join(s.backupDir, archive.OptOutsFile)),
	}
}

// makeBackupDir makes the folder of backups.
func makeBackupDir(s *settings) error {
	if s.backupDir == "" {
		return nil
	}
	if err := os.MkdirAll(s.backupDir, 0o700); err != nil {
		return fault("backup-dir", "%w", err)
	}
	return nil
}

func instantText(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.UTC().Format(time.RFC3339)
}
