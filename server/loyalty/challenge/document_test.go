package challenge

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

// full is a state in which every field has something.
func full() ChallengeState {
	at := time.Date(2026, 11, 26, 12, 30, 15, 123000000, time.FixedZone("", 3600))
	id := loyalty.NewID(at, loyalty.ID{})
	return ChallengeState{
		Of: `point_add "of" <é>`, Completions: 12, Criteria: []int64{0, -3, 1 << 60}, Started: at, Completed: at.UTC(),
		Days: []map[calendar.Day]int64{{20000: 3}, nil}, Parts: []loyalty.ID{id, {}}, Sole: id,
		Kept: []loyalty.Completion{{Event: id}}, Passed: []passed{{}},
	}
}

// TestStateReadsAsJSONDoes: whatever a state has, it is read as encoding/json reads it; so is what was written otherwise.
func TestStateReadsAsJSONDoes(t *testing.T) {
	for n := range 2000 {
		st := full()
		of := reflect.ValueOf(&st).Elem()
		for i := range of.NumField() {
			require.False(t, of.Field(i).IsZero(), "full leaves %s out", of.Type().Field(i).Name)
			if n > 0 && rand.IntN(2) == 0 {
				of.Field(i).SetZero()
			}
		}
		same(t, string(loyalty.JSON(st)))
	}

	for _, text := range []string{
		"null", "{}", "[]", "1", "", "{", `{"of"`, `{"of":`, `{"of":"`, `{"of":"a"`, `{"of":"a",}`, `{"of":"a"}}`, ` {"of":"a"}`, `{ "of" : "a" }`,
		`{"OF":"a"}`, `{"\u006ff":"a"}`, `{"of":null}`, `{"of":1}`, `{"other":{"of":"a"}}`, `{"of":"a","of":"b"}`, `{"of":"\n\u00e9"}`,
		`{"completions":null}`, `{"completions":1e2}`, `{"completions":1.5}`, `{"completions":"1"}`, `{"completions":01}`, `{"completions":-1}`, `{"completions":99999999999999999999}`, `{"completions":}`,
		`{"criteria":null}`, `{"criteria":[]}`, `{"criteria":[1,2,]}`, `{"criteria":[1.5]}`, `{"criteria":{}}`, `{"criteria":[null]}`,
		`{"started":null}`, `{"started":"x"}`, `{"started":1}`, `{"parts":[]}`, `{"parts":["x"]}`, `{"parts":[null]}`, `{"sole":null}`, `{"sole":""}`,
	} {
		same(t, text)
	}
}

func same(t *testing.T, text string) {
	t.Helper()
	var want, have ChallengeState
	wanted, got := json.Unmarshal([]byte(text), &want), loyalty.ReadInto([]byte(text), &have)
	require.Equal(t, wanted == nil, got == nil, text)
	if wanted == nil {
		assert.Equal(t, want, have, text)
	}
}

// BenchmarkState reads a state as it usually is.
func BenchmarkState(b *testing.B) {
	st := full()
	st.Days, st.Kept, st.Passed, st.Of = nil, nil, nil, "[1|checkout|transaction.total >= 20]"
	text := loyalty.JSON(st)
	b.Run("document", func(b *testing.B) {
		for b.Loop() {
			var st ChallengeState
			if st.ReadDocument(text) != nil {
				b.Fatal(string(text))
			}
		}
	})

	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			var st ChallengeState
			if json.Unmarshal(text, &st) != nil {
				b.Fatal(string(text))
			}
		}
	})
}
