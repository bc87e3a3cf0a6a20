package store

import (
	"cmp"
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// owned are the rows of a holder, and those of customers merged into them, which are few and get
// sorted; alone says that there are no such customers.
func owned(of sqlFragment, at string, alone bool) []branch {
	list := []branch{{ownedBy("customer_id", of), at}, {merged("customer_id", of), at}}
	if alone {
		return list[:1]
	}
	return list
}

// ownedBy is the condition that a column names the holder.
func ownedBy(column string, of sqlFragment) sqlFragment {
	return sqlFragment{column + " = " + of.text, of.args}
}

// ofHolder reads a list of a customer, or of everybody. Hardly anybody has rows of others who were merged into them,
// but to look for such rows in each month of the journal takes as long as to read a page. So only
// the customer's own rows are read, and at the same instant whether there are others; if so, read
// makes the questions anew, for all of them. Who has others is remembered, so that it happens once.
// The customer whom ref names, if it names one, is read into who.
func (s *database) ofHolder(ctx context.Context, customer loyalty.ID, ref string, who **loyalty.Customer, read func(alone bool) ([]question, error)) error {
	of := holder(customer, ref)
	called, everybody := cmp.Or(ref, string(customer[:])), customer == (loyalty.ID{}) && ref == ""
	if !s.spread() && !everybody && !s.joined.has(called) {
		list, err := read(true)
		if err != nil {
			return err
		}
		var others number
		if ref != "" {
			list = append(list, withOthers(of, who, &others))
		} else {
			list = append(list, sqlFragment{mergedInto + of.text + " LIMIT 1", of.args}.reads(func() bool {
				others++
				return true
			}, new(UUID)))
		}
		if err := s.asks(ctx, list...); err != nil || others == 0 {
			return err
		}
		s.joined.note(called)
	}
	list, err := read(false)
	if err != nil {
		return err
	}
	if ref != "" {
		list = append(list, customerOf(of, who))
	}
	return s.asks(ctx, list...)
}

// spread reports whether tables are spread over machines.
func (s *database) spread() bool {
	_, is := s.engine.(*citusEngine)
	return is
}

// withOthers reads the holder, and whether somebody was merged into them: one statement takes less than two.
func withOthers(of sqlFragment, who **loyalty.Customer, others *number) question {
	return customerTable.rows(sqlFragment{selectWithOthers + of.text, of.args}, func(c *loyalty.Customer) bool {
		*who = c
		return true
	}, others)
}

var selectWithOthers = "SELECT " + customerTable.names() + ", CASE WHEN EXISTS (SELECT 1 FROM customers m WHERE m.merged_into = customers.id) THEN 1 ELSE 0 END" +
	customerRead + " WHERE customers.id = "
