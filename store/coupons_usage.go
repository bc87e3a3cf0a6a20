package store

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// dayLength is a UTC day in milliseconds, the unit of stored instants.
const dayLength = 24 * 60 * 60 * 1000

// The value of a coupon in money; percentages and free shipping count as nothing.
var (
	moneyTypes     = fmt.Sprintf("type IN ('%s', '%s')", loyalty.CouponAmount, loyalty.CouponGiftCard)
	couponCurrency = "CASE WHEN " + moneyTypes + " THEN currency ELSE '' END"
	couponValue    = "CASE WHEN " + moneyTypes + " THEN value ELSE 0 END"
	couponRedeemed = fmt.Sprintf(`CASE WHEN type = '%s' THEN value - balance
 WHEN type = '%s' AND redeemed_at IS NOT NULL THEN value ELSE 0 END`, loyalty.CouponGiftCard, loyalty.CouponAmount)
)

// sumPart is the divisor that splits a sum into two parts: the databases represent sums beyond 64 bits differently.
const sumPart = 1_000_000_000

func sums(of, as string) string {
	return fmt.Sprintf("CAST(SUM((%[1]s) / %[3]d) AS bigint) AS %[2]s_high, CAST(SUM((%[1]s) %% %[3]d) AS bigint) AS %[2]s_low", of, as, sumPart)
}

// totalOf is a sum of two parts, limited to the greatest amount of money.
func totalOf(high, low int64) money.Amount {
	sum := new(big.Int).Mul(big.NewInt(high), big.NewInt(sumPart))
	if sum.Add(sum, big.NewInt(low)); !sum.IsInt64() {
		return math.MaxInt64
	}
	return money.Amount(sum.Int64())
}

// usageOf makes the statement of a query; see loyalty.CouponUsageQuery.
func usageOf(q loyalty.CouponUsageQuery) (sqlFragment, error) {
	day, known := couponColumns[q.Day]
	if !known {
		return sqlFragment{}, fmt.Errorf("coupons cannot be counted by the day of %q", q.Day)
	}

	where, err := sqlFragment{}.andAll(couponColumns, q.Conditions)
	if err != nil {
		return where, err
	}
	if day.nullable {
		where = where.and(day.expression + " IS NOT NULL")
	}

	text := fmt.Sprintf("SELECT COALESCE(pool, '') AS pool, %s AS status, %s / %d AS day, %s AS currency, COUNT(*) AS count, %s, %s FROM coupons%s GROUP BY 1, 2, 3, 4 ORDER BY 3 DESC, 1, 2, 4 LIMIT ? OFFSET ?",
		stateNow, day.expression, dayLength, couponCurrency, sums(couponValue, "value"), sums(couponRedeemed, "redeemed"), where.where())
	return sqlFragment{text, append(where.args, q.Page.Limit, q.Page.Offset)}.seenAt(q.At), nil
}

// CouponUsage counts coupons by pool, status, day and currency.
func (s couponStore) CouponUsage(ctx context.Context, q loyalty.CouponUsageQuery) ([]loyalty.CouponUsage, error) {
	counted, err := usageOf(q)
	if err != nil {
		return nil, err
	}

	list := []loyalty.CouponUsage{}
	var u loyalty.CouponUsage
	var day, valueHigh, valueLow, redeemedHigh, redeemedLow number
	err = s.asks(ctx, counted.reads(func() bool {
		u.Day = time.UnixMilli(int64(day) * dayLength).UTC()
		u.Value, u.Redeemed = totalOf(int64(valueHigh), int64(valueLow)), totalOf(int64(redeemedHigh), int64(redeemedLow))
		list = append(list, u)
		return false
	}, (*plain)(&u.Pool), (*plain)(&u.Status), &day, (*plain)(&u.Currency), (*number)(&u.Count), &valueHigh, &valueLow, &redeemedHigh, &redeemedLow))

	return list, err
}

// stockOf makes the statement that counts the codes of pools; one index contains all that it reads.
func stockOf(pools []string, at time.Time) sqlFragment {
	names := make([]string, len(pools))
	for i, p := range pools {
		names[i] = cleanText(p)
	}
	return sqlFragment{"SELECT pool, " + stateNow + " AS standing, COUNT(*), COUNT(CASE WHEN claimed_at > ? AND claimed_at <> created_at THEN 1 END) FROM coupons WHERE pool IN ? GROUP BY 1, 2",
		[]any{Millis(at.Add(-loyalty.PoolPace)), names}}.seenAt(at)
}

// PoolStock counts the codes of pools by their state at an instant.
func (s couponStore) PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]loyalty.PoolStock, error) {
	stock := make(map[string]loyalty.PoolStock, len(pools))
	if len(pools) == 0 {
		return stock, nil
	}

	var pool, state plain
	var count, given number
	return stock, s.asks(ctx, stockOf(pools, at).reads(func() bool {
		of, n := stock[string(pool)], int64(count)
		of.Total, of.Given = of.Total+n, of.Given+int64(given)
		switch loyalty.CouponState(state) {
		case loyalty.CouponCreated:
			of.Available += n
		case loyalty.CouponClaimed:
			of.Claimed += n
		case loyalty.CouponRedeemed, loyalty.CouponPartiallyRedeemed:
			of.Redeemed += n
		}
		stock[string(pool)] = of
		return false
	}, &pool, &state, &count, &given))
}
