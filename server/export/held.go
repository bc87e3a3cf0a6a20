package export

import (
	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// What customers hold: lots, purchases, coupons, claimed rewards. A row keeps its original customer after a merge;
// merged_into of customers tells who has it now.

var lots = table[loyalty.CustomerLot]{
	read: loyalty.ExportReader.ExportLots,
	who:  func(l *loyalty.CustomerLot) []loyalty.ID { return []loyalty.ID{l.Customer} },
	list: []column[loyalty.CustomerLot]{
		{Column{"key", false, "names the row; send it as after to go on behind it"},
			func(_ *beside, l *loyalty.CustomerLot) value {
				return plainValue(l.Customer.String() + "/" + uuid.UUID(l.ID).String())
			}},
		{Column{"lot", false, "the event that gave the points"},
			func(_ *beside, l *loyalty.CustomerLot) value { return idValue(l.ID) }},
		{Column{"customer_id", false, "whose they are"},
			func(_ *beside, l *loyalty.CustomerLot) value { return idValue(l.Customer) }},
		{Column{"points", false, "how many there were"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Points) }},
		{Column{"remaining", false, "free to spend"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Remaining) }},
		{Column{"reserved", false, "held for purchases under way"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Reserved) }},
		{Column{"spent", false, "spent"}, func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Spent) }},
		{Column{"expired", false, "expired"}, func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Expired) }},
		{Column{"taken_back", false, "taken back for good: corrections, refunds, paid debt"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(l.Gone()) }},
		{Column{"earned_at", false, "when they were earned: what from and to mean"},
			func(_ *beside, l *loyalty.CustomerLot) value { return instantValue(l.EarnedAt) }},
		{Column{"expires_at", false, "when the rest expires; empty: never, or by inactivity"},
			func(_ *beside, l *loyalty.CustomerLot) value { return instantValue(l.ExpiresAt) }},
		{Column{"idle_months", false, "of inactivity that let it expire"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(int64(l.Idle.Months)) }},
		{Column{"idle_days", false, "and days"},
			func(_ *beside, l *loyalty.CustomerLot) value { return wholeValue(int64(l.Idle.Days)) }},
		{Column{"transaction_id", false, "the purchase that earned them"},
			func(_ *beside, l *loyalty.CustomerLot) value { return textValue(l.Transaction) }},
		{Column{"customer", true, "the caller's id"},
			func(b *beside, l *loyalty.CustomerLot) value { return named(b, l.Customer) }},
	},
}

var purchases = table[loyalty.Transaction]{
	read: loyalty.ExportReader.ExportPurchases,
	who:  func(t *loyalty.Transaction) []loyalty.ID { return []loyalty.ID{t.Customer} },
	list: []column[loyalty.Transaction]{
		{Column{"key", false, "names the row; send it as after to go on behind it"},
			func(_ *beside, t *loyalty.Transaction) value {
				return textValue(t.Customer.String() + "/" + t.Name)
			}},
		{Column{"transaction_id", false, "the caller's id of the purchase"},
			func(_ *beside, t *loyalty.Transaction) value { return textValue(t.Name) }},
		{Column{"customer_id", false, "whose it is"},
			func(_ *beside, t *loyalty.Transaction) value { return idValue(t.Customer) }},
		{Column{"status", false, "pending, accepted, rejected or refunded"},
			func(_ *beside, t *loyalty.Transaction) value { return plainValue(string(t.State)) }},
		{Column{"created_at", false, "when it was recorded: what from and to mean"},
			func(_ *beside, t *loyalty.Transaction) value { return instantValue(t.CreatedAt) }},
		{Column{"checkout_date", false, "when it was made"},
			func(_ *beside, t *loyalty.Transaction) value { return instantValue(t.CheckoutDate) }},
		{Column{"updated_at", false, "when it changed last"},
			func(_ *beside, t *loyalty.Transaction) value { return instantValue(t.UpdatedAt) }},
		{Column{"currency", false, "empty: the programme's"},
			func(_ *beside, t *loyalty.Transaction) value { return textValue(t.Currency()) }},
		{Column{"total", false, "what refunds left of it"},
			func(_ *beside, t *loyalty.Transaction) value { return moneyValue(t.Total) }},
		{Column{"original_total", false, "before refunds"},
			func(_ *beside, t *loyalty.Transaction) value { return moneyValue(t.OriginalTotal) }},
		{Column{"refunded", false, "given back"},
			func(_ *beside, t *loyalty.Transaction) value { return moneyValue(t.Refunded) }},
		{Column{"earned", false, "points, what refunds left of them"},
			func(_ *beside, t *loyalty.Transaction) value { return wholeValue(t.Earned) }},
		{Column{"burned", false, "points that paid for it"},
			func(_ *beside, t *loyalty.Transaction) value { return wholeValue(t.Burned) }},
		{Column{"original_earned", false, "points, before refunds"},
			func(_ *beside, t *loyalty.Transaction) value { return wholeValue(t.OriginalEarned) }},
		{Column{"original_burned", false, "points, before refunds"},
			func(_ *beside, t *loyalty.Transaction) value { return wholeValue(t.OriginalBurned) }},
		{Column{"items", false, "its lines, as a JSON list"},
			func(_ *beside, t *loyalty.Transaction) value { return documentValue(linesOf(t)) }},
		{Column{"attributes", false, "attributes that name nobody, as a JSON object"},
			func(_ *beside, t *loyalty.Transaction) value { return documentValue(t.Detail.Attributes) }},
		{Column{"customer", true, "the caller's id"},
			func(b *beside, t *loyalty.Transaction) value { return named(b, t.Customer) }},
	},
}

// line is a line of a purchase.
type line struct {
	ProductID string       `json:"product_id"`
	Quantity  int64        `json:"quantity"`
	Subtotal  money.Amount `json:"subtotal"`
	Points    int64        `json:"points"`
}

func linesOf(t *loyalty.Transaction) []line {
	list := make([]line, len(t.Detail.Items))
	for i, l := range t.Detail.Items {
		list[i] = line{l.ProductID, l.Quantity, l.Subtotal, l.Points}
	}
	return list
}

var coupons = table[loyalty.Coupon]{
	read: loyalty.ExportReader.ExportCoupons,
	who:  func(c *loyalty.Coupon) []loyalty.ID { return []loyalty.ID{c.Customer} },
	list: []column[loyalty.Coupon]{
		{Column{"key", false, "names the row; send it as after to go on behind it"},
			func(_ *beside, c *loyalty.Coupon) value { return idValue(c.ID) }},
		{Column{"code", false, "the code"}, func(_ *beside, c *loyalty.Coupon) value { return textValue(c.Code) }},
		{Column{"status", false, "as it was recorded: one whose time is over may still be claimed here"},
			func(_ *beside, c *loyalty.Coupon) value { return plainValue(string(c.State)) }},
		{Column{"customer_id", false, "who holds it; empty: nobody"},
			func(_ *beside, c *loyalty.Coupon) value { return idValue(c.Customer) }},
		{Column{"type", false, "amount, percentage, free_shipping or gift_card"},
			func(_ *beside, c *loyalty.Coupon) value { return plainValue(c.Type) }},
		{Column{"value", false, "money, or percent"},
			func(_ *beside, c *loyalty.Coupon) value { return moneyValue(c.Value) }},
		{Column{"balance", false, "what is left of a gift card"},
			func(_ *beside, c *loyalty.Coupon) value { return moneyValue(c.Balance) }},
		{Column{"currency", false, "where its value is money"},
			func(_ *beside, c *loyalty.Coupon) value { return textValue(c.Currency) }},
		{Column{"pool", false, "the pool it comes from"},
			func(_ *beside, c *loyalty.Coupon) value { return textValue(c.Pool) }},
		{Column{"reward", false, "the reward that gave it"},
			func(_ *beside, c *loyalty.Coupon) value { return textValue(c.Reward) }},
		{Column{"cost", false, "what it costs the business"},
			func(_ *beside, c *loyalty.Coupon) value { return moneyValue(c.Cost) }},
		{Column{"created_at", false, "when the code came into being: what from and to mean"},
			func(_ *beside, c *loyalty.Coupon) value { return instantValue(c.CreatedAt) }},
		{Column{"claimed_at", false, "when its holder got it"},
			func(_ *beside, c *loyalty.Coupon) value { return instantValue(c.ClaimedAt) }},
		{Column{"redeemed_at", false, "when it was used last"},
			func(_ *beside, c *loyalty.Coupon) value { return instantValue(c.RedeemedAt) }},
		{Column{"expires_at", false, "empty: never"},
			func(_ *beside, c *loyalty.Coupon) value { return instantValue(c.ExpiresAt) }},
		{Column{"uses", false, "how often it was used"},
			func(_ *beside, c *loyalty.Coupon) value { return wholeValue(int64(len(c.Uses))) }},
		{Column{"customer", true, "the caller's id of who holds it"},
			func(b *beside, c *loyalty.Coupon) value { return named(b, c.Customer) }},
	},
}

var claims = table[loyalty.RewardClaim]{
	read: loyalty.ExportReader.ExportClaims,
	who:  func(c *loyalty.RewardClaim) []loyalty.ID { return []loyalty.ID{c.Customer} },
	list: []column[loyalty.RewardClaim]{
		{Column{"key", false, "names the row; send it as after to go on behind it"},
			func(_ *beside, c *loyalty.RewardClaim) value {
				return plainValue(c.Customer.String() + "/" + c.ID.String())
			}},
		{Column{"claim", false, "the event that records it"},
			func(_ *beside, c *loyalty.RewardClaim) value { return idValue(c.ID) }},
		{Column{"customer_id", false, "who claimed or received it"},
			func(_ *beside, c *loyalty.RewardClaim) value { return idValue(c.Customer) }},
		{Column{"reward", false, "the reward"}, func(_ *beside, c *loyalty.RewardClaim) value { return textValue(c.Reward) }},
		{Column{"status", false, "claimed, redeemed, revoked or transferred"},
			func(_ *beside, c *loyalty.RewardClaim) value { return plainValue(string(c.State)) }},
		{Column{"points", false, "what it cost"},
			func(_ *beside, c *loyalty.RewardClaim) value { return wholeValue(c.Points) }},
		{Column{"award", false, "points it gave"},
			func(_ *beside, c *loyalty.RewardClaim) value { return wholeValue(c.Award) }},
		{Column{"coupon", false, "the code it gave"},
			func(_ *beside, c *loyalty.RewardClaim) value { return textValue(c.Coupon) }},
		{Column{"claimed_at", false, "when: what from and to mean"},
			func(_ *beside, c *loyalty.RewardClaim) value { return instantValue(c.ClaimedAt) }},
		{Column{"updated_at", false, "when it changed last"},
			func(_ *beside, c *loyalty.RewardClaim) value { return instantValue(c.UpdatedAt) }},
		{Column{"customer", true, "the caller's id"},
			func(b *beside, c *loyalty.RewardClaim) value { return named(b, c.Customer) }},
	},
}
