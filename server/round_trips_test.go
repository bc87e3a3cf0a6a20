package server_test

import (
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestReadsTakeTwoRoundTrips counts on the wire what every operation that reads asks of PostgreSQL. The operations are
// those of the documents, so that a new one is counted too. A statement that a connection sees for the first time costs
// one more, to prepare it, and a customer with something due costs what settles it: neither is counted here.
func TestReadsTakeTwoRoundTrips(t *testing.T) {
	if storetest.OnCitus() {
		t.Skip("a read takes more round trips on Citus")
	}

	p := storetest.NewProxy(t, storetest.Postgres(t))
	h := openOn(t, p.URL()+"&pool_max_conns=1", patient)
	w := newWitness(h, 1)
	w.inhabit()
	for i := range w.all {
		o := &w.all[i]
		if o.method != http.MethodGet {
			continue
		}

		target, _ := w.asked(o, "")
		trips := int64(math.MaxInt64)
		for range 3 { // the first ones prepare, and any may throw old plans away
			p.Reset()
			a := w.call(o, w.key, target, "")
			require.Equal(t, http.StatusOK, a.status, "%s: %s", target, a.body)
			trips = min(trips, p.RoundTrips.Load())
		}

		t.Logf("%-26s %2d round trips, %2d statements", o.OperationID, trips, p.Statements.Load())
		assert.LessOrEqual(t, trips, longest(o.OperationID), o.OperationID)
	}
}

// longest is how many round trips a read may take. A customer's place on a board is read after the
// customer, and after a look whether the board is up to date; the feed after it has its numbers; the
// message of a delivery is made anew; the installation is looked at by each check for itself,
// once in two seconds; an import is found before what it needs; all that is known of a customer is read table by table.
func longest(operation string) int64 {
	return map[string]int64{"getCustomerLeaderboard": 2, "getLeaderboardScores": 1, "followEvents": 4, "getStatistics": 8, "getDelivery": 5, "getSystem": 30, "getImport": 1, "exportCustomer": 7, "listImports": 2, "listImportFindings": 2}[operation] + 2
}
