package histories_test

import (
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Quizzes, flows of questions, prize wheels, and rewards that are handed out.

type plainQuiz struct{ points int64 } // the right answer is "a", the wrong one "b"

type plainFlow struct {
	questions map[string]int64 // by id: the points of the first answer
	points    int64            // of all of them
}

// plainWheel has one option, so that chance decides nothing.
type plainWheel struct {
	price, most int64 // most 0: no limit
	daily       bool  // the limit is that of a day
	points      int64
	reward      string // instead of points
}

type plainQuizAnswer struct {
	answer string
	at     time.Time
}

type plainFlowAnswers struct {
	answered []string
	rewarded bool
}

type plainSpins struct {
	day        string
	today, all int64 // today: on day, or ever where the limit has no days
}

// games are what a customer did of these.
type plainGames struct {
	quizzes map[string]plainQuizAnswer
	flows   map[string]plainFlowAnswers
	spins   map[string]plainSpins
}

func newPlainGames() plainGames {
	return plainGames{map[string]plainQuizAnswer{}, map[string]plainFlowAnswers{}, map[string]plainSpins{}}
}

func (g plainGames) clone() plainGames {
	return plainGames{maps.Clone(g.quizzes), maps.Clone(g.flows), maps.Clone(g.spins)}
}

// join adds what another account of the same person did.
func (g plainGames) join(o plainGames) {
	for id, theirs := range o.quizzes { // the first answer is the one that counts
		if mine, both := g.quizzes[id]; !both || theirs.at.Before(mine.at) {
			g.quizzes[id] = theirs
		}
	}

	for id, theirs := range o.flows {
		mine := g.flows[id]
		for _, q := range theirs.answered {
			if !slices.Contains(mine.answered, q) {
				mine.answered = append(slices.Clone(mine.answered), q)
			}
		}
		mine.rewarded = mine.rewarded || theirs.rewarded
		g.flows[id] = mine
	}

	for id, theirs := range o.spins {
		mine := g.spins[id]
		switch {
		case mine.day == theirs.day:
			mine.today += theirs.today
		case mine.day < theirs.day:
			mine.day, mine.today = theirs.day, theirs.today
		}
		mine.all += theirs.all
		g.spins[id] = mine
	}
}

// compare holds what is stored of them.
func (g plainGames) compare(t require.TestingT, name string, rules *plainRules, read func(loyalty.ProgressKind, string, any) bool) {
	for id := range rules.quizzes {
		var p game.QuizProgress
		read(loyalty.ProgressQuiz, id, &p)
		require.Equal(t, []any{g.quizzes[id].answer, g.quizzes[id].answer == "a"}, []any{p.Answer, p.Correct}, "%s: quiz %s", name, id)
	}

	for id := range rules.flows {
		var p game.FlowProgress
		read(loyalty.ProgressFlow, id, &p)
		require.Equal(t, append([]string{}, g.flows[id].answered...), append([]string{}, p.Answered...), "%s: flow %s", name, id)
		require.Equal(t, g.flows[id].rewarded, p.Rewarded, "%s: flow %s", name, id)
	}

	for id := range rules.wheels {
		var p game.WheelProgress
		read(loyalty.ProgressWheel, id, &p)
		require.Equal(t, []int64{g.spins[id].today, g.spins[id].all}, []int64{p.Spins, p.Total}, "%s: wheel %s", name, id)
	}
}

// answerQuiz counts the first answer, which is final.
func (w *plainWorld) answerQuiz(c *plainCustomer, e *said, t *told) error {
	x := w.rules.quizzes[e.thing]
	if x == nil {
		return loyalty.ErrEntityNotFound
	}
	if _, answered := c.games.quizzes[e.thing]; answered {
		return loyalty.ErrQuizAnswered
	}
	if e.code == "a" {
		w.earn(t, x.points, "")
		t.points = x.points
	}
	c.games.quizzes[e.thing] = plainQuizAnswer{e.code, c.at}
	return nil
}

// answerQuestion pays the first answer to each question, and once for all of them.
func (w *plainWorld) answerQuestion(c *plainCustomer, e *said, t *told) error {
	x := w.rules.flows[e.thing]
	if x == nil {
		return loyalty.ErrEntityNotFound
	}

	worth, known := x.questions[e.code]
	if !known {
		return loyalty.ErrQuestionNotFound
	}

	p := c.games.flows[e.thing]
	if !slices.Contains(p.answered, e.code) {
		p.answered = append(slices.Clone(p.answered), e.code)
		t.points = worth
	}

	if len(p.answered) == len(x.questions) && !p.rewarded {
		p.rewarded = true
		t.points += x.points
	}

	w.earn(t, t.points, "")
	c.games.flows[e.thing] = p
	return nil
}

// spin pays, and gives what comes up.
func (w *plainWorld) spin(c *plainCustomer, e *said, t *told) error {
	x := w.rules.wheels[e.thing]
	if x == nil {
		return loyalty.ErrEntityNotFound
	}

	p := c.games.spins[e.thing]
	day := ""
	if x.daily {
		day = c.at.In(w.rules.zone).Format(time.DateOnly)
	}
	if day != p.day {
		p.day, p.today = day, 0
	}

	switch {
	case x.price > 0 && c.status == loyalty.Suspended:
		return loyalty.ErrSuspended
	case x.most > 0 && p.today >= x.most:
		return loyalty.ErrSpinLimit
	case x.price > max(0, c.spendable()):
		return loyalty.ErrNotEnoughToSpend
	}

	c.draw(x.price, func(l *plainLot) { l.spent++ })
	t.points = -x.price
	w.tell(c, "wheel_spin", 0)
	if x.reward != "" {
		if err := w.winReward(c, x.reward); err != nil {
			return err
		}
	} else {
		w.earn(t, x.points, "")
		t.points += x.points
	}

	p.today++
	p.all++
	c.games.spins[e.thing] = p
	return nil
}

// winReward claims a reward that costs nothing and has no coupon. What one customer may claim does not
// count, but how many there are does.
func (w *plainWorld) winReward(c *plainCustomer, id string) error {
	x := w.rules.rewards[id]
	switch {
	case !w.rules.on(programme.ModuleRewards):
		return loyalty.ErrActionOff
	case x.stock != nil && w.counts["reward "+id] >= *x.stock:
		return loyalty.ErrRewardStock
	}
	claim := &plainClaim{serial: w.next(), owner: c.index, reward: id, state: loyalty.ClaimClaimed}
	w.tell(c, "reward_claim", 0).claim = claim.serial
	w.claims[claim.serial] = claim
	c.claimed[id]++
	w.counts["reward "+id]++
	return nil
}

// handOut hands a claimed reward out, once, and uses its coupon. A gift card stays the customer's
// money.
func (w *plainWorld) handOut(c *plainCustomer, ref int) error {
	claim := w.claims[ref]
	switch {
	case claim == nil || w.survivor(claim.owner) != c:
		return loyalty.ErrClaimNotFound
	case claim.state != loyalty.ClaimClaimed:
		return loyalty.ErrForbiddenState
	}

	claim.state = loyalty.ClaimRedeemed
	if claim.coupon == "" {
		return nil
	}

	k := w.coupons[claim.coupon]
	switch {
	case !w.rules.on(programme.ModuleCoupons):
		return loyalty.ErrActionOff
	case k.reward != claim.reward || k.owner != c.index:
		return loyalty.ErrCouponNotFound
	case k.state == loyalty.CouponRedeemed || k.state == loyalty.CouponPartiallyRedeemed:
		return loyalty.ErrClaimCouponUsed
	}

	if _, err := w.redeemable(c, k.code); err != nil || k.kind == loyalty.CouponGiftCard {
		return err
	}

	w.tell(c, "coupon_redeem", 0)
	return w.redeem(c, k.code, nil)
}
