package main

import (
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

func newRebuild(s *settings) *cobra.Command {
	var verify bool
	rebuild := &cobra.Command{
		Use: "rebuild --verify", Short: "Fold the journal anew and compare it with what is stored", Args: cobra.NoArgs,
		Long: "Fold the recorded effects of every event into a scratch copy and compare figures, lots, purchases,\n" +
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

// maxDifferences is how many differences are written out.
const maxDifferences = 100

// rebuild opens nothing that is sealed, so it needs no master key.
func (s *settings) rebuild(cmd *cobra.Command) error {
	db, err := s.openUnsealed(cmd.Context())
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not rebuild: %w", err)}
	}
	out, differences := cmd.OutOrStdout(), 0
	var done store.RebuildProgress
	percent := int64(-1)
	err = db.VerifyRebuild(cmd.Context(), func(d loyalty.Difference) {
		if differences++; differences <= maxDifferences {
			printDifference(out, d)
		}
	}, func(p store.RebuildProgress) {
		done = p
		if now := 100 * p.Events / max(1, p.Of); now > percent {
			percent = now
			fmt.Fprintf(cmd.ErrOrStderr(), "%d %%: %d of %d events, %d customers\n", percent, p.Events, p.Of, p.Customers)
		}
	})
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not rebuild: %w", err)}
	}
	if more := differences - maxDifferences; more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
	if differences > 0 {
		return coded{codeFailed, fmt.Errorf("%d differences between the journal and what is stored", differences)}
	}
	fmt.Fprintf(out, "%d events of %d customers give exactly what is stored.\n", done.Events, done.Customers)
	return nil
}

func printDifference(w io.Writer, d loyalty.Difference) {
	who := "nobody's"
	if d.Customer != (loyalty.ID{}) {
		who = fmt.Sprintf("customer %s (%s)", uuid.UUID(d.Customer), d.Name)
	}
	fmt.Fprintf(w, "%s: %s: %s: the journal says %s, stored is %s\n", who, d.What, d.Field, oneLine(d.Journal), oneLine(d.Stored))
}
