package game

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The kinds of treasures.
const (
	TreasureOnline  = "online"
	TreasureOffline = "offline" // found at a place; with a code only by its code
)

// Treasure is something that each customer can find once (treasure-hunt/treasure).
type Treasure struct {
	ID          string        `json:"-"`
	Title       loyalty.Texts `json:"title"`
	Description loyalty.Texts `json:"description"`
	Kind        string        `json:"kind"`
	Code        string        `json:"code"`
	Points      int64         `json:"points"`
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Treasures are the treasures to find (module treasure_hunt).
var Treasures = &programme.EntityType[*Treasure]{Type: "treasure-hunt/treasure",
	Module: programme.ModuleTreasureHunt, Read: readTreasure}

// readTreasure refuses a code on an online treasure, which would never be asked for.
func readTreasure(p *programme.Programme, e loyalty.Entity) (*Treasure, error) {
	t := &Treasure{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, t); err != nil {
		return nil, err
	}
	t.Code = strings.TrimSpace(t.Code)
	if t.Kind == TreasureOnline && t.Code != "" {
		return nil, programme.NotWith("code", "kind", t.Kind)
	}
	return t, programme.CheckDates(t.Dates)
}

// Action is the action by which the treasure is found.
func (t *Treasure) Action() string {
	switch {
	case t.Kind == TreasureOnline:
		return "treasure_found"
	case t.Code == "":
		return "offline_treasure_found"
	}
	return "offline_treasure_code_found"
}

// Opens reports whether a code is the treasure's. Surrounding blanks and the case of letters do not matter, because
// people type it from a poster.
func (t *Treasure) Opens(code string) bool { return strings.EqualFold(strings.TrimSpace(code), t.Code) }

// TreasureInForce returns a treasure that can be found now; field is where the request names it. It
// fails as InForce does.
func TreasureInForce(r *engine.Run, id, field string) (*Treasure, error) {
	return engine.InForce(r, Treasures.Of(r.Programme), treasureReference(id, field))
}

// MayFind fails with ErrTreasureFound if the customer found the treasure before.
func MayFind(r *engine.Run, t *Treasure, field string) error {
	found, err := r.Progress(loyalty.ProgressTreasure, t.ID, &TreasureProgress{})
	if err == nil && found {
		err = r.Refuse(treasureReference(t.ID, field), "reason.limit", loyalty.ErrTreasureFound)
	}
	return err
}

func treasureReference(id, field string) engine.Reference {
	return engine.Reference{Type: "treasure-hunt/treasure", ID: id, Field: field}
}

// TreasureOutlook is a customer's standing with a treasure.
type TreasureOutlook struct {
	Refusal error             // the error that finding it would get; nil: it would be accepted
	Found   *TreasureProgress // the customer's find; nil: not yet
}

// OutlookOnTreasure evaluates a treasure by the rules of the action that finds it.
func OutlookOnTreasure(r *engine.Run, t *Treasure) (o TreasureOutlook, err error) {
	var p TreasureProgress
	found, err := r.Progress(loyalty.ProgressTreasure, t.ID, &p)
	if err != nil {
		return o, err
	}
	if found {
		o.Found = &p
	}

	o.Refusal, err = r.Outlook(t.Action(), func() error {
		if _, err := TreasureInForce(r, t.ID, ""); err != nil {
			return err
		}
		return MayFind(r, t, "")
	})

	return o, err
}

// TreasureProgress is when a customer found a treasure.
type TreasureProgress struct {
	FoundAt time.Time `json:"found_at"`
}

// TreasureFeature is the module treasure_hunt: of two finds the first one counts.
var TreasureFeature = engine.Feature{Name: "treasure_hunt", Progress: loyalty.ProgressTreasure,
	Join: engine.JoinBy(func(a *TreasureProgress, b TreasureProgress) {
		if b.FoundAt.Before(a.FoundAt) {
			*a = b
		}
	})}
