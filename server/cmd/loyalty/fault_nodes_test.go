//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

// TestFaultTwoNodes lets two programs serve the same customers from one
// database.
func TestFaultTwoNodes(t *testing.T) {
	t.Parallel()
	g := newGround(t, anyPostgres(t))
	a, b := g.start(t), g.start(t)
	t.Run("hot customers", func(t *testing.T) { hotCustomers(t, g, a, b) })
	t.Run("same transaction", func(t *testing.T) { sameTransaction(t, g, a.address, b.address) })
	t.Run("same key", func(t *testing.T) { sameKey(t, g, a.address, b.address) })
	t.Run("configuration", func(t *testing.T) { configuration(t, g, a, b) })
	require.Equal(t, 0, a.stop(terminate), a.log())
	require.Equal(t, 0, b.stop(terminate), b.log())
	require.NotContains(t, a.log()+b.log(), "level=ERROR")
}

// hotCustomers has both nodes write to two customers as fast as they can.
func hotCustomers(t *testing.T, g *ground, nodes ...*serving) {
	const writers, each = 8, 40
	l := newLoad(t, g)
	l.customers = []string{"eve", "fay"}
	l.open(nodes[0].address)
	var wait sync.WaitGroup
	for i := range writers {
		c, address := newCaller(t, g.key), nodes[i%len(nodes)].address
		wait.Go(func() {
			for k := range each {
				r := request{customer: l.customers[k/2%2], action: "point_add", points: 3}
				if k%2 == 1 {
					r.action, r.points = "point_spend", 2
				}
				l.book.send(c, address, l.book.add(r))
			}
		})
	}

	wait.Wait()
	require.Empty(t, l.book.strange)
	require.Zero(t, l.book.silent+l.book.away, "both nodes answer everything: %s", l.book)
	mustHold(t, l.check(nodes[1].address, 0))
	t.Log(l.book)
}

// configuration changes keys and modules on one node and waits for the other.
func configuration(t *testing.T, g *ground, a, b *serving) {
	c := newCaller(t, g.key)
	change := func(path, body string, status int) answer {
		t.Helper()
		done := c.post(a.address, path, body, "")
		require.NoError(t, done.err)
		require.Equal(t, status, done.status, string(done.body))
		return done
	}

	seen := func(what string, ask func() bool) {
		t.Helper()
		began := time.Now()
		require.Eventually(t, ask, patience, 20*time.Millisecond, "%s is never seen", what)
		t.Logf("%s: seen by the other node after %s", what, time.Since(began).Round(10*time.Millisecond))
	}

	var made struct {
		Data struct {
			KeyID  string `json:"key_id"`
			Secret string `json:"secret"`
		} `json:"data"`
	}

	require.NoError(t, json.Unmarshal(change("/admin/keys", `{"label":"till"}`, http.StatusCreated).body, &made))
	till := newCaller(t, signing.Credential{KeyID: made.Data.KeyID, Secret: made.Data.Secret})
	seen("a new key", func() bool { return till.get(b.address+"/customers").status == http.StatusOK })
	change("/admin/keys/"+made.Data.KeyID+"/revoke", ``, http.StatusOK)
	seen("a revoked key", func() bool { return till.get(b.address+"/customers").status == http.StatusUnauthorized })

	accept := func() int {
		return c.post(b.address, "/events", `{"customer":"ada","action":"checkout_accept","data":{"transaction_id":"nobody-bought"}}`, "").status
	}
	require.Equal(t, http.StatusUnprocessableEntity, accept(), "the module is off")
	change("/admin/modules/checkout_accept", `{"enabled":true}`, http.StatusOK)
	seen("a module switched on", func() bool { return accept() == http.StatusNotFound })
	change("/admin/modules/checkout_accept", `{"enabled":false}`, http.StatusOK)
	seen("a module switched off", func() bool { return accept() == http.StatusUnprocessableEntity })
}
