package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
)

func newRebuild(s *settings) *cobra.Command {
	var verify bool
	rebuild := &cobra.Command{
		Use: "rebuild --verify", Short: "Replay the journal and compare the result with what is stored", Args: cobra.NoArgs,
		Long: "Apply the recorded effects of every event to a scratch copy and compare figures, lots, purchases,\n" +
			"progress (tiers, challenges, limits), claimed rewards, coupons and counts with what is stored. No rule runs\n" +
			"again and nothing is written.\nExit code 0: no difference. 1: differences, each named. 3: it could not be done, which proves nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !verify {
				return coded{codeUsage, fmt.Errorf("rebuild needs --verify: it never replaces what is stored")}
			}
			return s.rebuild(cmd)
		},
	}

	rebuild.Flags().BoolVar(&verify, "verify", false, "compare, and name every difference")
	return rebuild
}

// maxDifferences bounds the printed differences.
const maxDifferences = 100

// rebuild reads no sealed values, so it needs no master key.
func (s *settings) rebuild(cmd *cobra.Command) error {
	db, err := s.openUnsealed(cmd.Context())
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not rebuild: %w", err)}
	}
	err = rebuilt(cmd, db)
	if closed := db.Close(); err == nil && closed != nil {
		err = coded{codeUnchecked, fmt.Errorf("could not rebuild: %w", closed)}
	}
	return err
}

// rebuilt folds the journal of an open database.
func rebuilt(cmd *cobra.Command, db *store.Store) error {
	r := &rebuildReport{out: cmd.OutOrStdout(), bar: newProgress(cmd.ErrOrStderr(), "rebuild")}
	err := db.VerifyRebuild(cmd.Context(), r.differ, r.told)
	r.bar.end()
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not rebuild: %w", err)}
	}
	return r.end()
}

// rebuildReport prints differences, and the progress on a terminal.
type rebuildReport struct {
	out         io.Writer
	bar         *progress
	differences int
	done        store.RebuildProgress
}

func (r *rebuildReport) differ(d rebuild.Difference) {
	if r.differences++; r.differences <= maxDifferences {
		r.bar.aside(func() { printDifference(r.out, d) })
	}
}

func (r *rebuildReport) told(p store.RebuildProgress) {
	r.bar.show(p.Events, p.Of, "events")
	r.done = p
}

func (r *rebuildReport) end() error {
	if more := r.differences - maxDifferences; more > 0 {
		fmt.Fprintf(r.out, "and %d more\n", more)
	}
	if r.differences > 0 {
		return coded{codeFailed, fmt.Errorf("%d differences between the journal and what is stored", r.differences)}
	}
	fmt.Fprintf(r.out, "%d events of %d customers give exactly what is stored.\n", r.done.Events, r.done.Customers)
	return nil
}

func printDifference(w io.Writer, d rebuild.Difference) {
	who := "nobody's"
	if d.Customer != (loyalty.ID{}) {
		who = fmt.Sprintf("customer %s (%s)", d.Customer, d.Name)
	}
	fmt.Fprintf(w, "%s: %s: %s: the journal says %s, stored is %s\n",
		who, d.What, d.Field, oneLine(d.Journal), oneLine(d.Stored))
}
