// Package demo holds the data of the demonstration: the programme of a shop, and members whose activities are drawn
// from a seed.
package demo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// span is how far back the demo's events go: a month more than points live, so that some are expired.
const span = 395 * 24 * time.Hour

// Crowd draws the activities of members. It depends only on its seed and on the outcomes of earlier submissions.
type Crowd struct {
	dice     *rand.Rand
	fate     *rand.Rand // for the results of wheels and codes
	now      time.Time
	products []Product
	members  []*member // members who have joined, in order
	size     int       // how many will have joined
	batch    int       // the number of the current batch
	orders   int
}

// member is the crowd's knowledge of a customer.
type member struct {
	name      string
	country   int       // of countries
	last      time.Time // of the latest event
	points    int64     // spendable, after the last answer
	batch     int       // of the latest event: its answer has not been learned yet
	suspended bool
	orders    []*order
	codes     []string        // coupons to use
	cards     []string        // gift cards
	mugs      int             // claims that can be given away
	done      map[string]bool // activities that happen once
}

// order is a purchase of a member.
type order struct {
	id    string
	lines []line
	taken bool // a part was refunded
}

type line struct {
	product  Product
	quantity int
}

// countries are the members' countries, with their language (ISO 639-2) and store.
var countries = []struct{ code, language, store string }{
	{"HU", "hun", "budapest"}, {"ES", "spa", "madrid"}, {"FR", "fra", "lyon"}, {"IE", "eng", "dublin"},
}

// Act is a submission with its member, and what to learn from its outcome.
type Act struct {
	loyalty.Submission
	member *member
	learn  func(loyalty.Outcome) // nil: nothing
}

type attributes = map[string]any

// NewCrowd is a crowd of the given size, of whose members none has joined yet.
func NewCrowd(seed uint64, size int, now time.Time, products []Product) *Crowd {
	return &Crowd{dice: rand.New(rand.NewPCG(seed, 1)), fate: rand.New(rand.NewPCG(seed, 3)), now: now,
		products: products, size: size}
}

// Begin starts a batch: the answers to all earlier acts have been learned.
func (c *Crowd) Begin() { c.batch++ }

func (c *Crowd) chance(percent int) bool { return c.dice.IntN(100) < percent }

// Next draws the next act, at a progress (0 to 1) of the time.
func (c *Crowd) Next(progress float64) Act {
	joined := 0.1 + progress // all members have joined after nine tenths
	if len(c.members) == 0 || float64(len(c.members)) < joined*float64(c.size) && len(c.members) < c.size {
		return c.join(progress)
	}

	m := c.somebody()
	if m.batch == c.batch { // the member's current state is unknown
		if c.chance(50) {
			return c.visit(m, progress)
		}
		return c.buy(m, progress)
	}

	m.batch = c.batch
	for n := c.dice.IntN(1000); ; n = c.dice.IntN(1000) {
		if a, possible := c.draw(m, n, progress); possible {
			return a
		}
	}
}

// somebody draws a member; those who joined early are drawn more often.
func (c *Crowd) somebody() *member {
	return c.members[int(math.Pow(c.dice.Float64(), 1.25)*float64(len(c.members)))]
}

// act dates an activity of a member, never in the future and never before the member's last one.
func (c *Crowd) act(m *member, progress float64, action string, data attributes) Act {
	begin := c.now.Add(-span)
	day := begin.Add(time.Duration(progress * float64(span))).Truncate(24 * time.Hour)
	at := day.Add(6*time.Hour + time.Duration(c.dice.IntN(15*60*60))*time.Second)
	if latest := c.now.Add(-time.Duration(1+c.dice.IntN(3600)) * time.Second); at.After(latest) {
		at = latest
	}
	if !at.After(m.last) {
		at = m.last.Add(time.Second)
	}
	if at.After(c.now) {
		at = c.now
	}

	m.last = at
	return c.dated(m, at, action, data)
}

func (c *Crowd) dated(m *member, at time.Time, action string, data attributes) Act {
	data["effective_timestamp"] = at.UTC().Format(time.RFC3339)
	raw, _ := json.Marshal(data) // texts, numbers and lists of them
	s := loyalty.Submission{Customer: m.name, Sender: loyalty.CommandLine, Action: action, Data: raw,
		Operation: operations[action]}
	for i := 0; i < len(s.Chance); i += 8 { // the seed also determines wheels and codes
		binary.LittleEndian.PutUint64(s.Chance[i:], c.fate.Uint64())
	}
	return Act{Submission: s, member: m}
}

// operations are actions that only an operation of another API submits.
var operations = map[string]bool{
	"reward_claim": true, "prize_wheel_spin": true, "quiz_answer": true, "profile_answer": true,
	"contest_enter": true, "offer_claim": true,
}

// join enrols the next member; every fifth is referred by another one.
func (c *Crowd) join(progress float64) Act {
	n := len(c.members) + 1
	country := c.dice.IntN(len(countries))
	m := &member{name: fmt.Sprintf("member-%04d", n), country: country, batch: c.batch, done: map[string]bool{}}
	data := attributes{
		"email": m.name + "@example.com", "first_name": "Member", "last_name": fmt.Sprintf("%04d", n),
		"handler":  fmt.Sprintf("m%04d", n),
		"language": countries[country].language, "currency": "EUR", "cf_country": countries[country].code,
		"birth_date": time.Date(1950+c.dice.IntN(55), time.Month(1+c.dice.IntN(12)), 1+c.dice.IntN(28), 0, 0, 0, 0, time.UTC).
			Format(time.DateOnly),
	}

	if n > 3 && c.chance(20) {
		if friend := c.somebody(); friend.batch != c.batch {
			data["referrer"] = friend.name
		}
	}

	c.members = append(c.members, m)
	a := c.act(m, progress, "opt_in", data)
	return a
}

// Learned notes the result of an accepted submission.
func (c *Crowd) Learned(a Act, o loyalty.Outcome) {
	a.member.points = o.Customer.Figures.Spendable()
	for _, e := range o.Events {
		if e.Effects == nil || e.Customer != o.Customer.ID {
			continue
		}
		for _, coupon := range e.Effects.Coupons {
			a.member.got(coupon)
		}
	}
	if a.learn != nil {
		a.learn(o)
	}
}

// got notes a coupon that the member can use.
func (m *member) got(coupon loyalty.Coupon) {
	switch {
	case coupon.State != loyalty.CouponClaimed:
	case coupon.Type == loyalty.CouponGiftCard:
		m.cards = append(m.cards, coupon.Code)
	default:
		m.codes = append(m.codes, coupon.Code)
	}
}
