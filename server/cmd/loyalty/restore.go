package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

func newDump(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "dump FILE", Short: "Write the whole programme into one portable file", Args: cobra.ExactArgs(1),
		Long: "Write every row of the programme, as it is at one instant, into one file: a zip of JSON lines, one entry for each\n" +
			"table. A running server goes on meanwhile. loyalty restore reads it into an empty database of either kind, and\n" +
			"newer programs read it too. The same rows give the same file. What is sealed stays sealed: keep the master key,\n" +
			"which is not in it, apart from it. For copies every night there is loyalty backup, which is faster.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return use(cmd.Context(), s.openToCopy, func(db *store.Store) error {
				bar := newProgress(cmd.ErrOrStderr(), "dump")
				m, err := archive.Dump(cmd.Context(), db, args[0], bar.rows)
				bar.end()
				if err != nil {
					return coded{codeFailed, err}
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d tables of schema %d with %s\n", args[0], len(m.Tables), m.Schema, m.Journal)
				return nil
			})
		},
	}
}

func newRestore(s *settings) *cobra.Command {
	optOuts := ""
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty database with a dump, or put a backup back", Args: cobra.ExactArgs(1),
		Long: "Fill an empty database, of either kind, with a file of loyalty dump, or of the same kind with one of loyalty backup,\n" +
			"of this program or an older one. The file is checked first, and a damaged one is refused. The database must be new (a file that is not there, createdb), or have\n" +
			"nothing in it; the master key must be the archive's. All rows come in one transaction: where that is cut off,\n" +
			"restore again. Then whoever opted out since is forgotten again, by the list of --opt-outs (" + archive.OptOutsFile + "\n" +
			"beside the file, where there is one), and the journal and the ledger are proven.\n" +
			"Exit code 0: the database is what the archive says. 1: refused, or something differs, which is named.\n2: a setting is wrong. 3: restored, but something could not be checked.",
		RunE: func(cmd *cobra.Command, args []string) error { return restore(s, cmd, args[0], optOuts) },
	}
	cmd.Flags().StringVar(&optOuts, "opt-outs", "", "list of opt-outs to apply again (default: "+archive.OptOutsFile+" beside the file)")
	return cmd
}

func restore(s *settings, cmd *cobra.Command, path, optOuts string) error {
	forget, err := listOfOptOuts(path, optOuts)
	if err != nil {
		return err
	}
	if backup.Is(path) {
		return restoreBackup(s, cmd, path, forget)
	}
	a, err := archive.Open(path)
	if err != nil {
		return coded{codeFailed, err}
	}
	defer func() { _ = a.Close() }() // it was only read
	if err := readable(a.Manifest.Schema); err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), "check")
	err = a.Verify(cmd.Context(), bar.rows)
	bar.end()
	if err != nil {
		return coded{codeFailed, err}
	}
	key, err := s.masterKeyThere()
	if err != nil {
		return err
	}
	db, err := s.openWith(cmd.Context(), key)
	if err != nil {
		return err
	}
	return errors.Join(restoreInto(s, cmd, db, a, forget), db.Close())
}

// restoreInto fills a database and proves what is there then.
func restoreInto(s *settings, cmd *cobra.Command, db *store.Store, a *archive.Archive, forget *optOutList) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	bar := newProgress(cmd.ErrOrStderr(), "restore")
	differ, err := a.Fill(ctx, db, bar.rows)
	bar.end()
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		return fault(s.databaseSetting(), "restore fills an empty database: %w", err)
	case errors.Is(err, archive.ErrOtherKey):
		return coded{codeUsage, err}
	case err != nil:
		return coded{codeFailed, fmt.Errorf("nothing was restored: %w", err)}
	}
	for _, d := range differ {
		fmt.Fprintln(out, d)
	}
	fmt.Fprintf(out, "Restored %d tables of schema %d with %s.\n", len(a.Manifest.Tables), a.Manifest.Schema, a.Manifest.Journal)
	err = finish(s, cmd, db, a.Manifest.Journal.Last, forget)
	if len(differ) > 0 {
		err = errors.Join(coded{codeFailed, fmt.Errorf("%d tables differ from the archive", len(differ))}, err)
	}
	return err
}

// finish brings a database that was restored to this program's schema, forgets again
// whoever opted out since its last event, and proves what is there.
func finish(s *settings, cmd *cobra.Command, db *store.Store, last int64, forget *optOutList) error {
	if err := db.Migrate(cmd.Context()); err != nil {
		return unusable(err)
	}
	if err := forgetAgain(s, cmd, db, last, forget); err != nil {
		return coded{codeFailed, err}
	}
	return errors.Join(rebuilt(cmd, db), proveLedger(cmd, db))
}

// restoreBackup puts a backup in the place of a database that is not there yet.
func restoreBackup(s *settings, cmd *cobra.Command, path string, forget *optOutList) error {
	ctx := cmd.Context()
	b, err := backup.Open(path)
	if err != nil {
		return coded{codeFailed, err}
	}
	if err := readable(b.Schema); err != nil {
		return err
	}
	if b.Embedded() != s.embedded() {
		return fault(s.databaseSetting(), "%s is a copy of the other kind of database: a file of loyalty dump goes from one into the other", path)
	}
	key, err := s.masterKeyThere()
	if err != nil {
		return err
	}
	keys := [][32]byte{key}
	if old, err := s.oldMasterKey(); err != nil {
		return err
	} else if old != nil {
		keys = append(keys, *old)
	}
	if !store.KnowsMasterKeys(b.MasterKey, keys...) {
		return coded{codeUsage, archive.ErrOtherKey}
	}
	if b.Embedded() {
		if err := b.PutFile(s.databaseFile()); err != nil {
			return fault(s.databaseSetting(), "nothing was restored: %w", err)
		}
	}
	db, err := s.openWith(ctx, key)
	if err != nil {
		return err
	}
	return errors.Join(putBack(s, cmd, db, b, forget), db.Close())
}

func putBack(s *settings, cmd *cobra.Command, db *store.Store, b *backup.Backup, forget *optOutList) error {
	if !b.Embedded() {
		if err := b.PutDatabase(cmd.Context(), db, s.databaseURL); err != nil {
			return fault(s.databaseSetting(), "nothing was restored: %w", err)
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Restored schema %d with %s.\n", b.Schema, archive.Journal{Events: b.Events, Last: b.LastEvent})
	return finish(s, cmd, db, b.LastEvent, forget)
}

// readable refuses an archive of a schema that this program does not know.
func readable(schema int64) error {
	newest, err := store.NewestSchema()
	if err == nil && schema > newest {
		err = fmt.Errorf("the file has schema %d, and this program knows %d: use a newer program", schema, newest)
	}
	if err != nil {
		return coded{codeFailed, err}
	}
	return nil
}

// optOutList is a list of opt-outs and where it is.
type optOutList struct {
	path string
	list []store.OptOut
}

// listOfOptOuts reads the list that was named, else the one beside the archive; nil: there
// is none.
func listOfOptOuts(archived, path string) (*optOutList, error) {
	named := path != ""
	if !named {
		path = filepath.Join(filepath.Dir(archived), archive.OptOutsFile)
	}
	list, err := archive.ReadOptOuts(path)
	switch {
	case !named && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, coded{codeUsage, fmt.Errorf("--opt-outs: %w", err)}
	}
	return &optOutList{path, list}, nil
}

// forgetAgain applies opt-outs that the archive does not know of.
func forgetAgain(s *settings, cmd *cobra.Command, db *store.Store, last int64, forget *optOutList) error {
	out := cmd.OutOrStdout()
	if forget == nil {
		fmt.Fprintf(out, "There is no list of opt-outs: whoever opted out after %s is known again.\n", time.UnixMilli(last).UTC().Format(time.RFC3339))
		return nil
	}
	h := &app{store: db, logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))}
	if err := s.wire(cmd.Context(), h); err != nil {
		return err
	}
	defer h.engine.Close()
	n, err := archive.Forget(cmd.Context(), db, forget.list, func(ctx context.Context, customer string) error {
		_, err := h.engine.Submit(ctx, loyalty.Submission{Customer: customer, Sender: loyalty.CommandLine, Action: "opt_out"})
		return err
	})
	if err == nil {
		fmt.Fprintf(out, "Of %d opt-outs in %s, %d were not in the file and were applied again.\n", len(forget.list), forget.path, n)
	}
	return err
}
