package storetest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// held makes a coupon with every field set.
func (b *bench) held(c loyalty.Customer, code string) loyalty.Coupon {
	return loyalty.Coupon{
		ID: loyalty.NewID(b.now, loyalty.ID{}), Code: code, State: loyalty.CouponPartiallyRedeemed, Customer: c.ID,
		Type:  loyalty.CouponGiftCard,
		Value: 500000, Balance: 420000, Currency: "EUR",
		Name: loyalty.CouponName{Texts: map[string]string{"en": "Gift", "hu": "Ajándék"}}, Reward: "r-1", Cost: 12500,
		Stores: []string{"s-1"}, Products: []string{"p-1", "p-2"}, CreatedAt: b.now, ClaimedAt: b.now.Add(time.Second),
		RedeemedAt: b.now.Add(time.Minute), ExpiresAt: b.now.Add(time.Hour), Version: 3,
		Uses: []loyalty.CouponUse{{Event: loyalty.NewID(b.now, loyalty.ID{}), At: b.now, Amount: 80000, Transaction: "t-1",
			Before: loyalty.CouponClaimed}},
	}
}

// free makes a code of a pool that no customer holds.
func (b *bench) free(pool, code string) loyalty.Coupon {
	return loyalty.Coupon{ID: loyalty.NewID(b.now, loyalty.ID{}), Code: code, State: loyalty.CouponCreated,
		Type:  loyalty.CouponAmount,
		Value: 10000, Currency: "EUR", Pool: pool, CreatedAt: b.now}
}

// issue writes coupons with their codes.
func (b *bench) issue(t testing.TB, list ...loyalty.Coupon) {
	t.Helper()
	w := loyalty.Writes{NewCoupons: list}
	for _, c := range list {
		w.Claims = append(w.Claims, codeOf(c))
	}
	require.NoError(t, b.put(w))
}

func codeOf(c loyalty.Coupon) loyalty.Claim {
	return loyalty.Claim{Name: loyalty.CodeName(c.Code), Owner: c.ID}
}

// couponIn returns a loaded coupon by its code.
func couponIn(l *loyalty.Loaded, code string) loyalty.Coupon {
	return l.Coupons[l.Names[loyalty.CodeName(code)]]
}

func (b *bench) claimed(c loyalty.Customer) loyalty.RewardClaim {
	id := loyalty.NewID(b.now, loyalty.ID{})
	return loyalty.RewardClaim{ID: id, Customer: c.ID, Reward: "r-1", State: loyalty.ClaimClaimed,
		Points: 50, Coupon: "CODE",
		ClaimedAt: b.now.Add(-time.Hour), UpdatedAt: b.now, Burn: []points.Portion{{Lot: id, Points: 50}}}
}

func (b *bench) standing(c loyalty.Customer, kind loyalty.ProgressKind, key string) loyalty.Progress {
	return loyalty.Progress{Customer: c.ID, ProgressKey: loyalty.ProgressKey{Kind: kind, Key: key},
		Data: json.RawMessage(`{"n": 1.0}`)}
}

func programmeRows(t *testing.T, b *bench) {
	c, other := b.enrol(t, b.customer("c-1")), b.enrol(t, b.customer("c-2"))
	tier, due := b.standing(c, loyalty.ProgressTier, "t-1"), b.standing(c, loyalty.ProgressHeld, "é")
	due.DueAt = b.now.Add(time.Hour)
	claim, coupon := b.claimed(c), b.held(c, "CODE")
	bare := loyalty.RewardClaim{ID: loyalty.NewID(b.now, loyalty.ID{}), Customer: c.ID, Reward: "r-2",
		State: loyalty.ClaimRedeemed, ClaimedAt: b.now, UpdatedAt: b.now}
	b.issue(t, coupon, b.free("p", "FREE"))
	require.NoError(t, b.put(loyalty.Writes{NewProgress: []loyalty.Progress{tier, due, b.standing(other, loyalty.ProgressTier, "t-1")},
		NewRewardClaims: []loyalty.RewardClaim{claim, bare, b.claimed(other)},
		NewTallies:      []loyalty.Tally{{Key: "b", Count: -2}, {Key: "a", Count: 7}}}))

	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("c-1"),
		Progress: loyalty.Kinds(loyalty.ProgressTier, loyalty.ProgressHeld, loyalty.ProgressWheel),
		Claims:   true, Coupons: []string{"CODE", "FREE", "NONE"}, Tallies: []string{"a", "none"}})
	got := l.Customers[c.ID]
	require.Equal(t, map[loyalty.ProgressKey]loyalty.Progress{tier.ProgressKey: tier, due.ProgressKey: due}, got.Progress)
	require.Equal(t, map[loyalty.ID]loyalty.RewardClaim{claim.ID: claim, bare.ID: bare}, got.Claims)
	require.Equal(t, coupon, couponIn(l, "CODE"))
	require.Len(t, l.Coupons, 2)
	require.Equal(t, coupon.ID, l.Names[codeOf(coupon).Name], "the code is taken by its coupon")
	require.Equal(t, map[string]int64{"a": 7}, l.Tallies)

	// Only the requested kinds; and rows of no customer come with needs of no customer.
	require.Equal(t, map[loyalty.ProgressKey]loyalty.Progress{tier.ProgressKey: tier},
		b.get(t, loyalty.CustomerNeeds{ID: c.ID, Progress: loyalty.Kinds(loyalty.ProgressTier)}).Customers[c.ID].Progress)
	require.Empty(t, b.get(t, loyalty.CustomerNeeds{ID: c.ID}).Customers[c.ID].Claims)
	l = b.get(t, loyalty.CustomerNeeds{Coupons: []string{"CODE"}, Tallies: []string{"b"}},
		loyalty.CustomerNeeds{Pools: map[string]int{"p": 1}})
	require.Empty(t, l.Customers)
	require.Equal(t, coupon, couponIn(l, "CODE"))
	require.Equal(t, map[string]int64{"b": -2}, l.Tallies)
	require.Len(t, l.Free["p"], 1)
}

// programmeGuards changes each kind of row once as it was loaded, and once from an outdated state with an event
// beside it.
func programmeGuards(t *testing.T, b *bench) {
	c := b.enrol(t, b.customer("c-1"))
	standing, gone, claim, coupon := b.standing(c, loyalty.ProgressTier, "t"), b.standing(c, loyalty.ProgressTier, "gone"),
		b.claimed(c), b.held(c, "CODE")
	purchase := b.purchase(c, "t-1")
	b.issue(t, coupon)
	first := loyalty.Writes{NewProgress: []loyalty.Progress{standing, gone}, NewRewardClaims: []loyalty.RewardClaim{claim},
		NewTallies: []loyalty.Tally{{Key: "k", Count: 1}}, NewTransactions: []loyalty.Transaction{purchase},
		Claims: []loyalty.Claim{{Name: t1, Owner: c.ID}}}
	require.NoError(t, b.put(first))

	newStanding, newClaim, newCoupon := standing, claim, coupon
	newStanding.Data, newStanding.DueAt = json.RawMessage(`[]`), b.now
	newClaim.State, newClaim.Burn, newClaim.UpdatedAt = loyalty.ClaimRevoked, nil, b.now.Add(time.Second)
	newCoupon.State, newCoupon.Customer, newCoupon.Uses, newCoupon.Version = loyalty.CouponUnassigned, loyalty.ID{}, nil, 4
	removed := loyalty.Progress{Customer: c.ID, ProgressKey: gone.ProgressKey}
	load := func() *loyalty.Loaded {
		return b.get(t, loyalty.CustomerNeeds{ID: c.ID, Progress: loyalty.Kinds(loyalty.ProgressTier), Claims: true,
			Coupons: []string{"CODE"}, Tallies: []string{"k"}})
	}
	for _, p := range []struct {
		kind   string
		change loyalty.Writes
		check  func(*loyalty.Loaded)
	}{
		{"progress", loyalty.Writes{Progress: []loyalty.Changed[loyalty.Progress]{{Before: standing, After: newStanding}}},
			func(l *loyalty.Loaded) {
				require.Equal(t, newStanding, l.Customers[c.ID].Progress[standing.ProgressKey])
			}},
		{"removed progress", loyalty.Writes{Progress: []loyalty.Changed[loyalty.Progress]{{Before: gone, After: removed}}},
			func(l *loyalty.Loaded) { require.Len(t, l.Customers[c.ID].Progress, 1) }},
		{"claim", loyalty.Writes{RewardClaims: []loyalty.Changed[loyalty.RewardClaim]{{Before: claim, After: newClaim}}},
			func(l *loyalty.Loaded) { require.Equal(t, newClaim, l.Customers[c.ID].Claims[claim.ID]) }},
		{"coupon", loyalty.Writes{Coupons: []loyalty.Changed[loyalty.Coupon]{{Before: coupon, After: newCoupon}}},
			func(l *loyalty.Loaded) { require.Equal(t, newCoupon, couponIn(l, "CODE")) }},
		{"tally", loyalty.Writes{Tallies: []loyalty.Changed[loyalty.Tally]{{Before: loyalty.Tally{Key: "k", Count: 1}, After: loyalty.Tally{Key: "k", Count: 5}}}},
			func(l *loyalty.Loaded) { require.Equal(t, map[string]int64{"k": 5}, l.Tallies) }},
	} {
		require.NoError(t, b.put(p.change), p.kind)
		p.check(load())
		before := b.count(t, "events")
		p.change.Events = []loyalty.Event{b.event(c)}
		require.ErrorIs(t, b.put(p.change), loyalty.ErrBatchConflict, p.kind)
		require.Equal(t, before, b.count(t, "events"), "%s: a refused batch leaves nothing", p.kind)
		p.check(load())
	}

	first.Claims, first.NewTransactions = nil, nil
	for kind, again := range map[string]loyalty.Writes{
		"progress": {NewProgress: first.NewProgress[:1]}, "claim": {NewRewardClaims: first.NewRewardClaims},
		"coupon": {NewCoupons: []loyalty.Coupon{coupon}},
		"tally":  {NewTallies: first.NewTallies},
		"code":   {Claims: []loyalty.Claim{{Name: codeOf(coupon).Name, Owner: loyalty.NewID(b.now, loyalty.ID{})}}},
	} {
		require.ErrorIs(t, b.put(again), loyalty.ErrBatchConflict, kind)
	}

	b.movedGuard(t, c, purchase)
}

// movedGuard lets a purchase go to another customer once.
func (b *bench) movedGuard(t *testing.T, from loyalty.Customer, purchase loyalty.Transaction) {
	t.Helper()
	to := b.enrol(t, b.customer("c-2"))
	after := purchase
	after.Customer, after.Holder, after.UpdatedAt = to.ID, to.ID, b.now.Add(time.Minute)
	move := loyalty.Writes{Moved: []loyalty.Changed[loyalty.Transaction]{{Before: purchase, After: after}},
		Freed: []loyalty.Claim{{Name: t1, Owner: from.ID}}, Claims: []loyalty.Claim{{Name: t1, Owner: to.ID}}}
	stale := move
	stale.Moved = slices.Clone(move.Moved)
	stale.Moved[0].Before.State = loyalty.Accepted
	require.ErrorIs(t, b.put(stale), loyalty.ErrBatchConflict)
	require.NoError(t, b.put(move))
	require.ErrorIs(t, b.put(move), loyalty.ErrBatchConflict)
	require.Equal(t, 1, b.count(t, "transactions"))

	require.Equal(t, after, b.reload(t, to.ID).Transactions["t-1"])
}

// merges finds a merged customer's data with the target.
func merges(t *testing.T, b *bench) {
	target, source, stranger := b.customer("target"), b.customer("source"), b.enrol(t, b.customer("stranger"))
	target.DueAt = b.now
	source.Status, source.MergedInto, source.DueAt = loyalty.Merged, target.ID, b.now
	b.enrol(t, target)
	b.enrol(t, source)
	bought, byHand, theirs := b.purchase(source, "bought"), b.purchase(source, "by-hand"), b.purchase(target, "own")
	byHand.AutoAccept = time.Time{}
	done := b.purchase(source, "done")
	done.State = loyalty.Accepted
	for _, p := range []*loyalty.Transaction{&bought, &byHand, &theirs, &done} {
		p.Holder = target.ID
	}

	claim, own := b.claimed(source), b.claimed(target)
	coupon := b.held(source, "CODE")
	b.issue(t, coupon)
	lot := b.lot(target, 0, 0, 3)
	hold := loyalty.Reservation{Customer: target.ID, Transaction: "hold", Hold: []points.Portion{{Lot: lot.ID, Points: 1}}}
	standing, dated := b.standing(target, loyalty.ProgressQuiz, "q"), b.standing(target, loyalty.ProgressFlow, "f")
	dated.DueAt = b.now
	w := loyalty.Writes{NewTransactions: []loyalty.Transaction{bought, byHand, theirs, done,
		b.purchase(stranger, "strange")}, NewLots: []loyalty.CustomerLot{lot},
		NewReservations: []loyalty.Reservation{hold}, NewRewardClaims: []loyalty.RewardClaim{claim, own},
		NewProgress: []loyalty.Progress{standing, dated, b.standing(source, loyalty.ProgressQuiz, "q")}}
	for _, p := range w.NewTransactions {
		w.Claims = append(w.Claims,
			loyalty.Claim{Name: loyalty.Name{Kind: loyalty.NameTransaction, Value: p.Name}, Owner: p.Customer})
	}

	require.NoError(t, b.put(w))

	// Due: the dated purchases of both, and the dated progress.
	got := b.get(t, loyalty.CustomerNeeds{Ref: customerName("target")}).Customers[target.ID]
	require.Equal(t, map[string]loyalty.Transaction{"bought": bought, "own": theirs}, got.Transactions)
	require.Equal(t, map[loyalty.ProgressKey]loyalty.Progress{dated.ProgressKey: dated}, got.Progress)
	require.Empty(t, b.get(t, loyalty.CustomerNeeds{ID: source.ID}).Customers[source.ID].Transactions,
		"they are the target's")

	l := b.get(t, loyalty.CustomerNeeds{ID: target.ID, Transactions: []string{"done", "strange"}, Claims: true,
		Coupons: []string{"CODE"}})
	require.Equal(t, done, l.Customers[target.ID].Transactions["done"])
	require.Equal(t, stranger.ID, l.Customers[target.ID].Transactions["strange"].Holder)
	require.Equal(t, map[loyalty.ID]loyalty.RewardClaim{claim.ID: claim, own.ID: own}, l.Customers[target.ID].Claims)
	coupon.Customer = target.ID
	require.Equal(t, coupon, couponIn(l, "CODE"))

	// Everything, named in two ways at once.
	got = b.get(t, loyalty.CustomerNeeds{Ref: customerName("target"), Everything: true},
		loyalty.CustomerNeeds{ID: target.ID, Everything: true}).Customers[target.ID]
	require.Equal(t, loyalty.UsedLots, got.LotScope)
	require.Equal(t, []points.Lot{lot.Lot}, got.Lots)
	require.Equal(t, map[string]loyalty.Reservation{"hold": hold}, got.Reservations)
	require.Equal(t, map[loyalty.ProgressKey]loyalty.Progress{standing.ProgressKey: standing, dated.ProgressKey: dated},
		got.Progress)
	require.Equal(t, map[loyalty.ID]loyalty.RewardClaim{claim.ID: claim, own.ID: own}, got.Claims)
	require.Equal(t, map[string]loyalty.Transaction{"bought": bought, "by-hand": byHand, "own": theirs}, got.Transactions)
	require.Equal(t, []loyalty.ID{source.ID}, got.Sources)
}

// matches finds the oldest live customer by e-mail.
func matches(t *testing.T, b *bench) {
	at := func(name string, status loyalty.Status, age time.Duration) loyalty.Customer {
		c := b.customer(name)
		c.Status, c.CreatedAt, c.Profile.Email = status, b.now.Add(-age), " Ann@Example.ORG "
		return b.enrol(t, c)
	}

	match := func() *loyalty.Loaded {
		return b.get(t, loyalty.CustomerNeeds{Match: "ann@example.org", Key: true, Lots: loyalty.OpenLots},
			loyalty.CustomerNeeds{Match: "nobody@example.org"},
			loyalty.CustomerNeeds{Ref: customerName("new"), Email: "ann@example.org"})
	}

	require.Empty(t, match().Matches)
	at("opted", loyalty.OptedOut, 9*time.Hour)
	at("merged", loyalty.Merged, 8*time.Hour)
	require.Empty(t, match().Matches)
	inactive := at("inactive", loyalty.Inactive, 7*time.Hour)
	require.Equal(t, map[string]loyalty.ID{"ann@example.org": inactive.ID}, match().Matches)
	at("young", loyalty.Active, time.Hour)
	old := at("suspended", loyalty.Suspended, 2*time.Hour)
	lot := b.lot(old, 5, 0, 0)
	require.NoError(t, b.put(loyalty.Writes{NewLots: []loyalty.CustomerLot{lot}}))
	l := match()
	require.Equal(t, map[string]loyalty.ID{"ann@example.org": old.ID}, l.Matches,
		"enrolled before inactive, then the oldest")
	require.Equal(t, map[string]loyalty.ID{"ann@example.org": inactive.ID}, l.Emails)
	require.Len(t, l.Customers, 2)
	require.Equal(t, old, unchained(l.Customers[old.ID].Customer))
	require.Equal(t, []points.Lot{lot.Lot}, l.Customers[old.ID].Lots)
	require.Equal(t, loyalty.OpenLots, l.Customers[old.ID].LotScope)
	require.Empty(t, l.Customers[inactive.ID].Lots)
}

// past folds the journal of score and purchases.
func past(t *testing.T, b *bench) {
	c, source := b.customer("c-1"), b.customer("c-2")
	source.Status, source.MergedInto = loyalty.Merged, c.ID
	b.enrol(t, c)
	b.enrol(t, source)
	event := func(of loyalty.Customer, at time.Time, e loyalty.Event) loyalty.Event {
		e.ID, e.Customer, e.Action, e.At, e.RecordedAt = loyalty.NewID(b.now, loyalty.ID{}), of.ID, "x", at, b.now
		return e
	}

	post := func(e loyalty.Event, seq int, from, to points.Account, n int64) loyalty.CustomerPosting {
		return loyalty.CustomerPosting{Customer: e.Customer,
			Posting: points.Posting{Event: e.ID, Seq: seq, From: from, To: to, Lot: e.ID, Points: n}}
	}
	effect := &loyalty.TransactionEffect{PurchaseState: loyalty.PurchaseState{State: loyalty.Accepted,
		Total: 990000, Earned: 9}}
	spend := event(c, b.now.Add(-time.Hour), loyalty.Event{})
	late := event(c, b.now.Add(-2*time.Hour), loyalty.Event{})
	bought := event(c, b.now.Add(-time.Minute),
		loyalty.Event{Transaction: "t-1", Effects: &loyalty.Effects{Transaction: effect, Status: loyalty.Active}})
	nothing := event(c, b.now, loyalty.Event{Effects: &loyalty.Effects{Status: loyalty.Active}})
	before := event(source, b.now.Add(-3*time.Hour),
		loyalty.Event{Transaction: "t-0", Effects: &loyalty.Effects{Transaction: effect}})
	require.NoError(t, b.put(loyalty.Writes{Events: []loyalty.Event{spend, bought, late, nothing, before},
		Postings: []loyalty.CustomerPosting{
			post(spend, 1, points.Available, points.Spent, 5),
			post(late, 1, points.Issued, points.Available, 40), post(late, 2, points.Available, points.Issued, 3),
			post(late, 3, points.Available, points.Expired, 1),
			post(before, 1, points.Issued, points.Available, 99)}}))

	want := []loyalty.PastEntry{
		{Event: before.ID, At: before.At, Transaction: "t-0", Effect: effect}, // its score came with the merge
		{Event: late.ID, At: late.At, Score: 37}, {Event: bought.ID, At: bought.At, Transaction: "t-1", Effect: effect},
	}

	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("c-1"), Past: true}, loyalty.CustomerNeeds{ID: c.ID, Past: true},
		loyalty.CustomerNeeds{Ref: customerName("c-2")})
	require.Equal(t, want, l.Customers[c.ID].Past)
	require.Empty(t, l.Customers[source.ID].Past)
}
