package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponStore reads coupons.
type couponStore struct{ *database }

// couponColumns are the fields of a coupon that may be filtered and sorted as they
// are stored.
var couponColumns = map[string]filterColumn{
	"code":        {expression: "code"},
	"type":        {expression: "type"},
	"pool":        {expression: "pool", nullable: true},
	"reward":      {expression: "reward", nullable: true},
	"created_at":  {expression: "created_at"},
	"claimed_at":  {expression: "claimed_at", nullable: true},
	"redeemed_at": {expression: "redeemed_at", nullable: true},
	"expires_at":  {expression: "expires_at", nullable: true},
}

// Coupons lists coupons with who holds them; see loyalty.CouponQuery.
func (s couponStore) Coupons(ctx context.Context, q loyalty.CouponQuery) ([]loyalty.HeldCoupon, error) {
	var list []loyalty.HeldCoupon
	err := s.consistent(ctx, func(db *gorm.DB) error {
		found, err := couponsOf(db, &q)
		if err != nil {
			return err
		}
		text, backwards := found.sql()
		rows, err := couponTable.find(db.Raw(text.text, text.args...))
		if err != nil {
			return err
		}
		if list, err = withHolders(db, inOrder(rows, backwards)); err != nil {
			return err
		}
		named := make([]*loyalty.Coupon, len(list))
		for i := range list {
			named[i] = &list[i].Coupon
		}
		return s.openNames(db, named...)
	})
	return list, err
}

// couponsOf makes the statement of a query.
func couponsOf(db *gorm.DB, q *loyalty.CouponQuery) (*unionQuery, error) {
	list := &unionQuery{table: "coupons", columns: couponTable.names(), page: pagerOf(q.Page), order: listOrder{at: "created_at", id: "id", descending: true}}
	list.branches = []branch{{sqlFragment{}.and("TRUE"), "created_at"}}
	if q.Holder != (loyalty.ID{}) {
		owners, err := accounts(db, q.Holder)
		if err != nil {
			return nil, err
		}
		list.order.at, list.branches = "claimed_at", owned(owners, "claimed_at")
		if len(q.Sort) > 0 && len(owners) > 1 { // an order that no index has is sorted once
			list.branches = []branch{{sqlFragment{}.and("customer_id IN ?", owners), ""}}
		}
	}
	for _, c := range q.Conditions {
		alternatives, err := couponAlternatives(db, c, q)
		if err != nil {
			return nil, err
		}
		list.branches = split(list.branches, alternatives, len(q.Sort) > 0)
	}
	if len(q.Sort) == 0 {
		return list, nil
	}
	columns := maps.Clone(couponColumns)
	columns["status"] = filterColumn{expression: stateAt(Millis(q.At))}
	var err error
	list.sort, err = sorting(columns, q.Sort, "id")
	return list, err
}

// couponAlternatives are one condition as stretches of an index, at least one.
func couponAlternatives(db *gorm.DB, c loyalty.Condition, q *loyalty.CouponQuery) ([]sqlFragment, error) {
	switch {
	case c.Field == "status":
		return couponStatus(c, Millis(q.At), q.Holder != (loyalty.ID{}))
	case c.Field == "customer":
		w, err := couponHolder(db, c)
		return []sqlFragment{w}, err
	case c.Field == "code" && (c.Operator == loyalty.Eq || c.Operator == loyalty.In): // names have an index over codes, coupons do not
		var ids []UUID
		err := db.Table("names").Where("kind = ? AND value IN ?", loyalty.NameCoupon, textsOf(c)).Pluck("owner", &ids).Error
		return []sqlFragment{sqlFragment{}.and("id IN ?", ids)}, err
	case (c.Field == "pool" || c.Field == "type") && c.Operator == loyalty.In && positive(c):
		var list []sqlFragment
		for _, value := range textsOf(c) {
			list = append(list, sqlFragment{}.and(c.Field+" = ?", value))
		}
		return list, nil
	}
	w, err := sqlFragment{}.andAll(couponColumns, []loyalty.Condition{c})
	return []sqlFragment{w}, err
}

// couponHolder is a condition on who holds a coupon.
func couponHolder(db *gorm.DB, c loyalty.Condition) (w sqlFragment, err error) {
	holders := make([]loyalty.ID, len(c.Values))
	for i, v := range c.Values {
		id, ok := v.(loyalty.ID)
		if !ok {
			return w, fmt.Errorf("a condition on customer has the value %v", v)
		}
		holders[i] = id
	}
	owners, err := accounts(db, holders...)
	switch {
	case err != nil:
		return w, err
	case c.Operator == loyalty.Eq || c.Operator == loyalty.In:
		return w.and("customer_id IN ?", owners), nil
	case len(owners) == 0:
		return w.and("TRUE"), nil
	}
	return w.and("(customer_id IS NULL OR customer_id NOT IN ?)", owners), nil
}

// withHolders joins coupons with who holds them.
func withHolders(db *gorm.DB, rows []loyalty.Coupon) ([]loyalty.HeldCoupon, error) {
	owners := make([]UUID, len(rows))
	for i := range rows {
		owners[i] = UUID(rows[i].Customer)
	}
	known, err := holdersOf(db, owners)
	list := make([]loyalty.HeldCoupon, len(rows))
	for i := range rows {
		list[i] = loyalty.HeldCoupon{Coupon: rows[i], Holder: known[owners[i]]}
		list[i].Customer = list[i].Holder.ID
	}
	return list, err
}

// holdersOf finds ID, Name and Status of customers, by the ids that rows have; of a
// merged one those of the one they became part of.
func holdersOf(db *gorm.DB, owners []UUID) (map[UUID]loyalty.Customer, error) {
	owners = slices.DeleteFunc(slices.Clone(owners), func(id UUID) bool { return id == UUID{} })
	known := make(map[UUID]loyalty.Customer, len(owners))
	if len(owners) == 0 {
		return known, nil
	}
	var rows []struct {
		Owner, ID UUID
		Name      string
		Status    loyalty.Status
	}
	err := db.Raw(`SELECT o.id AS owner, c.id, c.name, c.status FROM customers o
JOIN customers c ON c.id = COALESCE(o.merged_into, o.id) WHERE o.id IN ?`, owners).Scan(&rows).Error
	for _, r := range rows {
		known[r.Owner] = loyalty.Customer{ID: loyalty.ID(r.ID), Name: r.Name, Status: r.Status}
	}
	return known, err
}

// openNames makes the sealed names of coupons readable, as far as the customers whose
// keys they are sealed under are still there.
func (s couponStore) openNames(db *gorm.DB, coupons ...*loyalty.Coupon) error {
	var owners []UUID
	for _, c := range coupons {
		if owner := UUID(c.Name.Customer); c.Name.Sealed != nil && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	keys, err := s.customerKeys(db, owners)
	if err != nil {
		return err
	}
	for _, c := range coupons {
		if c.Name, err = c.Name.Open(keys[c.Name.Customer], c.ID); err != nil {
			return err
		}
	}
	return nil
}
