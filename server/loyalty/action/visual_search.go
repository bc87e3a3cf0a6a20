package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// visualSearchData are the attributes of visual_search.
type visualSearchData struct {
	Bounds []visualSearchBound `json:"bounds"`
}

// visualSearchBound is one thing that was recognised in a picture.
type visualSearchBound struct {
	Gender  string `json:"gender,omitempty"`
	Offers  string `json:"offers,omitempty"`
	Label   string `json:"label,omitempty"`
	Catalog string `json:"catalog,omitempty"`
}

// visual_search records what a customer looked for with a picture: the search,
// and a visual_search_bound for each thing that was recognised. It answers
// loyalty.RecordedSearch.
var visualSearch = engine.Action[visualSearchData]{
	Name: "visual_search",
	Apply: func(r *engine.Run, d visualSearchData) error {
		// an event each, so that campaigns and challenges can react to every thing that was seen
		for _, bound := range d.Bounds {
			r.Derive(r.Event, "visual_search_bound", bound)
		}
		r.Value = game.RecordedSearch{ID: r.Event.ID, Bounds: len(d.Bounds)}
		return nil
	},
}
