package histories_test

import (
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// retold is one step of a history that once found a fault, shortened: it lets time
// pass, changes the configuration, and then submits one event, or some as a bulk.
type retold struct {
	after  time.Duration
	rules  func(*plainRules)
	bulk   []said
	latest bool // the event is about the claim or held event that was recorded last
	fails  error
	said
}

// TestHistorySeeds tells the histories again that found a fault, against the model
// and on both databases.
func TestHistorySeeds(t *testing.T) {
	waits := func(actions ...string) func(*plainRules) {
		return func(r *plainRules) { r.pending, r.heldActions = "", actions }
	}
	accept := func(kind string) func(*plainRules) {
		return func(r *plainRules) { r.heldActions, r.pending, r.pendingDays = nil, kind, 1 }
	}
	n := func(n int64) *int64 { return &n }
	lines := func(all ...plainLine) []plainLine { return all }
	bread := plainLine{product: "p", quantity: 2, subtotal: 400_000}
	guest := said{customer: "eve", action: "checkout", guest: true, transaction: "T1", total: 1_000_000}
	// Points bring a point, so many times; by no rule before a step says so.
	chain := func(links int64) func(*plainRules) {
		return func(r *plainRules) {
			r.off = []string{programme.ModuleAutomation}
			r.campaigns = []*plainCampaign{
				{id: "again", trigger: "point_add", points: 1, perCustomer: links},
				{id: "expired", trigger: "point_expire", points: 1},
			}
		}
	}

	// Points live as long as their customer does something every day.
	idle := func(r *plainRules) { r.expiry, r.days = points.ExpiryLastActivity, 1 }
	hundred := retold{rules: idle, said: said{customer: "ben", action: "point_add", points: n(100)}}
	held := retold{said: said{customer: "ben", action: "reserve_points", transaction: "T1", points: n(30)}}
	released := said{customer: "ben", action: "release_points", transaction: "T1"}
	visits := said{customer: "ben", action: "visit"}
	twoDays := 48 * time.Hour
	automated := func(r *plainRules) { r.off = nil }
	add := said{customer: "ada", action: "point_add", points: n(5)}
	for _, seed := range []struct {
		name  string
		steps []retold
		made  func(*plainRules) // of what the programme is made besides; nil: nothing
	}{
		{"a treasure that waits is found by its own rule", []retold{
			{rules: waits("treasure_found"), said: said{customer: "ada", action: "treasure_found", thing: "online"}},
			{latest: true, said: said{customer: "ada", action: "pending_validate"}},
		}, nil},
		{"what was dropped of a held claim is its first line's points", []retold{
			{said: said{customer: "eve", action: "checkout", guest: true, transaction: "T1", total: 800_000, items: lines(bread, bread), hasItems: true}},
			{rules: waits("checkout_claim"), said: said{customer: "ada", action: "checkout_claim", transaction: "T1"}},
			{said: said{customer: "ada", action: "pending_expired", points: n(5)}},
			{latest: true, said: said{customer: "ada", action: "pending_validate"}},
		}, nil},
		{"an award is taken back although its lot is gone", []retold{
			{said: said{customer: "ada", action: "reward_claim", thing: "win"}},
			{said: said{customer: "ada", action: "point_sub", points: n(300)}},
			{latest: true, said: said{customer: "ada", action: "reward_revoke"}},
		}, nil},
		{"what is free needs no balance", []retold{
			{said: said{customer: "ada", action: "point_sub", points: n(300)}},
			{said: said{customer: "ada", action: "reward_claim", thing: "card"}},
			{said: said{customer: "ada", action: "contest_enter", thing: "free"}},
		}, nil},
		{"a claimed purchase does not lift the guest", []retold{
			{said: guest},
			{said: said{customer: "ada", action: "checkout_claim", transaction: "T1"}},
			{said: said{customer: "eve", action: "opt_in", email: "eve@shop.test"}},
		}, nil},
		{"a claimed purchase counts once the guest is merged", []retold{
			{said: guest},
			{said: said{customer: "ada", action: "checkout_claim", transaction: "T1"}},
			{said: said{customer: "eve", action: "opt_in", email: "eve@shop.test"}},
			{said: said{customer: "ada", action: "merge", target: "eve"}},
			{after: time.Hour, said: said{customer: "ada", action: "visit"}},
			{said: said{customer: "eve", action: "refund", transaction: "T1"}},
		}, nil},
		{"a code that came back in a bulk goes out in it", []retold{
			{said: said{customer: "ada", action: "coupon_redeem", code: "POOL-1"}},
			{bulk: []said{{customer: "ada", action: "coupon_unredeem", code: "POOL-1"}, {customer: "ben", action: "reward_claim", thing: "card"}}},
		}, nil},
		{"points that inactivity ended stay so when they are released", []retold{
			hundred, held, {after: twoDays, said: released},
		}, nil},
		{"and also after another activity", []retold{hundred, held, {after: twoDays, said: visits}, {said: released}}, nil},
		{"and where their whole lot was reserved", []retold{
			hundred, {said: said{customer: "ben", action: "reserve_points", transaction: "T1", points: n(100)}}, {after: twoDays, said: released},
		}, nil},
		{"a release keeps what has not expired", []retold{hundred, held, {after: 12 * time.Hour, said: visits}, {after: 20 * time.Hour, said: released}}, nil},
		{"points that inactivity ended stay so in another's hands", []retold{
			hundred, held, {after: twoDays, said: said{customer: "ada", action: "visit"}},
			{said: said{customer: "ada", action: "merge", target: "ben"}},
			{said: said{customer: "ada", action: "release_points", transaction: "T1"}},
		}, nil},
		{"points that are given back do not outlive the rest of their lot", []retold{
			hundred, {said: said{customer: "ben", action: "point_spend", points: n(30)}},
			{after: twoDays, said: visits}, {said: said{customer: "ben", action: "point_unspend", points: n(10)}},
			{after: twoDays, said: said{customer: "ben", action: "point_unspend", points: n(20)}},
		}, nil},
		{"nor do those of a purchase that is rejected", []retold{
			{rules: accept(programme.AcceptManual), said: visits}, hundred,
			{said: said{customer: "ben", action: "checkout", transaction: "T1", total: 1_000_000, points: n(30)}},
			{after: twoDays, said: said{customer: "ben", action: "checkout_reject", transaction: "T1"}},
		}, nil},
		{"nor if its date rejects it", []retold{
			{rules: accept(programme.AcceptReject), said: visits}, hundred,
			{rules: func(r *plainRules) { r.pendingDays = 3 }, said: said{customer: "ben", action: "checkout", transaction: "T1", total: 1_000_000, points: n(30)}},
			{after: twoDays, said: visits}, {after: 14 * time.Hour, said: visits}, {after: 18 * time.Hour, said: visits},
		}, nil},
		{"nor of one that is refunded", []retold{
			{rules: accept(programme.AcceptManual), said: visits}, hundred,
			{said: said{customer: "ben", action: "checkout", transaction: "T1", total: 1_000_000, points: n(30)}},
			{said: said{customer: "ben", action: "checkout_accept", transaction: "T1"}},
			{after: twoDays, said: said{customer: "ben", action: "refund", transaction: "T1"}},
		}, nil},
		{"a code that came back by date goes out at once", []retold{
			{rules: accept(programme.AcceptReject), said: said{customer: "ada", action: "checkout", transaction: "T1", coupons: []string{"POOL-1"}}},
			{after: 72 * time.Hour, said: said{customer: "ada", action: "reward_claim", thing: "card"}},
		}, nil},
		{"nothing expires of what waited and was settled by other means", []retold{
			{rules: waits("checkout"), said: said{customer: "ada", action: "checkout", transaction: "T1", total: 400_000, items: lines(bread), hasItems: true}},
			{rules: accept(programme.AcceptManual), said: said{customer: "ada", action: "checkout_reject", transaction: "T1"}},
			{rules: waits("checkout"), fails: loyalty.ErrPendingTooMuch, said: said{customer: "ada", action: "pending_expired", points: n(10)}},
		}, nil},
		{"what waited and was decided by other means is decided, and goes with its date", []retold{
			{rules: waits("checkout"), said: said{customer: "ada", action: "checkout", transaction: "T1", total: 400_000}},
			{rules: accept(programme.AcceptManual), said: said{customer: "ada", action: "checkout_accept", transaction: "T1"}},
			{rules: waits("checkout"), latest: true, fails: loyalty.ErrHeldNotFound, said: said{customer: "ada", action: "pending_invalidate"}},
			{said: said{customer: "ada", action: "checkout", transaction: "T2", total: 400_000}},
			{rules: accept(programme.AcceptManual), said: said{customer: "ada", action: "checkout_reject", transaction: "T2"}},
			{rules: waits("checkout"), latest: true, fails: loyalty.ErrHeldNotFound, said: said{customer: "ada", action: "pending_validate"}},
			{after: 72 * time.Hour, said: said{customer: "ada", action: "visit"}},
		}, nil},
		{"an update that keeps the items prices them anew", []retold{
			{rules: accept(programme.AcceptManual), said: said{customer: "ada", action: "checkout", transaction: "T1", total: 400_000, items: lines(bread), hasItems: true}},
			{rules: func(r *plainRules) { r.rate = big.NewRat(1, 2) }, said: said{customer: "ada", action: "checkout_update", transaction: "T1", total: 1}},
		}, nil},
		{"a merge is reacted to after what was due", []retold{
			{said: said{customer: "ben", action: "point_add", points: n(90)}},
			{rules: func(r *plainRules) { r.expiry, r.days = points.ExpiryRolling, 1 }, said: said{customer: "ben", action: "point_add", points: n(5)}},
			{after: 48 * time.Hour, said: said{customer: "ada", action: "merge", target: "ben"}},
		}, nil},
		{"who takes a profile over cannot bring themselves", []retold{
			{said: said{customer: "eve", action: "subscribe", email: "x@shop.test"}},
			{fails: loyalty.ErrReferrerSelf, said: said{customer: "fay", action: "opt_in", email: "x@shop.test", referrer: "eve"}},
		}, nil},
		{"a bonus is taken back although its friend was merged", []retold{
			{said: said{customer: "eve", action: "opt_in", email: "eve@shop.test", referrer: "ben"}},
			{said: said{customer: "eve", action: "checkout", transaction: "T1", total: 400_000}},
			{said: said{customer: "ada", action: "merge", target: "eve"}},
			{said: said{customer: "ada", action: "refund", transaction: "T1"}},
		}, nil},
		{"rules that trigger each other seven times come to an end", []retold{{rules: automated, said: add}}, chain(7)},
		{"rules that trigger each other eight times are refused, and leave nothing", []retold{
			{rules: automated, fails: loyalty.ErrReactionsEndless, said: add},
			{bulk: []said{add, {customer: "ben", action: "visit"}, add}},
			{said: said{customer: "ada", action: "video"}},
		}, chain(8)},
		{"what is due stays due where the rules do not end", []retold{
			{rules: func(r *plainRules) { r.expiry, r.days = points.ExpiryRolling, 1 }, said: add},
			{after: 48 * time.Hour, rules: automated, fails: loyalty.ErrReactionsEndless, said: said{customer: "ada", action: "visit"}},
			{rules: func(r *plainRules) { r.off = []string{programme.ModuleAutomation} }, said: said{customer: "ada", action: "visit"}},
		}, chain(8)},
		{"what is due stays due for ever where the rules never end", []retold{
			{rules: func(r *plainRules) { r.expiry, r.days = points.ExpiryRolling, 1 }, said: add},
			{rules: automated, said: said{customer: "ben", action: "visit"}},
		}, chain(8)},
		{"a refund takes back a challenge's points that paid a debt, while the same bulk completes it again", []retold{
			{said: said{customer: "ben", action: "point_sub", points: n(300)}},
			{said: said{customer: "ben", action: "checkout", transaction: "T1"}},
			{said: said{customer: "ben", action: "checkout", transaction: "T2"}},
			{said: said{customer: "ada", action: "merge", target: "ben"}},
			{said: said{customer: "ada", action: "checkout", transaction: "T3"}},
			{bulk: []said{{customer: "ada", action: "checkout", transaction: "T4"}, {customer: "ada", action: "refund", transaction: "T2"}}},
		}, func(r *plainRules) {
			r.challenges = []*plainChallenge{{id: "often", criteria: []plainCriterion{{"checkout", "", 2}}, points: 2, most: 9}}
		}},
	} {
		t.Run(seed.name, func(t *testing.T) {
			for _, d := range storetest.All {
				t.Run(d.Name, func(t *testing.T) {
					for _, kept := range []int{0, -1} {
						retell(t, newRooms(t, d), kept, seed.made, seed.steps)
					}
				})
			}
		})
	}
}

// retell plays the steps of a history.
func retell(t *testing.T, rooms *rooms, kept int, made func(*plainRules), steps []retold) {
	h := &chronicle{room: rooms.enter(t), reached: newTally(everyAction), now: loyaltytest.ShopOpens, recorded: map[int]loyalty.ID{}, made: map[string]string{}, seen: map[int]*seen{}}
	rules := seedRules()
	if made != nil {
		made(rules)
	}

	h.zone, h.world = "UTC", newPlainWorld(rules, h.now)
	h.things = h.world.rules.things(h.own)
	h.upload(t)
	h.programmed(t, h.world.rules.modules())
	h.begin(t, kept)
	defer h.close()
	for _, name := range []string{"ada", "ben"} {
		h.single(t, said{customer: name, action: "opt_in", email: name + "@shop.test"})
	}

	h.single(t, said{customer: "ada", action: "point_add", points: new(int64(20))})
	clear(h.reached.fates)
	for _, step := range steps {
		h.now = h.now.Add(step.after)
		if step.rules != nil {
			step.rules(h.world.rules)
			h.programmed(t, h.world.rules.modules())
		}

		if step.latest {
			step.ref = slices.Max(slices.Collect(maps.Keys(h.recorded)))
		}

		if step.bulk != nil {
			h.tick()
			h.together(t, step.bulk)
			continue
		}

		h.single(t, step.said)
		require.Equal(t, 1, h.reached.fates[fate(step.action, step.fails)], "%s is what found the fault", step.action)
		clear(h.reached.fates)
	}

	h.end(t)
	h.room.prove(t)
}

// seedRules are those of every seed: points never expire, one for each unit.
func seedRules() *plainRules {
	return &plainRules{
		expiry: points.ExpiryNone, rate: big.NewRat(1, 1), rounding: "floor", heldDays: 2, zone: time.UTC, codes: []string{"POOL-1"},
		payOn: programme.PayOnCheckout, referrerPoints: 7, friendPoints: 3,
		rewards: map[string]*plainReward{
			"card": {kind: reward.RewardCoupon, pool: true},
			"win":  {kind: reward.RewardPoints, cost: 5, award: 40},
		},
		contests:  map[string]*plainContest{"free": {}},
		treasures: map[string]*plainTreasure{"online": {kind: game.TreasureOnline, points: 7}},
		structures: []*plainStructure{
			{id: "life", base: tier.BasePoints, thresholds: []int64{100}},
			{id: "spend", base: tier.BaseSpend, grace: 1, thresholds: []int64{50}},
		},
	}
}
