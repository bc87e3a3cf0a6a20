package store

import (
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// balanceOf sums what postings moved into an account less what they moved out. It works in both databases, whose sums
// have different types.
func balanceOf(a points.Account, name string) string { return movedInto(a) + " AS " + name }

func movedInto(a points.Account) string {
	return sumOf(fmt.Sprintf("CASE WHEN p.to_account = %[1]d THEN p.points WHEN p.from_account = %[1]d THEN -p.points END", a))
}

// sumOf is a sum of integers as an integer.
func sumOf(column string) string { return "CAST(COALESCE(SUM(" + column + "), 0) AS bigint)" }
