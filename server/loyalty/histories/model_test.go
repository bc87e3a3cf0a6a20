package histories_test

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The plain model of decisions.md, sections 3 to 9: maps and loops that move one
// point at a time, written from that page and not from the engine. Money is
// counted in 1/10,000, as on the page.

type plainLot struct {
	serial                     int        // the order in which lots were opened
	id                         loyalty.ID // as stored, once it was seen there
	transaction                string
	earned, expires            time.Time
	idle                       int       // days of inactivity
	lapsed                     time.Time // when they had passed before what the customer does now
	points                     int64
	free, held, spent, expired int64
}

// plainPart is a part of a lot, which keeps its number when it changes hands.
type plainPart struct {
	lot int
	n   int64
}

type plainCustomer struct {
	index           int // in the world's list
	name, email     string
	was             string // before an opt_in took the profile over
	status          loyalty.Status
	into            int // the target of the merge; −1: none
	referrer        int // −1: none
	created, active time.Time
	zone            *time.Location // of the programme
	lots            []plainLot
	score, debt     int64
	holds           map[string][]plainPart
	purchases       map[string]*plainPurchase

	claimed    map[string]int64 // rewards: claims of their own that stand
	received   map[string][]int // rewards: claims that others made
	found      map[string]bool  // treasures
	entries    map[string][]plainEntries
	offers     map[string]*plainOfferUse
	gifts      map[string]int64 // campaigns: times they gave
	given      plainGift        // the points that a campaign gave last
	challenges map[string]*plainProgress
	tiers      map[string]plainTier
	waiting    []plainHeld
	bonus      *plainBonus
	games      plainGames

	at   time.Time // when what is being decided takes effect
	late bool      // and that is the sender's date
}

// told is an event that the model recorded, in the order of recording.
type told struct {
	customer int
	action   string
	points   int64

	as       string    // the held action that it applies
	purchase string    // the purchase that it made final
	about    string    // the purchase that it belongs to
	held     bool      // it waits
	line     string    // derived from a purchase, which tells it
	lot      int       // the lot that it opened
	claim    int       // the claim that it made
	waiting  int       // the held event that it recorded
	reacted  bool      // the rules have seen it
	parent   int       // the place of the event that it followed from, from 1; 0: none
	at       time.Time // its date: of what it followed from, or later
	done     int       // the number of the completion that it tells, where a refund may break it
	made     string    // the place of a code or customer name that the platform chose
}

// plainWorld is everything the model knows.
type plainWorld struct {
	rules   *plainRules
	now     time.Time
	all     []*plainCustomer // in the order of creation
	names   map[string]int   // who is known by a name now
	owners  map[string]int   // transaction ids, for ever: in whose row
	coupons map[string]*modelCoupon
	claims  map[int]*plainClaim
	counts  map[string]int64 // what all customers share
	serial  int

	told   []*told
	parent int   // what is told now follows from this one
	waits  int   // so many of them are not reacted to yet
	opened []int // customers of the submission at hand, in the order of opening
}

func newPlainWorld(rules *plainRules, now time.Time) *plainWorld {
	w := &plainWorld{
		rules: rules, now: now, names: map[string]int{}, owners: map[string]int{}, coupons: map[string]*modelCoupon{},
		claims: map[int]*plainClaim{}, counts: map[string]int64{},
	}
	for i, code := range rules.codes {
		w.coupons[code] = &modelCoupon{serial: i - len(rules.codes), code: code, kind: loyalty.CouponAmount, value: 50_000, pool: "few", state: loyalty.CouponCreated, owner: -1}
	}
	return w
}

func (w *plainWorld) next() int { w.serial++; return w.serial }

func (w *plainWorld) clone() *plainWorld {
	k := *w
	k.all = make([]*plainCustomer, len(w.all))
	for i, c := range w.all {
		k.all[i] = c.clone()
	}

	k.names, k.owners, k.counts = maps.Clone(w.names), maps.Clone(w.owners), maps.Clone(w.counts)
	k.coupons, k.claims = cloned(w.coupons), cloned(w.claims)
	for _, c := range k.coupons {
		c.uses = slices.Clone(c.uses)
	}

	for _, c := range k.claims {
		c.burn = slices.Clone(c.burn)
	}

	k.told, k.opened = slices.Clone(w.told), slices.Clone(w.opened)
	for i, t := range k.told {
		again := *t
		k.told[i] = &again
	}

	return &k
}

// cloned copies a map and what its values point to.
func cloned[K comparable, V any](m map[K]*V) map[K]*V {
	k := make(map[K]*V, len(m))
	for key, v := range m {
		again := *v
		k[key] = &again
	}
	return k
}

func (c *plainCustomer) clone() *plainCustomer {
	k := *c
	k.lots, k.holds, k.purchases = slices.Clone(c.lots), maps.Clone(c.holds), cloned(c.purchases)
	for id, h := range k.holds {
		k.holds[id] = slices.Clone(h)
	}

	for _, p := range k.purchases {
		p.lines, p.burn, p.coupons = slices.Clone(p.lines), slices.Clone(p.burn), slices.Clone(p.coupons)
		p.counted = clonedCounts(p.counted)
	}

	k.claimed, k.received, k.found, k.gifts = maps.Clone(c.claimed), maps.Clone(c.received), maps.Clone(c.found), maps.Clone(c.gifts)
	for reward, list := range k.received {
		k.received[reward] = slices.Clone(list)
	}

	k.entries, k.offers, k.challenges = maps.Clone(c.entries), cloned(c.offers), cloned(c.challenges)
	for id, list := range k.entries {
		k.entries[id] = slices.Clone(list)
		for i := range k.entries[id] {
			k.entries[id][i].burn = slices.Clone(list[i].burn)
		}
	}

	for _, o := range k.offers {
		o.uses = slices.Clone(o.uses)
	}

	for _, p := range k.challenges {
		p.counts, p.slots, p.done = slices.Clone(p.counts), slices.Clone(p.slots), slices.Clone(p.done)
		for i := range p.done {
			p.done[i] = p.done[i].clone()
		}
	}

	k.tiers, k.waiting, k.games = maps.Clone(c.tiers), slices.Clone(c.waiting), c.games.clone()
	if c.bonus != nil {
		k.bonus = new(*c.bonus)
	}

	return &k
}

// said is a submitted event as the generator made it.
type said struct {
	customer, action string
	guest            bool
	email, target    string
	optIn, flag      bool
	points           *int64
	transaction      string
	total            int64 // money
	items            []plainLine
	hasItems         bool
	rewarded         *int64
	auto             *time.Time
	removeAuto       bool
	product          string
	code, kind       string
	coupons, offers  []string
	thing            string // the id of an entity
	ref              int    // the number of a claim or of a held event
	referrer         string
	expires          time.Time
	effective        time.Time // zero: now
}

// operations are what no event can cause.
var operations = []string{"reward_claim", "reward_redeem", "contest_enter", "offer_claim", "quiz_answer", "profile_answer", "prize_wheel_spin", "tier_change", "merge"}

func (e *said) operation() bool { return slices.Contains(operations, e.action) }

// submit plays one event. Where it is refused nothing has changed.
func (w *plainWorld) submit(e said) (c *plainCustomer, err error) {
	err = w.try(func(trial *plainWorld) (err error) {
		c, err = trial.play(&e)
		return err
	})
	return c, err
}

// endless is the panic of rules that go on for too long: they are noticed deep in what a customer
// is opened for.
type endless struct{}

// try does something in one transaction: on a copy, which is kept unless it is refused.
func (w *plainWorld) try(do func(*plainWorld) error) (err error) {
	trial := w.clone()
	trial.told, trial.opened, trial.waits, trial.parent = nil, nil, 0, 0
	defer func() {
		switch fault := recover(); fault {
		case nil:
		case endless{}:
			err = loyalty.ErrReactionsEndless
		default:
			panic(fault)
		}
		if err == nil {
			*w = *trial
		}
	}()

	return do(trial)
}

func (w *plainWorld) play(e *said) (*plainCustomer, error) {
	if err := w.gate(e); err != nil {
		return nil, err
	}

	settles := !w.rules.on(programme.ModuleCheckoutAccept) && (e.action == "checkout_accept" || e.action == "checkout_reject")
	c, err := w.find(e)
	if settles && err != nil {
		return nil, loyalty.ErrActionOff
	}
	if err != nil {
		return nil, err
	}

	w.open(c)
	if settles && !c.leftPending(e.transaction) {
		return nil, loyalty.ErrActionOff
	}
	if err := w.standing(c, e); err != nil {
		return nil, err
	}
	if !e.effective.IsZero() {
		c.at, c.late = e.effective, true
	}

	if again, err := w.again(c, e); again || err != nil {
		w.pay()
		return c, err
	}

	c.lapse(w.now)
	if err := w.call(c, e); err != nil {
		return nil, err
	}

	t := w.tell(c, e.action, 0)
	t.about, w.parent = e.transaction, len(w.told)
	if e.guest && (c.status == loyalty.None || c.status == loyalty.Inactive) {
		c.status = loyalty.Inactive
	}

	decide := w.apply
	if w.rules.holds(e.action) && !e.operation() {
		decide = w.hold
	}
	if err := decide(c, e, t); err != nil {
		return nil, err
	}

	w.parent = 0
	w.react()
	c.active = w.now
	for _, i := range w.opened {
		w.expire(w.all[i], w.now)
	}

	for i := range c.lots {
		c.lots[i].lapsed = time.Time{}
	}

	w.react()
	w.pay()
	return c, nil
}

// pay lets all customers pay their debt from what a submission brought.
func (w *plainWorld) pay() {
	for _, i := range w.opened {
		w.all[i].pay()
	}
}

// comeDue settles a customer without any event.
func (w *plainWorld) comeDue(i int) error {
	return w.try(func(trial *plainWorld) error {
		trial.open(trial.all[i])
		trial.pay()
		return nil
	})
}

// tell records an event.
func (w *plainWorld) tell(c *plainCustomer, action string, n int64) *told {
	t := &told{customer: c.index, action: action, points: n, parent: w.parent, at: c.at}
	w.told = append(w.told, t)
	return t
}

// leftPending says whether a purchase waits since its module was on.
func (c *plainCustomer) leftPending(id string) bool {
	held := slices.ContainsFunc(c.waiting, func(h plainHeld) bool { return h.event.action == "checkout" && h.event.transaction == id })
	p := c.purchases[id]
	return p != nil && p.state == loyalty.Pending && !held
}

// gate refuses what needs a module that is off; whether one of those that decide on
// purchases does, only the customer tells.
func (w *plainWorld) gate(e *said) error {
	if m := plainModules[e.action]; m != "" && !w.rules.on(m) && e.action != "checkout_accept" && e.action != "checkout_reject" {
		return loyalty.ErrActionOff
	}
	attributes := map[string]bool{
		programme.ModuleCheckoutAccept: e.action == "checkout" && e.rewarded != nil, programme.ModuleCoupons: len(e.coupons) > 0,
		programme.ModuleOffers: len(e.offers) > 0, programme.ModuleFriendReferral: e.referrer != "",
	}
	for m, sent := range attributes {
		if sent && !w.rules.on(m) {
			return loyalty.ErrModuleOff
		}
	}
	return nil
}

// plainModules are the modules that actions need.
var plainModules = map[string]string{
	"checkout_accept": programme.ModuleCheckoutAccept, "checkout_reject": programme.ModuleCheckoutAccept, "checkout_update": programme.ModuleCheckoutAccept,
	"coupon": programme.ModuleCoupons, "coupon_create": programme.ModuleCoupons, "coupon_redeem": programme.ModuleCoupons, "coupon_unredeem": programme.ModuleCoupons,
	"coupon_invalidate": programme.ModuleCoupons, "coupon_transfer": programme.ModuleCoupons, "unassign_coupon": programme.ModuleCoupons,
	"reward_claim": programme.ModuleRewards, "reward_revoke": programme.ModuleRewards, "reward_transfer": programme.ModuleRewards, "reward_redeem": programme.ModuleRewards,
	"quiz_answer": programme.ModuleQuizzes, "profile_answer": programme.ModuleProfiling, "prize_wheel_spin": programme.ModulePrizeWheels, "tier_change": programme.ModuleTiers,
	"contest_enter": programme.ModuleContests, "contest_entry_revoke": programme.ModuleContests,
	"offer_claim": programme.ModuleOffers, "offer_redeem": programme.ModuleOffers, "offer_unredeem": programme.ModuleOffers,
	"challenge_reset": programme.ModuleChallenges, "checkout_claim": programme.ModuleCustomerIDValidation,
	"pending_validate": programme.ModulePendingEvents, "pending_invalidate": programme.ModulePendingEvents, "pending_expired": programme.ModulePendingEvents,
}

// find gives the customer that an event is about, a new one where the action may begin one. An event sent to a merged
// customer goes to the target.
func (w *plainWorld) find(e *said) (*plainCustomer, error) {
	if i, ok := w.names[e.customer]; ok {
		return w.survivor(i), nil
	}

	creates := e.action == "subscribe" || e.action == "opt_in" || (e.action == "profile" && e.optIn) || e.guest
	if !creates {
		return nil, loyalty.ErrCustomerNotFound
	}

	if e.action == "opt_in" {
		for _, c := range w.all {
			if c.status == loyalty.Inactive && c.email == e.email {
				return c, nil
			}
		}
	}

	c := w.begin()
	if !e.effective.IsZero() {
		c.created = e.effective // an enrolment counts from its effective instant
	}

	return c, nil
}

func (w *plainWorld) begin() *plainCustomer {
	c := &plainCustomer{
		index: len(w.all), created: w.now, zone: w.rules.zone, into: -1, referrer: -1, holds: map[string][]plainPart{}, purchases: map[string]*plainPurchase{},
		claimed: map[string]int64{}, received: map[string][]int{}, found: map[string]bool{}, entries: map[string][]plainEntries{},
		offers: map[string]*plainOfferUse{}, gifts: map[string]int64{}, challenges: map[string]*plainProgress{}, tiers: map[string]plainTier{},
		games: newPlainGames(),
	}
	w.all = append(w.all, c)
	return c
}

// survivor follows merges to who has everything now.
func (w *plainWorld) survivor(i int) *plainCustomer {
	for w.all[i].into >= 0 {
		i = w.all[i].into
	}
	return w.all[i]
}

// call gives a new customer, or a profile that is taken over, the name that was
// sent.
func (w *plainWorld) call(c *plainCustomer, e *said) error {
	if _, known := w.names[e.customer]; known {
		return nil
	}
	delete(w.names, c.name)
	c.was, c.name = c.name, e.customer
	w.names[c.name] = c.index
	return nil
}

// open lets what came due for a customer happen before anything else does.
func (w *plainWorld) open(c *plainCustomer) {
	if slices.Contains(w.opened, c.index) {
		return
	}
	w.opened = append(w.opened, c.index)
	c.at, c.late = w.now, false
	w.settle(c)
}

// other opens a customer that another customer's event touches.
func (w *plainWorld) other(c, by *plainCustomer) {
	if slices.Contains(w.opened, c.index) {
		return
	}
	was := map[int]time.Time{} // what is due may reach those who are open at another instant
	for _, i := range w.opened {
		was[i] = w.all[i].at
	}
	w.open(c)
	for i, at := range was {
		w.all[i].at = at
	}
	c.at, c.late = by.at, by.late
}

// Who may do what: decisions.md 3.
var (
	plainAnyone = []string{
		"subscribe", "opt_in", "profile", "suspend", "unsuspend", "opt_out", "visit", "video", "review", "merge",
		"pending_validate", "pending_invalidate", "pending_expired",
	}
	plainSpenders = []string{
		"point_spend", "reserve_points", "coupon_redeem", "coupon_transfer", "reward_claim", "reward_redeem", "reward_transfer", "contest_enter", "checkout_claim",
	}
	guestActions = []string{"checkout_accept", "checkout_reject", "checkout_update", "partial_refund", "refund", "refund_item"}
)

func (w *plainWorld) standing(c *plainCustomer, e *said) error {
	switch {
	case c.status == loyalty.Inactive && !slices.Contains(plainAnyone, e.action):
		if e.guest || slices.Contains(guestActions, e.action) { // those find only what the guest bought
			return nil
		}
		return loyalty.ErrWrongStatus
	case c.status == loyalty.Suspended && slices.Contains(plainSpenders, e.action):
		return loyalty.ErrSuspended
	}
	return nil
}

func (c *plainCustomer) enrolled() bool {
	return c.status == loyalty.Active || c.status == loyalty.Suspended
}

// apply decides an event whose customer may do it.
func (w *plainWorld) apply(c *plainCustomer, e *said, t *told) error {
	switch e.action {
	case "subscribe", "opt_in", "profile", "suspend", "unsuspend", "opt_out":
		return w.move(c, e)
	case "merge":
		return w.merge(c, e, t)
	case "pending_validate", "pending_invalidate", "pending_expired":
		return w.decideHeld(c, e, t)
	case "checkout":
		return w.checkout(c, e, t)
	case "checkout_claim":
		return w.claimPurchase(c, e, t)
	case "coupon", "coupon_create", "coupon_redeem", "coupon_unredeem", "coupon_invalidate", "coupon_transfer", "unassign_coupon":
		return w.coupon(c, e, t)
	case "reward_claim", "reward_revoke", "reward_transfer":
		return w.reward(c, e, t)
	case "reward_redeem":
		return w.handOut(c, e.ref)
	case "quiz_answer":
		return w.answerQuiz(c, e, t)
	case "profile_answer":
		return w.answerQuestion(c, e, t)
	case "prize_wheel_spin":
		return w.spin(c, e, t)
	case "tier_change":
		return w.giveTier(c, e)
	case "review":
		return nil
	case "contest_enter", "contest_entry_revoke", "offer_claim", "offer_redeem", "offer_unredeem",
		"treasure_found", "offline_treasure_found", "offline_treasure_code_found", "challenge_reset":
		return w.game(c, e, t)
	case "visit", "video", "point_add", "point_sub", "point_spend", "point_unspend", "reserve_points", "release_points":
		return w.movePoints(c, e, t)
	}

	return w.purchase(c, e, t)
}

// movePoints decides the events that are about nothing but points.
func (w *plainWorld) movePoints(c *plainCustomer, e *said, t *told) error {
	if e.points == nil && e.action != "release_points" {
		return nil // a visit
	}
	if c.status == loyalty.Inactive {
		return loyalty.ErrWrongStatus
	}
	if e.points != nil {
		t.points = *e.points
	}

	switch e.action {
	case "visit", "video", "point_add":
		w.earn(t, *e.points, "")
	case "point_sub":
		if w.rules.refuseNegative && *e.points > c.spendable() {
			return loyalty.ErrNegativeRefused
		}
		c.take(*e.points)
		t.points = -*e.points

	case "point_spend", "reserve_points":
		if *e.points > c.spendable() {
			return loyalty.ErrNotEnoughToSpend
		}
		t.points = -*e.points
		if e.action == "point_spend" {
			c.draw(*e.points, func(l *plainLot) { l.spent++ })
		} else {
			c.holds[e.transaction] = append(c.holds[e.transaction], c.draw(*e.points, func(l *plainLot) { l.held++ })...)
		}

	case "point_unspend":
		return c.unspend(*e.points)
	case "release_points":
		n, err := c.release(e)
		t.points = n
		return err
	}

	return nil
}

// move is the table of a customer's states.
func (w *plainWorld) move(c *plainCustomer, e *said) error {
	next := map[string]map[loyalty.Status]loyalty.Status{
		"subscribe": {loyalty.None: loyalty.Inactive},
		"opt_in":    {loyalty.None: loyalty.Active, loyalty.Inactive: loyalty.Active},
		"suspend":   {loyalty.Active: loyalty.Suspended},
		"unsuspend": {loyalty.Suspended: loyalty.Active},
		"opt_out":   {loyalty.Inactive: loyalty.OptedOut, loyalty.Active: loyalty.OptedOut, loyalty.Suspended: loyalty.OptedOut},
		"profile":   {loyalty.Inactive: loyalty.Inactive, loyalty.Active: loyalty.Active, loyalty.Suspended: loyalty.Suspended},
	}[e.action]

	if e.action == "profile" && e.optIn {
		next[loyalty.None], next[loyalty.Inactive] = loyalty.Active, loyalty.Active
	}

	status, ok := next[c.status]
	switch {
	case !ok && c.enrolled() && (e.action == "opt_in" || e.action == "subscribe"):
		return loyalty.ErrCustomerExists
	case !ok:
		return loyalty.ErrForbiddenState
	}

	c.status = status
	if e.email != "" {
		c.email = e.email
	}

	if e.action == "opt_out" {
		for name, i := range w.names {
			if w.survivor(i) == c {
				delete(w.names, name)
			}
		}
	}

	return w.refer(c, e)
}
