package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

func newLedger(s *settings) *cobra.Command {
	ledger := &cobra.Command{Use: "ledger", Short: "Prove the points ledger"}
	ledger.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check every invariant of the ledger on the live database", Args: cobra.NoArgs,
		Long: "Check every invariant of the ledger on one instant of the live database.\nExit code 0: all hold. 1: at least one is broken. 3: at least one could not be checked,\nwhich proves nothing either way.",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.verify(cmd) },
	})
	ledger.AddCommand(&cobra.Command{
		Use: "anchors", Short: "List the latest anchors of the journal, to compare with the log", Args: cobra.NoArgs,
		Long: "List the latest anchors. Each hour a digest over the heads of all customers' journals is written to the log and to\nthe database. Where the log has another digest for a number, the database was changed behind the server's back.",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.anchors(cmd) },
	})
	return ledger
}

// listedAnchors is how many anchors are listed: a month of hourly ones.
const listedAnchors = 24 * 31

func (s *settings) anchors(cmd *cobra.Command) error {
	db, err := s.openUnsealed(cmd.Context())
	if err != nil {
		return coded{codeUnchecked, err}
	}
	list, err := db.Anchors(cmd.Context(), listedAnchors)
	if err := errors.Join(err, db.Close()); err != nil {
		return coded{codeUnchecked, err}
	}
	for _, a := range list {
		fmt.Fprintf(cmd.OutOrStdout(), "%d %s %d customers %x\n", a.Number,
			a.At.UTC().Format(time.RFC3339), a.Customers, a.Digest)
	}
	return nil
}

// verify reads no sealed values, so it needs no master key. A database that cannot be read proves nothing either way.
func (s *settings) verify(cmd *cobra.Command) error {
	db, err := s.openUnsealed(cmd.Context())
	if err != nil {
		return coded{codeUnchecked, fmt.Errorf("could not check: %w", err)}
	}
	err = proveLedger(cmd, db)
	if closed := db.Close(); err == nil && closed != nil {
		err = coded{codeUnchecked, closed}
	}
	return err
}

// proveLedger checks the ledger of an open database.
func proveLedger(cmd *cobra.Command, db *store.Store) error {
	v := loyalty.LedgerVerification{}
	v.Actor, v.ActorKind = loyalty.ActorOf(loyalty.CommandLine)
	bar := newProgress(cmd.ErrOrStderr(), "ledger")
	stop := bar.during()
	db.VerifyLedger(cmd.Context(), func(c store.LedgerCheck) {
		v.Count(c)
		bar.step("after " + c.Invariant)
		bar.aside(func() { printCheck(cmd.OutOrStdout(), c) })
	})

	stop()
	v.At = time.Now()
	noteProof(cmd.Context(), db, v)
	switch {
	case v.Broken > 0:
		return coded{codeFailed, fmt.Errorf("%d invariants of the ledger are broken", v.Broken)}
	case v.Unchecked > 0:
		return coded{codeUnchecked, fmt.Errorf("%d invariants could not be checked", v.Unchecked)}
	}

	return nil
}

func printCheck(w io.Writer, c store.LedgerCheck) {
	fmt.Fprintf(w, "%-3s %-16s %s\n", c.Invariant, c.Verdict, c.Title)
	if c.Err != nil {
		fmt.Fprintf(w, "    %s\n", oneLine(c.Err.Error()))
	}

	for _, f := range c.Findings {
		place := "row " + f.Row
		if f.Customer != (loyalty.ID{}) {
			place = fmt.Sprintf("customer %s (%s)", f.Customer, f.Name)
			if f.Row != "" {
				place += " row " + f.Row
			}
		}
		fmt.Fprintf(w, "    %s: %s\n", place, f.Detail)
	}

	if more := c.Broken - int64(len(c.Findings)); more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}

// noteProof stores the result for the console, unless the database cannot be written.
func noteProof(ctx context.Context, db *store.Store, v loyalty.LedgerVerification) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
	defer cancel()
	_ = db.NoteProof(ctx, v)
}
