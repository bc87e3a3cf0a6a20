package store

import (
	"context"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// CustomersMet is Customers for a filter that finds too many customers to sort.
func (s *Store) CustomersMet(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	return s.listInOrder(ctx, q)
}

// PlanFound gives SQLite's plan of the statement that finds and places customers,
// line by line. It is empty for a query that nothing narrows to a few.
func (s *Store) PlanFound(ctx context.Context, q loyalty.CustomerQuery) (lines []string, err error) {
	f, err := s.findNamed(ctx, q)
	if err != nil || f == nil {
		return nil, err
	}

	text := f.placed(byCreation)
	rows, err := s.read.WithContext(ctx).Raw("EXPLAIN QUERY PLAN "+text.text+" SELECT id FROM placed", text.args...).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()

	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			return nil, fmt.Errorf("a line of the plan: %w", err)
		}
		lines = append(lines, line)
	}

	return lines, rows.Err()
}
