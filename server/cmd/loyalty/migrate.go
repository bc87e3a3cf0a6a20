package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
)

func newMigrate(s *settings) *cobra.Command {
	migrate := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date, or show its state"}
	up := &cobra.Command{
		Use: "up", Short: "Apply the migrations that are missing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.noMigrate = false
			return use(cmd.Context(), s.open, func(*store.Store) error {
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
	migrate.AddCommand(up, status)
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
