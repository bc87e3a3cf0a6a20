package game

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Choice is an answer that can be chosen.
type Choice struct {
	ID   string        `json:"id"`
	Text loyalty.Texts `json:"text"`
}

// checkChoices refuses answers that could not be told apart.
func checkChoices(field string, choices []Choice) error {
	seen := map[string]bool{}
	for _, c := range choices {
		if seen[c.ID] {
			return programme.Fault(field, "not_unique", nil)
		}
		seen[c.ID] = true
	}
	return nil
}

// checkChoice refuses an answer that is not one of the choices.
func checkChoice(choices []Choice, answer string) error {
	switch {
	case answer == "":
		return loyalty.ErrPropertyEmpty.With("property", "answer").At("data.answer")
	case len(choices) > 0 && !slices.ContainsFunc(choices, func(c Choice) bool { return c.ID == answer }):
		return programme.Fault("data.answer", "must_be_one_of", map[string]any{"values": choiceIDs(choices)})
	}
	return nil
}

func choiceIDs(choices []Choice) string {
	ids := make([]string, len(choices))
	for i, c := range choices {
		ids[i] = c.ID
	}
	return strings.Join(ids, ", ")
}

// RecordedSearch is the result of visual_search.
type RecordedSearch struct {
	ID     loyalty.ID `json:"id"` // the event that records it
	Bounds int        `json:"bounds"`
}
