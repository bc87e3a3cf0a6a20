package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// owned are the branches of a holder's rows: the holder's own, and those of customers merged into them, which are few
// and get sorted. alone says that there are no such customers.
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

// ofHolder reads a list of one customer or of all customers. Few customers have others merged into them, but
// searching each month of the journal for those rows takes as long as reading a page. So it reads only the customer's
// own rows and, at the same instant, whether there are merged customers; only then it runs read again for all of
// them. It remembers such customers, so that this happens once. The customer that ref names is read into who. own, if
// given, makes one question for that customer, the rows, and whether there are others.
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

// withHolder collects the rows of a statement about theHolder, and with each row what decides how the list is shown:
// the holder, when something is due for them, and whether a customer was merged into them. The rows keep their order,
// because the join is with a single holder.
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
		if found != 0 { // otherwise there is a holder without rows
			*list = append(*list, *row)
		}
		return false
	}, into...)
}

var selectHolder = "SELECT customers.id, customers.name, customers.status, balances.due_at, CASE WHEN EXISTS (SELECT 1 FROM customers m WHERE m.merged_into = customers.id) THEN 1 ELSE 0 END AS others" +
	customerRead + " WHERE customers.id = "

// withOthers reads the holder, and whether a customer was merged into them, in one statement.
func withOthers(of sqlFragment, who **loyalty.Customer, others *number) question {
	return customerTable.rows(sqlFragment{selectWithOthers + of.text, of.args}, func(c *loyalty.Customer) bool {
		*who = c
		return true
	}, others)
}

var selectWithOthers = "SELECT " + customerTable.names() + ", CASE WHEN EXISTS (SELECT 1 FROM customers m WHERE m.merged_into = customers.id) THEN 1 ELSE 0 END" +
	customerRead + " WHERE customers.id = "
