package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/schema"
)

func newDump(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "dump FILE", Short: "Write the whole programme into one portable file", Args: cobra.ExactArgs(1),
		Long: "Write every row of the programme, as it is at one instant, into one file: a zip of JSON lines, one entry for each\n" +
			"table. A running server goes on meanwhile. loyalty restore reads it into an empty database of either kind, and\n" +
			"newer programs read it too. The same rows give the same file. Sealed values stay sealed: keep the master key,\n" +
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
	o := restoreOptions{}
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty database with a dump, or put a backup back", Args: cobra.ExactArgs(1),
		Long: "Fill an empty database, of either kind, with a file of loyalty dump, or of the same kind with one of loyalty backup,\n" +
			"of this program or an older one. The file is checked first, and a damaged one is refused. The database must be new (a file that is not there, createdb), or have\n" +
			"nothing in it; the master key must be the archive's. All rows come in one transaction: where that is cut off,\n" +
			"restore again. Then customers who opted out since are forgotten again, by the list of --opt-outs (" +
			archive.OptOutsFile + "\n" +
			"beside the file, where there is one), and the journal and the ledger are proven. Until all of that has succeeded,\n" +
			"no server serves the database.\n" +
			"Exit code 0: the database is what the archive says. 1: refused, or something differs, which is named, and the\n" +
			"database is not served. 2: a setting is wrong. 3: restored, but something could not be checked.",
		RunE: func(cmd *cobra.Command, args []string) error { return restore(s, cmd, args[0], o) },
	}

	cmd.Flags().BoolVar(&o.accept, "accept-differences", false,
		"let the database be served even where its tables, journal or ledger differ")
	cmd.Flags().StringVar(&o.optOuts, "opt-outs", "",
		"list of opt-outs to apply again (default: "+archive.OptOutsFile+" beside the file)")
	return cmd
}

// restoreOptions are the flags of restore.
type restoreOptions struct {
	optOuts string      // the list to apply; empty: the one beside the archive
	accept  bool        // serve the database despite differences
	forget  *optOutList // the list as read; nil: there is none
}

func restore(s *settings, cmd *cobra.Command, path string, o restoreOptions) (err error) {
	if o.forget, err = listOfOptOuts(path, o.optOuts); err != nil {
		return err
	}
	if backup.Is(path) {
		return restoreBackup(s, cmd, path, o)
	}

	a, err := archive.Open(path)
	if err != nil {
		return coded{codeFailed, err}
	}
	defer func() { _ = a.Close() }() // only read

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

	return errors.Join(restoreInto(s, cmd, db, a, o), db.Close())
}

// restoreInto fills a database and proves the result.
func restoreInto(s *settings, cmd *cobra.Command, db *store.Store, a *archive.Archive, o restoreOptions) error {
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

	fmt.Fprintf(out, "Restored %d tables of schema %d with %s.\n",
		len(a.Manifest.Tables), a.Manifest.Schema, a.Manifest.Journal)
	if len(differ) > 0 {
		err = coded{codeFailed, fmt.Errorf("%d tables differ from the archive", len(differ))}
	}

	return finish(s, cmd, db, broughtIn{last: a.Manifest.Journal.Last, differs: err}, o)
}

// broughtIn is the result of a restore.
type broughtIn struct {
	last    int64 // when the newest event was recorded, in milliseconds since 1970
	differs error // how the rows differ from the archive; nil: not at all
}

// finish migrates a restored database to this program's schema, applies later opt-outs again, and proves the journal
// and the ledger. If all of that succeeds, the database may be served.
func finish(s *settings, cmd *cobra.Command, db *store.Store, r broughtIn, o restoreOptions) error {
	if err := db.Migrate(cmd.Context()); err != nil {
		return unusable(err)
	}
	if err := forgetAgain(s, cmd, db, r.last, o.forget); err != nil {
		return coded{codeFailed, err}
	}

	proofs := []error{r.differs, rebuilt(cmd, db), proveLedger(cmd, db)}
	if slices.ContainsFunc(proofs, differs) && !o.accept {
		return coded{codeFailed, errors.Join(append(proofs, store.ErrUnfinishedRestore)...)}
	}
	return errors.Join(append(proofs, db.EndRestore(cmd.Context()))...)
}

// differs reports whether a proof failed. An unfinished proof found nothing wrong.
func differs(err error) bool {
	var c coded
	return err != nil && (!errors.As(err, &c) || c.code != codeUnchecked)
}

// restoreBackup puts a backup in the place of a missing database.
func restoreBackup(s *settings, cmd *cobra.Command, path string, o restoreOptions) error {
	ctx := cmd.Context()
	b, err := backup.Open(path)
	if err != nil {
		return coded{codeFailed, err}
	}
	if err := readable(b.Schema); err != nil {
		return err
	}
	if b.Embedded() != s.embedded() {
		return fault(s.databaseSetting(),
			"%s is a copy of the other kind of database: use loyalty dump to move from one kind to the other", path)
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
		if err := b.PutFile(ctx, s.databaseFile()); err != nil {
			return fault(s.databaseSetting(), "nothing was restored: %w", err)
		}
	}

	db, err := s.openWith(ctx, key)
	if err != nil {
		return err
	}

	return errors.Join(putBack(s, cmd, db, b, o), db.Close())
}

func putBack(s *settings, cmd *cobra.Command, db *store.Store, b *backup.Backup, o restoreOptions) error {
	if !b.Embedded() {
		if err := b.PutDatabase(cmd.Context(), db, s.databaseURL); err != nil {
			return fault(s.databaseSetting(), "nothing was restored: %w", err)
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Restored schema %d with %s.\n",
		b.Schema, archive.Journal{Events: b.Events, Last: b.LastEvent})
	return finish(s, cmd, db, broughtIn{last: b.LastEvent}, o)
}

// readable refuses a file with a schema that is newer than this program, or of before release 1.0.
func readable(version int64) error {
	newest, err := store.NewestSchema()
	switch {
	case err != nil:
		return coded{codeFailed, err}
	case version < schema.Baseline:
		return coded{codeFailed,
			errors.New("the file was made by an unreleased program of before 1.0, which no release reads")}
	case version > newest:
		return coded{codeFailed,
			fmt.Errorf("the file has schema %d, and this program knows %d: use a newer program", version, newest)}
	}
	return nil
}

// optOutList is a list of opt-outs and its path.
type optOutList struct {
	path string
	list []store.OptOut
}

// listOfOptOuts reads the named list, else the one beside the archive; nil if there is none.
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

// forgetAgain applies opt-outs that are missing in the archive.
func forgetAgain(s *settings, cmd *cobra.Command, db *store.Store, last int64, forget *optOutList) error {
	out := cmd.OutOrStdout()
	if forget == nil {
		fmt.Fprintf(out, "There is no list of opt-outs: customers who opted out after %s are known again.\n",
			time.UnixMilli(last).UTC().Format(time.RFC3339))
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
		fmt.Fprintf(out, "Of %d opt-outs in %s, %d were not in the file and were applied again.\n",
			len(forget.list), forget.path, n)
	}

	return err
}
