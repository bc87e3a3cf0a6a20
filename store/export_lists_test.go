package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// explained gives PostgreSQL's plan of a statement, as it was followed.
func (s *Store) explained(w sqlFragment) (plan string, err error) {
	return plan, s.asks(context.Background(), sqlFragment{"EXPLAIN (ANALYZE, FORMAT JSON) " + w.text, w.args}.one((*plain)(&plan)))
}

// explain is explained for a list.
func (s *Store) explain(list *unionQuery) (plan string, err error) {
	text, _ := list.sql()
	return s.explained(text)
}

// ExplainEvents returns PostgreSQL's plan of the executed statement that reads events; alone says that no customer
// was merged into this one.
func (s *Store) ExplainEvents(q loyalty.EventQuery, alone bool) (plan string, err error) {
	list, err := eventsOf(holder(q.Customer, q.Ref), &q, alone)
	if err != nil {
		return "", err
	}
	return s.explain(list)
}

// ExplainTransactions is ExplainEvents for purchases and their events.
func (s *Store) ExplainTransactions(q loyalty.TransactionQuery) (plans [2]string, err error) {
	of := holder(q.Customer, q.Ref)
	list, err := transactionsOf(of, &q)
	if err != nil {
		return plans, err
	}
	if plans[0], err = s.explain(list); err != nil {
		return plans, err
	}

	page, err := s.Transactions(context.Background(), q)
	if err != nil {
		return plans, err
	}

	var names []string
	for i := range page.Transactions {
		names = append(names, page.Transactions[i].Name)
	}

	plans[1], err = s.explained(movingOf(of, names))
	return plans, err
}
