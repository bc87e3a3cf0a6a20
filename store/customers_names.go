package store

import (
	"context"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// CustomerNames returns customers' names, for merged customers those of their targets; customers who left are left
// out.
func (s customerStore) CustomerNames(ctx context.Context, ids []loyalty.ID) (map[loyalty.ID]string, error) {
	keys := make([]UUID, len(ids))
	for i, id := range ids {
		keys[i] = UUID(id)
	}
	names := make(map[loyalty.ID]string, len(ids))
	return names, s.asks(ctx, namesOf(sqlFragment{"c.id IN ?", []any{keys}}, names))
}

// namesOf reads the names of the customers c that meet a condition.
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

// CustomerIDs finds customers as Customer does, all in one round trip. References that name no customer are left out.
func (s customerStore) CustomerIDs(ctx context.Context, refs []string) (map[string]loyalty.ID, error) {
	values, external := make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		values[i], external[i] = cleanText(strings.TrimSpace(ref)), cleanText(loyalty.ExternalRef(ref))
	}

	var kind number
	var name plain
	var id UUID
	found := map[loyalty.NameKind]map[string]loyalty.ID{loyalty.NameCustomer: {}, loyalty.NameExternal: {}}
	which, args := "n.kind IN (?, ?) AND n.value IN ?", []any{loyalty.NameCustomer, loyalty.NameExternal, slices.Concat(values, external)}
	err := s.asks(ctx, sqlFragment{
		// no join: PostgreSQL expects far more names than there are, and would read all customers for it
		"SELECT n.kind, n.value, COALESCE((SELECT c.merged_into FROM customers c WHERE c.id = n.owner), n.owner) FROM names n WHERE " + which, args,
	}.reads(func() bool {
		found[loyalty.NameKind(kind)][string(name)] = loyalty.ID(id)
		return false
	}, &kind, &name, &id).onCitus("WITH o AS MATERIALIZED (SELECT n.kind, n.value, n.owner FROM names n WHERE "+which+
		") SELECT o.kind, o.value, COALESCE(c.merged_into, c.id) FROM o JOIN customers c ON c.id = o.owner WHERE c.id IN [[SELECT n.owner FROM names n WHERE "+which+"]]",
		slices.Concat(args, args)...))

	ids := make(map[string]loyalty.ID, len(refs))
	for i, ref := range refs {
		if id, ok := found[loyalty.NameCustomer][values[i]]; ok {
			ids[ref] = id
		} else if id, ok := found[loyalty.NameExternal][external[i]]; ok {
			ids[ref] = id
		}
	}

	return ids, err
}
