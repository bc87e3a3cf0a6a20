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

// visualSearchBound is one object that was recognised in a picture, described in free text.
type visualSearchBound struct {
	Gender  string `json:"gender"`
	Offers  string `json:"offers"`
	Label   string `json:"label"`
	Catalog string `json:"catalog"`
}

// attributes are those that were sent.
func (b visualSearchBound) attributes() map[string]json.RawMessage {
	sent := map[string]json.RawMessage{}
	for name, text := range map[string]string{"gender": b.Gender, "offers": b.Offers,
		"label": b.Label, "catalog": b.Catalog} {
		if text != "" {
			sent[name] = loyalty.JSON(text)
		}
	}
	return sent
}

// visual_search records a customer's search by picture: the search, and a visual_search_bound for each recognised
// object. It answers loyalty.RecordedSearch.
var visualSearch = engine.Action[visualSearchData]{
	Name: "visual_search",
	Apply: func(r *engine.Run, d visualSearchData) error {
		// one event each, so that campaigns and challenges can react to every object
		for _, bound := range d.Bounds {
			if _, err := r.DeriveSealed(r.Event, "visual_search_bound", struct{}{}, bound.attributes()); err != nil {
				return err
			}
		}
		r.Value = game.RecordedSearch{ID: r.Event.ID, Bounds: len(d.Bounds)}
		return nil
	},
}
