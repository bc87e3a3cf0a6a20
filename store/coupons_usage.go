package store

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// dayLength is a UTC day in the milliseconds in which instants are kept.
const dayLength = 24 * 60 * 60 * 1000

// What a coupon counts as in money: percentages and free shipping as nothing.
var (
	moneyTypes     = fmt.Sprintf("type IN ('%s', '%s')", loyalty.CouponAmount, loyalty.CouponGiftCard)
	couponCurrency = "CASE WHEN " + moneyTypes + " THEN currency ELSE '' END"
	couponValue    = "CASE WHEN " + moneyTypes + " THEN value ELSE 0 END"
	couponRedeemed = fmt.Sprintf(`CASE WHEN type = '%s' THEN value - balance
 WHEN type = '%s' AND redeemed_at IS NOT NULL THEN value ELSE 0 END`, loyalty.CouponGiftCard, loyalty.CouponAmount)
)

// sumPart is at which value a sum is taken in two parts: neither database has sums
// beyond its integers that both of them read alike.
const sumPart = 1_000_000_000

func sums(of, as string) string {
	return fmt.Sprintf("CAST(SUM((%[1]s) / %[3]d) AS bigint) AS %[2]s_high, CAST(SUM((%[1]s) %% %[3]d) AS bigint) AS %[2]s_low", of, as, sumPart)
}

// totalOf is a sum taken in two parts; what is beyond an amount of money is the
// greatest one.
func totalOf(high, low int64) money.Amount {
	sum := new(big.Int).Mul(big.NewInt(high), big.NewInt(sumPart))
	if sum.Add(sum, big.NewInt(low)); !sum.IsInt64() {
		return math.MaxInt64
	}
	return money.Amount(sum.Int64())
}

// usageOf makes the statement of a query; see loyalty.CouponUsageQuery.
func usageOf(db *gorm.DB, q loyalty.CouponUsageQuery) (*gorm.DB, error) {
	day, known := couponColumns[q.Day]
	if !known {
		return nil, fmt.Errorf("coupons cannot be counted by the day of %q", q.Day)
	}
	where, err := sqlFragment{}.andAll(couponColumns, q.Conditions)
	if err != nil {
		return nil, err
	}
	if day.nullable {
		where = where.and(day.expression + " IS NOT NULL")
	}
	if where.text != "" {
		db = db.Where(where.text, where.args...)
	}
	return db.Table("coupons").Select(fmt.Sprintf("COALESCE(pool, '') AS pool, %s AS status, %s / %d AS day, %s AS currency, COUNT(*) AS count, %s, %s",
		stateAt(Millis(q.At)), day.expression, dayLength, couponCurrency, sums(couponValue, "value"), sums(couponRedeemed, "redeemed"))).
		Group("1, 2, 3, 4").Order("3 DESC, 1, 2, 4").Limit(q.Page.Limit).Offset(q.Page.Offset), nil
}

// CouponUsage counts coupons by pool, status, day and currency.
func (s couponStore) CouponUsage(ctx context.Context, q loyalty.CouponUsageQuery) ([]loyalty.CouponUsage, error) {
	counted, err := usageOf(s.read.WithContext(ctx), q)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Pool, Currency                                 string
		Status                                         loyalty.CouponState
		Day, Count                                     int64
		ValueHigh, ValueLow, RedeemedHigh, RedeemedLow int64
	}
	err = counted.Scan(&rows).Error
	list := make([]loyalty.CouponUsage, len(rows))
	for i, r := range rows {
		list[i] = loyalty.CouponUsage{
			Pool: r.Pool, Status: r.Status, Day: time.UnixMilli(r.Day * dayLength).UTC(), Currency: r.Currency, Count: r.Count,
			Value: totalOf(r.ValueHigh, r.ValueLow), Redeemed: totalOf(r.RedeemedHigh, r.RedeemedLow),
		}
	}
	return list, s.fault(err)
}

// stockOf makes the statement that counts the codes of pools; an index has all that it needs.
func stockOf(db *gorm.DB, pools []string, at Millis) *gorm.DB {
	names := make([]string, len(pools))
	for i, p := range pools {
		names[i] = cleanText(p)
	}
	return among(db.Table("coupons"), "pool", names).Select("pool AS pool, " + stateAt(at) + " AS state, COUNT(*) AS count").Group("1, 2")
}

// PoolStock counts the codes of pools as they stand at an instant.
func (s couponStore) PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]loyalty.PoolStock, error) {
	var rows []struct {
		Pool  string
		State loyalty.CouponState
		Count int64
	}
	err := stockOf(s.read.WithContext(ctx), pools, Millis(at)).Scan(&rows).Error
	stock := make(map[string]loyalty.PoolStock, len(pools))
	for _, r := range rows {
		of := stock[r.Pool]
		of.Total += r.Count
		switch r.State {
		case loyalty.CouponCreated:
			of.Available += r.Count
		case loyalty.CouponClaimed:
			of.Claimed += r.Count
		case loyalty.CouponRedeemed, loyalty.CouponPartiallyRedeemed:
			of.Redeemed += r.Count
		}
		stock[r.Pool] = of
	}
	return stock, s.fault(err)
}
