package display

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// activityKind is a kind of activity that a customer may do.
type activityKind struct {
	name   string // its key in the overview and in activity_types
	one    string // the singular, which activity_types accepts too
	module string // the module that must be on for the kind to be shown
	// all returns the list of the kind without filters.
	all func(r *engine.Run, language *api.Localizer) ([]any, error)
}

// activityKinds are the kinds of the overview, in its order. The function of each kind is next to its list and shares
// its code.
var activityKinds = []activityKind{
	{"rewards", "reward", programme.ModuleRewards, rewardsOverview},
	{"challenges", "challenge", programme.ModuleChallenges, challengesOverview},
	{"quizzes", "quiz", programme.ModuleQuizzes, quizzes.overview},
	{"contests", "contest", programme.ModuleContests, contests.overview},
	{"treasure_hunts", "treasure_hunt", programme.ModuleTreasureHunt, treasures.overview},
	{"offers", "offer", programme.ModuleOffers, offers.overview},
	{"profiling", "profiling", programme.ModuleProfiling, flows.overview},
	{"prize_wheels", "prize_wheel", programme.ModulePrizeWheels, wheels.overview},
}

// ListActivities lists everything that a customer can do now, by kind.
func (a *API) ListActivities(
	ctx context.Context, in display.ListActivitiesRequestObject,
) (display.ListActivitiesResponseObject, error) {
	kinds, fields := kindsOf(in.Params.ActivityTypes), fieldsOf(in.Params.Fields)
	var overview struct {
		Data map[string][]json.RawMessage `json:"data"`
	}
	err := a.Customers.View(ctx, in.CustomerID, activityNeeds(a.Programme()), func(r *engine.Run) error {
		overview.Data = map[string][]json.RawMessage{}
		for _, k := range kinds {
			if k.module != "" && !r.Programme.On[k.module] {
				continue
			}
			list, err := k.all(r, api.RequestOf(ctx).Language)
			if err != nil {
				return err
			}
			overview.Data[k.name] = selected(list, fields)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(overview)}, nil
}

// activityNeeds is what all kinds read of a customer, so that it is loaded at once.
func activityNeeds(p *programme.Programme) loyalty.CustomerNeeds {
	n := reward.ClaimNeeds(reward.Rewards.Of(p))
	n.Tallies = append(n.Tallies, offer.OfferTallies(p)...)
	n.Progress |= loyalty.Kinds(
		loyalty.ProgressChallenge, loyalty.ProgressContest, loyalty.ProgressWheel, loyalty.ProgressTreasure,
		loyalty.ProgressOffer, loyalty.ProgressQuiz, loyalty.ProgressFlow,
	)
	return n
}

// kindsOf reads activity_types: all kinds if it is absent. An unknown name selects nothing.
func kindsOf(text *string) []activityKind {
	if text == nil {
		return activityKinds
	}
	names := fieldsOf(text)
	return slices.DeleteFunc(slices.Clone(activityKinds), func(k activityKind) bool {
		return !slices.Contains(names, k.name) && !slices.Contains(names, k.one)
	})
}

// fieldsOf splits a list at its commas; nil if it is absent.
func fieldsOf(text *string) []string {
	if text == nil {
		return nil
	}
	names := []string{"id"}
	for name := range strings.SplitSeq(*text, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// selected writes entries with the selected properties; nil fields means all.
func selected(list []any, fields []string) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, entry := range list {
		out[i] = api.Marshal(entry)
		if fields == nil {
			continue
		}

		var all map[string]json.RawMessage
		if json.Unmarshal(out[i], &all) != nil {
			continue // an entry is an object
		}

		for name := range all {
			if !slices.Contains(fields, name) {
				delete(all, name)
			}
		}

		out[i] = api.Marshal(all)
	}

	return out
}
