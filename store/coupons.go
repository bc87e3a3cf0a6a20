package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponStore reads coupons.
type couponStore struct{ *database }

// couponColumns are the fields of a coupon that can be filtered and sorted as they are stored.
var couponColumns = map[string]filterColumn{
	"code":        {expression: "code"},
	"type":        {expression: "type", few: true},
	"pool":        {expression: "pool", nullable: true, few: true},
	"reward":      {expression: "reward", nullable: true},
	"created_at":  {expression: "created_at"},
	"claimed_at":  {expression: "claimed_at", nullable: true},
	"redeemed_at": {expression: "redeemed_at", nullable: true},
	"expires_at":  {expression: "expires_at", nullable: true},
}

// Coupons lists coupons with their holders; see loyalty.CouponQuery. The holders are as of the list, or of a moment
// later.
func (s couponStore) Coupons(ctx context.Context, q loyalty.CouponQuery) (loyalty.CouponPage, error) {
	var page loyalty.CouponPage
	of := holder(q.Holder, q.Ref)
	var rows []loyalty.Coupon
	var who *loyalty.Customer
	var backwards bool
	read := func(of sqlFragment, alone bool) (text sqlFragment, err error) {
		found, err := couponsOf(of, &q, alone)
		if err != nil {
			return text, err
		}
		text, backwards = found.sql()
		rows, who = nil, nil
		return text.seenAt(q.At), nil
	}

	all := func(alone bool) ([]question, error) {
		text, err := read(of, alone)
		return []question{couponTable.list(text, &rows)}, err
	}

	own := func(others *number) (question, error) {
		text, err := read(theHolder, true)
		return couponTable.withHolder(of, text, &rows, &who, others), err
	}

	err := s.ofHolder(ctx, q.Holder, q.Ref, &who, all, own)
	if err == nil && q.Ref != "" {
		page.Customer, err = known(who)
	}
	if err != nil {
		return page, err
	}

	page.Coupons, err = s.held(ctx, inOrder(rows, backwards), page.Customer.Person())
	return page, err
}

// held joins coupons with their holders. holder is the holder of all of them; zero: they have different ones.
func (s couponStore) held(ctx context.Context, rows []loyalty.Coupon, holder loyalty.Person) ([]loyalty.HeldCoupon, error) {
	var owners, sealed []UUID
	for i := range rows {
		if c := &rows[i]; c.Customer != (loyalty.ID{}) && holder.ID == (loyalty.ID{}) {
			owners = also(owners, c.Customer)
		}
		if n := rows[i].Name; n.Sealed != nil {
			sealed = also(sealed, n.Customer)
		}
	}

	people, opened := map[loyalty.ID]loyalty.Person{}, map[loyalty.ID][]byte{}
	keys := s.keysOf(sealed, opened)
	list := keys.questions()
	if len(owners) > 0 {
		list = append(list, holdersOf(owners, people))
	}

	if len(list) > 0 {
		if err := errors.Join(s.asks(ctx, list...), keys.failed); err != nil {
			return nil, err
		}
	}

	return heldCoupons(rows, holder, people, opened)
}

// heldCoupons joins coupons with their holders, and opens the sealed names for which the customer's key still exists.
func heldCoupons(rows []loyalty.Coupon, holder loyalty.Person, people map[loyalty.ID]loyalty.Person, opened map[loyalty.ID][]byte) ([]loyalty.HeldCoupon, error) {
	coupons := make([]loyalty.HeldCoupon, len(rows))
	for i, c := range rows {
		var err error
		if c.Name, err = c.Name.Open(opened[c.Name.Customer], c.ID); err != nil {
			return nil, err
		}
		coupons[i] = loyalty.HeldCoupon{Coupon: c, Holder: people[c.Customer]}
		if holder.ID != (loyalty.ID{}) {
			coupons[i].Holder = holder
		}
		coupons[i].Customer = coupons[i].Holder.ID
	}
	return coupons, nil
}

// coded is the condition that a coupon has one of some codes, by codeNames. It goes through names, which have an
// index over codes; coupons do not.
const coded = "id IN [[SELECT owner FROM names WHERE kind = ? AND value IN ?]]"

// sealers is the condition that a key belongs to a customer who held one of some coupons: their names are sealed
// under the key of one of those customers.
func sealers(codes []string) sqlFragment {
	return sqlFragment{}.and("customer_id IN [[SELECT customer_id FROM coupon_events WHERE coupon_"+coded+"]]", loyalty.NameCoupon, codeNames(codes...))
}

// couponsOf makes the statement of a query; alone says that no customer was merged into the holder.
func couponsOf(of sqlFragment, q *loyalty.CouponQuery, alone bool) (*unionQuery, error) {
	list := &unionQuery{table: "coupons", columns: couponTable.names(), page: pagerOf(q.Page), order: listOrder{at: "created_at", id: "id", descending: true}}
	list.branches = []branch{{sqlFragment{}.and("TRUE"), "created_at"}}
	held := q.Holder != (loyalty.ID{}) || q.Ref != ""
	if held {
		list.order.at, list.branches = "claimed_at", owned(of, "claimed_at", alone)
	}

	for _, c := range q.Conditions {
		alternatives, err := couponAlternatives(c, q.At, held)
		if err != nil {
			return nil, err
		}
		list.branches = split(list.branches, alternatives, len(q.Sort) > 0)
		for i := range list.branches {
			// Few rows, which are sorted: the sum keeps PostgreSQL from searching for them in index order.
			if c.Field == "customer" && positive(c) && !held {
				list.branches[i].at = "created_at + 0"
			}
		}
	}

	if len(q.Sort) == 0 {
		return list, nil
	}

	columns := maps.Clone(couponColumns)
	columns["status"] = filterColumn{expression: stateNow}
	var err error
	list.sort, err = sorting(columns, q.Sort, "id")
	return list, err
}

// couponAlternatives returns a condition as ranges of an index, at least one; held says that the list is one
// customer's.
func couponAlternatives(c loyalty.Condition, at time.Time, held bool) ([]sqlFragment, error) {
	switch {
	case c.Field == "status":
		return couponStatus(c, Millis(at), held)
	case c.Field == "customer":
		return couponHolders(c)
	case c.Field == "code":
		w := sqlFragment{}.and(coded, loyalty.NameCoupon, codeNames(textsOf(c)...))
		if c.Operator == loyalty.Ne || c.Operator == loyalty.Nin {
			w.text = "(" + w.text + ") IS NOT TRUE"
		}
		return []sqlFragment{w}, nil

	case (c.Field == "pool" || c.Field == "type") && c.Operator == loyalty.In && positive(c):
		var list []sqlFragment
		for _, value := range textsOf(c) {
			list = append(list, sqlFragment{}.is(c.Field, value))
		}
		return list, nil
	}

	w, err := sqlFragment{}.andAll(couponColumns, []loyalty.Condition{c})
	return []sqlFragment{w}, err
}

// couponHolders returns a condition on the holder of a coupon, by customers' ids or references. A single customer
// makes two ranges of an index; several references may be the same customer.
func couponHolders(c loyalty.Condition) (list []sqlFragment, err error) {
	for _, v := range c.Values {
		id, isID := v.(loyalty.ID)
		ref, isRef := v.(string)
		if !isID && !isRef {
			return nil, fmt.Errorf("a condition on customer has the value %v", v)
		}
		of := holder(id, ref)
		if len(c.Values) == 1 && positive(c) {
			return []sqlFragment{{"customer_id = " + of.text, of.args}, merged("customer_id", of)}, nil
		}
		list = append(list, theirs("customer_id", of))
	}

	any := sqlFragment{text: "FALSE"}
	if len(list) > 0 {
		any = anyOf(list)
	}
	if c.Operator != loyalty.Eq && c.Operator != loyalty.In {
		any.text += " IS NOT TRUE"
	}

	return []sqlFragment{any}, nil
}

// holdersOf finds ID, Name and Status of customers by the ids in rows, for merged customers those of their targets.
func holdersOf(owners []UUID, known map[loyalty.ID]loyalty.Person) question {
	var owner UUID
	var c loyalty.Person
	// Few customers were merged, so the second look-up is for those only.
	return sqlFragment{`SELECT o.id, COALESCE(c.id, o.id), COALESCE(c.name, o.name), COALESCE(c.status, o.status) FROM customers o
LEFT JOIN customers c ON c.id = o.merged_into WHERE o.id IN ?`, []any{owners}}.reads(func() bool {
		known[loyalty.ID(owner)] = c
		return false
	}, &owner, (*UUID)(&c.ID), (*plain)(&c.Name), (*plain)(&c.Status)).
		onCitus(`WITH o AS MATERIALIZED (SELECT x.id, COALESCE(x.merged_into, x.id) AS now FROM customers x WHERE x.id IN ?)
SELECT o.id, c.id, c.name, c.status FROM o JOIN customers c ON c.id = o.now
WHERE c.id IN [[SELECT COALESCE(x.merged_into, x.id) FROM customers x WHERE x.id IN ?]]`, owners, owners)
}
