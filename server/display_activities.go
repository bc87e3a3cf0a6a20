package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// activityKind is one kind of the things that a customer may do.
type activityKind struct {
	name   string // its key in the overview, and what activity_types calls it
	one    string // the same in the singular, which activity_types takes too
	module string // without which the kind is left out
	// all gives what the list of the kind answers without filters.
	all func(r *loyalty.Run, language *tongue) ([]any, error)
}

// activityKinds are the kinds of the overview, in its order. Each has its function
// next to its own list, which uses the same one.
var activityKinds = []activityKind{
	{"rewards", "reward", loyalty.ModuleRewards, rewardsOverview},
	{"challenges", "challenge", loyalty.ModuleChallenges, challengesOverview},
	{"quizzes", "quiz", loyalty.ModuleQuizzes, overview(quizActivities)},
	{"contests", "contest", loyalty.ModuleContests, overview(contestActivities)},
	{"treasure_hunts", "treasure_hunt", loyalty.ModuleTreasureHunt, overview(treasureActivities)},
	{"offers", "offer", loyalty.ModuleOffers, overview(offerActivities)},
	{"profiling", "profiling", loyalty.ModuleProfiling, overview(flowActivities)},
	{"prize_wheels", "prize_wheel", loyalty.ModulePrizeWheels, overview(wheelActivities)},
}

// overview makes a list's own function one of the overview: what is active, without
// filters.
func overview(list func(*loyalty.Run, *tongue) ([]activity, error)) func(*loyalty.Run, *tongue) ([]any, error) {
	return func(r *loyalty.Run, language *tongue) ([]any, error) {
		all, err := list(r, language)
		return entries[any](activeOnly(nil, all)), err
	}
}

// ListActivities gives everything that a customer can do now, by kind.
func (a *displayAPI) ListActivities(ctx context.Context, in display.ListActivitiesRequestObject) (display.ListActivitiesResponseObject, error) {
	kinds, fields := kindsOf(in.Params.ActivityTypes), fieldsOf(in.Params.Fields)
	var overview struct {
		Data map[string][]json.RawMessage `json:"data"`
	}
	err := a.customers.view(ctx, in.CustomerID, activityNeeds(a.programme()), func(r *loyalty.Run) error {
		overview.Data = map[string][]json.RawMessage{}
		for _, k := range kinds {
			if k.module != "" && !r.Programme.On[k.module] {
				continue
			}
			list, err := k.all(r, requestOf(ctx).language)
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
	return rawResponse{status: http.StatusOK, body: marshal(overview)}, nil
}

// activityNeeds is what the kinds read of a customer, so that it is loaded at once.
func activityNeeds(p *loyalty.Programme) loyalty.CustomerNeeds {
	n := loyalty.ClaimNeeds(p.Rewards)
	n.Tallies = append(n.Tallies, loyalty.OfferTallies(p)...)
	n.Progress |= loyalty.Kinds(
		loyalty.ProgressChallenge, loyalty.ProgressContest, loyalty.ProgressWheel, loyalty.ProgressTreasure,
		loyalty.ProgressOffer, loyalty.ProgressQuiz, loyalty.ProgressFlow,
	)
	return n
}

// kindsOf reads activity_types: all kinds where it is absent. A name that is none
// chooses nothing.
func kindsOf(text *string) []activityKind {
	if text == nil {
		return activityKinds
	}
	names := fieldsOf(text)
	return slices.DeleteFunc(slices.Clone(activityKinds), func(k activityKind) bool {
		return !slices.Contains(names, k.name) && !slices.Contains(names, k.one)
	})
}

// fieldsOf takes a list apart that is separated by commas; nil where it is absent.
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

// selected writes entries with the properties that were chosen; nil: with all.
func selected(list []any, fields []string) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, entry := range list {
		out[i] = marshal(entry)
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
		out[i] = marshal(all)
	}
	return out
}
