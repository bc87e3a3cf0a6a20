package histories_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// plainRules is a configuration as the model reads it, and what the programme is
// made of.
type plainRules struct {
	expiry         string
	days           int // rolling, last_activity
	month          time.Month
	day            int // calendar
	refuseNegative bool
	rate           *big.Rat // nil: the module is off
	rounding       string
	pending        string // manual, accept, reject; empty: the module is off
	pendingDays    int
	heldActions    []string // pending_events
	heldDays       int
	off            []string // modules that are off, of those that a history may switch
	payOn          string
	referrerPoints int64
	friendPoints   int64

	zone       *time.Location // the same for a whole history, as all that follows
	codes      []string       // uploaded, in this order
	rewards    map[string]*plainReward
	contests   map[string]*plainContest
	offers     map[string]*plainOffer
	treasures  map[string]*plainTreasure
	quizzes    map[string]*plainQuiz
	flows      map[string]*plainFlow
	wheels     map[string]*plainWheel
	challenges []*plainChallenge // by id
	campaigns  []*plainCampaign  // by id
	structures []*plainStructure // by id
}

// switched are the modules that a history has on, but for some.
var switched = []string{
	programme.ModuleCoupons, programme.ModuleRewards, programme.ModuleOffers, programme.ModuleContests, programme.ModuleChallenges,
	programme.ModuleAutomation, programme.ModuleFriendReferral, programme.ModuleCustomerIDValidation, programme.ModuleTiers,
	programme.ModuleQuizzes, programme.ModuleProfiling, programme.ModulePrizeWheels,
}

func (r *plainRules) on(module string) bool {
	switch module {
	case programme.ModuleCheckoutAccept:
		return r.pending != ""
	case programme.ModulePendingEvents:
		return r.heldActions != nil
	}
	return !slices.Contains(r.off, module)
}

func (r *plainRules) holds(action string) bool { return slices.Contains(r.heldActions, action) }

type plainReward struct {
	kind             string
	cost, award      int64
	stock, maxClaims *int64
	pool             bool   // its codes are the pool's
	coupon           string // the type of coupons it makes, each worth 10
	validDays        int
	ends             time.Time
}

type plainContest struct {
	price int64
	most  *int64
}

type plainOffer struct{ most, perCustomer *int64 }

type plainTreasure struct {
	kind, code string
	points     int64
}

type plainChallenge struct {
	id        string
	criteria  []plainCriterion
	points    int64
	most      int64
	resetable bool
	keep      bool // refunds change nothing
}

type plainCriterion struct {
	action, sum string // sum: empty, points or transaction.total
	threshold   int64
}

type plainCampaign struct {
	id, trigger        string
	points             int64
	factor             *big.Rat // nil: it does not multiply
	coupon             bool     // one of the pool
	pieces             bool     // only for lines of more than one piece
	perCustomer, total int64    // 0: no limit
}

type plainStructure struct {
	id, base   string
	grace      int
	thresholds []int64 // points or currency units, the lowest first
}

// drawRules draws what a programme is made of.
func drawRules(t *rapid.T, now time.Time) (*plainRules, string) {
	zone := pick(t, "zone", []string{"UTC", "Europe/Budapest", "America/New_York"})
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	limit := func(label string, least, sides int) *int64 {
		if chance(t, label+" unlimited", 30) {
			return nil
		}
		return new(int64(least + dice(t, label, sides)))
	}

	amount := func(label string, least, sides int) int64 { return int64(least + dice(t, label, sides)) }
	r := &plainRules{zone: loc, codes: []string{"POOL-1", "POOL-2", "POOL-3"}[:1+dice(t, "codes", 3)]}
	r.rewards = map[string]*plainReward{
		"mug":  {kind: reward.RewardPhysical, cost: amount("mug", 0, 8), stock: limit("stock", 1, 4), maxClaims: limit("claims", 1, 3)},
		"bean": {kind: reward.RewardCoupon, cost: amount("bean", 1, 8), coupon: loyalty.CouponAmount, maxClaims: limit("beans", 1, 3)},
		"card": {kind: reward.RewardCoupon, pool: true, cost: amount("card", 0, 4)},
		"gift": {kind: reward.RewardCoupon, cost: amount("gift", 0, 4), coupon: loyalty.CouponGiftCard, validDays: dice(t, "valid", 3)},
		"win":  {kind: reward.RewardPoints, cost: amount("win", 0, 8), award: amount("award", 1, 64), stock: limit("wins", 1, 4)},
		"late": {kind: reward.RewardDownload, ends: now.Add(time.Duration(1+dice(t, "ends", 48)) * time.Hour)},
	}

	r.contests = map[string]*plainContest{
		"raffle": {price: amount("price", 1, 8), most: limit("entries", 2, 6)},
		"free":   {most: limit("free entries", 1, 4)},
	}

	r.offers = map[string]*plainOffer{
		"deal": {most: limit("deals", 1, 4), perCustomer: limit("own deals", 1, 3)},
		"open": {},
	}

	r.treasures = map[string]*plainTreasure{
		"online":  {kind: game.TreasureOnline, points: amount("online", 0, 16)},
		"offline": {kind: game.TreasureOffline, points: amount("offline", 1, 16)},
		"coded":   {kind: game.TreasureOffline, code: "OAK", points: amount("coded", 1, 16)},
	}

	r.quizzes = map[string]*plainQuiz{"origin": {amount("quiz", 0, 8)}, "roast": {amount("roast", 1, 8)}}
	r.flows = map[string]*plainFlow{"taste": {map[string]int64{"drink": amount("drink", 0, 4), "name": amount("name", 0, 4)}, amount("taste", 0, 8)}}
	r.wheels = map[string]*plainWheel{
		"daily":  {price: amount("spin", 0, 8), most: amount("spins", 1, 2), daily: true, points: amount("won", 0, 16)},
		"prizes": {price: amount("prize", 0, 4), most: amount("prizes", 0, 4), reward: "mug"},
	}

	r.drawChallenges(t)
	r.drawCampaigns(t)
	r.structures = []*plainStructure{
		{id: "life", base: tier.BasePoints, grace: dice(t, "grace", 3), thresholds: []int64{amount("silver", 20, 60), 150}},
		{id: "spend", base: tier.BaseSpend, grace: dice(t, "spend grace", 2), thresholds: []int64{amount("bronze", 20, 60), 200}},
	}

	return r, zone
}

func (r *plainRules) drawChallenges(t *rapid.T) {
	amount := func(label string, least, sides int) int64 { return int64(least + dice(t, label, sides)) }
	r.challenges = []*plainChallenge{
		{id: "both", criteria: []plainCriterion{{"visit", "", 1}, {"checkout", "", 1}}, points: 5, most: 2},
		{id: "count", criteria: []plainCriterion{{"visit", "", amount("visits", 1, 3)}}, points: amount("visited", 0, 8), most: amount("times", 1, 3), resetable: true},
		{id: "meta", criteria: []plainCriterion{{"challenge", "", 1 + amount("meta", 1, 2)}}, points: 4, most: 3},
		{id: "money", criteria: []plainCriterion{{"checkout", "transaction.total", amount("money", 20, 100)}}, points: 7, most: 3, resetable: true},
		{id: "often", criteria: []plainCriterion{{"checkout", "", amount("often", 1, 2)}}, points: amount("often points", 0, 9), most: 9, keep: chance(t, "keep", 20)},
		{id: "sum", criteria: []plainCriterion{{"point_add", "points", amount("sum", 10, 90)}}, points: 6, most: amount("sums", 1, 3)},
		{id: "used", criteria: []plainCriterion{{"coupon_redeem", "", 1}}, points: 3, most: 5},
	}
}

func (r *plainRules) drawCampaigns(t *rapid.T) {
	all := []*plainCampaign{
		{id: "c1", trigger: "checkout", points: 9, perCustomer: 1 + int64(dice(t, "limit", 2)), total: 3},
		{id: "c2", trigger: "checkout", factor: big.NewRat(int64(3+dice(t, "factor", 4)), 2)},
		{id: "c3", trigger: "checkout_item", pieces: true, points: 3},
		{id: "c4", trigger: "opt_in", points: 5},
		{id: "c5", trigger: "video", coupon: true, perCustomer: 2},
		{id: "c6", trigger: "challenge", points: 2},
		{id: "c7", trigger: "tier_up", points: 4, perCustomer: 2},
		{id: "c8", trigger: "coupon_redeem", points: 2, total: 4},
		{id: "c10", trigger: "point_expire", points: 1, perCustomer: 1},
		{id: "c9", trigger: "point_spend", points: 1},
		{id: "d1", trigger: "quiz_answer", points: 2},
		{id: "d2", trigger: "wheel_spin", points: 1, perCustomer: 2},
		{id: "d3", trigger: "review", points: 3, total: 3},
	}

	for _, c := range all {
		if chance(t, c.id, 60) {
			r.campaigns = append(r.campaigns, c)
		}
	}
}

// things writes what the programme is made of as the Entities API would. own puts
// the history's mark on an id.
func (r *plainRules) things(own func(string) string) (all things) {
	add := func(kind, id string, fields map[string]any) {
		all = append(all, [3]string{kind, own(id), string(marshaled(fields))})
	}
	title := map[string]string{"en": "A"}
	add("coupons/pool", "few", map[string]any{"name": "A", "source": "uploaded", "coupon": map[string]any{"type": "amount", "value": 5}})
	for _, id := range slices.Sorted(maps.Keys(r.rewards)) {
		add("rewards/reward", id, r.rewards[id].fields(title, own))
	}

	for _, id := range slices.Sorted(maps.Keys(r.contests)) {
		add("contests/contest", id, map[string]any{"title": title, "points": r.contests[id].price, "max_entries": r.contests[id].most})
	}

	for _, id := range slices.Sorted(maps.Keys(r.offers)) {
		add("offers/offer", id, map[string]any{
			"name": title, "type": "cart", "discount": map[string]any{"type": "fixed_discount", "value": 1},
			"max_redemptions": r.offers[id].most, "max_per_customer": r.offers[id].perCustomer,
		})
	}

	for _, id := range slices.Sorted(maps.Keys(r.treasures)) {
		x := r.treasures[id]
		add("treasure-hunt/treasure", id, map[string]any{"title": title, "kind": x.kind, "code": x.code, "points": x.points})
	}

	for _, id := range slices.Sorted(maps.Keys(r.quizzes)) {
		answers := []map[string]any{{"id": "a", "text": title}, {"id": "b", "text": title}}
		add("quizzes/quiz", id, map[string]any{"title": title, "question": title, "answers": answers, "correct_answer": "a", "points": r.quizzes[id].points})
	}

	for _, id := range slices.Sorted(maps.Keys(r.flows)) {
		var questions []map[string]any
		fields := map[string]string{"drink": "cf_drink", "name": "first_name"}
		for _, q := range slices.Sorted(maps.Keys(r.flows[id].questions)) {
			questions = append(questions, map[string]any{"id": q, "field": fields[q], "text": title, "points": r.flows[id].questions[q]})
		}
		add("profiling/flow", id, map[string]any{"title": title, "questions": questions, "points": r.flows[id].points})
	}

	for _, id := range slices.Sorted(maps.Keys(r.wheels)) {
		add("prize-wheels/wheel", id, r.wheels[id].fields(title, own))
	}

	for _, s := range r.structures {
		add("tiers/structure", s.id, map[string]any{
			"name": "A", "base": s.base, "window": map[string]any{"kind": "none"}, "downgrade": "automatic", "grace_days": s.grace,
		})
		for i, threshold := range s.thresholds {
			add("tiers/tier", s.tier(i+1), map[string]any{"structure": own(s.id), "name": title, "threshold": threshold})
		}
	}

	for _, c := range r.challenges {
		var criteria []map[string]any
		for _, k := range c.criteria {
			criteria = append(criteria, map[string]any{"action": k.action, "threshold": k.threshold, "sum": k.sum})
		}
		refunds := map[bool]string{true: challenge.RefundsKeep, false: challenge.RefundsUndo}[c.keep]
		add("challenges/challenge", c.id, map[string]any{
			"title": title, "criteria": criteria, "points": c.points, "max_completions": c.most, "resetable": c.resetable, "refunds": refunds,
		})
	}

	for _, c := range r.campaigns {
		add("automation/campaign", c.id, c.fields(own))
	}

	return all
}

// tier is the id of a rank; empty for 0, which is no tier.
func (s *plainStructure) tier(rank int) string {
	if rank == 0 {
		return ""
	}
	return fmt.Sprint(s.id, rank)
}

func (x *plainReward) fields(title any, own func(string) string) map[string]any {
	f := map[string]any{"title": title, "type": x.kind, "points": x.cost, "stock": x.stock, "max_claims": x.maxClaims}
	if x.award > 0 {
		f["award"] = x.award
	}
	if x.pool {
		f["pool"] = own("few")
	}
	if x.coupon != "" {
		f["coupon"] = map[string]any{"type": x.coupon, "value": 10, "valid_days": x.validDays}
	}
	if !x.ends.IsZero() {
		f["ends_at"] = x.ends.Format(time.RFC3339)
	}

	return f
}

func (x *plainWheel) fields(title any, own func(string) string) map[string]any {
	option := map[string]any{"type": game.OptionPoints, "label": title, "weight": 1, "points": x.points}
	if x.reward != "" {
		option = map[string]any{"type": game.OptionReward, "label": title, "weight": 1, "reward": own(x.reward)}
	}
	period := map[bool]string{true: "day", false: "ever"}[x.daily]
	return map[string]any{"name": title, "points": x.price, "limit": map[string]any{"count": x.most, "period": period}, "options": []any{option}}
}

func (c *plainCampaign) fields(own func(string) string) map[string]any {
	effect := map[string]any{"type": "points", "points": c.points}
	if c.factor != nil {
		effect = map[string]any{"type": "multiply", "factor": json.Number(c.factor.FloatString(1))}
	}
	if c.coupon {
		effect = map[string]any{"type": "coupon", "pool": own("few")}
	}

	limit := map[string]any{}
	if c.perCustomer > 0 {
		limit["per_customer"] = c.perCustomer
	}
	if c.total > 0 {
		limit["total"] = c.total
	}

	f := map[string]any{"name": "A", "trigger": c.trigger, "effects": []any{effect}, "limit": limit, "status": "active"}
	if c.pieces {
		f["condition"] = "item.quantity > 1"
	}

	return f
}

func TextOf(t require.TestingT, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func marshaled(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of plain values always can be written
	}
	return raw
}

// holdable are the actions that a history may have wait.
var holdable = []string{
	"point_add", "point_add", "checkout", "checkout", "checkout", "point_spend", "point_sub", "visit", "coupon_create", "coupon_redeem", "refund",
	"offer_redeem", "treasure_found", "reward_revoke", "contest_entry_revoke", "unassign_coupon", "coupon_unredeem", "reserve_points", "checkout_claim",
}

// configure draws the configuration of the modules.
func (r *plainRules) configure(t *rapid.T) modules {
	r.expiry = pick(t, "expiry", []string{
		points.ExpiryNone, points.ExpiryRolling, points.ExpiryRolling, points.ExpiryCalendar, points.ExpiryLastActivity, points.ExpiryAnniversary,
	})
	r.days, r.month, r.day = 1+dice(t, "days", 5), time.March, 1+dice(t, "day", 31)
	r.refuseNegative = chance(t, "refuse negative", 40)
	r.rounding = pick(t, "rounding", []string{"floor", "round", "ceil"})
	r.rate = nil
	if rate := pick(t, "rate", []string{"1", "0.1", "1.5", "0.333", "0", "off"}); rate == "off" {
		r.rounding = "floor"
	} else {
		r.rate, _ = new(big.Rat).SetString(rate)
	}

	r.pending, r.heldActions = "", nil
	switch dice(t, "waiting", 8) {
	case 0, 1, 2:
		r.pending = pick(t, "pending", []string{programme.AcceptManual, programme.AcceptAuto, programme.AcceptAuto, programme.AcceptReject})
	case 3, 4, 5:
		r.heldActions = []string{}
		for range 1 + dice(t, "held", 3) {
			if a := pick(t, "action", holdable); !r.holds(a) {
				r.heldActions = append(r.heldActions, a)
			}
		}
	}

	r.pendingDays, r.heldDays = dice(t, "pending days", 4), dice(t, "held days", 4)
	r.off = nil
	if chance(t, "something is off", 25) {
		r.off = []string{pick(t, "off", switched)}
	}

	r.payOn = pick(t, "pays", []string{programme.PayOnCheckout, programme.PayOnCheckout, programme.PayOnOptIn})
	r.referrerPoints, r.friendPoints = int64(dice(t, "referrer", 20)), int64(dice(t, "friend", 20))
	return r.modules()
}

// modules writes the configuration as the Administration API would.
func (r *plainRules) modules() modules {
	expiry := map[string]any{"policy": r.expiry}
	switch r.expiry {
	case points.ExpiryRolling, points.ExpiryLastActivity:
		expiry["days"] = r.days
	case points.ExpiryCalendar:
		expiry["date"] = fmt.Sprintf("03-%02d", r.day)
	}

	m := modules{
		programme.ModulePointsEconomy: string(marshaled(map[string]any{
			"expiry": expiry, "negative": map[bool]string{true: "refuse", false: "allow"}[r.refuseNegative],
		})),
		programme.ModuleFriendReferral: string(marshaled(map[string]any{
			"pay_on": r.payOn, "referrer_points": r.referrerPoints, "friend_points": r.friendPoints,
		})),
		programme.ModuleIncentivizedPurchase: "off",
	}

	if r.rate != nil {
		m[programme.ModuleIncentivizedPurchase] = fmt.Sprintf(`{"rate":%s,"rounding":%q}`, strings.TrimRight(r.rate.FloatString(3), "0")+"0", r.rounding)
	}

	if r.pending != "" {
		m[programme.ModuleCheckoutAccept] = fmt.Sprintf(`{"type":%q,"pending_days":%d}`, r.pending, r.pendingDays)
		if r.pending == programme.AcceptManual {
			m[programme.ModuleCheckoutAccept] = `{}`
		}
	}

	if r.heldActions != nil {
		m[programme.ModulePendingEvents] = string(marshaled(map[string]any{"actions": r.heldActions, "days": r.heldDays}))
	}

	for _, name := range switched {
		if !r.on(name) {
			m[name] = "off"
		} else if _, configured := m[name]; !configured {
			m[name] = `{}`
		}
	}

	return m
}
