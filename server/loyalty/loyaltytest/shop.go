package loyaltytest

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	jobroom "github.com/loyalty-platform/loyalty/server/loyalty/job"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Shop is an engine over a real database, with a clock to turn and a
// configuration to change.
type Shop struct {
	*World
	T    *testing.T
	DB   *store.Store
	Kept Witness
	Raw  *sql.DB
}

// ShopOpens is a Sunday four weeks before the clocks change in Budapest.
var ShopOpens = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// EachShop runs a test on both databases.
func EachShop(t *testing.T, m Modules, test func(t *testing.T, s *Shop)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, NewShop(t, url, m)) })
}

// NewShop opens a shop on the database at url.
func NewShop(t *testing.T, url string, m Modules, more ...func(*engine.EngineOptions)) *Shop {
	t.Helper()
	return ShopOver(t, storetest.Open(t, url), storetest.Raw(t, url), m, more...)
}

// ShopOver is a shop over a store that may have others.
func ShopOver(t *testing.T, db *store.Store, raw *sql.DB, m Modules, more ...func(*engine.EngineOptions)) *Shop {
	t.Helper()
	s := &Shop{T: t, DB: db, Raw: raw, Kept: Witness{Store: db}}
	s.World = NewWorld(t, &s.Kept, ShopOpens, Compile(t, m, nil), more...)
	return s
}

// Node is one more engine over the shop's database, under its programme and by its clock;
// change may change the options first.
func (s *Shop) Node(change func(*engine.EngineOptions)) *engine.Engine {
	s.T.Helper()
	o := engine.EngineOptions{Store: s.DB, Programmes: s, Clock: s.Clock}
	change(&o)
	return NewEngine(s.T, o)
}

// Clock shows the time of the shop.
func (s *Shop) Clock() time.Time { return s.Time.Now() }

// Wait moves the shop's clock forward.
func (s *Shop) Wait(by time.Duration) { s.Time.Wait(by) }

// Configure has the shop be of modules only.
func (s *Shop) Configure(m Modules) { s.Make(m, nil) }

// Make has the shop be of modules and things.
func (s *Shop) Make(m Modules, all Things) {
	s.T.Helper()
	s.Use(Compile(s.T, m, all))
}

// Send submits an event.
func (s *Shop) Send(customer, action, data string) (loyalty.Outcome, error) {
	return s.Submit(context.Background(), Event(customer, action, data))
}

// Must submits an event that must succeed.
func (s *Shop) Must(customer, action, data string) loyalty.Outcome {
	s.T.Helper()
	o, err := s.Send(customer, action, data)
	require.NoError(s.T, err, "%s %s %s", customer, action, data)
	return o
}

// Together submits events that must succeed, in one transaction.
func (s *Shop) Together(subs ...loyalty.Submission) (done []loyalty.Outcome) {
	s.T.Helper()
	for i, r := range s.SubmitAll(context.Background(), subs) {
		require.NoError(s.T, r.Err, "%s %s %s", subs[i].Customer, subs[i].Action, subs[i].Data)
		done = append(done, r.Outcome)
	}
	return done
}

// Refused submits an event that is to fail, and holds that nothing was written.
func (s *Shop) Refused(want error, customer, action, data string) *loyalty.Error {
	s.T.Helper()
	before := s.Rows()
	_, err := s.Send(customer, action, data)
	require.ErrorIs(s.T, err, want, "%s %s %s", customer, action, data)
	require.Equal(s.T, before, s.Rows(), "I6: a refusal leaves no rows")
	var known *loyalty.Error
	require.ErrorAs(s.T, err, &known)
	return known
}

// Operate submits what an operation of another API asks for, which must succeed.
func (s *Shop) Operate(customer, action, data string) loyalty.Outcome {
	s.T.Helper()
	o, err := s.Submit(context.Background(), Operation(customer, action, data))
	require.NoError(s.T, err, "%s %s %s", customer, action, data)
	return o
}

// Enrol enrols customers.
func (s *Shop) Enrol(names ...string) {
	s.T.Helper()
	for _, name := range names {
		s.Must(name, "opt_in", `{"email":"`+name+`@shop.test"}`)
	}
}

// GuestBuys lets a guest buy T-1 for 50. more are further attributes.
func (s *Shop) GuestBuys(more string) {
	s.T.Helper()
	_, err := s.Submit(context.Background(), loyalty.Submission{
		Customer: "guest-1", Guest: true, Action: "checkout",
		Data: json.RawMessage(`{"transaction_id":"T-1","total":50` + more + `,"items":` + OneLine + `}`),
	})
	require.NoError(s.T, err)
}

// All submits a bulk and gives the errors of its events, nil where one was
// recorded.
func (s *Shop) All(events ...loyalty.Submission) []error {
	s.T.Helper()
	results := s.SubmitAll(context.Background(), events)
	require.Len(s.T, results, len(events))
	faults := make([]error, len(results))
	for i, r := range results {
		faults[i] = r.Err
		require.Equal(s.T, r.Err == nil, len(r.Outcome.Events) > 0, "event %d: %v", i, r.Err)
	}
	return faults
}

// Jobs is a node's jobs on the shop's database, by the shop's clock.
func (s *Shop) Jobs() *jobroom.Jobs {
	return jobroom.NewJobs(jobroom.JobsOptions{Engine: s.Engine, Store: s.DB, Report: func(job string, err error) {
		s.T.Errorf("%s: %v", job, err)
	}})
}

// Member is the name of the i-th of many customers.
func Member(i int) string { return fmt.Sprintf("member-%d", i) }

// SetFlag sets a flag of the test program until the test ends.
func SetFlag(t *testing.T, name, value string) {
	before := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
}
