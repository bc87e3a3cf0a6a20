package action

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// visualSearchData are the attributes of visual_search.
type visualSearchData struct {
	Bounds []visualSearchBound `json:"bounds"`
}

// visualSearchBound is one thing that was recognised in a picture, in words that can say anything.
type visualSearchBound struct {
	Gender  string `json:"gender"`
	Offers  string `json:"offers"`
	Label   string `json:"label"`
	Catalog string `json:"catalog"`
}

// attributes are those that were sent.
func (b visualSearchBound) attributes() map[string]json.RawMessage {
	sent := map[string]json.RawMessage{}
	for name, text := range map[string]string{"gender": b.Gender, "offers": b.Offers, "label": b.Label, "catalog": b.Catalog} {
		if text != "" {
			sent[name] = loyalty.JSON(text)
		}
	}
	return sent
}

// visual_search records what a customer looked for with a picture: the search,
// and a visual_search_bound for each thing that was recognised. It answers
// loyalty.RecordedSearch.
var visualSearch = engine.Action[visualSearchData]{
	Name: "visual_search",
	Apply: func(r *engine.Run, d visualSearchData) error {
		// an event each, so that campaigns and challenges can react to every thing that was seen
		for _, bound := range d.Bounds {
			if _, err := r.DeriveSealed(r.Event, "visual_search_bound", struct{}{}, bound.attributes()); err != nil {
				return err
			}
		}
		r.Value = game.RecordedSearch{ID: r.Event.ID, Bounds: len(d.Bounds)}
		return nil
	},
}
