package store_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestOneCustomerOneMachine: what is about one customer, read or written, has no statement that asks
// several parts of a table. Citus counts them itself.
func TestOneCustomerOneMachine(t *testing.T) {
	storetest.CitusOnly(t)
	url := storetest.Postgres(t)
	several := storetest.Scattered(t, url) // first: it holds for connections that are opened afterwards
	s, ctx := storetest.Open(t, url), context.Background()
	before := several()
	_, err := s.Customers(ctx, loyalty.CustomerQuery{Page: loyalty.Page{Limit: 10}})
	require.NoError(t, err)
	require.Greater(t, several(), before, "a list of everybody asks all: so it is counted")

	var id loyalty.ID
	needs := func(n loyalty.CustomerNeeds) func() error {
		return func() error {
			return s.Within(ctx, loyalty.Needs{Now: start, Customers: []loyalty.CustomerNeeds{n}}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return nil, nil })
		}
	}

	page := loyalty.Page{Limit: 10}
	var scattered []string
	for _, one := range []struct {
		name string
		do   func() error
	}{
		{"an opt_in with an e-mail", func() error { id = enrol(t, s, "c-", 1)[0]; return nil }},
		{"a credit", func() error { return credit(s, "c-", 1) }},
		{"who has an inactive e-mail", needs(loyalty.CustomerNeeds{Email: "c-0@example.org"})},
		{"who has an e-mail", needs(loyalty.CustomerNeeds{Match: "c-0@example.org"})},
		{"lots and the key", needs(loyalty.CustomerNeeds{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: "c-0"}, Key: true, Lots: loyalty.UsedLots})},
		{"a purchase", func() error { return needs(loyalty.CustomerNeeds{ID: id, Transactions: []string{"t"}})() }},
		{"a coupon", func() error { return needs(loyalty.CustomerNeeds{ID: id, Coupons: []string{"x"}})() }},
		{"all of a customer", func() error {
			return needs(loyalty.CustomerNeeds{ID: id, Claims: true, Codes: true, Past: true, Everything: true, Lists: true, Progress: loyalty.Kinds(loyalty.ProgressTier)})()
		}},
		{"the customer", func() error { _, err := s.Customer(ctx, "c-0"); return err }},
		{"by another name", func() error { _, err := s.Customer(ctx, "crm:1"); require.Error(t, err); return nil }},
		{"points", func() error { _, err := s.Statement(ctx, id, ""); return err }},
		{"points at an instant", func() error { _, err := s.StatementAt(ctx, id, time.Now()); return err }},
		{"events", func() error { _, err := s.Events(ctx, loyalty.EventQuery{Ref: "c-0", Page: page}); return err }},
		{"events by date", func() error {
			_, err := s.Events(ctx, loyalty.EventQuery{Customer: id, Sort: []loyalty.Sorting{{Field: "date"}}, Page: page})
			return err
		}},
		{"purchases", func() error {
			_, err := s.Transactions(ctx, loyalty.TransactionQuery{Ref: "c-0", Page: page})
			return err
		}},
		{"purchases by number", func() error {
			_, err := s.Transactions(ctx, loyalty.TransactionQuery{Customer: id, Sort: []loyalty.Sorting{{Field: "earned"}}, Page: page})
			return err
		}},
		{"coupons", func() error { _, err := s.Coupons(ctx, loyalty.CouponQuery{Ref: "c-0", Page: page}); return err }},
		{"claims", func() error { _, err := s.Claims(ctx, loyalty.ClaimQuery{Ref: "c-0", Page: page}); return err }},
	} {
		before := several()
		require.NoError(t, one.do(), one.name)
		if several() > before {
			scattered = append(scattered, one.name)
		}
	}

	require.Empty(t, scattered)
}

// TestTasksOfABatch: no statement of a batch has more tasks than the batch has customers, or names where it looks
// for those, whatever is read or written. The coordinator tells in its log what it is asked, and what it asks of the machines for it.
func TestTasksOfABatch(t *testing.T) {
	const customers = 3
	m := storetest.NewMachines(t)
	require.NoError(t, m.Spread(t).Close())
	for _, setting := range []string{`citus.log_remote_commands = on`, `log_min_messages = notice`, `log_statement = 'all'`} {
		m.Coordinator.Tell(t, `ALTER DATABASE postgres SET `+setting)
	}

	s, ctx := storetest.Open(t, m.URL()), context.Background()
	ids := enrol(t, s, "c-", customers)
	require.NoError(t, credit(s, "c-", customers))
	for i := range customers {
		require.NoError(t, checkout(s, fmt.Sprint("c-", i), fmt.Sprint("t", i)))
	}

	needs := loyalty.Needs{Now: time.Now()}
	for i := range customers {
		needs.Customers = append(needs.Customers, loyalty.CustomerNeeds{
			Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: fmt.Sprint("c-", i)}, Key: true, Lots: loyalty.UsedLots,
			Transactions: []string{fmt.Sprint("t", i)}, Reservations: []string{"r"}, Coupons: []string{"x"},
			Claims: true, Codes: true, Past: true, Everything: true, Lists: true, Progress: loyalty.Kinds(loyalty.ProgressTier),
		})
	}

	for _, locked := range []bool{false, true} {
		needs.Locked = locked
		require.NoError(t, s.Within(ctx, needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			require.Len(t, l.Customers, customers)
			require.Len(t, l.Customers[ids[0]].Transactions, 1)
			return nil, nil
		}))
	}

	log, err := m.Coordinator.Log()
	require.NoError(t, err)
	asked := tasks(string(log))
	most, several := 0, 0
	for _, q := range asked {
		keys := customers
		if strings.Contains(q.text, "JOIN names") {
			keys = 2*customers + 1 // names are found by themselves: of the customers, of their purchases, of a coupon
		}
		require.LessOrEqual(t, q.tasks, keys, q.text)
		most = max(most, q.tasks)
		if q.tasks > 1 {
			several++
		}
	}

	require.Greater(t, most, 1, "a batch meets several parts: so it is counted")
	t.Logf("figures: of %d statements of batches of up to %d customers %d had several tasks, the most %d", len(asked), customers, several, most)
}

// task is a statement of a batch, and how many the machines were sent for it.
type task struct {
	text  string
	tasks int
}

var (
	logged  = regexp.MustCompile(`(?m)^\S+ \S+ \S+ \[(\d+)\] (LOG|NOTICE):  (?:execute \w+: |issuing )(WITH v|INSERT|UPDATE|DELETE|SELECT|COPY)(.*(?:\n\t.*)*)`)
	ofBatch = regexp.MustCompile(`^WITH v|^INSERT INTO \w+ \(`)
)

// tasks reads them from the coordinator's log.
func tasks(log string) (list []task) {
	at := map[string]int{} // of a session, in list
	for _, line := range logged.FindAllStringSubmatch(log, -1) {
		session, text := line[1], line[3]+line[4]
		if line[2] == "LOG" {
			delete(at, session)
			if ofBatch.MatchString(text) {
				at[session] = len(list)
				list = append(list, task{text: text})
			}
		} else if i, known := at[session]; known {
			list[i].tasks++
		}
	}

	return list
}
