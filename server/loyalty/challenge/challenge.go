// Package challenge has the challenges that customers work towards: what counts, when a challenge is completed, and
// what a refund takes back.
package challenge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Challenge is a goal with a reward (challenges/challenge).
type Challenge struct {
	ID             string        `json:"-"`
	Title          loyalty.Texts `json:"title"`
	Description    loyalty.Texts `json:"description"`
	Criteria       []Criterion   `json:"criteria"`
	Points         int64         `json:"points"`          // on completion
	MaxCompletions *int64        `json:"max_completions"` // nil: once
	Resetable      bool          `json:"resetable"`
	Tags           []string      `json:"tags"`
	WindowDays     int           `json:"window_days"` // days within which a completion must happen; 0: no bound
	Refunds        string        `json:"refunds"`     // RefundsUndo (also when empty) or RefundsKeep
	loyalty.Dates

	// Custom holds the custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`

	of string // the criteria as text; progress made for other criteria starts anew
}

// Criterion is one condition of a challenge's completion.
type Criterion struct {
	Action    string               `json:"action"`
	Condition string               `json:"condition"`
	Threshold int64                `json:"threshold"`
	Sum       string               `json:"sum"` // the attribute to sum, such as points or data.total; empty: counts
	Is        *condition.Condition `json:"-"`
}

// Challenges are goals that customers work towards (module challenges).
var Challenges = &programme.EntityType[*Challenge]{Type: "challenges/challenge", Module: programme.ModuleChallenges,
	Read: readChallenge, Index: orderChallenges}

// readChallenge refuses a criterion whose condition or attribute no event can have, because such a
// challenge could never be completed.
func readChallenge(p *programme.Programme, e loyalty.Entity) (*Challenge, error) {
	c := &Challenge{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, c); err != nil {
		return nil, err
	}
	if c.Refunds != "" && c.Refunds != RefundsUndo && c.Refunds != RefundsKeep {
		return nil, programme.Fault("refunds", "must_be_one_of", map[string]any{"values": RefundsUndo + ", " + RefundsKeep})
	}

	of := sha256.New()
	for i := range c.Criteria {
		k := &c.Criteria[i]
		if err := k.compile(fmt.Sprintf("criteria[%d].", i)); err != nil {
			return nil, err
		}
		fmt.Fprintf(of, "%q%q%q", k.Action, k.Condition, k.Sum)
	}

	c.of = hex.EncodeToString(of.Sum(nil)[:6])
	return c, programme.CheckDates(c.Dates)
}

func (k *Criterion) compile(at string) (err error) {
	if k.Is, err = programme.CompileCondition(at+"condition", k.Condition); err != nil {
		return err
	}
	if k.Sum != "" && !summable(k.Sum) {
		return programme.Fault(at+"sum", "must_be_one_of", map[string]any{"values": "points, data.*, transaction.*, item.*"})
	}
	return nil
}

// The numbers of a purchase and of a line that a criterion can sum, besides the attributes that were sent with them.
var (
	purchaseSums = []string{"total", "original_total", "refunded", "earned", "burned"}
	lineSums     = []string{"quantity", "subtotal"}
)

// summable reports whether a path names a number that occurrences can have.
func summable(path string) bool {
	record, field, _ := strings.Cut(strings.TrimPrefix(path, "event."), ".")
	name, rest, nested := strings.Cut(field, ".")
	switch record {
	case "points":
		return field == ""
	case "data":
		return field != ""
	case "transaction":
		return (!nested && slices.Contains(purchaseSums, name)) || (name == "data" && rest != "")
	case "item":
		return (!nested && slices.Contains(lineSums, name)) || (!nested && (name == "price" || name == "discount")) ||
			(name == "data" && rest != "")
	}
	return false
}

// orderChallenges indexes the challenges by the actions that they count, in the order of their ids: an event then looks
// only at the challenges that it could move.
func orderChallenges(p *programme.Programme, all map[string]*Challenge) {
	by := map[string][]*Challenge{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		c := all[id]
		for i, k := range c.Criteria {
			if !slices.ContainsFunc(c.Criteria[:i], func(o Criterion) bool { return o.Action == k.Action }) {
				by[k.Action] = append(by[k.Action], c)
			}
		}
	}
	counted.Set(p, by)
}

// counted is the index of challenges by action.
var counted programme.Slot[map[string][]*Challenge]

// most is how often one customer may complete the challenge.
func (c *Challenge) most() int64 {
	if c.MaxCompletions == nil {
		return 1
	}
	return *c.MaxCompletions
}

// scale is how many units of a criterion's count make one of its threshold: money and other sums are kept in 1/10,000,
// events and points are whole.
func (k *Criterion) scale() int64 {
	if k.Sum == "" || strings.TrimPrefix(k.Sum, "event.") == "points" {
		return 1
	}
	return sumScale
}
