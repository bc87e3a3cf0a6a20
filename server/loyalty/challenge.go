package loyalty

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// Counting is what a purchase, or a completion by its event, counted towards one
// completion of a challenge: what is taken out of it when the purchase is refunded.
type Counting struct {
	Challenge string       `json:"challenge"`
	For       ID           `json:"for"`           // the progress that it went into (ChallengeState.Parts, Completion.For)
	Moves     []int64      `json:"moves"`         // by criterion, each in its scale
	Day       calendar.Day `json:"day,omitempty"` // where one completion must fit into so many days
	// Whole is the completion that it made, where nothing but this purchase or
	// completion can break it; others are with the challenge (ChallengeState.Kept).
	Whole *Completion `json:"whole,omitempty"`
}

// Completion is one completion of a challenge that a refund may still break: what
// was counted towards it, as the rule was then. It is never changed in place.
type Completion struct {
	For      []ID                     `json:"for"`
	Of       string                   `json:"of"`               // what the criteria counted
	Event    ID                       `json:"event"`            // its event, which opened its lot
	Points   int64                    `json:"points,omitempty"` // that it gave
	Criteria []int64                  `json:"criteria"`         // all that was counted, each in its scale
	Needs    []int64                  `json:"needs"`            // of which it needs so much to hold
	Window   int                      `json:"window,omitempty"` // the days into which it must fit; 0: no bound
	Days     []map[calendar.Day]int64 `json:"days,omitempty"`   // Criteria by day, where there is a window
	Started  time.Time                `json:"started,omitzero"`
	At       time.Time                `json:"at"`
	Before   time.Time                `json:"before,omitzero"` // when the one before it was completed; zero: it was the first
	// Counts is what its event counted towards other challenges, Gave what campaigns
	// gave because of it.
	Counts []Counting       `json:"counts,omitempty"`
	Gave   []CompletionGift `json:"gave,omitempty"`
}

// CompletionGift are the points of a campaign, by the event that opened their lot.
type CompletionGift struct {
	Campaign string `json:"campaign"`
	Event    ID     `json:"event"`
	Points   int64  `json:"points"`
}
