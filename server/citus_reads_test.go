package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestReadsOfACustomerAskOneMachine: no read that names a customer has a statement that asks several parts of a table;
// Citus counts them itself. The operations are those of the documents, so that a new one is counted too. A place on a
// board is one among all customers. Of the other reads, those that ask every machine say so in their description.
func TestReadsOfACustomerAskOneMachine(t *testing.T) {
	storetest.CitusOnly(t)
	url := storetest.Postgres(t)
	several := storetest.Scattered(t, url)
	h := openOn(t, url, patient)
	w := newWitness(h, 1)
	w.inhabit()
	const asksAll = "this asks every machine"
	var named, everybody []string
	for i := range w.all {
		o := &w.all[i]
		if o.method != http.MethodGet {
			continue
		}

		target, _ := w.asked(o, "")
		w.call(o, w.key, target, "") // what was due is done
		before := several()
		a := w.call(o, w.key, target, "")
		require.Equal(t, http.StatusOK, a.status, "%s: %s", target, a.body)
		n := several() - before
		switch {
		case strings.Contains(o.path, "{customer") || strings.Contains(target, "customer="):
			named = append(named, o.OperationID)
			if o.OperationID != "getCustomerLeaderboard" {
				assert.Zero(t, n, "%s: %s", o.OperationID, target)
				assert.NotContains(t, o.Description, asksAll, o.OperationID)
				continue
			}
			assert.Contains(t, o.Description, asksAll, o.OperationID)
		case n > 0:
			everybody = append(everybody, o.OperationID)
			assert.Contains(t, o.Description, asksAll, o.OperationID)
		}
	}

	require.Greater(t, len(named), 10)
	t.Logf("%d reads name a customer; of the others these ask several parts: %s", len(named), strings.Join(everybody, " "))
}
