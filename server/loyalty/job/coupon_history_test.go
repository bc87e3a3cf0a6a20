package job_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// plainCoupon is a coupon as decisions 6 describes it, in words of its own.
type plainCoupon struct {
	state   string
	holder  string // "": nobody
	gift    bool
	value   int
	left    int
	expires time.Time
	uses    []plainUse
}

type plainUse struct {
	amount   int
	before   string
	purchase string // that names it, and rejected gives it back
}

// couponHistory is a history of coupons being written: engine and model.
type couponHistory struct {
	engine    *engine.Engine
	db        *store.Store
	programme *programme.Programme
	now       time.Time
	coupons   map[string]*plainCoupon
	pending   map[string]string // purchase: whose
	opened    int
	reached   map[string]int
}

func (h *couponHistory) Programme() *programme.Programme { return h.programme }

var (
	couponCodes   = []string{"A", "B", "C", "P-1", "P-2"}
	couponHolders = []string{"ada", "ben", "eve"}
)

// TestCouponHistories submits random histories of coupons, and holds the engine
// against the plain model after every event (R8).
func TestCouponHistories(t *testing.T) {
	n := histories(t)
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.steps": "60"} {
		before := flag.Lookup(name).Value.String()
		require.NoError(t, flag.Set(name, value))
		t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
	}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			d.Migrated(t) // skips where there is no server
			reached := map[string]int{}
			rapid.Check(t, func(r *rapid.T) { tellCoupons(r, d.Migrated(t), reached) })
			t.Logf("figures: R8: %d histories of coupons", n)
			for _, fate := range slices.Sorted(maps.Keys(reached)) {
				t.Logf("%7d %s", reached[fate], fate)
			}
			for _, name := range []string{"coupon_create", "coupon_redeem", "coupon_unredeem", "unassign_coupon", "coupon_transfer", "checkout", "checkout_reject", "refund"} {
				require.True(t, n < 500 || reached[name+" recorded"] > n/50, "%s is hardly ever recorded: the histories are not worth much", name)
			}
		})
	}
}

func tellCoupons(t *rapid.T, url string, reached map[string]int) {
	db, err := store.Open(context.Background(), store.Options{URL: url, MasterKey: storetest.MasterKey})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	v, err := vocabulary()
	require.NoError(t, err)
	h := &couponHistory{
		db: db, now: shopOpens, coupons: map[string]*plainCoupon{}, pending: map[string]string{}, reached: reached,
		programme: compile(t, modules{"checkout_accept": `{"type":"manual"}`}),
	}
	h.engine, err = engine.NewEngine(engine.EngineOptions{
		Store: db, Contract: v, Programmes: h, Rules: action.All(), Features: action.Features(), Clock: func() time.Time { return h.now },
	})
	require.NoError(t, err)
	defer h.engine.Close()
	h.upload(t)
	for _, name := range couponHolders {
		_, err := h.engine.Submit(context.Background(), event(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name)))
		require.NoError(t, err)
	}
	t.Repeat(map[string]func(*rapid.T){
		"create": h.create, "create 2": h.create, "redeem": h.redeem, "redeem 2": h.redeem, "redeem 3": h.redeem, "unredeem": h.unredeem,
		"unassign": h.unassign, "invalidate": h.invalidate, "transfer": h.transfer, "checkout": h.checkout, "reject": h.reject, "settle": h.settle,
		"pass": func(t *rapid.T) { h.now = h.now.Add(time.Duration(rapid.IntRange(0, 24).Draw(t, "hours")) * time.Hour) },
	})
	proven(t, db)
}

// upload puts two codes into a pool.
func (h *couponHistory) upload(t *rapid.T) {
	w := &loyalty.Writes{}
	var last loyalty.ID
	for _, code := range couponCodes {
		if !strings.HasPrefix(code, "P-") {
			continue
		}
		last = loyalty.NewID(h.now, last)
		w.NewCoupons = append(w.NewCoupons, loyalty.Coupon{ID: last, Code: code, State: loyalty.CouponCreated, Pool: "spring", Type: loyalty.CouponAmount, CreatedAt: h.now})
		w.Claims = append(w.Claims, loyalty.Claim{Name: loyalty.Name{Kind: loyalty.NameCoupon, Value: code}, Owner: last})
		h.coupons[code] = &plainCoupon{state: "created"}
	}
	require.NoError(t, h.db.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return w, nil }))
}

func (h *couponHistory) who(t *rapid.T) string {
	return rapid.SampledFrom(couponHolders).Draw(t, "who")
}

// pair draws a customer and a code, mostly one that they hold.
func (h *couponHistory) pair(t *rapid.T) (who, code string) {
	who, code = h.who(t), rapid.SampledFrom(couponCodes).Draw(t, "code")
	if c := h.coupons[code]; c != nil && c.holder != "" && rapid.IntRange(0, 4).Draw(t, "stranger") > 0 {
		who = c.holder
	}
	return who, code
}

// state is where a coupon stands now: an open one may be over.
func (h *couponHistory) state(c *plainCoupon) string {
	open := []string{"created", "claimed", "unassigned", "partially_redeemed"}
	if !c.expires.IsZero() && !h.now.Before(c.expires) && slices.Contains(open, c.state) {
		return "expired"
	}
	return c.state
}

// submit plays one event. want is the failure the model foretells; nil: change is
// what the event does.
func (h *couponHistory) submit(t *rapid.T, who, name, data string, want error, change func()) {
	_, err := h.engine.Submit(context.Background(), event(who, name, data))
	if want != nil {
		h.reached[name+" refused"]++
		require.ErrorIs(t, err, want, "%s %s %s", who, name, data)
	} else {
		h.reached[name+" recorded"]++
		require.NoError(t, err, "%s %s %s", who, name, data)
		change()
	}
	for _, code := range couponCodes {
		h.compare(t, code)
	}
}

func (h *couponHistory) compare(t *rapid.T, code string) {
	got, holder, err := h.db.Coupon(context.Background(), code)
	want := h.coupons[code]
	if want == nil {
		require.ErrorIs(t, err, loyalty.ErrCouponNotFound, code)
		return
	}
	require.NoError(t, err, code)
	shown := plainCoupon{
		state: string(got.State), holder: holder.Name, gift: got.Type == loyalty.CouponGiftCard, value: int(got.Value), left: int(got.Balance), expires: got.ExpiresAt,
	}
	for _, u := range got.Uses {
		shown.uses = append(shown.uses, plainUse{int(u.Amount), string(u.Before), u.Transaction})
	}
	require.Equal(t, *want, shown, code)
}

func (h *couponHistory) create(t *rapid.T) {
	who, code := h.who(t), rapid.SampledFrom(couponCodes[:3]).Draw(t, "code")
	c := &plainCoupon{state: "claimed", holder: who, value: 10_000 * rapid.IntRange(0, 3).Draw(t, "value"), gift: rapid.Bool().Draw(t, "gift")}
	data := fmt.Sprintf(`{"code":%q,"value":%d`, code, c.value/10_000)
	if c.gift {
		c.left = c.value
		data += `,"type":"gift_card"`
	}
	if days := rapid.IntRange(0, 8).Draw(t, "days"); days > 0 {
		c.expires = h.now.AddDate(0, 0, days)
		data += fmt.Sprintf(`,"expdate":%q`, c.expires.Format(time.RFC3339))
	}
	var want error
	if old := h.coupons[code]; old != nil && old.state != "unassigned" {
		want = loyalty.ErrCouponExists
	}
	h.submit(t, who, "coupon_create", data+"}", want, func() { h.coupons[code] = c })
}

// usable says whether a customer may redeem a coupon now.
func (h *couponHistory) usable(who string, c *plainCoupon) bool {
	open := []string{"created", "claimed", "unassigned", "partially_redeemed"}
	return c != nil && (c.holder == "" || c.holder == who) && slices.Contains(open, h.state(c))
}

// use is a redemption of so much.
func (c *plainCoupon) use(who string, amount int, purchase string) {
	c.uses = append(c.uses, plainUse{amount, c.state, purchase})
	c.left -= amount
	c.holder, c.state = who, "redeemed"
	if c.left > 0 {
		c.state = "partially_redeemed"
	}
}

func (h *couponHistory) redeem(t *rapid.T) {
	who, code := h.pair(t)
	c, data, amount := h.coupons[code], fmt.Sprintf(`{"code":%q`, code), 0
	if c != nil && c.gift {
		amount = c.left
	}
	if tenths := rapid.IntRange(-1, 25).Draw(t, "tenths"); tenths >= 0 {
		data += fmt.Sprintf(`,"amount":%d.%d`, tenths/10, tenths%10)
		if c != nil && c.gift {
			amount = tenths * 1000
		}
	}
	var want error
	switch {
	case !h.usable(who, c):
		want = loyalty.ErrCouponNotFound
	case c.gift && amount > c.left:
		want = loyalty.ErrCouponBalance
	}
	h.submit(t, who, "coupon_redeem", data+"}", want, func() { c.use(who, amount, "") })
}

// giveBack takes the i-th use of a coupon back.
func (c *plainCoupon) giveBack(i int) {
	u := c.uses[i]
	c.left += u.amount
	if i+1 < len(c.uses) {
		c.uses[i+1].before = u.before
		if c.left > 0 {
			c.state = "partially_redeemed"
		}
	} else {
		c.state = u.before
	}
	if c.uses = slices.Delete(c.uses, i, i+1); len(c.uses) == 0 {
		c.uses = nil
	}
	if c.state == "created" || c.state == "unassigned" {
		c.holder = ""
	}
}

func (h *couponHistory) unredeem(t *rapid.T) {
	h.own(t, "coupon_unredeem", []string{"redeemed", "partially_redeemed"}, func(c *plainCoupon) { c.giveBack(len(c.uses) - 1) })
}

func (h *couponHistory) unassign(t *rapid.T) {
	h.own(t, "unassign_coupon", []string{"claimed"}, func(c *plainCoupon) { c.state, c.holder = "unassigned", "" })
}

// own plays an event that only a holder may send, and only in some states.
func (h *couponHistory) own(t *rapid.T, name string, states []string, change func(*plainCoupon)) {
	who, code := h.pair(t)
	c := h.coupons[code]
	var want error
	switch {
	case c == nil || c.holder != who:
		want = loyalty.ErrCouponNotFound
	case !slices.Contains(states, h.state(c)):
		want = loyalty.ErrForbiddenState
	}
	h.submit(t, who, name, fmt.Sprintf(`{"code":%q}`, code), want, func() { change(c) })
}

func (h *couponHistory) invalidate(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 { // it ends a code for good
		return
	}
	who, code := h.pair(t)
	c := h.coupons[code]
	var want error
	if c == nil || (c.holder != who && c.holder != "") {
		want = loyalty.ErrCouponNotFound
	}
	h.submit(t, who, "coupon_invalidate", fmt.Sprintf(`{"code":%q}`, code), want, func() { c.state = "invalidated" })
}

func (h *couponHistory) transfer(t *rapid.T) {
	who, code := h.pair(t)
	to := h.who(t)
	c := h.coupons[code]
	var want error
	switch {
	case c == nil || c.holder != who:
		want = loyalty.ErrCouponNotFound
	case h.state(c) != "claimed" && h.state(c) != "partially_redeemed":
		want = loyalty.ErrForbiddenState
	case to == who:
		want = loyalty.ErrToOneself
	}
	h.submit(t, who, "coupon_transfer", fmt.Sprintf(`{"code":%q,"target":%q}`, code, to), want, func() { c.holder = to })
}

func (h *couponHistory) checkout(t *rapid.T) {
	who, code := h.pair(t)
	codes := []string{code}
	if other := rapid.SampledFrom(couponCodes).Draw(t, "other"); other != code && rapid.Bool().Draw(t, "two") {
		codes = append(codes, other)
	}
	h.opened++
	purchase := fmt.Sprint("T-", h.opened)
	var want error
	if slices.ContainsFunc(codes, func(code string) bool { return !h.usable(who, h.coupons[code]) }) {
		want = loyalty.ErrCouponNotFound
	}
	left := 1000 * rapid.IntRange(0, 30).Draw(t, "tenths")
	data := fmt.Sprintf(`{"transaction_id":%q,"total":%d.%d,"coupons":["%s"]}`, purchase, left/10_000, left/1000%10, strings.Join(codes, `","`))
	h.submit(t, who, "checkout", data, want, func() {
		h.pending[purchase] = who
		for _, code := range codes {
			c := h.coupons[code]
			pays := min(c.left, left)
			if left -= pays; !c.gift || pays > 0 {
				c.use(who, pays, purchase)
			}
		}
	})
}

// settle accepts a purchase and refunds it at once: gift cards get back what it took.
func (h *couponHistory) settle(t *rapid.T) {
	for i := h.opened; i > 0; i-- {
		purchase := fmt.Sprint("T-", i)
		who, waits := h.pending[purchase]
		if !waits || rapid.Bool().Draw(t, "another") {
			continue
		}
		data := fmt.Sprintf(`{"transaction_id":%q}`, purchase)
		h.submit(t, who, "checkout_accept", data, nil, func() { delete(h.pending, purchase) })
		h.submit(t, who, "refund", data, nil, func() {
			for _, c := range h.coupons {
				if i := slices.IndexFunc(c.uses, func(u plainUse) bool { return u.purchase == purchase }); i >= 0 && c.gift && c.state != "invalidated" {
					c.giveBack(i)
				}
			}
		})
		return
	}
	h.submit(t, couponHolders[0], "refund", `{"transaction_id":"T-0"}`, loyalty.ErrTransactionNotFound, nil)
}

func (h *couponHistory) reject(t *rapid.T) {
	for i := h.opened; i > 0; i-- {
		purchase := fmt.Sprint("T-", i)
		who, waits := h.pending[purchase]
		if !waits || rapid.Bool().Draw(t, "another") {
			continue
		}
		h.submit(t, who, "checkout_reject", fmt.Sprintf(`{"transaction_id":%q}`, purchase), nil, func() {
			delete(h.pending, purchase)
			for _, c := range h.coupons {
				if i := slices.IndexFunc(c.uses, func(u plainUse) bool { return u.purchase == purchase }); i >= 0 && c.state != "invalidated" {
					c.giveBack(i)
				}
			}
		})
		return
	}
	_, err := h.engine.Submit(context.Background(), event(couponHolders[0], "checkout_reject", `{"transaction_id":"T-0"}`))
	require.True(t, errors.Is(err, loyalty.ErrTransactionNotFound), "%v", err)
}
