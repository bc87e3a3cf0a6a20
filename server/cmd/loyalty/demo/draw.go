package demo

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// habits are the activities with their frequency, in thousandths. The rest up to a thousand are visits.
var habits = []struct {
	often int
	draw  func(*Crowd, *member, float64) (Act, bool)
}{
	{400, func(c *Crowd, m *member, p float64) (Act, bool) { return c.buy(m, p), true }},
	{110, (*Crowd).claim},
	{45, (*Crowd).review},
	{90, (*Crowd).redeem},
	{15, (*Crowd).pay},
	{30, (*Crowd).takeBack},
	{30, (*Crowd).answer},
	{30, (*Crowd).profile},
	{25, (*Crowd).find},
	{20, (*Crowd).enter},
	{15, (*Crowd).offer},
	{12, (*Crowd).give},
	{8, (*Crowd).goodwill},
	{3, (*Crowd).suspend},
	{3, (*Crowd).unsuspend},
}

// draw makes the submission of the n-th of a thousand habits; false if this member cannot do it now.
func (c *Crowd) draw(m *member, n int, progress float64) (Act, bool) {
	for _, h := range habits {
		if n -= h.often; n < 0 {
			return h.draw(c, m, progress)
		}
	}
	return c.visit(m, progress), true
}

func (c *Crowd) visit(m *member, progress float64) Act {
	return c.act(m, progress,
		"visit", attributes{"url": "https://shop.example.com/" + c.products[c.dice.IntN(len(c.products))].id,
			"type": "product"})
}

// buy is a purchase of one to four lines, in a store or online.
func (c *Crowd) buy(m *member, progress float64) Act {
	c.orders++
	o := &order{id: fmt.Sprintf("order-%06d", c.orders)}
	total, items := 0, []attributes{}
	for i := range 1 + c.dice.IntN(4) {
		p := c.products[(c.dice.IntN(len(c.products)/4)+i*len(c.products)/4)%len(c.products)] // no product twice
		line := line{p, 1 + c.dice.IntN(8)/6}
		o.lines = append(o.lines, line)
		total += p.price * line.quantity
		items = append(items, attributes{
			"product_id": p.id, "product_name": p.name, "product_url": "https://shop.example.com/" + p.id,
			"product_category": p.category,
			"quantity":         line.quantity, "price": money(p.price), "subtotal": money(p.price * line.quantity),
		})
	}

	data := attributes{"transaction_id": o.id, "total": money(total), "currency": "EUR",
		"country": countries[m.country].code, "items": items}
	if data["channel"] = "online"; c.chance(55) {
		data["channel"], data["store"] = "store", countries[m.country].store
	}

	a := c.act(m, progress, "checkout", data)
	a.learn = func(loyalty.Outcome) { m.orders = append(m.orders, o) }
	return a
}

// money writes hundredths as an amount.
func money(hundredths int) json.Number {
	return json.Number(fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100))
}

// prices are the rewards that every customer may claim, with their prices.
var prices = []struct {
	reward string
	price  int64
	most   int // claims of one member; 0: any number
}{
	{"free-coffee", 80, 0}, {"free-coffee", 80, 0}, {"free-coffee", 80, 0}, {"ten-percent", 150, 0},
	{"five-euros", 120, 1}, {"gift-card", 600, 0},
	{"free-delivery", 60, 1}, {"recipe-book", 40, 1}, {"brewing-guide", 0, 1}, {"enamel-mug", 200, 1},
	{"lucky-points", 30, 1}, {"barista-class", 400, 0},
}

func (c *Crowd) claim(m *member, progress float64) (Act, bool) {
	r := prices[c.dice.IntN(len(prices))]
	if m.suspended || m.points < r.price || r.most > 0 && m.done[r.reward] {
		return Act{}, false
	}
	a := c.act(m, progress, "reward_claim", attributes{"reward": r.reward})
	a.learn = func(loyalty.Outcome) {
		m.done[r.reward] = true
		if r.reward == "enamel-mug" {
			m.mugs++
		}
	}
	return a, true
}

func (c *Crowd) review(m *member, progress float64) (Act, bool) {
	if len(m.orders) == 0 {
		return Act{}, false
	}
	o := m.orders[c.dice.IntN(len(m.orders))]
	words := []string{"Would buy it again.", "Volvería a comprarlo.", "J’en reprendrai.", "Újra megvenném."}
	return c.act(m, progress,
		"review_submit", attributes{"item": o.lines[0].product.id, "review": words[c.dice.IntN(len(words))],
			"provider": "shop"}), true
}

// redeem uses a coupon: most with a purchase, the others at the counter.
func (c *Crowd) redeem(m *member, progress float64) (Act, bool) {
	if len(m.codes) == 0 {
		return Act{}, false
	}

	code := m.codes[len(m.codes)-1] // not tried again, even if it is refused or expired
	m.codes = m.codes[:len(m.codes)-1]
	if c.chance(30) {
		return c.act(m, progress, "coupon_redeem", attributes{"code": code}), true
	}

	a := c.buy(m, progress)
	var data attributes
	_ = json.Unmarshal(a.Data, &data) // written just now
	data["coupons"] = []string{code}
	a.Data, _ = json.Marshal(data)
	return a, true
}

// pay uses a part of a gift card.
func (c *Crowd) pay(m *member, progress float64) (Act, bool) {
	if len(m.cards) == 0 {
		return Act{}, false
	}
	code := m.cards[0]
	if m.done[code] {
		m.cards = m.cards[1:]
	}
	m.done[code] = true
	return c.act(m, progress, "coupon_redeem", attributes{"code": code, "amount": 12.5}), true
}

// takeBack refunds a purchase, a product of it, or a part of the price.
func (c *Crowd) takeBack(m *member, progress float64) (Act, bool) {
	if len(m.orders) == 0 || m.orders[len(m.orders)-1].taken {
		return Act{}, false
	}
	o := m.orders[len(m.orders)-1]
	o.taken = true
	switch c.dice.IntN(3) {
	case 0:
		return c.act(m, progress, "refund", attributes{"transaction_id": o.id}), true
	case 1:
		return c.act(m, progress,
			"refund_item", attributes{"transaction_id": o.id, "product_id": o.lines[0].product.id, "quantity": 1}), true
	}
	return c.act(m, progress, "partial_refund", attributes{"transaction_id": o.id, "amount": 4.5}), true
}

// once reports whether a member does something for the first time.
func (m *member) once(what string) bool {
	first := !m.done[what]
	m.done[what] = true
	return first
}

func (c *Crowd) answer(m *member, progress float64) (Act, bool) {
	if !m.once("quiz") {
		return Act{}, false
	}
	answers := []string{"ethiopia", "ethiopia", "brazil", "java"}
	return c.act(m, progress, "quiz_answer", attributes{"quiz": "arabica", "answer": answers[c.dice.IntN(len(answers))]}),
		true
}

func (c *Crowd) profile(m *member, progress float64) (Act, bool) {
	question, answers := "drink", []string{"espresso", "filter", "milk"}
	if !m.once("drink") {
		if !m.once("cups") {
			return Act{}, false
		}
		question, answers = "cups", []string{"one", "two", "more"}
	}
	return c.act(m, progress,
			"profile_answer", attributes{"flow": "taste", "question": question, "answer": answers[c.dice.IntN(len(answers))]}),
		true
}

func (c *Crowd) find(m *member, progress float64) (Act, bool) {
	found := []struct {
		action string
		data   attributes
	}{
		{"treasure_found", attributes{"treasure_id": "golden-bean"}},
		{"offline_treasure_found", attributes{"treasure_id": "counter-card"}},
		{"offline_treasure_code_found", attributes{"treasure_id": "roastery-code", "code": "roast-7"}},
	}[c.dice.IntN(3)]
	if !m.once(found.action) {
		return Act{}, false
	}
	return c.act(m, progress, found.action, found.data), true
}

func (c *Crowd) enter(m *member, progress float64) (Act, bool) {
	count := 1 + c.dice.IntN(2)
	if m.suspended || m.points < int64(20*count) || !m.once(fmt.Sprint("contest", c.dice.IntN(5))) {
		return Act{}, false
	}
	return c.act(m, progress, "contest_enter", attributes{"contest_id": "espresso-machine", "count": count}), true
}

// offer claims an offer, or uses the one for whole carts.
func (c *Crowd) offer(m *member, progress float64) (Act, bool) {
	if c.chance(50) {
		offers := []string{"cart-forty", "espresso-duo", "press-and-beans"}
		return c.act(m, progress, "offer_claim", attributes{"offer": offers[c.dice.IntN(len(offers))]}), true
	}
	if !m.once(fmt.Sprint("offer", c.dice.IntN(10))) {
		return Act{}, false
	}
	return c.act(m, progress, "offer_redeem", attributes{"offer": "cart-forty"}), true
}

// give transfers a coupon or a claimed mug to another member.
func (c *Crowd) give(m *member, progress float64) (Act, bool) {
	friend := c.somebody()
	switch {
	case friend == m || friend.batch == c.batch || m.suspended:
		return Act{}, false
	case m.mugs > 0:
		m.mugs--
		return c.act(m, progress, "reward_transfer", attributes{"reward": "enamel-mug", "target": friend.name}), true
	case len(m.codes) == 0:
		return Act{}, false
	}

	code := m.codes[len(m.codes)-1]
	m.codes = m.codes[:len(m.codes)-1]
	a := c.act(m, progress, "coupon_transfer", attributes{"code": code, "target": friend.name})
	a.learn = func(loyalty.Outcome) { friend.codes = append(friend.codes, code) }
	return a, true
}

func (c *Crowd) goodwill(m *member, progress float64) (Act, bool) {
	return c.act(m, progress, "point_add", attributes{"points": 10 + 5*c.dice.IntN(5), "reason": "A late parcel"}), true
}

// suspend suspends a member, but not the first one, who is shown in the tour.
func (c *Crowd) suspend(m *member, progress float64) (Act, bool) {
	if m.suspended || m == c.members[0] {
		return Act{}, false
	}
	m.suspended = true
	return c.act(m, progress, "suspend", attributes{"reason": "Under review"}), true
}

func (c *Crowd) unsuspend(_ *member, progress float64) (Act, bool) {
	for _, m := range c.members {
		if m.suspended && m.batch != c.batch {
			m.suspended, m.batch = false, c.batch
			return c.act(m, progress, "unsuspend", attributes{}), true
		}
	}
	return Act{}, false
}

// Leave is the opt-out of a member, the n-th counted from the last who joined.
func (c *Crowd) Leave(n int) Act {
	at := len(c.members) - 1 - n
	m := c.members[at]
	c.members = append(c.members[:at:at], c.members[at+1:]...)
	return c.act(m, 1, "opt_out", attributes{})
}

// Spin is the n-th spin of the wheel. Spins come last: nothing depends on their results.
func (c *Crowd) Spin(n, of int) Act {
	turns := (of + len(c.members) - 1) / len(c.members)
	m, turn := c.members[n%len(c.members)], n/len(c.members)
	at := c.now.Add(-time.Duration(8*(turns-1-turn)*24)*time.Hour - time.Duration(1+c.dice.IntN(20*60))*time.Minute)
	return c.dated(m, at, "prize_wheel_spin", attributes{"wheel": "weekly-wheel"})
}
