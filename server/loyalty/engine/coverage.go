package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// asked is what a batch asked the store for besides its customers' own rows: a row that was asked for and not found
// does not exist.
type asked struct {
	people  map[person]bool
	names   map[loyalty.Name]bool
	pools   map[string]int
	tallies map[string]bool
	version bool
}

// person identifies a customer as needs do.
type person struct {
	ref   loyalty.Name
	id    loyalty.ID
	match string
}

func personOf(n *loyalty.CustomerNeeds) person {
	switch {
	case n.ID != (loyalty.ID{}):
		return person{id: n.ID}
	case n.Match != "":
		return person{match: n.Match}
	}
	return person{ref: n.Ref}
}

// coverage records which rows of an account were loaded.
type coverage struct {
	progress         loyalty.ProgressKinds
	key, claims      bool
	lists, codes     bool
	past, everything bool
	bought, held     map[string]bool     // transaction_ids
	opened           map[loyalty.ID]bool // lots
}

// shared adds the needs that belong to no customer. A purchase and a coupon count as names too, because opening one
// requires knowing whether its name is taken.
func (a *asked) shared(n *loyalty.CustomerNeeds) {
	for _, name := range n.Names {
		a.names[name] = true
	}

	for _, t := range n.Transactions {
		a.names[loyalty.Name{Kind: loyalty.NameTransaction, Value: t}] = true
	}

	for _, code := range n.Coupons {
		a.names[loyalty.CodeName(code)] = true
	}

	for _, key := range n.Tallies {
		a.tallies[key] = true
	}

	for pool, count := range n.Pools {
		a.pools[pool] += count
	}
}

func (c *coverage) add(n *loyalty.CustomerNeeds) {
	c.progress |= n.Progress
	c.key, c.claims, c.lists, c.codes = c.key || n.Key, c.claims || n.Claims, c.lists || n.Lists, c.codes || n.Codes
	c.past, c.everything = c.past || n.Past, c.everything || n.Everything
	if n.Everything {
		c.progress, c.claims = ^loyalty.ProgressKinds(0), true
	}
	c.bought, c.held, c.opened = include(c.bought, n.Transactions), include(c.held, n.Reservations),
		include(c.opened, n.Opened)
}

func include[K comparable](set map[K]bool, names []K) map[K]bool {
	for _, name := range names {
		if set == nil {
			set = map[K]bool{}
		}
		set[name] = true
	}
	return set
}

// missing returns the shared needs if some of them were not asked for; nil if all were. It returns all of them instead
// of only the missing ones, because the batch is loaded anew with exactly what its needs name.
func (a *asked) missing(n *loyalty.CustomerNeeds) *loyalty.CustomerNeeds {
	if a.has(n) {
		return nil
	}
	return &loyalty.CustomerNeeds{Names: n.Names, Transactions: n.Transactions, Coupons: n.Coupons, Tallies: n.Tallies}
}

// has reports whether all shared needs were asked for, not whether they were found: a name that was
// not found is free, and known to be.
func (a *asked) has(n *loyalty.CustomerNeeds) bool {
	for _, name := range n.Names {
		if !a.names[name] {
			return false
		}
	}

	for _, t := range n.Transactions {
		if !a.names[loyalty.Name{Kind: loyalty.NameTransaction, Value: t}] {
			return false
		}
	}

	for _, code := range n.Coupons {
		if !a.names[loyalty.CodeName(code)] {
			return false
		}
	}

	for _, key := range n.Tallies {
		if !a.tallies[key] {
			return false
		}
	}

	return true
}

// covers reports whether a stored account was loaded as far as needed. It compares what was asked for instead of what
// was found: a purchase that does not exist is covered by looking for it.
func (a *account) covers(n *loyalty.CustomerNeeds) bool {
	c := &a.covered
	switch {
	case n.Lots > a.scope, n.Progress&^c.progress != 0, n.Key && !c.key && a.customer.Key == nil,
		n.Claims && !c.claims, n.Lists && !c.lists, n.Codes && !c.codes, n.Past && !c.past, n.Everything && !c.everything:
		return false
	}

	for _, t := range n.Transactions {
		if !c.bought[t] {
			return false
		}
	}

	for _, t := range n.Reservations {
		if !c.held[t] && !c.everything {
			return false
		}
	}

	for _, lot := range n.Opened {
		if !c.opened[lot] {
			return false
		}
	}

	return true
}
