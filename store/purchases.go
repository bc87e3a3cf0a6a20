package store

import (
	"context"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// purchaseStore reads purchases.
type purchaseStore struct{ *database }

// transactionColumns are the fields of a purchase that can be filtered.
var transactionColumns = map[string]filterColumn{
	"id":              {expression: "transaction_id"},
	"status":          {expression: "state", few: true},
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
	of := holder(q.Customer, q.Ref)
	if q.Named != "" {
		of = purchaser(q.Named)
	}

	list, err := transactionsOf(of, &q)
	if err != nil {
		return page, err
	}

	text, backwards := list.sql()
	opened := map[loyalty.ID][]byte{}
	keys := s.keysOf(nil, opened)
	spread, _ := linesNamed(list, of).sql()
	first := []question{purchaseTable.paged(text, &page.Transactions).onCitus(spread.text, spread.args...), keys.where(theirs("customer_id", of))}
	who := &loyalty.Customer{ID: q.Customer}
	if q.Ref != "" || q.Named != "" {
		who = nil
		first = append(first, customerOf(of, &who))
	}

	moves := movesRead{page: &page}
	err = s.ask(ctx, first, func() (_ []question, err error) {
		if page.Customer, err = known(who); err != nil && q.Named != "" {
			return nil, loyalty.ErrTransactionNotFound
		} else if err != nil {
			return nil, err
		}
		for i := range page.Transactions {
			page.Transactions[i].Holder = page.Customer.ID
		}
		page.Transactions = inOrder(page.Transactions, backwards)
		return moves.questions(of), keys.failed
	})

	for _, key := range opened {
		page.Keys = append(page.Keys, key)
	}

	return page, err
}

// transactionsOf makes the statement of a query.
func transactionsOf(of sqlFragment, q *loyalty.TransactionQuery) (list *unionQuery, err error) {
	list = &unionQuery{
		table: "transactions", columns: purchaseTable.names(), page: pagerOf(q.Page), branches: owned(of, "created_at", false),
		order: listOrder{at: "created_at", id: "checkout", descending: true},
	}
	if len(q.Sort) > 0 {
		if list.sort, err = sorting(transactionColumns, q.Sort, "checkout"); err != nil {
			return nil, err
		}
	}
	return list, eachBranch(list.branches, func(b *branch) error {
		b.where, err = b.where.andAll(transactionColumns, q.Conditions)
		return err
	})
}

// linesNamed is a list of purchases that names the customers of their lines explicitly: Citus could not choose a
// machine for a look-up by row.
func linesNamed(list *unionQuery, of sqlFragment) *unionQuery {
	named := *list
	// In the order of owned.
	for _, w := range []sqlFragment{ownedBy("l.customer_id", of), merged("l.customer_id", of)} {
		w.text = strings.Replace(list.columns, "WHERE l.customer_id", "WHERE "+w.text+" AND l.customer_id", 1)
		named.own = append(named.own, w)
	}
	return &named
}

// movesRead reads the events that changed the purchases of a page.
type movesRead struct{ page *loyalty.TransactionPage }

// moving are the columns that are read of such an event.
var moving = eventTable.some("customer_id", "id", "recorded_at", "at", "points", "parent", "action", "transaction_id", "effects")

// questions read the moves, in the order of their ids.
func (r movesRead) questions(of sqlFragment) []question {
	moves := make(map[string][]loyalty.Event, len(r.page.Transactions))
	r.page.Moves = moves
	if len(r.page.Transactions) == 0 {
		return nil
	}

	names := make([]string, len(r.page.Transactions))
	for i := range names {
		names[i] = r.page.Transactions[i].Name
	}

	var change number
	spread := spreadMovingOf(of, names)
	return []question{moving.rows(movingOf(of, names), func(e *loyalty.Event) bool {
		move := *e
		move.Change = int64(change)
		moves[e.Transaction] = append(moves[e.Transaction], move)
		return false
	}, &change).onCitus(spread.text, spread.args...)}
}

// movingOf is the statement that reads the moves.
func movingOf(of sqlFragment, names []string) sqlFragment {
	w := theirs("e.customer_id", of).and("e.transaction_id IN ?", names).and("(e.points IS NOT NULL OR e.effects IS NOT NULL)")
	return sqlFragment{"SELECT " + moving.of("e") + ", " + moved("e") + " FROM events e" + w.where() + " ORDER BY e.id", w.args}
}

// spreadMovingOf is movingOf with the customers of postings named explicitly.
func spreadMovingOf(of sqlFragment, names []string) sqlFragment {
	w, posted := movingOf(of, names), theirs("p.customer_id", of)
	w.text = strings.Replace(w.text, "WHERE p.customer_id", "WHERE "+posted.text+" AND p.customer_id", 1)
	return sqlFragment{w.text, slices.Concat(posted.args, w.args)}
}

// purchaser is an expression for the id of the customer who owns a purchase.
func purchaser(name string) sqlFragment { return named(loyalty.NameTransaction, name) }
