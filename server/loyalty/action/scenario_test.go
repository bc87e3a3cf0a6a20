package action_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the program sets it
	storetest.Main(m)
}

// scenario is one story of a rule, told in events. The files in testdata hold
// one list of them for each action.
type scenario struct {
	Name     string                     `json:"name"`
	Why      string                     `json:"why"`       // the rule it shows, in a sentence
	Spec     []string                   `json:"spec"`      // what of the specification it shows: ids of openapi/specification.tsv
	At       time.Time                  `json:"at"`        // where the clock starts; storyBegins where absent
	TimeZone string                     `json:"time_zone"` // of the programme; UTC where absent
	Modules  map[string]json.RawMessage `json:"modules"`   // a configuration or true switches on, false off
	Entities entities                   `json:"entities"`  // what the programme is made of
	Codes    map[string][]string        `json:"codes"`     // uploaded codes, by pool
	Given    []given                    `json:"given"`
	Steps    []step                     `json:"steps"`
}

// entities are the fields of entities by type and id; null archives one.
type entities map[string]map[string]json.RawMessage

var storyBegins = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// given is a customer before the story begins: <customer>@shop.test, enrolled,
// with points that were added at the clock's start.
type given struct {
	Customer string `json:"customer"`
	Status   string `json:"status"` // active where absent
	Points   int64  `json:"points"`
}

// step moves the clock, changes modules, and then submits an event, runs the job
// for what is due, or only looks at a customer.
type step struct {
	At      time.Time                  `json:"at"`
	After   string                     `json:"after"` // such as 36h
	Modules map[string]json.RawMessage `json:"modules"`
	// Entities change the programme as the Entities API does.
	Entities entities    `json:"entities"`
	Event    *submission `json:"event"`
	Due      bool        `json:"due"`
	Look     string      `json:"look"` // the customer, or name:value; where absent, the event's
	Want     want        `json:"want"`
}

// submission is an event, or with operation true what an operation of another API
// asks for. In its data, and in what a step wants, "$event 2.0" stands for the id
// of the first event that step 2 recorded, and "$code 2.0" for the code of the
// coupon that this event changed.
type submission struct {
	Customer   string          `json:"customer"`
	Was        string          `json:"was"` // instead of customer: what they were called before they were forgotten
	ExternalID string          `json:"external_id"`
	Action     string          `json:"action"`
	Data       json.RawMessage `json:"data"`
	Operation  bool            `json:"operation"`
	Guest      bool            `json:"guest"`
}

// want is what must be after a step. Events, figures, lots and reserved are
// compared as a whole; of everything else the named parts are.
type want struct {
	Error       *wantError       `json:"error,omitempty"`
	Warnings    []wantWarning    `json:"warnings,omitempty"` // all of them
	Events      *[]wantEvent     `json:"events,omitempty"`
	Figures     *figures         `json:"figures,omitempty"`
	Customer    map[string]any   `json:"customer,omitempty"`
	Transaction map[string]any   `json:"transaction,omitempty"`
	Breakdown   *[]string        `json:"breakdown,omitempty"` // of Transaction: action, points, change, earned
	Lots        *[]lot           `json:"lots,omitempty"`      // open ones, in spending order
	Reserved    map[string]int64 `json:"reserved,omitempty"`  // by transaction_id; 0: nothing
	Forgotten   bool             `json:"forgotten,omitempty"`
	Value       any              `json:"value,omitempty"`    // what an operation answers; the named parts
	Coupons     map[string]any   `json:"coupons,omitempty"`  // by code; the named parts, null: no such coupon
	Claims      *[]any           `json:"claims,omitempty"`   // claimed rewards, the oldest first; the named parts
	Progress    map[string]any   `json:"progress,omitempty"` // such as "challenge/spring"; the named parts, null: none
	Others      map[string]want  `json:"others,omitempty"`   // what must be of other customers
}

type wantError struct {
	Name    string         `json:"name"`
	Code    int            `json:"code"`
	Kind    string         `json:"kind"`
	Field   string         `json:"field,omitempty"`
	Args    map[string]any `json:"args,omitempty"`    // the named ones
	Message string         `json:"message,omitempty"` // in English, where the specification words it
}

// wantWarning is a code that a purchase was recorded without.
type wantWarning struct {
	Code  int    `json:"code"`
	Field string `json:"field"`
}

// wantEvent is a recorded event. at and transaction are compared where they are
// named; of data and personal the named attributes are, and null says that an
// attribute is not there.
type wantEvent struct {
	Action      string         `json:"action"`
	Points      int64          `json:"points,omitempty"`
	Change      *int64         `json:"change,omitempty"` // compared where it is named
	ExpDate     string         `json:"expdate,omitempty"`
	Parent      *int           `json:"parent,omitempty"` // place in this list
	At          string         `json:"at,omitempty"`
	Transaction string         `json:"transaction,omitempty"`
	Customer    string         `json:"customer,omitempty"` // whose it is
	Data        map[string]any `json:"data,omitempty"`
	Personal    map[string]any `json:"personal,omitempty"` // sealed attributes
}

type figures struct {
	Score     int64 `json:"score,omitempty"`
	Spent     int64 `json:"spent,omitempty"`
	Reserved  int64 `json:"reserved,omitempty"`
	Expired   int64 `json:"expired,omitempty"`
	Pending   int64 `json:"pending,omitempty"`
	Debt      int64 `json:"debt,omitempty"`
	Spendable int64 `json:"spendable,omitempty"`
}

type lot struct {
	Points      int64  `json:"points"` // as it was earned
	Remaining   int64  `json:"remaining,omitempty"`
	Reserved    int64  `json:"reserved,omitempty"`
	Earned      string `json:"earned"`
	Expires     string `json:"expires,omitempty"`
	Transaction string `json:"transaction,omitempty"`
}

// TestScenarios tells every story on both databases, through the engine, the
// store and the contract that serve requests.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			for _, s := range readScenarios(t, file) {
				t.Run(s.Name, func(t *testing.T) {
					storetest.EachReused(t, func(t *testing.T, db *store.Store) { newStage(t, db, s).play(s.Steps) })
				})
			}
		})
	}
}

// readScenarios reads a file strictly: a misspelt name in it is a failure, not a
// part that is never compared.
func readScenarios(t *testing.T, file string) []scenario {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	var all []scenario
	if err := d.Decode(&all); err != nil {
		line := 1 + bytes.Count(raw[:d.InputOffset()], []byte("\n"))
		require.NoError(t, fmt.Errorf("%s, after line %d: %w", file, line, err))
	}

	require.NotEmpty(t, all, file)
	names := map[string]bool{}
	for _, s := range all {
		require.False(t, names[s.Name], "%s: two scenarios are called %q", file, s.Name)
		names[s.Name] = true
		require.NotEmpty(t, s.Why, "%s: %s: why is missing", file, s.Name)
		require.NotEmpty(t, s.Steps, "%s: %s: no steps", file, s.Name)
		for i, step := range s.Steps {
			require.NoError(t, step.check(), "%s: %s: step %d", file, s.Name, i+1)
		}
	}

	return all
}

// declares says whether a story has actions or attributes of the programme's own.
func (s scenario) declares() bool {
	return len(s.Entities["custom-events/action"])+len(s.Entities["custom-entities/attribute"]) > 0
}

// check refuses a step that could not fail.
func (s step) check() error {
	switch {
	case s.Event == nil && !s.Due && s.Look == "":
		return fmt.Errorf("neither event, due nor look")
	case s.Event != nil && s.Want.Error == nil && s.Want.Events == nil:
		return fmt.Errorf("want tells neither events nor an error")
	case s.Event == nil && (s.Want.Error != nil || s.Want.Events != nil):
		return fmt.Errorf("only an event gives events or an error")
	case s.Due && s.Look == "":
		return fmt.Errorf("due needs look")
	case s.Want.Error != nil && s.Want.Events != nil:
		return fmt.Errorf("want tells both events and an error")
	}
	return nil
}

// title names a step in messages.
func (s step) title(n int) string {
	switch {
	case s.Event != nil:
		return fmt.Sprintf("step %d, %s of %s%s", n, s.Event.Action, s.Event.Customer, s.Event.Was)
	case s.Due:
		return fmt.Sprintf("step %d, the job", n)
	}
	return fmt.Sprintf("step %d, a look at %s", n, s.Look)
}
