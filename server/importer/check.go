package importer

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// Plan is what files would import.
type Plan struct {
	Rows   map[string]int64 `json:"rows"`   // by kind of file
	New    int64            `json:"new"`    // members who do not exist yet
	Known  int64            `json:"known"`  // members who exist: their profile is updated
	Points int64            `json:"points"` // of all lots
	// points by the last month in which they are valid, in the programme's time zone
	Expiring map[string]int64  `json:"expires"`
	Bought   map[string]string `json:"bought"` // totals of purchases by currency; empty: the programme's
	Errors   int64             `json:"errors"`
	Warnings int64             `json:"warnings"`
}

// Never stands for the month of points that never expire, Policy for points whose expiry the programme decides.
const (
	Never  = "never"
	Policy = "by the programme's policy"
)

// monthThrough is the month of the last moment before points expire: points that last through the last day of a month
// expire at the beginning of the next one.
func monthThrough(expires time.Time, zone *time.Location) string {
	return expires.Add(-time.Millisecond).In(zone).Format("2006-01")
}

// Total is the number of rows.
func (p *Plan) Total() (n int64) {
	for _, rows := range p.Rows {
		n += rows
	}
	return n
}

// checker checks rows against each other and against the world. It keeps only the ids of a row.
type checker struct {
	World
	ctx     context.Context
	options Options
	tell    func(Finding)
	plan    Plan
	members map[string]int // line by id
	emails  map[string]place
	// wanted are members that other files name, with the first place; enrolled are those of them whose rows need an
	// enrolled customer.
	wanted, enrolled, bought, codes map[string]place
	asleep                          map[string]bool   // members that their file does not enrol
	plainer                         map[string]string // ids by their form without leading zeros, in lower case
	sums                            map[string]money.Amount
	asked                           error // of the database
	fewer                           bool  // the rest of the file of members was not read
}

// place is where a value first appears.
type place struct {
	file string
	line int
	id   string // the member
	said string // the value in the file
}

// Check reads whole files and reports what is wrong with them and what they would import. It writes nothing.
func Check(ctx context.Context, w World, files []File, o Options, tell func(Finding)) (Plan, error) {
	c := &checker{
		World: w, ctx: ctx, options: o, tell: tell, members: map[string]int{}, emails: map[string]place{},
		wanted: map[string]place{}, enrolled: map[string]place{},
		asleep: map[string]bool{}, bought: map[string]place{}, codes: map[string]place{}, plainer: map[string]string{},
		sums: map[string]money.Amount{},
		plan: Plan{Rows: map[string]int64{}, Expiring: map[string]int64{}, Bought: map[string]string{}},
	}

	emails, err := emailsOf(ctx, w, files, o)
	if err != nil {
		return c.plan, err
	}

	for _, f := range files {
		c.gate(f.Kind)
		err := eachRow(source{f, o, w.Programme.Location, emails}, c.row, func(told Finding) error {
			c.fewer = c.fewer || told.cut && f.Kind == "members"
			c.told(told)
			return nil
		})
		if err != nil {
			return c.plan, err
		}
	}

	for currency, sum := range c.sums {
		c.plan.Bought[currency] = sum.String()
	}

	c.others()
	return c.plan, c.asked
}

func (c *checker) told(list ...Finding) {
	for _, f := range list {
		if f.Warning {
			c.plan.Warnings++
		} else {
			c.plan.Errors++
		}
		c.tell(f)
	}
}

// gate refuses a file whose module is off.
func (c *checker) gate(kind string) {
	needs := map[string]string{"tiers": programme.ModuleTiers, "coupons": programme.ModuleCoupons}
	if m := needs[kind]; m != "" && !c.Programme.On[m] {
		c.told(Finding{File: kind, Words: say("module_off", args{"module": m})})
	}
	if kind == "purchases" && c.Programme.On[programme.ModuleCheckoutAccept] {
		c.told(Finding{File: kind, Words: say("accept_on", nil)})
	}
}

func (c *checker) row(s *sheet) error {
	c.plan.Rows[s.file]++
	row, told := s.kind.row(s)
	c.told(told[:min(len(told), mostOfRow)]...)
	if len(faults(told)) > 0 || row.Customer == "" {
		return c.ctx.Err()
	}

	if err := loyalty.CheckName("customer", row.Customer); err != nil {
		c.told(s.finding("customer", row.Customer, say("id", nil)))
		return c.ctx.Err()
	}

	if row.Action != "" {
		if row.Action == importAction {
			row.Data = withImport(row.Data, loyalty.ID{}, s.file, s.line)
		}
		if _, err := c.Contract.Check(row.Action, row.Data, "data"); err != nil {
			var e *loyalty.Error
			if !errors.As(err, &e) {
				return err
			}
			c.told(s.refusal(e)...)
			return c.ctx.Err()
		}
	}

	c.whole(s, &row)
	return c.ctx.Err()
}

// whole checks a row against the others.
func (c *checker) whole(s *sheet, row *loyalty.ImportRow) {
	here := place{file: s.file, line: s.line, id: row.Customer}
	once := func(seen map[string]place, column, name string) {
		here.said = s.cell(column)
		if first, twice := seen[name]; twice {
			c.told(s.finding(column, here.said, say("twice", args{"line": first.line})))
		} else {
			seen[name] = here
		}
	}

	if s.file == "members" {
		c.member(s, row)
	} else if _, known := c.wanted[row.Customer]; !known {
		c.wanted[row.Customer] = here
	}

	if _, known := c.enrolled[row.Customer]; !known && s.file != "members" && s.file != "lists" {
		c.enrolled[row.Customer] = here
	}

	switch s.file {
	case "purchases":
		if s.cell("made_at") == "" {
			c.told(s.finding("made_at", "", say("empty", nil)))
		}
		c.past(s, row, "made_at")
		once(c.bought, "transaction_id", s.cell("transaction_id"))
		if total, err := money.Parse(textIn(row.Data, "total")); err == nil {
			if c.sums[s.cell("currency")], err = money.Add(c.sums[s.cell("currency")], total); err != nil {
				c.told(s.finding("total", s.cell("total"), say("totals", nil)))
			}
		}

	case "lots":
		c.lot(s, row)
	case "tiers":
		t := tier.Find(c.Programme, s.cell("tier"))
		if t == nil || s.cell("structure") != "" && t.Structure != s.cell("structure") {
			c.told(s.finding("tier", s.cell("tier"), say("no_tier", nil)))
		}

	case "coupons":
		once(c.codes, "code", loyalty.CodeName(s.cell("code")).Value)
		if pool := s.cell("pool"); pool != "" && coupon.Pools.Of(c.Programme)[pool] == nil {
			c.told(s.finding("pool", pool, say("no_pool", nil)))
		}

	case "lists":
		if list := s.cell("list"); !c.Lists[list] {
			c.told(s.finding("list", list, say("no_list", nil)))
		}
	}
}

// member checks a row of members: each id may appear once, and each e-mail unless the options allow more.
func (c *checker) member(s *sheet, row *loyalty.ImportRow) {
	if first, twice := c.members[row.Customer]; twice {
		c.told(s.finding("customer", row.Customer, say("twice", args{"line": first})))
	} else {
		c.members[row.Customer] = s.line
		if row.Action == "subscribe" {
			c.asleep[row.Customer] = true
		}
	}

	plainer := strings.ToLower(strings.TrimLeft(row.Customer, "0"))
	if other, there := c.plainer[plainer]; there && other != row.Customer {
		c.told(s.warning("customer", row.Customer, say("alike", args{"other": other})))
	} else {
		c.plainer[plainer] = row.Customer
	}

	c.past(s, row, "enrolled_at")
	key := loyalty.EmailKey(s.cell("email"))
	if key == "" {
		return
	}

	if first, twice := c.emails[key]; twice && first.id != row.Customer {
		f := s.finding("email", s.cell("email"), say("email_twice", args{"line": first.line}))
		f.Warning = c.options.SameEmail
		c.told(f)
	} else {
		c.emails[key] = place{file: s.file, line: s.line, id: row.Customer}
	}
}

// lot checks a row of lots.
func (c *checker) lot(s *sheet, row *loyalty.ImportRow) {
	c.past(s, row, "earned_at")
	earned := timeIn(row.Data, "effective_timestamp")
	expires := timeIn(row.Data, "expdate")
	month := Never
	switch {
	case !s.has("expires_at"):
		month = Policy
	case !expires.IsZero():
		month = monthThrough(expires, c.Programme.Location)
		if !expires.After(c.Now) {
			c.told(s.finding("expires_at", s.cell("expires_at"), say("lot_expired", nil)))
		} else if !expires.After(earned) {
			c.told(s.finding("expires_at", s.cell("expires_at"), say("lot_order", nil)))
		}
	}

	n := s.whole("points", &[]Finding{})
	c.plan.Points += n
	c.plan.Expiring[month] += n
	if c.plan.Points > 1<<62 {
		c.told(s.finding("points", s.cell("points"), say("points", nil)))
		c.plan.Points = 0
	}
}

// past refuses a future instant.
func (c *checker) past(s *sheet, row *loyalty.ImportRow, column string) {
	if at := timeIn(row.Data, "effective_timestamp"); at.After(c.Now) {
		c.told(s.finding(column, s.cell(column), say("future", nil)))
	}
}

func textIn(data json.RawMessage, name string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return ""
	}
	return string(all[name])
}

func timeIn(data json.RawMessage, name string) (at time.Time) {
	if raw := textIn(data, name); raw != "" {
		_ = json.Unmarshal([]byte(raw), &at) // written by fields
	}
	return at
}

// others checks the files against the existing data.
func (c *checker) others() {
	missing := maps.Clone(c.wanted)
	if c.fewer { // other members are unknown
		clear(missing)
	}

	for id := range c.members {
		delete(missing, id)
	}

	c.names(loyalty.NameCustomer, slices.Sorted(maps.Keys(missing)), func(id string, there bool) {
		if at := missing[id]; !there {
			c.told(Finding{File: at.file, Line: at.line, Column: "customer", Value: id, Words: say("no_member", nil)})
		}
	})

	c.inactive()
	c.names(loyalty.NameCustomer, slices.Sorted(maps.Keys(c.members)), func(id string, there bool) {
		if there {
			c.plan.Known++
			if c.asleep[id] {
				c.told(Finding{File: "members", Line: c.members[id], Column: "status", Value: id,
					Words: say("known_inactive", nil)})
			}
		} else {
			c.plan.New++
		}
	})

	taken := func(column string, seen map[string]place) func(string, bool) {
		return func(id string, there bool) {
			if there {
				c.told(Finding{File: seen[id].file, Line: seen[id].line, Column: column, Value: seen[id].said,
					Words: say("taken", nil)})
			}
		}
	}

	c.names(loyalty.NameTransaction, slices.Sorted(maps.Keys(c.bought)), taken("transaction_id", c.bought))
	c.names(loyalty.NameCoupon, slices.Sorted(maps.Keys(c.codes)), taken("code", c.codes))
	askEach(c, slices.Sorted(maps.Keys(c.emails)), c.Store.EmailsTaken, func(key string, holders []string) {
		if at := c.emails[key]; slices.ContainsFunc(holders, func(holder string) bool { return holder != at.id }) {
			c.told(Finding{File: at.file, Line: at.line, Column: "email", Value: key, Words: say("email_taken", nil),
				Warning: c.options.SameEmail})
		}
	})
}

// inactive refuses rows that the programme would refuse for a customer who is not enrolled, unless the file of members
// enrols the customer.
func (c *checker) inactive() {
	if c.fewer {
		return
	}

	for _, id := range slices.Sorted(maps.Keys(c.members)) {
		if at, wanted := c.enrolled[id]; wanted && c.asleep[id] {
			c.told(Finding{File: at.file, Line: at.line, Column: "customer", Value: id, Words: say("not_enrolled", nil)})
		}
		delete(c.enrolled, id)
	}

	askEach(c, slices.Sorted(maps.Keys(c.enrolled)), c.Store.Inactive, func(id string, inactive bool) {
		if at := c.enrolled[id]; inactive {
			c.told(Finding{File: at.file, Line: at.line, Column: "customer", Value: id, Words: say("not_enrolled", nil)})
		}
	})
}

// askedAtOnce is how many names one statement looks up.
const askedAtOnce = 1000

func (c *checker) names(kind loyalty.NameKind, ids []string, tell func(string, bool)) {
	askEach(c, ids, func(ctx context.Context, some []string) (map[string]bool, error) {
		return c.Store.NamesTaken(ctx, kind, some)
	}, tell)
}

// askEach asks the database about names in groups, and calls tell for each known one.
func askEach[T any](
	c *checker, names []string, ask func(context.Context, []string) (map[string]T, error), tell func(string, T),
) {
	for some := range slices.Chunk(names, askedAtOnce) {
		known, err := ask(c.ctx, some)
		if err != nil {
			c.asked = errors.Join(c.asked, err)
			return
		}
		for _, name := range some {
			tell(name, known[name])
		}
	}
}
