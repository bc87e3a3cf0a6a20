package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// activityKind is one kind of the things that a customer may do.
type activityKind struct {
	name   string // its key in the overview, and what activity_types calls it
	one    string // the same in the singular, which activity_types takes too
	module string // without which nobody can do it
	// list gives what the list of the kind answers without filters, whole.
	list func(a *displayAPI, r *loyalty.Run, language *tongue, now time.Time) ([]any, error)
}

// activityKinds are the kinds of the overview, in its order. Each has its function
// next to its own list, which uses the same one.
var activityKinds = []activityKind{
	{"rewards", "reward", loyalty.ModuleRewards, activities((*displayAPI).rewardsActivities)},
	{"challenges", "challenge", loyalty.ModuleChallenges, activities((*displayAPI).challengesActivities)},
	{"quizzes", "quiz", loyalty.ModuleQuizzes, activities(quizActivities.whole)},
	{"contests", "contest", loyalty.ModuleContests, activities(contestActivities.whole)},
	{"treasure_hunts", "treasure_hunt", loyalty.ModuleTreasureHunt, activities(treasureActivities.whole)},
	{"offers", "offer", loyalty.ModuleOffers, activities(offerActivities.whole)},
	{"profiling", "profiling", loyalty.ModuleProfiling, activities(flowActivities.whole)},
	{"prize_wheels", "prize_wheel", loyalty.ModulePrizeWheels, activities(wheelActivities.whole)},
}

// activities makes a kind's own function one of the overview's.
func activities[T any](of func(a *displayAPI, r *loyalty.Run, language *tongue, now time.Time) ([]T, error)) func(*displayAPI, *loyalty.Run, *tongue, time.Time) ([]any, error) {
	return func(a *displayAPI, r *loyalty.Run, language *tongue, now time.Time) ([]any, error) {
		list, err := of(a, r, language, now)
		all := make([]any, len(list))
		for i, entry := range list {
			all[i] = entry
		}
		return all, err
	}
}

// ListActivities gives everything that a customer can do now, by kind.
func (a *displayAPI) ListActivities(ctx context.Context, in display.ListActivitiesRequestObject) (display.ListActivitiesResponseObject, error) {
	kinds, fields := kindsOf(in.Params.ActivityTypes), fieldsOf(in.Params.Fields)
	var overview struct {
		Data map[string][]json.RawMessage `json:"data"`
	}
	err := a.view(ctx, in.CustomerID, activityNeeds(a.programme()), func(r *loyalty.Run) error {
		overview.Data = map[string][]json.RawMessage{}
		for _, k := range kinds {
			if k.module != "" && !r.Programme.On[k.module] {
				continue
			}
			list, err := k.list(a, r, requestOf(ctx).language, a.clock())
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
	return written{status: http.StatusOK, body: marshal(overview)}, nil
}

// activityNeeds is what the kinds read of a customer, so that it is loaded at once.
func activityNeeds(p *loyalty.Programme) loyalty.CustomerNeeds {
	n := loyalty.ClaimNeeds(loyalty.Rewards.Of(p))
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
