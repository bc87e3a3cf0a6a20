package loyalty

import (
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
	ID     string `json:"-"`
	Title  Texts  `json:"title"`
	Kind   string `json:"kind"`
	Code   string `json:"code"`
	Points int64  `json:"points"`
	Dates
}

// readTreasure refuses a code on an online treasure: it would never be asked.
func readTreasure(p *Programme, e Entity) error {
	t := &Treasure{ID: e.ID}
	if err := decodeEntity(e, t); err != nil {
		return err
	}
	t.Code = strings.TrimSpace(t.Code)
	if t.Kind == TreasureOnline && t.Code != "" {
		return unfit("code", "kind", t.Kind)
	}
	p.Treasures[t.ID] = t
	return t.check()
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

// TreasureProgress is a customer's progress with a treasure: when it was found.
type TreasureProgress struct {
	FoundAt time.Time `json:"found_at"`
}
