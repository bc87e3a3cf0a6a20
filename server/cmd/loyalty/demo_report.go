package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
)

// meter shows the progress of the demo: a bar on a terminal, else a line for every tenth.
type meter struct {
	out      io.Writer // nil: no output
	terminal bool
	of       int
	shown    int // percent
}

func newMeter(out io.Writer, f demoFlags) *meter {
	m := &meter{out: out, of: f.events}
	if f.quiet {
		m.out = nil
	}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		m.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return m
}

// show shows the number of recorded events.
func (m *meter) show(done int) {
	percent, step := 100*done/m.of, 10
	if m.terminal {
		step = 1
	}
	if m.out == nil || percent/step == m.shown/step {
		return
	}

	m.shown = percent
	if !m.terminal {
		fmt.Fprintf(m.out, "%d %%: %d of %d events\n", percent, done, m.of)
		return
	}

	fmt.Fprintf(m.out, "\r[%-50s] %3d %%  %d of %d events", strings.Repeat("=", percent/2), percent, done, m.of)
	if done == m.of {
		fmt.Fprintln(m.out)
	}
}

// reportDemo prints what the database has now, whether the ledger holds, and what to try next.
func reportDemo(cmd *cobra.Command, s *settings, d *demoRun) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	figures, _, err := d.store.Outstanding(ctx)
	if err != nil {
		return coded{codeFailed, err}
	}

	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what string, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", what, fmt.Sprintf(format, args...))
	}
	row("customers", "%d", d.customers)
	row("events", "%d submitted, %d in the journal, in %s",
		d.recorded, sumOf(d.journal), time.Since(d.begun).Round(100*time.Millisecond))
	for _, action := range byCount(d.journal) {
		row("  "+action, "%d", d.journal[action])
	}

	row("refused by a rule", "%d", sumOf(d.refused))
	for _, reason := range byCount(d.refused) {
		row("  "+reason, "%d", d.refused[reason])
	}

	row("points", "%d given, %d spent, %d expired, %d to spend",
		&figures.Score, &figures.Spent, &figures.Expired, figures.Spendable())
	if err := d.coupons(cmd, row); err != nil {
		return coded{codeFailed, err}
	}

	row("rewards claimed", "%d", d.journal["reward_claim"])
	if err := table.Flush(); err != nil {
		return coded{codeFailed, err}
	}
	if err := d.prove(cmd, out); err != nil {
		return err
	}

	return nextSteps(out, s)
}

// coupons prints how many coupons members got, and the state of the pools.
func (d *demoRun) coupons(cmd *cobra.Command, row func(string, string, ...any)) error {
	pools := []string{"coffee-codes", "thanks-codes"}
	stock, err := d.store.PoolStock(cmd.Context(), pools, time.Now())
	if err != nil {
		return err
	}
	row("coupons", "%d given", len(d.given))
	for _, pool := range pools {
		of := stock[pool]
		row("  of pool "+pool, "%d of %d codes ready, %d held, %d redeemed", of.Available, of.Total, of.Claimed, of.Redeemed)
	}
	return nil
}

// prove checks every invariant of the ledger. An unfinished check counts as failed.
func (d *demoRun) prove(cmd *cobra.Command, out io.Writer) error {
	held, all := 0, 0
	d.store.VerifyLedger(cmd.Context(), func(c store.LedgerCheck) {
		if all++; c.Verdict == store.LedgerHeld {
			held++
			return
		}
		printCheck(out, c)
	})
	if held < all || all == 0 {
		return coded{codeFailed, errors.New("the ledger did not hold")}
	}
	fmt.Fprintf(out, "The ledger held: all %d invariants.\n", all)
	return nil
}

// nextSteps are commands to paste. A server on an embedded database shows its first key when it starts; elsewhere one
// has to be made.
func nextSteps(out io.Writer, s *settings) error {
	var b strings.Builder
	b.WriteString("\nNext:\n\n")
	if !s.embedded() {
		fmt.Fprintf(&b, "  %s keys create --label demo\n", program())
	}
	address := "http://" + s.listen
	fmt.Fprintf(&b, "  %s serve\n", program())
	fmt.Fprintf(&b, "  %s sign GET '%s/customers/member-0001/activities?activity_types=reward' --send\n",
		program(), address)
	fmt.Fprintf(&b, "  %s sign GET '%s/customers/leaderboard?limit=5' --send\n", program(), address)
	b.WriteString("\nserve prints a link to the console too: open member-0001 there, and try a purchase in the tester.\n")
	b.WriteString("sign takes the key from LOYALTY_KEY_ID and LOYALTY_SECRET.\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func sumOf(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// byCount returns the names, the most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
}
