package server_test

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestMachineAwayStopsItsCustomers: events of customers of all machines are sent at once while one
// machine is away. Those of customers who are on the others, with their names, are recorded; the
// others' fail as something to send again, and are recorded when it is back.
func TestMachineAwayStopsItsCustomers(t *testing.T) {
	m := storetest.NewMachines(t)
	m.Spread(t)
	h := openOn(t, m.URL(), patient)
	const customers = 24
	h.crowd("c-", customers, 0)
	rows, err := storetest.Raw(t, m.URL()).Query(`SELECT c.name, p.nodeport, q.nodeport FROM customers c
 JOIN pg_dist_shard_placement p ON p.shardid = get_shard_id_for_distribution_column('customers', c.id)
 JOIN pg_dist_shard_placement q ON q.shardid = get_shard_id_for_distribution_column('names', c.name)`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	type place struct{ customer, name int }
	places, ports := map[string]place{}, map[int]int{}
	for rows.Next() {
		var name string
		var p place
		require.NoError(t, rows.Scan(&name, &p.customer, &p.name))
		places[name] = p
		ports[p.customer]++
	}

	require.NoError(t, rows.Err())
	require.Len(t, places, customers)
	require.Len(t, ports, 2)

	require.NoError(t, m.Workers[0].Kill())
	u, err := url.Parse(m.Workers[0].URL("postgres"))
	require.NoError(t, err)
	away, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	a := h.does("/events/bulk", bulkOf(gifts(customers, customers)))
	passed, failed := 0, 0
	for i, r := range a.json(t)["results"].([]any) {
		fault, _ := r.(map[string]any)["error"].(map[string]any)
		switch p := places[fmt.Sprintf("c-%d", i)]; {
		case p.customer == away:
			require.Equal(t, "190002", fmt.Sprint(fault["code"]), "%d: %v", i, r)
			failed++
		case p.name != away:
			require.Nil(t, fault, "%d: %v", i, r)
			passed++
		}
	}

	require.Positive(t, passed)
	require.Positive(t, failed)
	t.Logf("figures: of %d customers %d are on the machine that was away; %d with their names on the other went on", customers, failed, passed)
	require.NoError(t, m.Workers[0].Start())
}
