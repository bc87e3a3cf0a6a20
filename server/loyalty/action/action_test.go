package action_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// actions lists the actions of the table by name.
func actions() []string {
	var names []string
	for _, rule := range action.All() {
		names = append(names, rule.Meta().Name)
	}
	return names
}

// submittable are those that POST /events takes; the others are what operations
// of the other APIs ask for.
func submittable() []string {
	return slices.DeleteFunc(actions(), func(name string) bool { return slices.Contains(programme.InternalActions(), name) })
}

// stories are the scenario files about rules that several actions share.
var stories = []string{"acceptance", "campaigns", "challenges", "challenges_refunds", "change", "codes", "currencies", "custom_events", "days", "gift_cards", "invalid_codes", "referral", "tiers", "undone"}

func TestTheTableIsAlphabetical(t *testing.T) {
	names := actions()
	require.True(t, slices.IsSorted(names), "%v", names)
	require.Len(t, slices.Compact(slices.Clone(names)), len(names), "an action stands in the table twice")
}

// TestTableAndContractAgree holds the table against the Events document in both
// directions: its discriminator and its list of internal actions.
func TestTableAndContractAgree(t *testing.T) {
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	event := doc.Components.Schemas["Event"].Value
	require.Equal(t, slices.Sorted(maps.Keys(event.Discriminator.Mapping)), submittable())
}

// internalActions lists what the Events document keeps to the platform.
func internalActions(t *testing.T) []string {
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	all, ok := doc.Components.Schemas["Event"].Value.Extensions["x-internal-actions"].(map[string]any)
	require.True(t, ok, "x-internal-actions is a map by name")
	return slices.Sorted(maps.Keys(all))
}

// TestInternalActionsAreRefused submits each of them: the answer is that the platform writes it, not that it is
// unknown.
func TestInternalActionsAreRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.Store) {
		s := newStage(t, db, scenario{Given: []given{{Customer: "ada"}}})
		var otherwise []string
		for _, name := range internalActions(t) {
			_, err := s.Submit(s.ctx, loyalty.Submission{Customer: "ada", Action: name})
			if !errors.Is(err, loyalty.ErrInternalAction) {
				otherwise = append(otherwise, fmt.Sprintf("%s: %v", name, err))
			}
		}
		require.Empty(t, otherwise)
	})
}

// TestEveryActionHasScenarios holds the table against the scenario files in
// both directions.
func TestEveryActionHasScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	var told []string
	for _, file := range files {
		told = append(told, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	require.ElementsMatch(t, append(actions(), stories...), told)
}
