// Package loyaltytest gives tests an environment for the rules: an engine over a real store, a clock that the test
// sets, a programme that can change, and the administration that changes it.
package loyaltytest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store"
)

// Vocabulary is the contract, read once for all tests of a program because that takes long. A test that declares
// actions makes its own.
var Vocabulary = sync.OnceValues(contract.NewVocabulary)

// NewEngine opens an engine until the test ends. By default it has the shared contract and every rule.
func NewEngine(t testing.TB, o engine.EngineOptions) *engine.Engine {
	t.Helper()
	if o.Contract == nil {
		v, err := Vocabulary()
		require.NoError(t, err)
		o.Contract = v
	}

	if o.Rules == nil {
		o.Rules = action.All()
	}

	o.Features = action.Features()
	e, err := engine.NewEngine(o)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return e
}

// Clock is a clock that the test sets.
type Clock struct{ now atomic.Pointer[time.Time] }

// NewClock makes a clock that stands at an instant.
func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.Set(at)
	return c
}

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time { return *c.now.Load() }

// Set sets the clock.
func (c *Clock) Set(at time.Time) { c.now.Store(&at) }

// Wait moves the clock forward.
func (c *Clock) Wait(by time.Duration) { c.Set(c.Now().Add(by)) }

// World is an engine over a store, by a clock and under a programme of the test's own.
type World struct {
	*engine.Engine

	Time      *Clock
	programme atomic.Pointer[programme.Programme]
}

// NewWorld opens a world at an instant, under a programme, until the test ends; change may change the options of its
// engine first.
func NewWorld(
	t testing.TB, s loyalty.Store, at time.Time, p *programme.Programme, change ...func(*engine.EngineOptions),
) *World {
	t.Helper()
	w := &World{Time: NewClock(at)}
	w.Use(p)
	o := engine.EngineOptions{Store: s, Programmes: w, Clock: w.Time.Now}
	for _, f := range change {
		f(&o)
	}
	w.Engine = NewEngine(t, o)
	return w
}

// Programme is the programme in force.
func (w *World) Programme() *programme.Programme { return w.programme.Load() }

// Use puts a programme in force.
func (w *World) Use(p *programme.Programme) { w.programme.Store(p) }

// Fixed is a programme that never changes, for an engine.
type Fixed struct{ P *programme.Programme }

// Programme is the programme.
func (f Fixed) Programme() *programme.Programme { return f.P }

// Office is the administration of a store, with the directory that follows it.
type Office struct {
	*admin.Admin

	Directory *admin.Directory
}

// NewOffice opens the administration of a store; a nil clock is the system's.
func NewOffice(t testing.TB, s *store.Store, clock func() time.Time) *Office {
	t.Helper()
	directory, err := admin.NewDirectory(t.Context(),
		admin.DirectoryOptions{Registry: action.Registry(), Store: s, Clock: clock})
	require.NoError(t, err)
	o := admin.AdminOptions{Registry: action.Registry(), Store: s, Directory: directory,
		APIs: openapi.Names(), Clock: clock}
	return &Office{Admin: admin.NewAdmin(o), Directory: directory}
}
