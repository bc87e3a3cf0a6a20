package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/citus"
)

func newDistribute(s *settings) *cobra.Command {
	var shards int
	distribute := &cobra.Command{
		Use: "distribute", Short: "Spread an empty PostgreSQL database with the extension Citus over its workers", Args: cobra.NoArgs,
		Long: "Spread an empty PostgreSQL database with the extension Citus over its workers: each table goes where the program expects it.\n" +
			"It makes the schema where there is none, may be given again, and changes nothing that is in its place. A programme with customers is\n" +
			"moved by loyalty dump and loyalty restore. Stop the servers of the database first: they find out when they start.\n" +
			"Exit code 0: it is spread. 1: it is not, and the reason is told.",
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
	distribute.Flags().IntVar(&shards, "shards", citus.DefaultShards, "parts of each table of customers, four for each worker that is foreseen; they cannot be changed later")
	return distribute
}
