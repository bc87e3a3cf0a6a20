package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// purchaseStore reads purchases.
type purchaseStore struct{ *database }

// transactionColumns are the fields of a purchase that may be filtered.
var transactionColumns = map[string]filterColumn{
	"id":              {expression: "transaction_id"},
	"status":          {expression: "state"},
	"created_at":      {expression: "created_at"},
	"checkout_date":   {expression: "checkout_date", nullable: true},
	"auto_accept":     {expression: "auto_accept", nullable: true},
	"points_rewarded": {expression: "original_earned"},
	"earned":          {expression: "earned"},
	"burned":          {expression: "burned"},
}

// Transactions lists purchases; see loyalty.TransactionQuery.
func (s purchaseStore) Transactions(ctx context.Context, q loyalty.TransactionQuery) (loyalty.TransactionPage, error) {
	var page loyalty.TransactionPage
	err := s.consistent(ctx, func(db *gorm.DB) error {
		owners, err := accounts(db, q.Customer)
		if err != nil {
			return err
		}
		list, err := transactionsOf(owners, &q)
		if err != nil {
			return err
		}
		text, backwards := list.sql()
		if page.Transactions, err = purchaseTable.page(db.Raw(text.text, text.args...)); err != nil {
			return err
		}
		for i := range page.Transactions {
			page.Transactions[i].Holder = q.Customer
		}
		page.Transactions = inOrder(page.Transactions, backwards)
		if page.Moves, err = movesOf(db, owners, page.Transactions); err != nil {
			return err
		}
		keys, err := s.customerKeys(db, owners)
		for _, key := range keys {
			page.Keys = append(page.Keys, key)
		}
		return err
	})
	return page, err
}

// transactionsOf makes the statement of a query.
func transactionsOf(owners []UUID, q *loyalty.TransactionQuery) (list *unionQuery, err error) {
	list = &unionQuery{
		table: "transactions", columns: purchaseTable.names(), page: pagerOf(q.Page),
		order: listOrder{at: "created_at", id: "checkout", descending: true},
	}
	list.branches = owned(owners, list.order.at)
	if len(q.Sort) > 0 {
		list.branches = []branch{{sqlFragment{}.and("customer_id IN ?", owners), ""}}
		if list.sort, err = sorting(transactionColumns, q.Sort, "checkout"); err != nil {
			return nil, err
		}
	}
	return list, eachBranch(list.branches, func(b *branch) error {
		b.where, err = b.where.andAll(transactionColumns, q.Conditions)
		return err
	})
}

// movesOf reads the events that did something to purchases.
func movesOf(db *gorm.DB, owners []UUID, purchases []loyalty.Transaction) (map[string][]loyalty.Event, error) {
	moves := make(map[string][]loyalty.Event, len(purchases))
	if len(purchases) == 0 {
		return moves, nil
	}
	events, err := moving.find(movingOf(db, owners, purchases))
	if err != nil {
		return nil, err
	}
	if err := addChanges(db, events); err != nil {
		return nil, err
	}
	for i := range events {
		name := events[i].Transaction
		moves[name] = append(moves[name], events[i])
	}
	return moves, nil
}

// moving is what movesOf reads of an event.
var moving = eventTable.some("customer_id", "id", "recorded_at", "at", "points", "parent", "action", "transaction_id", "effects")

// movingOf is the statement of movesOf.
func movingOf(db *gorm.DB, owners []UUID, purchases []loyalty.Transaction) *gorm.DB {
	names := make([]string, len(purchases))
	for i := range purchases {
		names[i] = purchases[i].Name
	}
	found := among(among(db.Table("events"), "customer_id", owners), "transaction_id", names)
	return found.Select(moving.names()).
		Where("(points IS NOT NULL OR effects IS NOT NULL)").Order("id")
}

// TransactionHolder finds whose purchase a transaction is: of a merged customer,
// the one they became part of. It fails with loyalty.ErrTransactionNotFound.
func (s purchaseStore) TransactionHolder(ctx context.Context, transaction string) (loyalty.Customer, error) {
	var holder loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) error {
		name, err := nameTable.first(db.Where("kind = ? AND value = ?", loyalty.NameTransaction, cleanText(transaction)))
		if err == nil && name == nil {
			err = loyalty.ErrTransactionNotFound
		}
		if err != nil {
			return err
		}
		holder, err = survivor(db, UUID(name.Owner))
		return err
	})
	return holder, err
}
