package store

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// CustomerNames returns customers' names, for merged customers those of their targets; customers
// who left are left out.
func (s customerStore) CustomerNames(ctx context.Context, ids []loyalty.ID) (map[loyalty.ID]string, error) {
	keys := make([]UUID, len(ids))
	for i, id := range ids {
		keys[i] = UUID(id)
	}
	names := make(map[loyalty.ID]string, len(ids))
	return names, s.asks(ctx, namesOf(sqlFragment{"c.id IN ?", []any{keys}}, names))
}

// namesOf reads the names of the customers c who meet a condition.
func namesOf(who sqlFragment, names map[loyalty.ID]string) question {
	var id UUID
	var name plain
	w := who.and("COALESCE(s.status, c.status) <> ?", loyalty.OptedOut)
	return sqlFragment{"SELECT c.id, COALESCE(s.name, c.name) FROM customers c LEFT JOIN customers s ON s.id = c.merged_into" + w.where(), w.args}.reads(func() bool {
		names[loyalty.ID(id)] = string(name)
		return false
	}, &id, &name).onCitus("WITH o AS MATERIALIZED (SELECT c.id, COALESCE(c.merged_into, c.id) AS now FROM customers c"+who.where()+
		") SELECT o.id, s.name FROM o JOIN customers s ON s.id = o.now WHERE s.id IN [[SELECT COALESCE(c.merged_into, c.id) FROM customers c"+who.where()+
		"]] AND s.status <> ?", slices.Concat(who.args, who.args, []any{loyalty.OptedOut})...)
}
