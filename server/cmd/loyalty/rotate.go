package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/store"
)

func newRotateMaster(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "rotate-master", Short: "Seal everything again under a new master key", Args: cobra.NoArgs,
		Long: "Seal everything that the old master key sealed under the new one. Give the new key in LOYALTY_MASTER_KEY and the old\n" +
			"one in LOYALTY_MASTER_KEY_OLD (embedded: master.key and master.key.old in the data folder), first to all servers, then\n" +
			"to this command. Servers with both go on meanwhile; to finish an interrupted run, run it again.\n" +
			"Afterwards the old key is needed only for copies of the database that were made before.\n" +
			"Exit code 0: nothing is sealed under the old key any more. 1: something is left.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error { return rotateMaster(cmd, db) })
		},
	}
}

func rotateMaster(cmd *cobra.Command, db *store.Store) error {
	bar := newProgress(cmd.ErrOrStderr(), "seal")
	r, err := db.ReSeal(cmd.Context(), func(done, of int64) { bar.show(done, of, "values") })
	bar.end()
	out := cmd.OutOrStdout()
	for _, table := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(out, "%s: neither key opens %d values, which were left as they are\n", table, r.Lost[table])
	}

	if err != nil {
		return coded{codeFailed, err}
	}
	if err := adminOf(db).NoteMasterKey(cmd.Context(), commandLine, db.MasterKeyFingerprint(),
		r.Anew, r.Already); err != nil {
		return told(err)
	}

	fmt.Fprintf(out,
		"%d values were sealed under the new key, %d already were. Remove LOYALTY_MASTER_KEY_OLD from every server, but keep that key for copies made before now.\n", r.Anew, r.Already)
	return nil
}
