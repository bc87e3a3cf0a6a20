package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponColumns are the fields of a coupon that may be filtered and sorted as they
// are stored.
var couponColumns = map[string]filterColumn{
	"code":        {expression: "coupons.code"},
	"type":        {expression: "coupons.type"},
	"pool":        {expression: "coupons.pool", nullable: true},
	"reward":      {expression: "coupons.reward", nullable: true},
	"created_at":  {expression: "coupons.created_at"},
	"claimed_at":  {expression: "coupons.claimed_at", nullable: true},
	"redeemed_at": {expression: "coupons.redeemed_at", nullable: true},
	"expires_at":  {expression: "coupons.expires_at", nullable: true},
}

// Coupons lists coupons with who holds them; see loyalty.CouponQuery.
func (s *Store) Coupons(ctx context.Context, q loyalty.CouponQuery) ([]loyalty.HeldCoupon, error) {
	var list []loyalty.HeldCoupon
	err := s.consistent(ctx, func(db *gorm.DB) error {
		found, backwards, err := couponsOf(db, q)
		if err != nil {
			return err
		}
		var rows []couponRow
		if err := found.Find(&rows).Error; err != nil {
			return err
		}
		list, err = withHolders(db, rows)
		list = inOrder(list, backwards)
		return err
	})
	return list, err
}

// couponsOf words a query.
func couponsOf(db *gorm.DB, q loyalty.CouponQuery) (found *gorm.DB, backwards bool, err error) {
	order := listOrder{at: "coupons.created_at", id: "coupons.id", descending: true}
	found = db.Model(&couponRow{})
	if q.Holder != (loyalty.ID{}) {
		order.at = "coupons.claimed_at"
		owners, err := accounts(db, q.Holder)
		if err != nil {
			return nil, false, err
		}
		found = among(found, "coupons.customer_id", owners)
	}
	for _, c := range q.Conditions {
		if found, err = couponFilter(db, found, c, Millis(q.At)); err != nil {
			return nil, false, err
		}
	}
	if len(q.Sort) == 0 {
		found, backwards = pageOf(found, order, q.Page)
		return found, backwards, nil
	}
	columns := maps.Clone(couponColumns)
	columns["status"] = filterColumn{expression: stateAt(Millis(q.At))}
	found, err = sortedBy(found, columns, q.Sort)
	return found.Order(order.at + " DESC, " + order.id + " DESC").Limit(q.Page.Limit).Offset(q.Page.Offset), false, err
}

// couponFilter adds one condition.
func couponFilter(db, found *gorm.DB, c loyalty.Condition, at Millis) (*gorm.DB, error) {
	positive := c.Operator == loyalty.Eq || c.Operator == loyalty.In
	switch {
	case c.Field == "status":
		return couponStatus(found, c, at)
	case c.Field == "customer":
		return couponHolder(db, found, c)
	case c.Field == "code" && positive: // names have an index over codes, coupons do not
		ids, err := couponIDs(db, c)
		if err != nil {
			return nil, err
		}
		return among(found, "coupons.id", ids), nil
	}
	return filter(found, couponColumns, []loyalty.Condition{c})
}

// couponIDs finds coupons by their codes.
func couponIDs(db *gorm.DB, c loyalty.Condition) (ids []UUID, err error) {
	codes := make([]any, len(c.Values))
	for i, v := range c.Values {
		codes[i] = filterColumn{}.value(v)
	}
	err = db.Table("names").Where("kind = ? AND value IN ?", loyalty.NameCoupon, codes).Pluck("owner", &ids).Error
	return ids, err
}

// couponHolder is a condition on who holds a coupon.
func couponHolder(db, found *gorm.DB, c loyalty.Condition) (*gorm.DB, error) {
	holders := make([]loyalty.ID, len(c.Values))
	for i, v := range c.Values {
		id, ok := v.(loyalty.ID)
		if !ok {
			return nil, fmt.Errorf("a condition on customer has the value %v", v)
		}
		holders[i] = id
	}
	owners, err := accounts(db, holders...)
	if err != nil {
		return nil, err
	}
	if c.Operator == loyalty.Eq || c.Operator == loyalty.In {
		return among(found, "coupons.customer_id", owners), nil
	}
	if len(owners) == 0 {
		return found, nil
	}
	return found.Where("(coupons.customer_id IS NULL OR coupons.customer_id NOT IN ?)", owners), nil
}

// openStates are those in which a coupon expires with its time, and stateList words
// them for SQL.
var (
	openStates = slices.DeleteFunc(slices.Clone(loyalty.CouponStates), func(s loyalty.CouponState) bool { return !s.Expires() })
	stateList  = func() string {
		words := make([]string, len(openStates))
		for i, s := range openStates {
			words[i] = "'" + string(s) + "'"
		}
		return strings.Join(words, ", ")
	}()
)

// stateAt is where a coupon stands at an instant, as Coupon.StateAt tells it.
func stateAt(at Millis) string {
	return fmt.Sprintf("CASE WHEN coupons.expires_at <= %d AND coupons.state IN (%s) THEN '%s' ELSE coupons.state END",
		at.Time().UnixMilli(), stateList, loyalty.CouponExpired)
}

// couponStatus is a condition on where coupons stand. It says it of the stored state
// as well, which has an index.
func couponStatus(found *gorm.DB, c loyalty.Condition, at Millis) (*gorm.DB, error) {
	wanted, err := statesOf(c)
	if err != nil {
		return nil, err
	}
	stored := slices.DeleteFunc(slices.Clone(wanted), func(s loyalty.CouponState) bool { return s == loyalty.CouponExpired })
	lapsed := len(stored) < len(wanted)
	switch {
	case lapsed && len(stored) == 0:
		found = found.Where("coupons.expires_at <= ?", at)
	case !lapsed:
		found = among(found, "coupons.state", stored)
	}
	return found.Where(stateAt(at)+" IN ?", wanted), nil
}

// statesOf lists the states that a condition means.
func statesOf(c loyalty.Condition) ([]loyalty.CouponState, error) {
	named := func(s loyalty.CouponState) bool { return slices.Contains(c.Values, any(string(s))) }
	out := func(pass bool) []loyalty.CouponState {
		return slices.DeleteFunc(slices.Clone(loyalty.CouponStates), func(s loyalty.CouponState) bool { return named(s) != pass })
	}
	switch c.Operator {
	case loyalty.Eq, loyalty.In:
		return out(true), nil
	case loyalty.Ne, loyalty.Nin:
		return out(false), nil
	}
	return nil, fmt.Errorf("condition on %q with %q is not possible", c.Field, c.Operator)
}

// sortedBy adds the keys of an order; what is absent comes last either way.
func sortedBy(db *gorm.DB, columns map[string]filterColumn, keys []loyalty.Sorting) (*gorm.DB, error) {
	for _, k := range keys {
		c, known := columns[k.Field]
		if !known {
			return db, fmt.Errorf("a list cannot be sorted by %q", k.Field)
		}
		direction := " ASC"
		if k.Descending {
			direction = " DESC"
		}
		if c.nullable {
			db = db.Order("(" + c.expression + " IS NULL)")
		}
		db = db.Order(c.expression + direction)
	}
	return db, nil
}

// withHolders joins coupons with who holds them.
func withHolders(db *gorm.DB, rows []couponRow) ([]loyalty.HeldCoupon, error) {
	owners := make([]UUID, len(rows))
	for i := range rows {
		owners[i] = rows[i].CustomerID
	}
	known, err := holdersOf(db, owners)
	list := make([]loyalty.HeldCoupon, len(rows))
	for i := range rows {
		list[i] = loyalty.HeldCoupon{Coupon: couponOf(&rows[i]), Holder: known[rows[i].CustomerID]}
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
