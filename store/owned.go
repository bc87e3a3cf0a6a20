package store

import (
	"cmp"
	"context"
	"slices"

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
// The customer whom ref names, if it names one, is read into who. Where that takes no question of its
// own, own makes the one that reads both, and whether there are others.
func (s *database) ofHolder(ctx context.Context, customer loyalty.ID, ref string, who **loyalty.Customer,
	read func(alone bool) ([]question, error), own func(others *number) (question, error),
) error {
	of := holder(customer, ref)
	called, everybody := cmp.Or(ref, string(customer[:])), customer == (loyalty.ID{}) && ref == ""
	if !s.spread() && !everybody && !s.joined.has(called) {
		var others number
		list, err := aloneOf(of, ref, who, read, own, &others)
		if err != nil {
			return err
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

// aloneOf are the questions for a customer's own rows.
func aloneOf(of sqlFragment, ref string, who **loyalty.Customer,
	read func(alone bool) ([]question, error), own func(others *number) (question, error), others *number,
) ([]question, error) {
	if ref != "" && own != nil {
		both, err := own(others)
		return []question{both}, err
	}
	list, err := read(true)
	switch {
	case err != nil:
		return nil, err
	case ref != "":
		return append(list, withOthers(of, who, others)), nil
	}
	return append(list, sqlFragment{mergedInto + of.text + " LIMIT 1", of.args}.reads(func() bool {
		*others++
		return true
	}, new(UUID))), nil
}

// theHolder is the id of the holder in a statement of withHolder.
var theHolder = sqlFragment{text: "(SELECT id FROM holder)"}

// withHolder collects the rows of a statement that reads those of theHolder, and with each of them what
// decides how the list is shown: who the holder is, what is due for them, and whether somebody was merged
// into them. The rows stay in their order, because there is no other way to such a join than to go
// through them for each holder, of whom there is one.
func (t table[R]) withHolder(of, w sqlFragment, list *[]R, who **loyalty.Customer, others *number) question {
	var c loyalty.Customer
	w = sqlFragment{
		"WITH holder AS MATERIALIZED (" + selectHolder + of.text + ") SELECT list.*, holder.* FROM holder LEFT JOIN (SELECT 1 AS found, * FROM (" + w.text + ") AS own) AS list ON TRUE",
		slices.Concat(of.args, w.args),
	}
	var found number
	row := new(R)
	into := append(t.into(row, &found), (*UUID)(&c.ID), (*plain)(&c.Name), (*plain)(&c.Status), (*Millis)(&c.DueAt), others)
	return w.reads(func() bool {
		*who = &c
		if found != 0 { // else there is the holder, and no row
			*list = append(*list, *row)
		}
		return false
	}, into...)
}

var selectHolder = "SELECT customers.id, customers.name, customers.status, balances.due_at, CASE WHEN EXISTS (SELECT 1 FROM customers m WHERE m.merged_into = customers.id) THEN 1 ELSE 0 END AS others" +
	customerRead + " WHERE customers.id = "

// withOthers reads the holder, and whether somebody was merged into them: one statement takes less than two.
func withOthers(of sqlFragment, who **loyalty.Customer, others *number) question {
	return customerTable.rows(sqlFragment{selectWithOthers + of.text, of.args}, func(c *loyalty.Customer) bool {
		*who = c
		return true
	}, others)
}

var selectWithOthers = "SELECT " + customerTable.names() + ", CASE WHEN EXISTS (SELECT 1 FROM customers m WHERE m.merged_into = customers.id) THEN 1 ELSE 0 END" +
	customerRead + " WHERE customers.id = "
