package loyaltytest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"

	rewardrules "github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Desk is an administration over a real store, and a clock to turn.
type Desk struct {
	*Office
	*Clock
	T       *testing.T
	URL     string
	Store   *store.Store
	Engines []*engine.Engine // which see what it changes
}

// Caller may give any rights.
var Caller = admin.Call{KeyID: admin.CommandLine}

// EachDesk runs a test on both databases, with so many engines.
func EachDesk(t *testing.T, engines int, test func(t *testing.T, d *Desk)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) {
		d := NewDesk(t, url)
		for range engines {
			d.Engines = append(d.Engines, NewEngine(t,
				engine.EngineOptions{Store: d.Store, Programmes: d.Directory, Clock: d.Now}))
		}
		test(t, d)
	})
}

// NewDesk opens a desk on the database at url.
func NewDesk(t *testing.T, url string) *Desk {
	t.Helper()
	d := &Desk{T: t, URL: url, Store: storetest.Open(t, url), Clock: NewClock(ShopOpens)}
	d.Office = NewOffice(t, d.Store, d.Now)
	return d
}

// Create makes an access key.
func (d *Desk) Create(t *testing.T, c admin.KeyChange) loyalty.AccessKey {
	t.Helper()
	done, err := d.CreateKey(t.Context(), Caller, c)
	require.NoError(t, err)
	return done.Value
}

// Entity adds a thing to the programme. Its fields are those of the contract.
func (c *Desk) Entity(kind, id, data string) {
	c.T.Helper()
	_, err := c.CreateEntity(c.T.Context(), Caller, admin.EntityChange{
		Type: kind, ID: id, Data: json.RawMessage(data),
		Check: func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil },
	})
	require.NoError(c.T, err)
}

// Send submits an event to the first engine, which must succeed.
func (c *Desk) Send(customer, action, data string) loyalty.Outcome {
	c.T.Helper()
	o, err := c.Engines[0].Submit(c.T.Context(), Event(customer, action, data))
	require.NoError(c.T, err, "%s %s", customer, action)
	return o
}

// Enrol enrols n customers and returns their names.
func (c *Desk) Enrol(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("member-%d", 1001+i)
		c.Send(names[i], "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, names[i]))
	}
	return names
}

// ClaimOf is a claim of a reward by a customer.
func ClaimOf(customer, reward string) loyalty.Submission {
	return loyalty.Submission{Customer: customer, Action: "reward_claim", Operation: true,
		Data: fmt.Appendf(nil, `{"reward":%q}`, reward)}
}

// ClaimAll lets all customers claim at once, over all engines, and gives the codes.
func (c *Desk) ClaimAll(customers []string, reward string) (codes []string, failed []error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i, name := range customers {
		wait.Go(func() {
			o, err := c.Engines[i%len(c.Engines)].Submit(context.Background(), ClaimOf(name, reward))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return
			}
			codes = append(codes, o.Value.(*rewardrules.ClaimResult).Coupon.Code)
		})
	}

	wait.Wait()
	return codes, failed
}

// Distinct holds that no code was given twice.
func Distinct(t *testing.T, codes []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, code := range codes {
		require.False(t, seen[code], "the code %s was given twice", code)
		seen[code] = true
	}
}

// FiveOff is a pool of uploaded codes for five off.
const FiveOff = `{"name":"Spring","source":"uploaded","coupon":{"type":"amount","value":5}}`

// AllowFewCodes lets a test use a pattern whose codes run out.
func AllowFewCodes(t *testing.T) {
	was := coupon.LeastCodes
	coupon.LeastCodes = 1
	t.Cleanup(func() { coupon.LeastCodes = was })
}
