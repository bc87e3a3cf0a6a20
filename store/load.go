package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// loader turns needs into calls and their answers into Loaded.
type loader struct {
	needs  loyalty.Needs
	sealer sealer
	out    *loyalty.Loaded
	txs    map[string]loyalty.Transaction
	held   []reservationRow
	twice  bool // a customer was named in two ways
}

func newLoader(needs loyalty.Needs, s sealer) *loader {
	return &loader{
		needs: needs, sealer: s,
		out: &loyalty.Loaded{
			Customers: make(map[loyalty.ID]*loyalty.Loading, len(needs.Customers)),
			Names:     make(map[loyalty.Name]loyalty.ID, len(needs.Customers)),
			Emails:    map[string]loyalty.ID{}, Answers: map[loyalty.AnswerKey]loyalty.Answer{},
		},
	}
}

// calls lists the statements of the first round. The customers come first: their
// version guards everything that is read after it.
func (l *loader) calls() []calls {
	var list []calls
	q := l.questions()
	statements := &selectCustomers
	if q.keys {
		statements = &selectSealed
	}
	for w := range ways {
		list = l.customers(list, w, statements[w], q.customers[w], q.keys)
	}
	for w := range ways {
		list = l.lots(list, selectHeldLots[w], q.reserved[w])
		list = l.lots(list, selectOpenLots[w], q.open[w])
		list = l.lots(list, selectUsedLots[w], q.used[w])
		list = l.lots(list, selectTransactionLots[w], q.bought[w])
		list = l.reservations(list, selectReservations[w], q.held[w])
	}
	list = l.transactions(list, selectTransactions, q.transactions)
	list = l.names(list, q.names)
	return l.answers(list)
}

// questions are the rows of the first round's statements, each asked once.
type questions struct {
	keys                                          bool
	customers, reserved, open, used, bought, held [ways][]ask
	transactions, names                           []ask
}

// set remembers what was asked.
type set[K comparable] map[K]struct{}

// add says whether k is new.
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

func (l *loader) questions() *questions {
	q := &questions{}
	scopes := make(map[person]loyalty.LotScope, len(l.needs.Customers))
	var bought, held set[ask]
	var transactions set[string]
	var names set[loyalty.Name]
	for i := range l.needs.Customers {
		n := &l.needs.Customers[i]
		w, p := personOf(n)
		if _, known := scopes[p]; !known {
			q.customers[w] = append(q.customers[w], ask{person: p, i: i})
		}
		scopes[p] = max(scopes[p], n.Lots)
		q.keys = q.keys || n.Key
		if n.Email != "" {
			q.customers[byEmail] = append(q.customers[byEmail], ask{person: person{email: n.Email}, i: i})
		}
		for _, tx := range n.Transactions {
			if transactions.add(tx) {
				q.transactions = append(q.transactions, ask{person: person{Name: loyalty.Name{Kind: loyalty.NameTransaction, Value: tx}}})
			}
			if a := (ask{person: p, tx: tx}); n.Lots == loyalty.UsedLots && bought.add(a) {
				q.bought[w] = append(q.bought[w], a)
			}
		}
		for _, tx := range n.Reservations {
			if a := (ask{person: p, tx: tx}); held.add(a) {
				q.held[w] = append(q.held[w], a)
			}
		}
		for _, name := range n.Names {
			if names.add(name) {
				q.names = append(q.names, ask{person: person{Name: name}})
			}
		}
	}
	for w := range ways {
		for _, a := range q.customers[w] {
			switch a.i = 0; scopes[a.person] {
			case loyalty.HeldLots:
				q.reserved[w] = append(q.reserved[w], a)
			case loyalty.OpenLots:
				q.open[w] = append(q.open[w], a)
			case loyalty.UsedLots:
				q.used[w] = append(q.used[w], a)
			}
		}
	}
	return q
}

func personOf(n *loyalty.CustomerNeeds) (who, person) {
	if n.ID != (loyalty.ID{}) {
		return byID, person{id: n.ID}
	}
	return byName, person{Name: n.Ref}
}

// people lists the calls that find the ids of everybody in needs.
func (l *loader) people() (*[]loyalty.ID, []calls) {
	ids := new([]loyalty.ID)
	var id UUID
	var list []calls
	q := l.questions()
	for w := range ways {
		if len(q.customers[w]) == 0 {
			continue
		}
		list = read(list, selectPeople[w], q.customers[w], []any{&id}, func() error {
			*ids = append(*ids, loyalty.ID(id))
			return nil
		})
	}
	return ids, list
}

// due lists the customers that must be settled first, with the calls that fetch
// what that needs.
func (l *loader) due() []calls {
	var lots, pending []ask
	for id, c := range l.out.Customers {
		if at := c.Customer.DueAt; at.IsZero() || at.After(l.needs.Now) {
			continue
		}
		if c.LotScope < loyalty.OpenLots {
			c.LotScope, c.Lots = loyalty.OpenLots, nil
			lots = append(lots, ask{person: person{id: id}})
		}
		pending = append(pending, ask{person: person{id: id}})
	}
	return l.transactions(l.lots(nil, selectOpenLots[byID], lots), selectDueTransactions, pending)
}
