package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
)

func newLedger(s *settings) *cobra.Command {
	ledger := &cobra.Command{Use: "ledger", Short: "Prove the points ledger"}
	ledger.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check every invariant of the ledger on the live database", Args: cobra.NoArgs,
		Long: "Check every invariant of the ledger on one instant of the live database.\nExit code 0: all hold. 1: at least one is broken. 3: at least one could not be checked,\nwhich proves nothing either way.",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.verify(cmd) },
	})
	return ledger
}

// verify opens nothing that is sealed, so it needs no master key. A database
// that cannot be read proves nothing either way.
func (s *settings) verify(cmd *cobra.Command) error {
	db, err := s.openUnsealed(cmd.Context())
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not check: %w", err)}
	}
	verdicts := map[store.LedgerVerdict]int{}
	db.VerifyLedger(cmd.Context(), func(c store.LedgerCheck) {
		verdicts[c.Verdict]++
		printCheck(cmd.OutOrStdout(), c)
	})
	if err := db.Close(); err != nil {
		return coded{codeUnchecked, err}
	}
	switch {
	case verdicts[store.LedgerBroken] > 0:
		return coded{codeFailed, fmt.Errorf("%d invariants of the ledger are broken", verdicts[store.LedgerBroken])}
	case verdicts[store.LedgerUnchecked] > 0:
		return coded{codeUnchecked, fmt.Errorf("%d invariants could not be checked", verdicts[store.LedgerUnchecked])}
	}
	return nil
}

func printCheck(w io.Writer, c store.LedgerCheck) {
	fmt.Fprintf(w, "%-3s %-16s %s\n", c.Invariant, c.Verdict, c.Title)
	if c.Err != nil {
		fmt.Fprintf(w, "    %s\n", oneLine(c.Err.Error()))
	}
	for _, f := range c.Findings {
		fmt.Fprintf(w, "    customer %s (%s)", f.Customer, f.Name)
		if f.Row != "" {
			fmt.Fprintf(w, " row %s", f.Row)
		}
		fmt.Fprintf(w, ": %s\n", f.Detail)
	}
	if more := c.Broken - int64(len(c.Findings)); more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}
