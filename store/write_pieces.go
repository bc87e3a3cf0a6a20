package store

import (
	"reflect"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// pieceWrites are the rows of purchase lines that a batch adds, changes and deletes.
type pieceWrites struct{ added, changed, gone []purchasePiece }

// piecesOf returns the rows to write: for a changed purchase, only the rows that differ from the loaded ones.
func piecesOf(w *loyalty.Writes) (p pieceWrites) {
	for i := range w.NewTransactions {
		p.compare(nil, &w.NewTransactions[i])
	}
	for i := range w.Transactions {
		p.compare(&w.Transactions[i].Before, &w.Transactions[i].After)
	}
	for i := range w.Moved {
		p.compare(&w.Moved[i].Before, nil)
		p.compare(nil, &w.Moved[i].After)
	}
	return p
}

// compare adds the changes that turn the rows of one version of a purchase into those of another; nil has no rows.
func (p *pieceWrites) compare(before, after *loyalty.Transaction) {
	had, has := 0, 0
	if before != nil {
		had = before.Pieces
	}
	if after != nil {
		has = piecesFor(len(after.Detail.Items))
	}

	for n := range max(had, has) {
		switch {
		case n >= has:
			p.gone = append(p.gone, purchasePiece{customer: before.Customer, purchase: before.Name, number: n})
		case n >= had:
			p.added = append(p.added, pieceOf(after, n))
		case !sameLines(linesOf(before, n), linesOf(after, n)):
			p.changed = append(p.changed, pieceOf(after, n))
		}
	}
}

func pieceOf(t *loyalty.Transaction, n int) purchasePiece {
	return purchasePiece{customer: t.Customer, purchase: t.Name, number: n, lines: linesOf(t, n)}
}

// linesOf returns the lines of a row.
func linesOf(t *loyalty.Transaction, n int) []loyalty.Line {
	all := t.Detail.Items
	return all[min(n*pieceLines, len(all)):min((n+1)*pieceLines, len(all))]
}

// sameLines compares every field, so that no new field can be forgotten here and lost. Unchanged lines share their
// maps and texts with the loaded ones, which makes the comparison fast.
func sameLines(a, b []loyalty.Line) bool { return reflect.DeepEqual(a, b) }
