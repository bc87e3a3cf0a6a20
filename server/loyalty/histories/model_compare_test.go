package histories_test

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// compare compares what is stored with the model. A customer whose version and model have not changed is not loaded
// again; at the end all customers are (compareAll).
func (h *chronicle) compare(t require.TestingT) {
	w := h.world
	known := make([]loyalty.CustomerNeeds, len(h.ids))
	for i, id := range h.ids {
		known[i].ID = id
	}

	shared, counts := &known[0], h.counts()
	for _, code := range slices.Sorted(maps.Keys(w.coupons)) {
		shared.Coupons = append(shared.Coupons, h.own(code))
	}

	shared.Tallies = slices.Sorted(maps.Keys(counts))
	l := h.load(t, known)
	var changed []int
	for i, id := range h.ids {
		version := l.Customers[id].Customer.Version
		if h.seen[i] == nil || h.seen[i].version != version || !reflect.DeepEqual(h.seen[i].customer, w.all[i]) {
			changed = append(changed, i)
		}
	}

	h.compareCustomers(t, changed)
	for code, k := range w.coupons {
		h.compareCoupon(t, k, l.Coupons[l.Names[loyalty.CodeName(h.own(code))]])
	}

	for key, n := range counts {
		require.Equal(t, n, l.Tallies[key], key)
	}
}

func (h *chronicle) compareAll(t require.TestingT) {
	clear(h.seen)
	h.compare(t)
}

// seen is a customer as they were when they were compared last.
type seen struct {
	version  int64
	customer *plainCustomer
}

func (h *chronicle) compareCustomers(t require.TestingT, changed []int) {
	if len(changed) == 0 {
		return
	}

	needs := make([]loyalty.CustomerNeeds, len(changed))
	for k, i := range changed {
		n, c := &needs[k], h.world.all[i]
		n.ID, n.Lots, n.Everything = h.ids[i], loyalty.UsedLots, true
		for _, name := range slices.Sorted(maps.Keys(c.purchases)) {
			n.Transactions = append(n.Transactions, h.own(name))
		}
		for _, name := range slices.Sorted(maps.Keys(c.holds)) {
			n.Reservations = append(n.Reservations, h.own(name))
		}
	}

	l := h.load(t, needs)
	for _, i := range changed {
		c, got := h.world.all[i], l.Customers[h.ids[i]]
		h.compareCustomer(t, c, got)
		h.compareProgress(t, c, got)
		h.seen[i] = &seen{got.Customer.Version, c.clone()}
	}
}

// load reads what is asked for. It is looked at outside of the transaction, which a
// failed comparison must not break.
func (h *chronicle) load(t require.TestingT, needs []loyalty.CustomerNeeds) (l *loyalty.Loaded) {
	require.NoError(t, h.room.DB.Within(context.Background(), loyalty.Needs{Customers: needs}, func(loaded *loyalty.Loaded) (*loyalty.Writes, error) {
		l = loaded
		return &loyalty.Writes{}, nil
	}))
	return l
}

// counts are what all customers share, as the store calls it.
func (h *chronicle) counts() map[string]int64 {
	all := map[string]int64{}
	for id := range h.world.rules.rewards {
		all[loyalty.TallyReward+h.own(id)] = h.world.counts["reward "+id]
	}
	for id := range h.world.rules.offers {
		all[loyalty.TallyOffer+h.own(id)] = h.world.counts["offer "+id]
	}
	for _, c := range h.world.rules.campaigns {
		all[loyalty.TallyCampaign+h.own(c.id)] = h.world.counts["campaign "+c.id]
	}
	return all
}

// compareCustomer holds figures, lots and purchases of a customer.
func (h *chronicle) compareCustomer(t require.TestingT, c *plainCustomer, got *loyalty.Loading) {
	if strings.HasPrefix(c.name, "$") && c.status == loyalty.Inactive {
		h.made[c.name] = got.Customer.Name
	}

	require.Equal(t, c.status, got.Customer.Status, "customer %s", c.name)
	if c.status != loyalty.OptedOut && c.status != loyalty.Merged {
		require.Equal(t, h.own(c.name), got.Customer.Name)
		require.Equal(t, h.ownOr(c.email), got.Customer.Profile.Email)
	}

	require.Equal(t, c.figures(), got.Customer.Figures, "customer %s", c.name)
	require.Equal(t, c.spendable(), got.Customer.Figures.Spendable())
	require.Equal(t, c.active.UTC().String(), got.Customer.LastActivityAt.String(), "customer %s", c.name)
	c.compareLots(t, got.Lots)
	for id, p := range c.purchases {
		x, ok := got.Transactions[h.own(id)]
		require.True(t, ok, "customer %s, purchase %s", c.name, id)
		p.compare(t, id, x)
	}

	for id, hold := range c.holds {
		require.Equal(t, parts(hold), points.Total(got.Reservations[h.own(id)].Hold), "reservation %s", id)
	}

	if due := h.world.due(c).at; !due.IsZero() {
		require.False(t, got.Customer.DueAt.IsZero(), "customer %s is due at %s", c.name, due)
		require.False(t, got.Customer.DueAt.After(due), "customer %s is due at %s, known as %s", c.name, due, got.Customer.DueAt)
	}
}

func (p *plainPurchase) compare(t require.TestingT, id string, x loyalty.Transaction) {
	require.Equal(t, p.state, x.State, id)
	require.Equal(t, []int64{p.total, p.original, p.refunded}, []int64{int64(x.Total), int64(x.OriginalTotal), int64(x.Refunded)}, id)
	require.Equal(t, []int64{p.earned, p.burned, p.bonus}, []int64{x.Earned, x.Burned, x.Detail.Bonus}, id)
	require.Equal(t, p.returned, x.Detail.Returned, id)
	require.Equal(t, []int64{p.originalEarned, p.originalBurned}, []int64{x.OriginalEarned, x.OriginalBurned}, id)
	require.Equal(t, p.auto.UTC().String(), x.AutoAccept.String(), id)
	require.Equal(t, parts(p.burn), points.Total(x.Detail.Burn), id)
	require.Len(t, x.Detail.Items, len(p.lines), id)
	for i, l := range p.lines {
		require.Equal(t, []int64{l.points, l.returned}, []int64{x.Detail.Items[i].Points, x.Detail.Items[i].Returned}, "%s, line %d", id, i)
	}
	require.Len(t, x.Detail.Coupons, len(p.coupons), id)
}

// compareLots looks at the lots that still hold something, and learns their ids.
func (c *plainCustomer) compareLots(t require.TestingT, got []points.Lot) {
	type view struct {
		earned, expires                    string
		idle                               int
		points, free, held, spent, expired int64
	}

	var want, have []view
	var mine []*plainLot
	for i := range c.lots {
		if l := &c.lots[i]; l.free+l.held+l.spent > 0 {
			mine = append(mine, l)
		}
	}

	slices.SortStableFunc(mine, func(a, b *plainLot) int {
		if a.older(b) {
			return -1
		}
		return 1
	})

	for _, l := range mine {
		want = append(want, view{l.earned.UTC().String(), l.expires.UTC().String(), l.idle, l.points, l.free, l.held, l.spent, l.expired})
	}

	got = slices.DeleteFunc(slices.Clone(got), func(l points.Lot) bool { return l.Remaining+l.Reserved+l.Spent == 0 })
	slices.SortFunc(got, func(x, y points.Lot) int { return loyalty.CompareID(x.ID, y.ID) })
	for _, l := range got {
		have = append(have, view{l.EarnedAt.String(), l.ExpiresAt.String(), l.Idle.Days, l.Points, l.Remaining, l.Reserved, l.Spent, l.Expired})
	}

	require.Equal(t, want, have, "lots of %s", c.name)
	for i, l := range mine {
		l.id = got[i].ID
	}
}

// compareProgress holds what a customer did in rewards, games, offers, campaigns,
// challenges, tiers, held events and the referral.
func (h *chronicle) compareProgress(t require.TestingT, c *plainCustomer, got *loyalty.Loading) {
	read := func(kind loyalty.ProgressKind, id string, into any) bool {
		p, ok := got.Progress[loyalty.ProgressKey{Kind: kind, Key: h.own(id)}]
		if !ok || p.Data == nil {
			return false
		}
		require.NoError(t, json.Unmarshal(p.Data, into))
		return true
	}

	if c.status == loyalty.Merged {
		for key, p := range got.Progress {
			require.Nil(t, p.Data, "%s was merged, and has progress %d %s: %s", c.name, key.Kind, key.Key, p.Data)
		}
		return
	}

	rules := h.world.rules
	for id := range rules.rewards {
		var s engine.RewardStanding
		read(loyalty.ProgressReward, id, &s)
		require.Equal(t, []int{int(c.claimed[id]), len(c.received[id])}, []int{int(s.Claims), len(s.Received)}, "%s: reward %s", c.name, id)
	}

	for id := range rules.contests {
		var s game.ContestProgress
		read(loyalty.ProgressContest, id, &s)
		require.Equal(t, c.entered(id), s.Entries, "%s: contest %s", c.name, id)
	}

	for id := range rules.offers {
		var s offer.OfferProgress
		read(loyalty.ProgressOffer, id, &s)
		mine := plainOfferUse{}
		if o := c.offers[id]; o != nil {
			mine = *o
		}
		require.Equal(t, []any{mine.claimed, len(mine.uses)}, []any{s.ClaimedAt != nil, int(s.Redeemed)}, "%s: offer %s", c.name, id)
	}

	for id := range rules.treasures {
		require.Equal(t, c.found[id], read(loyalty.ProgressTreasure, id, &game.TreasureProgress{}), "%s: treasure %s", c.name, id)
	}

	c.games.compare(t, c.name, rules, read)
	for _, x := range rules.campaigns {
		var s struct{ Count int64 }
		read(loyalty.ProgressCampaign, x.id, &s)
		require.Equal(t, c.gifts[x.id], s.Count, "%s: campaign %s", c.name, x.id)
	}

	h.compareStandings(t, c, got, read)
}

func (h *chronicle) compareStandings(t require.TestingT, c *plainCustomer, got *loyalty.Loading, read func(loyalty.ProgressKind, string, any) bool) {
	rules := h.world.rules
	for _, x := range rules.challenges {
		s, mine := challenge.ChallengeState{}, plainProgress{}
		read(loyalty.ProgressChallenge, x.id, &s)
		if p := c.challenges[x.id]; p != nil {
			mine = *p
		}
		if s.Criteria == nil {
			s.Criteria = make([]int64, len(mine.counts))
		}
		require.Equal(t, mine.completions, s.Completions, "%s: challenge %s", c.name, x.id)
		require.Equal(t, append([]int64{}, mine.counts...), s.Criteria[:min(len(s.Criteria), len(mine.counts))], "%s: challenge %s", c.name, x.id)
	}

	for _, x := range rules.structures {
		var s struct {
			Tier, Manual string
			GraceUntil   time.Time `json:"grace_until"`
			ManualUntil  time.Time `json:"manual_until"`
		}
		read(loyalty.ProgressTier, x.id, &s)
		tier := c.tiers[x.id]
		require.Equal(t, h.ownOr(x.tier(tier.rank)), s.Tier, "%s: structure %s", c.name, x.id)
		require.Equal(t, []string{h.ownOr(x.tier(tier.manual)), tier.until.UTC().String()}, []string{s.Manual, s.ManualUntil.UTC().String()}, "%s: given in structure %s", c.name, x.id)
		due := got.Progress[loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: h.own(x.id)}].DueAt
		require.Equal(t, []string{tier.grace.UTC().String(), tier.due.UTC().String()}, []string{s.GraceUntil.UTC().String(), due.UTC().String()},
			"%s: grace and due of structure %s: %s, figure %d", c.name, x.id, got.Progress[loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: h.own(x.id)}].Data, h.world.figure(c, x))
	}

	var held, want []string
	for key, p := range got.Progress {
		if key.Kind == loyalty.ProgressHeld && p.Data != nil {
			held = append(held, key.Key)
		}
	}

	for _, x := range c.waiting {
		want = append(want, h.recorded[x.serial].String())
	}

	require.ElementsMatch(t, want, held, "%s: held events", c.name)
	p, ok := got.Progress[loyalty.ProgressKey{Kind: loyalty.ProgressReferral, Key: "bonus"}]
	require.Equal(t, c.bonus != nil, ok && p.Data != nil, "%s: referral", c.name)
	h.compareClaims(t, c, got)
}

func (h *chronicle) compareClaims(t require.TestingT, c *plainCustomer, got *loyalty.Loading) {
	want, have := map[string]string{}, map[string]string{}
	for _, k := range h.world.claims {
		if h.world.survivor(k.owner) == c {
			want[h.recorded[k.serial].String()] = h.own(k.reward) + " " + string(k.state)
		}
	}
	for id, k := range got.Claims {
		if c.status != loyalty.Merged {
			have[id.String()] = k.Reward + " " + string(k.State)
		}
	}
	require.Equal(t, want, have, "%s: claims", c.name)
}

func (h *chronicle) compareCoupon(t require.TestingT, k *modelCoupon, got loyalty.Coupon) {
	owner := loyalty.ID{}
	if k.owner >= 0 {
		owner = h.ids[k.owner]
	}
	want := []any{k.state, owner, k.kind, k.value, k.balance, k.redeemed.UTC().String(), k.expires.UTC().String(), k.claimed.UTC().String(), len(k.uses)}
	have := []any{got.State, got.Customer, got.Type, int64(got.Value), int64(got.Balance), got.RedeemedAt.String(), got.ExpiresAt.String(), got.ClaimedAt.String(), len(got.Uses)}
	require.Equal(t, want, have, "coupon %s", k.code)
}
