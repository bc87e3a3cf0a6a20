package job_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// shop is an engine over a real database, with a clock to turn and a
// configuration to change.
type shop struct {
	*loyaltytest.World
	t    *testing.T
	db   *store.Store
	kept keptWitness
	raw  *sql.DB
}

var vocabulary = loyaltytest.Vocabulary

// modules is a configuration: module names with their configuration, "off" for
// one that is off. What is not named is as in a fresh database.
type modules map[string]string

// shopOpens is a Sunday four weeks before the clocks change in Budapest.
var shopOpens = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// eachShop runs a test on both databases.
func eachShop(t *testing.T, m modules, test func(t *testing.T, s *shop)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, newShop(t, url, m)) })
}

func newShop(t *testing.T, url string, m modules, more ...func(*engine.EngineOptions)) *shop {
	t.Helper()
	return shopOver(t, storetest.Open(t, url), storetest.Raw(t, url), m, more...)
}

// shopOver is a shop over a store that may have others.
func shopOver(t *testing.T, db *store.Store, raw *sql.DB, m modules, more ...func(*engine.EngineOptions)) *shop {
	t.Helper()
	s := &shop{t: t, db: db, raw: raw, kept: keptWitness{Store: db}}
	s.World = loyaltytest.NewWorld(t, &s.kept, shopOpens, compile(t, m, nil), more...)
	return s
}

// node is one more engine over the shop's database, under its programme and by its clock;
// change may change the options first.
func (s *shop) node(change func(*engine.EngineOptions)) *engine.Engine {
	s.t.Helper()
	o := engine.EngineOptions{Store: s.db, Programmes: s, Clock: s.clock}
	change(&o)
	return loyaltytest.NewEngine(s.t, o)
}

func (s *shop) clock() time.Time { return s.Time.Now() }

func (s *shop) wait(by time.Duration) { s.Time.Wait(by) }

func (s *shop) configure(m modules) { s.make(m, nil) }

// make has the shop be of modules and things.
func (s *shop) make(m modules, all things) {
	s.t.Helper()
	s.Use(compile(s.t, m, all))
}

// compile makes a programme that is right.
func compile(t require.TestingT, m modules, all things) *programme.Programme {
	p, err := compileWith(m, all)
	require.NoError(t, err)
	return p
}

// compileWith makes a programme; time_zone among the modules is that of its settings.
func compileWith(m modules, all things) (*programme.Programme, error) {
	if zone, own := m["time_zone"]; own {
		m = maps.Clone(m)
		delete(m, "time_zone")
		return compileZoned(m, all, zone)
	}
	return compileZoned(m, all, "")
}

func event(customer, action, data string) loyalty.Submission {
	return loyalty.Submission{Customer: customer, Action: action, Data: json.RawMessage(data)}
}

func (s *shop) send(customer, action, data string) (loyalty.Outcome, error) {
	return s.Submit(context.Background(), event(customer, action, data))
}

func (s *shop) must(customer, action, data string) loyalty.Outcome {
	s.t.Helper()
	o, err := s.send(customer, action, data)
	require.NoError(s.t, err, "%s %s %s", customer, action, data)
	return o
}

// together submits events that must succeed, in one transaction.
func (s *shop) together(subs ...loyalty.Submission) (done []loyalty.Outcome) {
	s.t.Helper()
	for i, r := range s.SubmitAll(context.Background(), subs) {
		require.NoError(s.t, r.Err, "%s %s %s", subs[i].Customer, subs[i].Action, subs[i].Data)
		done = append(done, r.Outcome)
	}
	return done
}

// refused submits an event that is to fail, and holds that nothing was written.
func (s *shop) refused(want error, customer, action, data string) *loyalty.Error {
	s.t.Helper()
	before := s.rows()
	_, err := s.send(customer, action, data)
	require.ErrorIs(s.t, err, want, "%s %s %s", customer, action, data)
	require.Equal(s.t, before, s.rows(), "I6: a refusal leaves no rows")
	var known *loyalty.Error
	require.ErrorAs(s.t, err, &known)
	return known
}

// rows counts what is stored, and how often customers changed.
func (s *shop) rows() map[string]int64 {
	s.t.Helper()
	counts := map[string]int64{}
	for _, table := range []string{"customers", "names", "customer_keys", "events", "postings", "lots", "transactions", "reservations", "answers"} {
		var n int64
		require.NoError(s.t, s.raw.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		counts[table] = n
	}
	var versions sql.NullInt64
	require.NoError(s.t, s.raw.QueryRow("SELECT sum(version) FROM balances").Scan(&versions))
	counts["versions"] = versions.Int64
	return counts
}

// loaded reads a customer with lots, and with purchases and reservations.
func (s *shop) loaded(id loyalty.ID, transactions ...string) *loyalty.Loading {
	s.t.Helper()
	var found *loyalty.Loading
	needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{
		ID: id, Key: true, Lots: loyalty.UsedLots, Transactions: transactions, Reservations: transactions,
	}}}
	require.NoError(s.t, s.db.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		found = l.Customers[id]
		return &loyalty.Writes{}, nil
	}))
	require.NotNil(s.t, found)
	return found
}

func (s *shop) customer(name string) loyalty.Customer {
	s.t.Helper()
	c, err := s.db.Customer(context.Background(), name)
	require.NoError(s.t, err, name)
	return c
}

func (s *shop) transaction(customer, name string) loyalty.Transaction {
	s.t.Helper()
	t, ok := s.loaded(s.customer(customer).ID, name).Transactions[name]
	require.True(s.t, ok, name)
	return t
}

// events lists the actions of a customer in the order they were recorded.
func (s *shop) events(id loyalty.ID) []string {
	s.t.Helper()
	rows, err := s.raw.Query("SELECT customer_id, action FROM events ORDER BY id")
	require.NoError(s.t, err)
	defer rows.Close()
	var actions []string
	for rows.Next() {
		var owner loyalty.ID
		var name string
		require.NoError(s.t, rows.Scan(&owner, &name))
		if owner == id {
			actions = append(actions, name)
		}
	}

	require.NoError(s.t, rows.Err())
	return actions
}

// verify has the store prove the ledger's invariants.
func (s *shop) verify() {
	s.t.Helper()
	proven(s.t, s.db)
}

func proven(t require.TestingT, db *store.Store) {
	checks := 0
	db.VerifyLedger(context.Background(), func(c store.LedgerCheck) {
		checks++
		require.Equal(t, store.LedgerHeld, c.Verdict, "%s %s: %v %+v", c.Invariant, c.Title, c.Err, c.Findings)
	})
	require.Positive(t, checks)
}

// keyed makes a submission idempotent, as the server does: the stored body is
// the outcome's or the error's name.
func keyed(sub loyalty.Submission, key string) loyalty.Submission {
	sub.Idempotency = &loyalty.Idempotency{
		AnswerKey: loyalty.AnswerKey{AccessKey: "LKSHOP", Key: key},
		Hash:      sha256.Sum256([]byte(sub.Customer + "\n" + sub.Action + "\n" + string(sub.Data))),
		Render: func(o loyalty.Outcome, err error) (int, []byte) {
			if err != nil {
				return 422, []byte(err.Error())
			}
			return 200, fmt.Appendf(nil, "%s score %d", o.Customer.Name, o.Customer.Figures.Score)
		},
	}
	return sub
}
