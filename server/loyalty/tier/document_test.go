package tier

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// TestStateReadsAsJSONDoes: whatever a state has, it is read as encoding/json reads it; so is what was written otherwise.
func TestStateReadsAsJSONDoes(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 30, 15, 123000000, time.FixedZone("", 3600))
	for n := range 2000 {
		st := TierState{
			TierHold{Tier: "gold", Since: at, Earned: "silver", GraceUntil: at.UTC(), Manual: "bronze", ManualUntil: at, ManualOver: "x"},
			TierFigures{Of: `points "<é>`, Built: at, Through: loyalty.NewID(at, loyalty.ID{}), Total: -5, Buckets: map[calendar.Day]int64{20000: 3, 20100: -1}},
		}
		for _, part := range []reflect.Value{reflect.ValueOf(&st.TierHold).Elem(), reflect.ValueOf(&st.TierFigures).Elem()} {
			for i := range part.NumField() {
				require.False(t, part.Field(i).IsZero(), "%s is left out", part.Type().Field(i).Name)
				if n > 0 && rand.IntN(2) == 0 {
					part.Field(i).SetZero()
				}
			}
		}
		same(t, string(loyalty.JSON(st)))
	}

	for _, text := range []string{
		"null", "{}", "[]", "1", "", `{"tier":null}`, `{"tier":1}`, `{"Tier":"a"}`, `{"manual":"gold"}`, `{"total":1.5}`, `{"since":null}`, `{"through":null}`, `{"through":"x"}`,
		`{"buckets":null}`, `{"buckets":{}}`, `{"buckets":{"x":1}}`, `{"buckets":{"2026-01-01":null}}`, `{"buckets":{"2026-01-01":1,"2026-01-01":2}}`, `{"buckets":[]}`, `{"tier":"a"} `,
	} {
		same(t, text)
	}
}

func same(t *testing.T, text string) {
	t.Helper()
	var want, have TierState
	wanted, got := json.Unmarshal([]byte(text), &want), loyalty.ReadInto([]byte(text), &have)
	require.Equal(t, wanted == nil, got == nil, text)
	if wanted == nil {
		assert.Equal(t, want, have, text)
	}
}
