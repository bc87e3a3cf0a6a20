package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// loader turns needs into calls, and their answers into Loaded.
type loader struct {
	needs  loyalty.Needs
	sealer sealer
	out    *loyalty.Loaded
	txs    map[string]loyalty.Transaction
	held   []loyalty.Reservation
	past   map[loyalty.ID][]loyalty.PastEntry
	// sources are the customers who were merged into others, if they were read before.
	sources map[loyalty.ID][]loyalty.ID
	twice   bool // a customer was named in two ways
}

func newLoader(needs loyalty.Needs, s sealer) *loader {
	return &loader{
		needs: needs, sealer: s,
		out: &loyalty.Loaded{
			Customers: make(map[loyalty.ID]*loyalty.Loading, len(needs.Customers)),
			Names:     make(map[loyalty.Name]loyalty.ID, len(needs.Customers)),
			Emails:    map[string]loyalty.ID{}, Matches: map[string]loyalty.ID{}, Answers: map[loyalty.AnswerKey]loyalty.Answer{},
			Coupons: map[loyalty.ID]loyalty.Coupon{}, Free: map[string][]loyalty.Coupon{}, Tallies: map[string]int64{},
			Items: map[loyalty.BulkKey]bool{},
		},
	}
}

// calls lists the statements of the first round. The customers come first, because their version guards everything
// that is read after it.
func (l *loader) calls() []calls { return l.callsOf(l.plan()) }

// callsOf lists the statements of a plan.
func (l *loader) callsOf(q *loadPlan) []calls {
	var list []calls
	statements := &selectCustomers
	if q.keys {
		statements = &selectSealed
	}

	for w := range lookups {
		list = l.customers(list, w, statements[w], q.customers[w], q.keys)
	}

	for w := range lookups {
		list = l.lots(list, selectHeldLots[w], q.reserved[w])
		list = l.lots(list, selectOpenLots[w], q.open[w])
		list = l.lots(list, selectUsedLots[w], q.used[w])
		list = l.lots(list, selectTransactionLots[w], q.bought[w])
		list = l.lots(list, selectLotsOpened[w], q.opened[w])
		list = l.reservations(list, selectReservations[w], q.held[w])
		list = l.progress(list, selectProgress[w], q.progress[w])
		list = l.claims(list, selectClaims[w], q.claims[w])
		list = l.codes(list, selectCodes[w], q.codes[w])
		list = l.journal(list, selectPast[w], q.past[w])
		list = l.memberships(list, selectMemberships[w], q.memberships[w])
		list = l.everything(list, w, q.everything[w])
	}

	list = l.shared(list, q)
	list = l.transactions(list, selectTransactions, q.transactions)
	list = l.names(list, q.names)
	return l.version(l.items(l.answers(list)))
}

// loadPlan holds the rows of the first round's statements, each row once.
type loadPlan struct {
	keys                                          bool
	customers, reserved, open, used, bought, held [lookups][]rowKey
	opened                                        [lookups][]rowKey
	progress, claims, past, everything            [lookups][]rowKey
	memberships, codes                            [lookups][]rowKey
	transactions, names, coupons                  []rowKey
	pools                                         []poolKey
	tallies                                       []string
}

// set is a set of keys.
type set[K comparable] map[K]struct{}

// add adds k and reports whether it is new.
func (s *set[K]) add(k K) bool {
	if _, ok := (*s)[k]; ok {
		return false
	}
	if *s == nil {
		*s = set[K]{}
	}
	(*s)[k] = struct{}{}
	return true
}

func (l *loader) plan() *loadPlan {
	q := &loadPlan{}
	scopes := make(map[customerKey]loyalty.LotScope, len(l.needs.Customers))
	var seen seenKeys
	for i := range l.needs.Customers {
		n := &l.needs.Customers[i]
		if w, p, named := customerKeyOf(n); named {
			if _, known := scopes[p]; !known {
				q.customers[w] = append(q.customers[w], rowKey{customerKey: p, i: i})
			}
			scopes[p] = max(scopes[p], scopeOf(n))
			q.own(n, w, p, &seen)
		}
		q.keys = q.keys || n.Key
		if n.Email != "" {
			q.customers[byEmail] = append(q.customers[byEmail], rowKey{customerKey: customerKey{email: n.Email}, i: i})
		}
		q.shared(n, &seen)
	}

	q.sortPools()
	q.lots(scopes)
	return q
}

// seenKeys records the planned rows, so that each is read once.
type seenKeys struct {
	bought, held, progress, claims, past, everything set[rowKey]
	memberships, codes, opened                       set[rowKey]
	names                                            set[loyalty.Name]
	tallies                                          set[string]
}

// own adds what is needed of one customer besides lots.
func (q *loadPlan) own(n *loyalty.CustomerNeeds, w lookup, p customerKey, seen *seenKeys) {
	for _, tx := range n.Transactions {
		if a := (rowKey{customerKey: p, tx: tx}); n.Lots == loyalty.UsedLots && seen.bought.add(a) {
			q.bought[w] = append(q.bought[w], a)
		}
	}

	for _, lot := range n.Opened {
		if a := (rowKey{customerKey: p, lot: lot}); n.Lots == loyalty.UsedLots && seen.opened.add(a) {
			q.opened[w] = append(q.opened[w], a)
		}
	}

	for _, tx := range n.Reservations {
		if a := (rowKey{customerKey: p, tx: tx}); seen.held.add(a) {
			q.held[w] = append(q.held[w], a)
		}
	}

	for kind := loyalty.ProgressKind(0); n.Progress>>kind != 0; kind++ {
		if a := (rowKey{customerKey: p, sort: kind}); n.Progress.Has(kind) && seen.progress.add(a) {
			q.progress[w] = append(q.progress[w], a)
		}
	}

	a := rowKey{customerKey: p}
	if (n.Claims || n.Everything) && seen.claims.add(a) {
		q.claims[w] = append(q.claims[w], a)
	}
	if n.Codes && seen.codes.add(a) {
		q.codes[w] = append(q.codes[w], a)
	}
	if n.Past && seen.past.add(a) {
		q.past[w] = append(q.past[w], a)
	}
	if n.Lists && seen.memberships.add(a) {
		q.memberships[w] = append(q.memberships[w], a)
	}
	if n.Everything && seen.everything.add(a) {
		q.everything[w] = append(q.everything[w], a)
	}
}

// shared adds names, and the rows that belong to no customer.
func (q *loadPlan) shared(n *loyalty.CustomerNeeds, seen *seenKeys) {
	add := func(list []rowKey, name loyalty.Name) []rowKey {
		if !seen.names.add(name) {
			return list
		}
		return append(list, rowKey{customerKey: customerKey{Name: name}})
	}

	for _, tx := range n.Transactions {
		q.transactions = add(q.transactions, loyalty.Name{Kind: loyalty.NameTransaction, Value: tx})
	}

	for _, code := range n.Coupons {
		q.coupons = add(q.coupons, loyalty.CodeName(code))
	}

	for _, name := range n.Names {
		switch name.Kind {
		case loyalty.NameTransaction:
			q.transactions = add(q.transactions, name)
		case loyalty.NameCoupon:
			q.coupons = add(q.coupons, name)
		default:
			q.names = add(q.names, name)
		}
	}

	for _, key := range n.Tallies {
		if seen.tallies.add(key) {
			q.tallies = append(q.tallies, key)
		}
	}

	for pool, count := range n.Pools {
		q.pool(pool, count)
	}
}

// lots requests the lots of each customer in the widest scope of any need.
func (q *loadPlan) lots(scopes map[customerKey]loyalty.LotScope) {
	for w := range lookups {
		for _, a := range q.customers[w] {
			switch a.i = 0; scopes[a.customerKey] {
			case loyalty.HeldLots:
				q.reserved[w] = append(q.reserved[w], a)
			case loyalty.OpenLots:
				q.open[w] = append(q.open[w], a)
			case loyalty.UsedLots:
				q.used[w] = append(q.used[w], a)
			}
		}
	}
}

func scopeOf(n *loyalty.CustomerNeeds) loyalty.LotScope {
	if n.Everything {
		return loyalty.UsedLots
	}
	return n.Lots
}

// customerKeyOf returns the customer that needs are about; named is false if they are about none.
func customerKeyOf(n *loyalty.CustomerNeeds) (w lookup, p customerKey, named bool) {
	switch {
	case n.ID != (loyalty.ID{}):
		return byID, customerKey{id: n.ID}, true
	case n.Match != "":
		return byMatch, customerKey{match: n.Match}, true
	}
	return byName, customerKey{Name: n.Ref}, n.Ref != loyalty.Name{}
}

// due lists the customers who must be settled first, with the calls that fetch what settling needs.
func (l *loader) due() []calls {
	var lots, all []rowKey
	for id, c := range l.out.Customers {
		if at := c.Customer.DueAt; at.IsZero() || at.After(l.needs.Now) {
			continue
		}
		if c.LotScope < loyalty.OpenLots {
			c.LotScope, c.Lots = loyalty.OpenLots, nil
			lots = append(lots, rowKey{customerKey: customerKey{id: id}})
		}
		all = append(all, rowKey{customerKey: customerKey{id: id}})
	}

	list := l.lots(nil, selectOpenLots[byID], lots)
	list = l.transactions(list, selectDueTransactions, l.owners(all))
	return l.progress(list, selectDueProgress, all)
}

// owners adds the customers who were merged into the wanted ones, if they are known. Otherwise the statements find
// them.
func (l *loader) owners(wanted []rowKey) []rowKey {
	if l.sources == nil {
		return wanted
	}
	var all []rowKey
	for _, a := range wanted {
		a.holder = a.id
		all = append(all, a)
		for _, source := range l.sources[a.holder] {
			a.id = source
			all = append(all, a)
		}
	}
	return all
}
