package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLedgerUnguarded: the next proof finds a guard that was removed, switched off or made ineffective.
func TestLedgerUnguarded(t *testing.T) {
	for kind, tries := range map[string][][2]string{
		"postgres": {
			{`DROP TRIGGER postings_stay ON postings`, "the guard postings_stay is missing"},
			{`DROP TRIGGER events_whole ON events_default`, "the guard events_whole is missing"},
			{`ALTER TABLE audit DISABLE TRIGGER audit_stay`, "the guard audit_stay is switched off"},
			{`ALTER TABLE events_default DISABLE TRIGGER events_stay`, "the guard events_stay is switched off"},
			{`CREATE OR REPLACE FUNCTION loyalty_journal_stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`, "does not refuse"},
			{`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', current_database()); END $$`, "play a replica"},
		},
		"sqlite": {
			{`DROP TRIGGER postings_update`, "the guard postings_update is missing"},
			{`DROP TRIGGER audit_delete`, "the guard audit_delete is missing"},
			{`DROP TRIGGER events_delete; CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN SELECT 1; END`, "the guard events_delete does not refuse"},
		},
	} {
		for _, try := range tries {
			t.Run(kind+" "+try[0], func(t *testing.T) {
				if kind == "postgres" {
					storetest.PlainOnly(t) // a guard of a part of the journal cannot be taken away there
				}
				make := storetest.SQLite
				if kind == "postgres" {
					make = storetest.Postgres
				}
				url := make(t)
				_, err := storetest.Raw(t, url).Exec(try[0])
				require.NoError(t, err)
				checks := verify(t, storetest.Open(t, url))
				require.Equal(t, "I11", withVerdict(checks, store.LedgerBroken), "%+v", checks)
				require.Contains(t, checks["I11"].Findings[0].Detail, try[1])
			})
		}
	}
}
