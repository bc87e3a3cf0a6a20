package loyalty

import (
	"encoding/json"
	"strings"
	"time"
)

// The kinds of a treasure.
const (
	TreasureOnline  = "online"
	TreasureOffline = "offline" // found at a place; with a code only by its code
)

// Treasure can be found once by each customer (treasure-hunt/treasure).
type Treasure struct {
	ID          string `json:"-"`
	Title       Texts  `json:"title"`
	Description Texts  `json:"description"`
	Kind        string `json:"kind"`
	Code        string `json:"code"`
	Points      int64  `json:"points"`
	Dates

	// Custom are the attributes of the programme's own, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Treasures are what customers find (module treasure_hunt).
var Treasures = &EntityType[*Treasure]{Type: "treasure-hunt/treasure", Module: ModuleTreasureHunt, Read: readTreasure}

// readTreasure refuses a code on an online treasure: it would never be asked.
func readTreasure(p *Programme, e Entity) (*Treasure, error) {
	t := &Treasure{ID: e.ID, Custom: customOf(e)}
	if err := decodeEntity(e, t); err != nil {
		return nil, err
	}
	t.Code = strings.TrimSpace(t.Code)
	if t.Kind == TreasureOnline && t.Code != "" {
		return nil, unfit("code", "kind", t.Kind)
	}
	return t, t.check()
}

// Action is the action that finds the treasure.
func (t *Treasure) Action() string {
	switch {
	case t.Kind == TreasureOnline:
		return "treasure_found"
	case t.Code == "":
		return "offline_treasure_found"
	}
	return "offline_treasure_code_found"
}

// Opens says whether a code is the treasure's. Blanks around it and capital
// letters do not matter: people type it from a poster.
func (t *Treasure) Opens(code string) bool { return strings.EqualFold(strings.TrimSpace(code), t.Code) }

// TreasureInForce finds a treasure that can be found now; field is where the request
// names it. It fails like InForce.
func (r *Run) TreasureInForce(id, field string) (*Treasure, error) {
	return InForce(r, Treasures.Of(r.Programme), treasureReference(id, field))
}

// MayFind fails with ErrTreasureFound where the customer found the treasure before.
func (r *Run) MayFind(t *Treasure, field string) error {
	found, err := r.Progress(ProgressTreasure, t.ID, &TreasureProgress{})
	if err == nil && found {
		err = r.Refuse(treasureReference(t.ID, field), "reason.limit", ErrTreasureFound)
	}
	return err
}

func treasureReference(id, field string) Reference {
	return Reference{Type: "treasure-hunt/treasure", ID: id, Field: field}
}

// TreasureOutlook is where a customer stands with a treasure.
type TreasureOutlook struct {
	Refusal error             // what finding it would be refused with; nil: it would not be
	Found   *TreasureProgress // when they found it; nil: not yet
}

// TreasureOutlook looks at a treasure with the eyes of the action that finds it.
func (r *Run) TreasureOutlook(t *Treasure) (o TreasureOutlook, err error) {
	var p TreasureProgress
	found, err := r.Progress(ProgressTreasure, t.ID, &p)
	if err != nil {
		return o, err
	}
	if found {
		o.Found = &p
	}
	o.Refusal, err = r.outlook(t.Action(), func() error {
		if _, err := r.TreasureInForce(t.ID, ""); err != nil {
			return err
		}
		return r.MayFind(t, "")
	})
	return o, err
}

// TreasureProgress is a customer's progress with a treasure: when it was found.
type TreasureProgress struct {
	FoundAt time.Time `json:"found_at"`
}

// TreasureFeature is the module treasure_hunt: what is found once stays found the first time.
var TreasureFeature = Feature{Name: "treasure_hunt", Progress: ProgressTreasure, Join: JoinBy(func(a *TreasureProgress, b TreasureProgress) {
	if b.FoundAt.Before(a.FoundAt) {
		*a = b
	}
})}
