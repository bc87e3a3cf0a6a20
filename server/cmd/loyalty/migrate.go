package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/citus"
)

func newMigrate(s *settings) *cobra.Command {
	migrate := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date, or show its state"}
	up := &cobra.Command{
		Use: "up", Short: "Apply the migrations that are missing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.noMigrate = false
			stop := newProgress(cmd.ErrOrStderr(), "migrate").during()
			open := func(ctx context.Context) (*store.Store, error) {
				defer stop()
				return s.open(ctx)
			}
			return use(cmd.Context(), open, func(*store.Store) error {
				if s.copied != "" {
					fmt.Fprintf(cmd.OutOrStdout(), "A copy from before the migration is in %s; delete it when all is well.\n",
						s.copied)
				}
				fmt.Fprintln(cmd.OutOrStdout(), "The database is up to date.")
				return nil
			})
		},
	}

	status := &cobra.Command{
		Use: "status", Short: "List the migrations and when they were applied", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return use(cmd.Context(), s.openUnsealed, func(db *store.Store) error { return migrations(cmd, db) })
		},
	}

	plan := &cobra.Command{
		Use: "plan", Short: "Show what the missing migrations would do, without changing anything", Args: cobra.NoArgs,
		Long: "Show what the missing migrations would do: each step, how many rows it touches, which sessions wait for it, and a\n" +
			"guess of the time. Nothing is changed.\nExit code 0: no migration is missing. 2: some are missing. 1: there is no plan, for example because there is no\n" +
			"database or a setting is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			missing := 0
			err := use(cmd.Context(), s.openUnsealed, func(db *store.Store) (err error) {
				missing, err = planMigrations(cmd, db)
				return err
			})
			if err == nil && missing > 0 {
				return coded{codeDifferences, nil}
			}
			return err
		},
	}

	migrate.AddCommand(up, status, endsWith(codeFailed, plan), newDistribute(s))
	return migrate
}

func migrations(cmd *cobra.Command, db *store.Store) error {
	list, err := db.Migrations(cmd.Context())
	if err != nil {
		return coded{codeFailed, err}
	}

	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tMIGRATION\tAPPLIED")
	for _, m := range list {
		applied := "pending"
		if !m.AppliedAt.IsZero() {
			applied = m.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\n", m.Version, m.Name, applied)
	}

	return table.Flush()
}

// planMigrations prints the missing migrations and returns their number.
func planMigrations(cmd *cobra.Command, db *store.Store) (int, error) {
	plan, err := db.Plan(cmd.Context())
	if err != nil {
		return 0, coded{codeFailed, err}
	}

	out := cmd.OutOrStdout()
	var all time.Duration
	for _, m := range plan {
		fmt.Fprintln(out, m.Name)
		for _, step := range m.Steps {
			fmt.Fprintf(out, "  %s%s\n", oneLine(step.What), stepText(step))
			all += step.Guess
		}
	}

	if len(plan) == 0 {
		fmt.Fprintln(out, "Nothing is missing.")
		return 0, nil
	}

	count := "1 migration"
	if len(plan) > 1 {
		count = fmt.Sprintf("%d migrations", len(plan))
	}

	fmt.Fprintf(out, "%s, %s in all; each is one transaction and holds its locks to its end.\n", count, guessText(all))
	if db.Embedded() {
		fmt.Fprintln(out,
			"Writers wait for each of them. The file is first copied beside itself, which takes the same space again.")
	}

	return len(plan), nil
}

func stepText(step store.PlannedStep) (text string) {
	if step.Rows >= 0 {
		text = fmt.Sprintf(": %d rows", step.Rows)
		if step.Guess != 0 {
			text += ", " + guessText(step.Guess)
		}
	}
	if step.Waits != "" {
		text += "; " + step.Waits
	}
	return text
}

func guessText(guess time.Duration) string {
	if guess < time.Second {
		return "less than a second"
	}
	return "about " + guess.Round(time.Second).String()
}

func newDistribute(s *settings) *cobra.Command {
	var shards int
	distribute := &cobra.Command{
		Use: "distribute", Short: "Spread an empty PostgreSQL database with the extension Citus over its workers",
		Args: cobra.NoArgs,
		Long: "Spread an empty PostgreSQL database with the extension Citus over its workers: each table goes where the program expects it.\n" +
			"It makes the schema where there is none. Running it again changes nothing that is in its place. To move a programme\n" +
			"with customers, use loyalty dump and loyalty restore. Stop the database's servers first: they notice the change only\n" +
			"when they start.\nExit code 0: it is spread. 1: it is not; the message says why.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return use(cmd.Context(), s.openUnsealed, func(db *store.Store) error {
				if err := db.Distribute(cmd.Context(), shards); err != nil {
					return coded{codeFailed, err}
				}
				fmt.Fprintln(cmd.OutOrStdout(), "The database is spread over its workers.")
				return nil
			})
		},
	}

	distribute.Flags().IntVar(&shards, "shards", citus.DefaultShards,
		"parts of each table of customers, four for each planned worker; the number cannot be changed later")
	return distribute
}
