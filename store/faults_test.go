package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// proxied opens a store with one connection through a proxy, with a customer and
// all statements prepared.
func proxied(t *testing.T) (*store.Store, *storetest.Proxy, string) {
	t.Helper()
	url := storetest.Postgres(t)
	p := storetest.NewProxy(t, url)
	s := storetest.OpenWith(t, store.Options{URL: p.URL(), BatchConnections: 1, ReadConnections: 1})
	enrol(t, s, "c-", 1)
	require.NoError(t, credit(s, "c-", 1))
	return s, p, url
}

func events(t *testing.T, url string) (n int) {
	t.Helper()
	require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM events`).Scan(&n))
	return n
}

// commits is the exchange that commits: on several machines names come before rows, and COMMIT
// after what was met is compared.
func commits(plain, spread int64) int64 {
	if storetest.OnCitus() {
		return spread
	}
	return plain
}

func TestTwoRoundTrips(t *testing.T) {
	store.PlansLast(t, time.Hour) // throwing them away is a round trip, too
	storetest.PlainOnly(t)
	s, p, _ := proxied(t)
	p.Reset()
	require.NoError(t, credit(s, "c-", 1))
	require.Equal(t, []int64{2, 5, 0}, []int64{p.RoundTrips.Load(), p.Statements.Load(), p.Prepared.Load()}, "round trips, statements, prepared")
	checkout := func(name string) error { return checkout(s, "c-0", name) }
	require.NoError(t, checkout("t-1"))
	p.Reset()
	require.NoError(t, checkout("t-2"))
	t.Logf("checkout with 3 lines: %d round trips, %d statements", p.RoundTrips.Load(), p.Statements.Load())
	require.Equal(t, []int64{2, 13, 0}, []int64{p.RoundTrips.Load(), p.Statements.Load(), p.Prepared.Load()}, "round trips, statements, prepared")
}

// TestOneRoundTrip: a list is read together with its customer; the events of all customers also with their changes of
// the balance. Sealed or inherited values, and rows of merged customers, are read only if there are any.
func TestOneRoundTrip(t *testing.T) {
	storetest.PlainOnly(t)
	s, p, url := proxied(t)
	_, err := storetest.Raw(t, url).Exec(`INSERT INTO coupons (id, code, created_at, state, customer_id, type, value, balance, currency, cost, claimed_at, version)
SELECT gen_random_uuid(), 'C-' || n, 1, 'claimed', (SELECT id FROM customers), 'voucher', 1, 1, 'EUR', 0, n, 1 FROM generate_series(1, 9) n`)
	require.NoError(t, err)
	page := loyalty.Page{Limit: 100}

	for name, read := range map[string]func() error{
		"everybody's events": func() error {
			found, err := s.Events(t.Context(), loyalty.EventQuery{Page: page})
			require.Len(t, found.Events, 1)
			require.Positive(t, found.Events[0].Change)
			require.Equal(t, "c-0", found.Customers[found.Events[0].Customer].Name)
			return err
		},
		"a customer's coupons": func() error {
			found, err := s.Coupons(t.Context(), loyalty.CouponQuery{Ref: "c-0", Page: page})
			require.Len(t, found.Coupons, 9)
			for i, c := range found.Coupons {
				require.Equal(t, fmt.Sprint("C-", 9-i), c.Code)
				require.Equal(t, "c-0", c.Holder.Name)
			}
			return err
		},
		"none": func() error {
			found, err := s.Coupons(t.Context(), loyalty.CouponQuery{Ref: "c-0", Page: loyalty.Page{Limit: 9, Offset: 9}})
			require.Empty(t, found.Coupons)
			require.Equal(t, loyalty.Active, found.Customer.Status)
			return err
		},
		"nobody's": func() error {
			_, err := s.Coupons(t.Context(), loyalty.CouponQuery{Ref: "c-1", Page: page})
			require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
			return nil
		},
	} {
		require.NoError(t, read(), name) // which prepares the statement
		p.Reset()
		require.NoError(t, read(), name)
		require.Equal(t, []int64{1, 1}, []int64{p.RoundTrips.Load(), p.Statements.Load()}, name)
	}
}

func TestLostBeforeTheWrite(t *testing.T) {
	s, p, url := proxied(t)
	p.Plan(func(trip int64) storetest.Cut { return map[int64]storetest.Cut{2: storetest.Unsent}[trip] })
	require.ErrorIs(t, credit(s, "c-", 1), loyalty.ErrDatabaseAway)
	require.Equal(t, 1, events(t, url))
	p.Plan(nil)
	require.NoError(t, credit(s, "c-", 1), "the next one finds a new connection")
}

func TestLostWhileLoading(t *testing.T) {
	s, p, url := proxied(t)
	p.Plan(func(trip int64) storetest.Cut { return map[int64]storetest.Cut{1: storetest.Answered}[trip] })
	require.ErrorIs(t, credit(s, "c-", 1), loyalty.ErrDatabaseAway)
	require.Equal(t, 1, events(t, url))
}

func TestLostAfterTheCommit(t *testing.T) {
	s, p, url := proxied(t)
	p.Plan(func(trip int64) storetest.Cut {
		return map[int64]storetest.Cut{commits(2, 4): storetest.Answered}[trip]
	})
	require.NoError(t, credit(s, "c-", 1), "it was written, and the store found out")
	require.Equal(t, 2, events(t, url))

	// The same with nothing but an answer to look for.
	put := func(key string) error {
		answer := loyalty.Answer{AnswerKey: loyalty.AnswerKey{AccessKey: "a", Key: key}, At: start}
		return s.Within(context.Background(), loyalty.Needs{Answers: []loyalty.AnswerKey{answer.AnswerKey}}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return &loyalty.Writes{Answers: []loyalty.Answer{answer}}, nil
		})
	}

	p.Plan(nil)
	require.NoError(t, put("prepares the statements of the new connection"))
	p.Plan(func(trip int64) storetest.Cut {
		return map[int64]storetest.Cut{commits(2, 3): storetest.Answered}[trip]
	})
	require.NoError(t, put("lost"))
	p.Plan(nil)
	require.ErrorIs(t, put("lost"), loyalty.ErrBatchConflict, "it is there")
}

// What a worker had taken when it died is free again, and nothing of it is done.
func TestDueOfALostWorker(t *testing.T) {
	s, p, url := proxied(t)
	other, raw := storetest.Open(t, url), storetest.Raw(t, url)
	settle := func(s *store.Store, dies func()) (due int, err error) {
		err = s.Within(context.Background(), loyalty.Needs{Now: start, Due: 5}, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			w := &loyalty.Writes{}
			for _, id := range l.Due {
				before := l.Customers[id].Customer
				after := before
				after.DueAt = time.Time{}
				w.Customers = append(w.Customers, loyalty.Changed[loyalty.Customer]{Before: before, After: after})
				w.Events = append(w.Events, loyalty.Event{ID: loyalty.NewID(start, loyalty.ID{}), Customer: id, Action: "point_expire", At: start, RecordedAt: start})
			}
			due = len(l.Due)
			dies()
			return w, nil
		})

		return due, err
	}

	_, err := raw.Exec(`UPDATE balances SET due_at = 1`)
	require.NoError(t, err)
	n, err := settle(s, func() {
		p.Shut()
		p.Reopen()
	})

	require.Equal(t, 1, n)
	require.ErrorIs(t, err, loyalty.ErrDatabaseAway)
	require.Eventually(t, func() bool { // the server has to hear of the end first
		n, err := settle(other, func() {})
		require.NoError(t, err)
		return n == 1
	}, 10*time.Second, 10*time.Millisecond)

	n, err = settle(other, func() {})
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 2, events(t, url), "the first credit, and one settlement")
}

func TestOutcomeUnknown(t *testing.T) {
	t.Parallel() // it waits for the whole time of grace
	s, p, url := proxied(t)
	p.Plan(func(trip int64) storetest.Cut {
		if trip == commits(2, 4) {
			return storetest.Answered
		}
		return map[bool]storetest.Cut{true: storetest.Unsent}[trip > commits(2, 4)]
	})
	require.ErrorIs(t, credit(s, "c-", 1), loyalty.ErrOutcomeUnknown)
	require.Equal(t, 2, events(t, url))
}

// A caller that goes away while the commit travels does not make it doubtful.
func TestCancelledWhileWriting(t *testing.T) {
	storetest.PlainOnly(t)
	s, p, url := proxied(t)
	ctx, cancel := context.WithCancel(context.Background())
	p.Plan(func(trip int64) storetest.Cut {
		if trip == 2 {
			cancel()
		}
		return storetest.Pass
	})
	require.NoError(t, creditUntil(ctx, s, "c-", 1))
	require.Equal(t, 2, events(t, url))
	require.ErrorIs(t, creditUntil(ctx, s, "c-", 1), context.Canceled)
	require.Equal(t, 2, events(t, url))
}

func TestServerKilledAndBack(t *testing.T) {
	c := storetest.NewCluster(t)
	s := storetest.Open(t, c.URL("postgres"))
	require.NoError(t, s.Migrate(context.Background()))
	enrol(t, s, "c-", 1)
	acknowledged, unknown := 0, 0
	until := func(good bool) {
		require.Eventually(t, func() bool {
			err := credit(s, "c-", 1)
			switch {
			case err == nil:
				acknowledged++
			case errors.Is(err, loyalty.ErrOutcomeUnknown): // cut off in the write, and no session left to ask
				unknown++
			default:
				require.ErrorIs(t, err, loyalty.ErrDatabaseAway)
			}
			return good == (err == nil)
		}, 60*time.Second, time.Millisecond)
	}

	for range 3 {
		until(true)
		require.NoError(t, c.Kill())
		until(false)
		require.ErrorIs(t, s.Ready(context.Background()), loyalty.ErrDatabaseAway)
		require.NoError(t, c.Start())
	}

	until(true)
	require.NoError(t, s.Ready(context.Background()))
	n := events(t, c.URL("postgres"))
	require.GreaterOrEqual(t, n, acknowledged, "nothing acknowledged is lost")
	require.LessOrEqual(t, n, acknowledged+unknown, "nothing else is there")
}

func TestReadOnlyServer(t *testing.T) {
	url := storetest.Postgres(t)
	_, err := storetest.Raw(t, url).Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	require.NoError(t, err)
	s := storetest.OpenWith(t, store.Options{URL: url, Now: func() time.Time { return time.Now() }})
	err = s.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
		return &loyalty.Writes{Claims: []loyalty.Claim{{Name: loyalty.Name{Kind: 1, Value: "x"}}}}, nil
	})
	require.ErrorIs(t, err, loyalty.ErrDatabaseAway)
}

func TestWrongMasterKey(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		enrol(t, storetest.Open(t, url), "c-", 1)
		s := storetest.OpenWith(t, store.Options{URL: url, MasterKey: [32]byte{9}})
		needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: "c-0"}, Key: true}}}
		err := s.Within(context.Background(), needs, func(*loyalty.Loaded) (*loyalty.Writes, error) { return nil, nil })
		require.ErrorContains(t, err, "LOYALTY_MASTER_KEY")
	})
}

// A node with another key stops before it seals anything, whether or not something is
// sealed already.
func TestMasterKeyIsChecked(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		wrong := storetest.OpenWith(t, store.Options{URL: url, MasterKey: [32]byte{9}})
		require.ErrorIs(t, wrong.Migrate(ctx), store.ErrMasterKey, "nothing is sealed yet but the check value")
		right := storetest.Open(t, url)
		require.NoError(t, right.Migrate(ctx))

		// Without its check value a database takes the key that opens what is sealed.
		raw := storetest.Raw(t, url)
		forget := func() {
			_, err := raw.Exec(`DELETE FROM master_check`)
			require.NoError(t, err)
		}

		forget()
		enrol(t, right, "c-", 1)
		require.ErrorIs(t, wrong.CheckMasterKey(ctx), store.ErrMasterKey)
		require.NoError(t, right.CheckMasterKey(ctx))
		require.ErrorIs(t, wrong.CheckMasterKey(ctx), store.ErrMasterKey)
		require.NoError(t, right.CheckMasterKey(ctx))
	})
}

// Two processes may write one SQLite file: the command line beside the server.
func TestTwoStoresOnOneFile(t *testing.T) {
	url := storetest.SQLite(t)
	a, b := storetest.Open(t, url), storetest.Open(t, url)
	enrol(t, a, "c-", 1)
	done := make(chan error)
	for _, s := range []*store.Store{a, b} {
		go func() {
			var err error
			for range 50 {
				if err == nil {
					err = credit(s, "c-", 1)
				}
			}
			done <- err
		}()
	}

	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, 100, events(t, url))
}

func TestSQLiteFileIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(context.Background(), store.Options{DataDir: dir})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(context.Background()))
	for _, file := range []string{"loyalty.db", "loyalty.db-turn", "loyalty.db-wal", "loyalty.db-shm"} {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}

	require.NoError(t, s.Close())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}

	require.Equal(t, []string{"loyalty.db", "loyalty.db-turn"}, names, "closing folds the log into the file")
}

func TestSQLiteRefusesWhatCannotBeSet(t *testing.T) {
	_, err := store.Open(context.Background(), store.Options{URL: "sqlite:" + t.TempDir()})
	require.ErrorContains(t, err, "LOYALTY_DATABASE_URL")
	path := strings.TrimPrefix(storetest.EmptySQLite(t), "sqlite:")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600))
	_, err = store.Open(context.Background(), store.Options{URL: "sqlite:" + path})
	require.ErrorContains(t, err, "LOYALTY_DATABASE_URL")
}

// What fails in the commit itself, after every statement succeeded, is an error.
func TestCommitRefused(t *testing.T) {
	storetest.PlainOnly(t)
	s, _, url := proxied(t)
	_, err := storetest.Raw(t, url).Exec(`CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS
 $$ BEGIN RAISE EXCEPTION 'late' USING ERRCODE = '40001'; END $$;
 CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON balances DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
	require.NoError(t, err)
	require.ErrorIs(t, credit(s, "c-", 1), loyalty.ErrBatchConflict)
	require.Equal(t, 1, events(t, url))
}
