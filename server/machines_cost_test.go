package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestMachinesCost measures what events take on two machines behind a coordinator, against plain
// PostgreSQL: the rates of callers who each send one after the other, in turns of LOYALTY_TORTURE
// seconds. LOYALTY_TEST_FSYNC=1 has all servers on the disk.
func TestMachinesCost(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("LOYALTY_TORTURE") + "s")
	if err != nil {
		t.Skip("LOYALTY_TORTURE is not set")
	}

	m := storetest.NewMachines(t)
	m.Spread(t)
	plain := storetest.NewCluster(t).URL("postgres")
	require.NoError(t, storetest.Open(t, plain).Migrate(t.Context()))
	const rounds = 5
	ways := []struct {
		name, url string
		workers   int
	}{{"plain", plain, 1}, {oneLane, m.URL(), 1}, {"two lanes", m.URL(), 2}}

	var all []*costing
	for i, w := range ways {
		c := &costing{name: w.name, prefix: fmt.Sprintf("w%d-", i)}
		c.house = openWith(t, w.url, func(o *engine.EngineOptions) { o.Workers = w.workers }, patient)
		c.crowd(c.prefix, costCustomers, 0)
		all = append(all, c)
	}

	for _, kind := range []string{"point_add", "checkout"} {
		for _, callers := range []int{16, 64} {
			rates := map[string][]float64{}
			for round := range rounds + 1 {
				for _, c := range all {
					n := c.run(kind, callers, length)
					if round > 0 { // the first one warms up
						rates[c.name] = append(rates[c.name], n)
					}
				}
				all = append(all[1:], all[0])
			}

			for _, w := range ways {
				t.Logf("figures: %s, %d callers, %s: %.0f a second; of plain %s, of one lane %s", kind, callers, w.name, rates[w.name],
					ratio(rates[w.name], rates["plain"]), ratio(rates[w.name], rates[oneLane]))
			}
		}
	}
}

// oneLane is how the program works on two processors.
const oneLane = "one lane"

// ratio is the median of what was measured in the same rounds, with the least and the most.
func ratio(of, to []float64) string {
	var list []float64
	for i := range of {
		list = append(list, of[i]/to[i])
	}
	slices.Sort(list)
	return fmt.Sprintf("%.2f [%.2f-%.2f]", list[len(list)/2], list[0], list[len(list)-1])
}

// costCustomers is of how many customers an event is one's.
const costCustomers = 1000

// costing is one way, with customers of its own.
type costing struct {
	*house
	name, prefix string
	next         atomic.Int64 // purchases
}

// run gives how many events a second were recorded.
func (c *costing) run(kind string, callers int, length time.Duration) float64 {
	var wait sync.WaitGroup
	var done atomic.Int64
	began := time.Now()
	until := began.Add(length)
	for range callers {
		wait.Go(func() {
			base := &http.Transport{MaxIdleConnsPerHost: 1}
			defer base.CloseIdleConnections()
			client := &http.Client{Transport: &signing.Transport{Scheme: signing.Default(region), Credential: c.key, Headers: []string{"Content-Type"}, Base: base}}
			for time.Now().Before(until) {
				customer := fmt.Sprint(c.prefix, rand.IntN(costCustomers))
				body := `{"customer":"` + customer + `","action":"point_add","data":{"points":5}}`
				if kind == "checkout" {
					line := `{"product_id":"p-1","product_name":"Espresso beans","product_url":"https://shop.test/p/1","quantity":2,"subtotal":20.00,"price":10}`
					body = fmt.Sprintf(`{"customer":"%s","action":"checkout","data":{"transaction_id":"%s%d","total":60.00,"currency":"EUR","items":[%s]}}`,
						customer, c.prefix, c.next.Add(1), strings.Join([]string{line, line, line}, ","))
				}

				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"/events", bytes.NewReader([]byte(body)))
				if !assert.NoError(c.t, err) {
					return
				}

				r.Header.Set("Content-Type", jsonType)
				resp, err := client.Do(r)
				if !assert.NoError(c.t, err) {
					return
				}

				text, err := io.ReadAll(resp.Body)
				if err = errors.Join(err, resp.Body.Close()); !assert.NoError(c.t, err) || !assert.Equal(c.t, http.StatusOK, resp.StatusCode, "%s", text) {
					return
				}

				done.Add(1)
			}
		})
	}

	wait.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
