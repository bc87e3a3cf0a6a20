package store_test

import (
	"database/sql"
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// ledger is a small programme with every sort of row, and a raw connection to
// damage it with.
type ledger struct {
	store           *store.Store
	raw             *sql.DB
	postgres        bool
	ada, bela, cili *member
	members         []*member
}

func newLedger(t *testing.T, url string) *ledger {
	t.Helper()
	l := &ledger{store: storetest.Open(t, url), raw: storetest.Raw(t, url), postgres: strings.HasPrefix(url, "postgres")}
	l.ada, l.bela, l.cili = newMember(t, "ada", 0), newMember(t, "bela", time.Hour), newMember(t, "cili", 2*time.Hour)
	l.ada.earn("gift", 100, ledgerStart.AddDate(1, 0, 0))
	l.ada.purchase("T-1", loyalty.Accepted, 99, 30)
	l.ada.reserve("T-2", 20)
	l.ada.purchase("T-3", loyalty.Pending, 40, 10)
	l.ada.spend("spent", 5)
	l.bela.earn("old", 20, ledgerStart.AddDate(0, 1, 0))
	l.bela.earn("gift", 50, time.Time{})
	l.bela.expire("expired", "old")
	l.bela.take("taken", 60) // ten points of debt
	l.cili.purchase("T-4", loyalty.Accepted, 7, 0)
	l.members = []*member{l.ada, l.bela, l.cili}
	for _, m := range l.members {
		m.save(l.store)
	}

	return l
}

// id writes an id as this database does in SQL.
func (l *ledger) id(id loyalty.ID) string {
	if l.postgres {
		return "'" + id.String() + "'::uuid"
	}
	return "X'" + hex.EncodeToString(id[:]) + "'"
}

// exec runs statements; :ada, :bela, :cili are their ids, and :ada.gift is an
// event's.
func (l *ledger) exec(t *testing.T, statements string) {
	t.Helper()
	var pairs []string
	for _, m := range l.members {
		for key, id := range m.events {
			pairs = append(pairs, "{"+m.c.Name+" "+key+"}", l.id(id))
		}
		pairs = append(pairs, "{"+m.c.Name+"}", l.id(m.c.ID))
	}

	pairs = append(pairs, "{bytes}", map[bool]string{true: `'\x0102'::bytea`, false: "X'0102'"}[l.postgres])
	pairs = append(pairs, "{new}", l.id(loyalty.NewID(ledgerStart, loyalty.ID{})))
	for _, one := range l.apart(strings.NewReplacer(pairs...).Replace(statements)) {
		_, err := l.raw.Exec(one)
		require.NoError(t, err)
	}
}

// apart gives statements one by one where tables are spread: Citus takes no more at once.
func (l *ledger) apart(statements string) []string {
	if storetest.OnCitus() && l.postgres {
		return strings.Split(statements, ";")
	}
	return []string{statements}
}

// damage changes append-only rows, as an attacker with the database's password could: without the guards, which are
// restored.
func (l *ledger) damage(t *testing.T, statements string) {
	t.Helper()
	if storetest.OnCitus() && l.postgres {
		l.damageMachines(t, statements)
		return
	}

	if l.postgres {
		l.exec(t, `ALTER TABLE events DISABLE TRIGGER events_stay; ALTER TABLE postings DISABLE TRIGGER postings_stay; ALTER TABLE postings DROP CONSTRAINT IF EXISTS postings_points_check`)
		l.exec(t, statements)
		l.exec(t, `ALTER TABLE events ENABLE TRIGGER events_stay; ALTER TABLE postings ENABLE TRIGGER postings_stay`)
		return
	}

	guards := map[string]string{}
	for _, name := range []string{"events_update", "events_delete", "postings_update", "postings_delete"} {
		var made string
		require.NoError(t, l.raw.QueryRow(`SELECT sql FROM sqlite_master WHERE name = ?`, name).Scan(&made))
		guards[name] = made
		l.exec(t, `DROP TRIGGER `+name)
	}

	l.exec(t, `PRAGMA ignore_check_constraints = 1`)
	l.exec(t, statements)
	for _, made := range guards {
		l.exec(t, made)
	}
}

// damageMachines is damage where tables are spread: guards of their parts are switched off.
func (l *ledger) damageMachines(t *testing.T, statements string) {
	t.Helper()
	l.exec(t, `ALTER TABLE postings DROP CONSTRAINT IF EXISTS postings_points_check`)
	l.exec(t, `SELECT run_command_on_shards(c.oid::regclass, 'ALTER TABLE %s DISABLE TRIGGER ALL') FROM pg_class c
WHERE c.oid IN ('postings'::regclass, 'events'::regclass) OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'events'::regclass)`)
	l.exec(t, statements)
}

func verify(t *testing.T, s *store.Store) map[string]store.LedgerCheck {
	t.Helper()
	checks := map[string]store.LedgerCheck{}
	s.VerifyLedger(t.Context(), func(c store.LedgerCheck) {
		require.NotContains(t, checks, c.Invariant)
		checks[c.Invariant] = c
	})
	require.Len(t, checks, 10)
	return checks
}

// journalChange is a statement that changes the journal, or whose events it is.
var journalChange = regexp.MustCompile(`(UPDATE|INTO|FROM) (events|postings) `)

// withChain adds the chain's invariant to those that a damage breaks, where the
// damage is to the journal.
func withChain(broken, damage string) string {
	list := strings.Fields(broken)
	if journalChange.MatchString(damage) {
		list = append(list, "I12")
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// withVerdict lists the invariants with a verdict.
func withVerdict(checks map[string]store.LedgerCheck, v store.LedgerVerdict) string {
	var list []string
	for name, c := range checks {
		if c.Verdict == v {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestLedgerHolds(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		require.Equal(t, -10, int(l.bela.book.Figures.Spendable()))
		checks := verify(t, l.store)
		require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(checks, store.LedgerHeld), "%+v", checks)
	})
}

func TestLedgerEmpty(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))
	})
}

// Every way to damage a ledger breaks exactly the invariants it should, and the
// customer is named.
func TestLedgerDamaged(t *testing.T) {
	for _, c := range []struct{ name, damage, broken, customer, detail string }{
		{"score", `UPDATE balances SET score = score + 1 WHERE customer_id = {ada}`, "I1 I3", "ada", "score is 200, should be 199"},
		{"spent", `UPDATE balances SET spent = spent - 1 WHERE customer_id = {ada}`, "I1 I3", "ada", "spent is 34, should be 35"},
		{"reserved", `UPDATE balances SET reserved = 0 WHERE customer_id = {ada}`, "I1 I3 I9", "ada", "reserved is 0, should be 30"},
		{"expired", `UPDATE balances SET expired = 21 WHERE customer_id = {bela}`, "I1 I3", "bela", "expired is 21, should be 20"},
		{"pending", `UPDATE balances SET pending = 45 WHERE customer_id = {ada}`, "I1", "ada", "pending is 45, should be 40"},
		{"debt forgiven", `UPDATE balances SET debt = 0 WHERE customer_id = {bela}`, "I1 I3", "bela", "debt is 0, should be 10"},
		{"debt beside free points", `UPDATE balances SET score = score - 5, debt = 5 WHERE customer_id = {ada};
			INSERT INTO postings (customer_id, event_id, seq, from_account, to_account, points) VALUES ({ada}, {ada joined}, 0, 6, 1, 5)`, "I3", "ada", "debt is 5, should be 0"},
		{"posting gone", `DELETE FROM postings WHERE event_id = {ada spent}`, "I1 I8", "ada", "spent"},
		{"posting changed", `UPDATE postings SET points = points + 1 WHERE event_id = {ada gift}`, "I1 I8", "ada", "score is 199, should be 200"},
		{"posting negative", `UPDATE postings SET points = -5, from_account = to_account, to_account = from_account WHERE event_id = {ada spent}`, "I2", "ada", "no points or less"},
		{"posting to itself", `UPDATE postings SET to_account = from_account WHERE event_id = {ada spent}`, "I1 I2 I8", "ada", "to itself"},
		{"posting of nowhere", `UPDATE postings SET to_account = 9 WHERE event_id = {ada item T-3}`, "I1 I2", "ada", "unknown account"},
		{"posting without lot", `UPDATE postings SET lot_id = NULL WHERE event_id = {ada spent}`, "I2 I8", "ada", "names no lot"},
		{"posting with needless lot", `UPDATE postings SET lot_id = {ada gift} WHERE event_id = {ada item T-3}`, "I2", "ada", "names a lot"},
		{"posting of another lot", `UPDATE postings SET lot_id = {new} WHERE event_id = {ada spent}`, "I6 I8", "ada", "without its lot"},
		{"posting of another customer", `UPDATE postings SET customer_id = {cili} WHERE event_id = {ada spent}`, "I1 I2 I6 I8", "cili", "without its event"},
		{"event gone", `DELETE FROM events WHERE id = {ada spent}`, "I2", "ada", "without its event"},
		{"crediting event gone", `DELETE FROM events WHERE id = {bela gift}`, "I2 I6", "bela", "credited"},
		{"event twice", `INSERT INTO events (customer_id, id, recorded_at, at, action) SELECT {cili}, id, recorded_at, at, action FROM events WHERE id = {ada spent}`, "I4", "cili", "more than once"},
		{"event twice in time", `INSERT INTO events (customer_id, id, recorded_at, at, action) SELECT customer_id, id, recorded_at + 1, at, action FROM events WHERE id = {cili joined}`, "I4", "cili", "more than once"},
		{"transaction of two", `INSERT INTO transactions (customer_id, transaction_id, state, checkout, created_at, updated_at, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned)
			SELECT {cili}, transaction_id, state, checkout, created_at, updated_at, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned FROM transactions WHERE transaction_id = 'T-1'`, "I5", "cili", "several customers"},
		{"transaction gone", `DELETE FROM transactions WHERE transaction_id = 'T-1'`, "I5", "ada", "without its transaction"},
		{"transaction name freed", `DELETE FROM names WHERE value = 'T-1'`, "I5", "ada", "without its claimed name"},
		{"transaction name moved", `UPDATE names SET owner = {cili} WHERE value = 'T-1'`, "I5", "cili", "without its transaction"},
		{"second checkout", `INSERT INTO events (customer_id, id, recorded_at, at, action, transaction_id) VALUES ({ada}, {new}, 1, 1, 'checkout', 'T-1')`, "I5", "ada", "number of checkout events is 2, should be 1"},
		{"checkout gone", `DELETE FROM events WHERE id = {cili checkout T-4}`, "I5", "cili", "number of checkout events is 0, should be 1"},
		{"another checkout", `UPDATE transactions SET checkout = {ada checkout T-3} WHERE transaction_id = 'T-1'`, "I5", "ada", "another event"},
		{"customer renamed", `UPDATE customers SET name = 'eve' WHERE id = {bela}`, "I5", "eve", "without the claimed name"},
		{"customer gone", `DELETE FROM customers WHERE id = {cili}`, "I6", "", "without its customer"},
		{"balance gone", `DELETE FROM balances WHERE customer_id = {cili}`, "I6", "cili", "without a balance"},
		{"answer of nobody", `INSERT INTO answers (access_key, key, hash, status, body, customer_id, at) SELECT 'k', 'lost', sealed, 200, sealed, {new}, 1 FROM customer_keys WHERE customer_id = {ada}`, "I6", "", "stored answer"},
		{"name of nobody", `INSERT INTO names (kind, value, owner) VALUES (4, 'crm:1', {new})`, "I6", "", "without its owner"},
		{"reservation of nobody", `UPDATE reservations SET customer_id = {new}`, "I6 I9", "ada", "reserved is 30, should be 10"},
		{"lines of no purchase", `INSERT INTO purchase_lines (customer_id, transaction_id, piece, lines) VALUES ({ada}, 'T-0', 0, '[]')`, "I6", "ada", "lines without its purchase"},
		{"lines gone", `UPDATE transactions SET pieces = 2 WHERE transaction_id = 'T-1'`, "I6", "ada", "number of rows is 0, should be 2"},
		{"lot grown", `UPDATE lots SET remaining = remaining + 1 WHERE id = {ada item T-1}`, "I3 I8", "ada", "remaining is 100, should be 99"},
		{"lot size", `UPDATE lots SET points = points + 1 WHERE id = {ada item T-1}`, "I8", "ada", "gone is 1, should be 0"},
		{"lot spent", `UPDATE lots SET spent = spent - 1 WHERE id = {ada gift}`, "I8", "ada", "spent is 34, should be 35"},
		{"lot expired", `UPDATE lots SET expired = 0 WHERE id = {bela old}`, "I8", "bela", "expired is 0, should be 20"},
		{"lot held", `UPDATE lots SET reserved = reserved + 1 WHERE id = {ada gift}`, "I8 I9", "ada", "lot and holds differ; reserved is 31, should be 30"},
		{"lot hidden", `UPDATE lots SET open = NOT open WHERE id = {ada gift}`, "I8", "ada", "open is 0, should be 1"},
		{"lot gone", `DELETE FROM lots WHERE id = {ada gift}`, "I3 I6 I9", "ada", "without its lot"},
		{"reservation gone", `DELETE FROM reservations`, "I9", "ada", "reserved is 30, should be 10"},
		{"reservation unreadable", `UPDATE reservations SET hold = '[{'`, "I9", "ada", "cannot be read"},
		{"pending forgotten", `UPDATE transactions SET state = 'rejected' WHERE transaction_id = 'T-3'`, "I9", "ada", "reserved is 30, should be 20"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			storetest.EachURL(t, func(t *testing.T, url string) {
				l := newLedger(t, url)
				if l.postgres && strings.Contains(c.damage, "SET customer_id") {
					storetest.PlainOnly(t) // rows do not go to another customer there
				}
				l.raw.SetMaxOpenConns(1) // the pragma of damage is the connection's
				l.damage(t, c.damage)
				checks := verify(t, l.store)
				require.Equal(t, withChain(c.broken, c.damage), withVerdict(checks, store.LedgerBroken), "%+v", checks)
				require.Empty(t, withVerdict(checks, store.LedgerUnchecked))
				require.True(t, names(checks, c.customer, c.detail), "%+v", checks)
			})
		})
	}
}

// names says whether a finding names the customer and the damage.
func names(checks map[string]store.LedgerCheck, customer, detail string) bool {
	for _, c := range checks {
		for _, f := range c.Findings {
			if f.Name == customer && strings.Contains(f.Detail, detail) {
				return f.Customer != loyalty.ID{}
			}
		}
	}
	return false
}

func TestLedgerNamesTheFirstTwenty(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		for i := range 25 {
			m := newMember(t, strings.Repeat("x", i+1), time.Duration(i)*time.Minute)
			m.earn("gift", 1, time.Time{})
			m.save(l.store)
		}
		l.exec(t, `UPDATE balances SET pending = 1 WHERE score = 1`)
		c := verify(t, l.store)["I1"]
		require.EqualValues(t, 25, c.Broken)
		require.Len(t, c.Findings, store.MaxFindings)
	})
}

// What cannot be checked is told apart from what holds.
func TestLedgerUnreadable(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		l.exec(t, `DROP TABLE lots`)
		checks := verify(t, l.store)
		require.Equal(t, "I3 I6 I8 I9", withVerdict(checks, store.LedgerUnchecked))
		require.Equal(t, "I1 I11 I12 I2 I4 I5", withVerdict(checks, store.LedgerHeld))
		require.Error(t, checks["I3"].Err)
	})

	t.Run("not migrated", func(t *testing.T) {
		checks := verify(t, storetest.Open(t, storetest.EmptySQLite(t)))
		require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(checks, store.LedgerUnchecked))
		require.ErrorIs(t, checks["I1"].Err, store.ErrMigrationsPending)
	})

	t.Run("database away", func(t *testing.T) {
		cluster := storetest.NewCluster(t)
		s := storetest.Open(t, cluster.URL("postgres"))
		require.NoError(t, s.Migrate(t.Context()))
		require.NoError(t, cluster.Kill())
		require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerUnchecked))
	})
}

// A file whose pages were overwritten is not judged at all: sums over it prove
// nothing.
func TestLedgerDamagedFile(t *testing.T) {
	url := storetest.SQLite(t)
	l := newLedger(t, url)
	_, err := l.raw.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	require.NoError(t, err)
	var root, size int64
	require.NoError(t, l.raw.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = 'postings'`).Scan(&root))
	require.NoError(t, l.raw.QueryRow(`PRAGMA page_size`).Scan(&size))
	file, err := os.OpenFile(strings.TrimPrefix(url, "sqlite:"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte(strings.Repeat("broken ", 100)), (root-1)*size)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	checks := verify(t, storetest.Open(t, url))

	require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(checks, store.LedgerUnchecked))
}
