package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Of an answer, what is another each time: ids are known by the order in which they come, the rest is not looked at.
var (
	drawnID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\bLK[A-Z0-9]{14}\b|\b[A-Z]+-\d{4}-[A-Z]{4}\b`)
	changes = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|,?"(time|duration|last_duration|lag_ms)":[0-9.e-]+|` +
		`"(secret|public_key|session_id|path)":"[^"]*"|\bsessions/[\w-]{43}|cursor=[^"&]*|"cursor":"[^"]*"`)
)

// notAlike answer what the machine did, or what chance chose.
var notAlike = []string{"getSystem", "getMe", "countRequests", "listJobs", "runJob", "spinPrizeWheel"}

// TestDatabasesAnswerAlike sends both databases the same drawn requests for every operation, and holds the answers against each
// other: what a caller is told must not depend on where it is kept.
func TestDatabasesAnswerAlike(t *testing.T) {
	if os.Getenv("LOYALTY_TORTURE") == "" {
		t.Skip("a part of the long tests: make torture")
	}

	type heard struct{ operation, asked, answered string }
	seed := rand.Uint64() //nolint:gosec // any number
	told := map[string][]heard{}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			w := newWitness(openOn(t, d.Migrated(t), patient), seed)
			w.inhabit()
			known := map[string]string{}
			alike := func(text string) string {
				text = drawnID.ReplaceAllStringFunc(text, func(id string) string {
					if known[id] == "" {
						known[id] = fmt.Sprint("#", len(known))
					}
					return known[id]
				})
				return changes.ReplaceAllString(text, "~")
			}

			w.heard = func(o *offered, target, body string, a answer) {
				told[d.Name] = append(told[d.Name], heard{o.OperationID, alike(target + " " + body), alike(fmt.Sprint(a.status, " ", a.body))})
			}
			w.each(func(w *witness, o *offered) {
				if !slices.Contains(notAlike, o.OperationID) {
					w.draws(o, honest())
				}
				if o.api == "administration" {
					w.everyModule()
				}
			})
		})
	}

	one, other := told["sqlite"], told["postgres"]
	require.NotEmpty(t, one, "seed %d", seed)
	for i, unlike := 0, 0; i < min(len(one), len(other)) && unlike < 10; i++ {
		if !assert.Equal(t, one[i], other[i], "seed %d, request %d", seed, i) {
			unlike++
		}
	}

	require.Len(t, other, len(one), "seed %d", seed)
	t.Logf("figures: F3: %d requests, seed %d", len(one), seed)
}
