package store

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The calls of a load, each with the memory its rows are read into.

func (l *loader) customers(list []calls, w lookup, s *statement[rowKey], wanted []rowKey, keys bool) []calls {
	if len(wanted) == 0 {
		return list
	}

	var (
		i      int64
		c      loyalty.Customer
		sealed []byte
	)

	into := customerTable.into(&c, (*number)(&i))
	if keys {
		into = append(into, &sealed)
	}

	return read(list, s, wanted, into, func() error {
		n := &l.needs.Customers[i]
		id := c.ID
		loading := l.out.Customers[id]
		if loading == nil {
			loading = &loyalty.Loading{Customer: c,
				Transactions: map[string]loyalty.Transaction{}, Reservations: map[string]loyalty.Reservation{}}
			l.out.Customers[id] = loading
		} else {
			l.twice = true
		}

		switch w {
		case byName:
			l.out.Names[n.Ref] = id
		case byEmail:
			l.out.Emails[n.Email] = id
		case byMatch:
			l.out.Matches[n.Match] = id
		}

		return l.openKey(loading, sealed)
	})
}

func (l *loader) openKey(loading *loyalty.Loading, sealed []byte) (err error) {
	if sealed != nil && loading.Customer.Key == nil {
		id := loading.Customer.ID
		loading.Customer.Key, err = l.sealer.open(rowID("customer_keys", string(id[:])), sealed)
	}
	return err
}

func (l *loader) lots(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var lot loyalty.CustomerLot
	opened := slices.Contains(selectLotsOpened[:], s) // another statement may find it as well
	return read(list, s, wanted, lotTable.into(&lot), func() error {
		loading := l.out.Customers[lot.Customer]
		if loading == nil { // created between the statements: not loaded
			return nil
		}
		if (l.twice || opened) && slices.ContainsFunc(loading.Lots, func(known points.Lot) bool { return known.ID == lot.ID }) {
			return nil
		}
		loading.Lots = append(loading.Lots, lot.Lot)
		return nil
	})
}

func (l *loader) transactions(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var t loyalty.Transaction
	var holder UUID
	return read(list, s, wanted, purchaseTable.into(&t, &holder), func() error {
		l.out.Names[loyalty.Name{Kind: loyalty.NameTransaction, Value: t.Name}] = t.Customer
		if t.State == loyalty.NoTransaction { // the name is taken without a purchase
			return nil
		}

		t.Holder = loyalty.ID(holder)
		if s != selectTransactions { // requested by owner
			if loading := l.out.Customers[t.Holder]; loading != nil {
				loading.Transactions[t.Name] = t
			}
			return nil
		}

		if l.txs == nil {
			l.txs = map[string]loyalty.Transaction{}
		}

		l.txs[t.Name] = t
		return nil
	})
}

func (l *loader) reservations(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}
	var r loyalty.Reservation
	return read(list, s, wanted, reservationTable.into(&r), func() error {
		l.held = append(l.held, r)
		return nil
	})
}

func (l *loader) names(list []calls, wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}
	var c loyalty.Claim
	return read(list, selectNames, wanted, nameTable.into(&c), func() error {
		l.out.Names[c.Name] = c.Owner
		return nil
	})
}

// version reads the version of the programme in force.
func (l *loader) version(list []calls) []calls {
	if !l.needs.Version {
		return list
	}
	return read(list, selectVersion, []int{1}, []any{(*number)(&l.out.Version)}, func() error { return nil })
}

// share passes purchases and reservations to the needs that requested them, and records which lots were read.
func (l *loader) share() {
	for i := range l.needs.Customers {
		n := &l.needs.Customers[i]
		loading := l.loading(n)
		if loading == nil {
			continue
		}
		loading.LotScope = max(loading.LotScope, scopeOf(n))
		for _, name := range n.Transactions {
			if t, ok := l.txs[name]; ok {
				loading.Transactions[name] = t
			}
		}
	}

	for _, r := range l.held {
		if loading := l.out.Customers[r.Customer]; loading != nil {
			loading.Reservations[r.Transaction] = r
		}
	}

	l.sharePast()
}

// loading returns the loaded customer that needs are about; nil if there is none.
func (l *loader) loading(n *loyalty.CustomerNeeds) *loyalty.Loading {
	switch {
	case n.ID != (loyalty.ID{}):
		return l.out.Customers[n.ID]
	case n.Match != "":
		return l.out.Customers[l.out.Matches[n.Match]]
	}
	return l.out.Customers[l.out.Names[n.Ref]]
}
