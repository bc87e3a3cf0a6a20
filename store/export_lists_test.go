package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ExplainEvents gives PostgreSQL's plan of the statement that reads events, as it
// was followed.
func (s *Store) ExplainEvents(q loyalty.EventQuery) (plan string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		list, err := eventsOf(db, &q)
		if err != nil {
			return err
		}
		plan, err = explain(db, list)
		return err
	})
	return plan, err
}

// ExplainTransactions is ExplainEvents for purchases and their events.
func (s *Store) ExplainTransactions(q loyalty.TransactionQuery) (plans [2]string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		owners, err := accounts(db, q.Customer)
		if err != nil {
			return err
		}
		list, err := transactionsOf(owners, &q)
		if err != nil {
			return err
		}
		if plans[0], err = explain(db, list); err != nil {
			return err
		}
		text, _ := list.sql()
		rows, err := purchaseTable.find(db.Raw(text.text, text.args...))
		if err != nil {
			return err
		}
		moves := db.Session(&gorm.Session{DryRun: true})
		st := movingOf(moves, owners, rows).Find(&[]map[string]any{}).Statement
		row := db.Statement.ConnPool.QueryRowContext(context.Background(), "EXPLAIN (ANALYZE, FORMAT JSON) "+st.SQL.String(), st.Vars...)
		return row.Scan(&plans[1])
	})
	return plans, err
}

func explain(db *gorm.DB, list *unionQuery) (plan string, err error) {
	text, _ := list.sql()
	err = db.Raw("EXPLAIN (ANALYZE, FORMAT JSON) "+text.text, text.args...).Row().Scan(&plan)
	return plan, err
}
