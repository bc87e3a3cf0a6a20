package loyaltytest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
)

// Rows counts what is stored, and how often customers changed.
func (s *Shop) Rows() map[string]int64 {
	s.T.Helper()
	counts := map[string]int64{}
	for _, table := range []string{"customers", "names", "customer_keys", "events", "postings",
		"lots", "transactions", "reservations", "answers"} {
		var n int64
		require.NoError(s.T, s.Raw.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		counts[table] = n
	}
	var versions sql.NullInt64
	require.NoError(s.T, s.Raw.QueryRow("SELECT sum(version) FROM balances").Scan(&versions))
	counts["versions"] = versions.Int64
	return counts
}

// Loaded reads a customer with lots, and with purchases and reservations.
func (s *Shop) Loaded(id loyalty.ID, transactions ...string) *loyalty.Loading {
	s.T.Helper()
	var found *loyalty.Loading
	needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{
		ID: id, Key: true, Lots: loyalty.UsedLots, Transactions: transactions, Reservations: transactions,
	}}}
	require.NoError(s.T, s.DB.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		found = l.Customers[id]
		return &loyalty.Writes{}, nil
	}))
	require.NotNil(s.T, found)
	return found
}

// Customer reads a customer by name.
func (s *Shop) Customer(name string) loyalty.Customer {
	s.T.Helper()
	c, err := s.DB.Customer(context.Background(), name)
	require.NoError(s.T, err, name)
	return c
}

// Transaction reads a purchase or reservation of a customer.
func (s *Shop) Transaction(customer, name string) loyalty.Transaction {
	s.T.Helper()
	t, ok := s.Loaded(s.Customer(customer).ID, name).Transactions[name]
	require.True(s.T, ok, name)
	return t
}

// Events lists the actions of a customer in the order they were recorded.
func (s *Shop) Events(id loyalty.ID) []string {
	s.T.Helper()
	rows, err := s.Raw.Query("SELECT customer_id, action FROM events ORDER BY id")
	require.NoError(s.T, err)
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	var actions []string
	for rows.Next() {
		var owner loyalty.ID
		var name string
		require.NoError(s.T, rows.Scan(&owner, &name))
		if owner == id {
			actions = append(actions, name)
		}
	}

	require.NoError(s.T, rows.Err())
	return actions
}

// Verify has the store prove the ledger's invariants.
func (s *Shop) Verify() {
	s.T.Helper()
	Proven(s.T, s.DB)
}

// Proven has a store prove the ledger's invariants.
func Proven(t require.TestingT, db *store.Store) {
	checks := 0
	db.VerifyLedger(context.Background(), func(c store.LedgerCheck) {
		checks++
		require.Equal(t, store.LedgerHeld, c.Verdict, "%s %s: %v %+v", c.Invariant, c.Title, c.Err, c.Findings)
	})
	require.Positive(t, checks)
}

// Personal gives what every event of a customer sealed, opened with the key the
// customer had.
func (s *Shop) Personal(key []byte) map[string]string {
	s.T.Helper()
	rows, err := s.Raw.Query("SELECT id, action, personal FROM events WHERE personal IS NOT NULL ORDER BY id")
	require.NoError(s.T, err)
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	opened := map[string]string{}
	for rows.Next() {
		var id loyalty.ID
		var action string
		var sealed []byte
		require.NoError(s.T, rows.Scan(&id, &action, &sealed))
		plain, err := loyalty.Open(key, id[:], sealed)
		require.NoError(s.T, err, "bound to its row: %s", action)
		opened[action] += string(plain)
	}

	require.NoError(s.T, rows.Err())
	return opened
}

// Dump is every text of the tables that know a customer.
func (s *Shop) Dump() string {
	s.T.Helper()
	var all strings.Builder
	for _, query := range []string{
		"SELECT coalesce(data,'') FROM events", "SELECT value FROM names", "SELECT coalesce(detail,'') FROM transactions",
		"SELECT name||' '||coalesce(handler,'')||' '||coalesce(email,'')||' '||coalesce(first_name,'')||' '||" +
			"coalesce(last_name,'')||' '||" +
			"coalesce(labels,'')||' '||coalesce(custom,'')||' '||coalesce(external_ids,'')||' '||coalesce(gender,'')||' '||" +
			"coalesce(birth_date,'') FROM customers",
		"SELECT coalesce(email_key,'')||' '||coalesce(handler_key,'')||' '||coalesce(first_key,'')||' '||" +
			"coalesce(last_key,'') FROM customers",
	} {
		s.Query(query, func(rows *sql.Rows) error {
			var text string
			err := rows.Scan(&text)
			all.WriteString(text + "\n")
			return err
		})
	}

	return all.String()
}

// Query asks the database and scans each row.
func (s *Shop) Query(text string, scan func(*sql.Rows) error) {
	s.T.Helper()
	rows, err := s.Raw.Query(text)
	require.NoError(s.T, err)
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		require.NoError(s.T, scan(rows))
	}
	require.NoError(s.T, rows.Err())
}

// Progress reads what is kept of a customer's tiers.
func (s *Shop) Progress(id loyalty.ID) (kept map[loyalty.ProgressKey]loyalty.Progress) {
	needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{ID: id, Progress: loyalty.Kinds(loyalty.ProgressTier)}}}
	require.NoError(s.T, s.DB.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		kept = l.Customers[id].Progress
		return &loyalty.Writes{}, nil
	}))
	return kept
}

// Rebuilt folds the journal and gives every difference.
func Rebuilt(t testing.TB, db *store.Store) (found []rebuild.Difference, done store.RebuildProgress) {
	t.Helper()
	err := db.VerifyRebuild(context.Background(), func(d rebuild.Difference) { found = append(found, d) },
		func(p store.RebuildProgress) { done = p })
	require.NoError(t, err)
	return found, done
}

// FoldsBack holds that the journal alone gives what is stored.
func (s *Shop) FoldsBack() {
	s.T.Helper()
	s.Verify()
	found, _ := Rebuilt(s.T, s.DB)
	require.Empty(s.T, found)
}
