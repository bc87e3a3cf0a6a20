package statistics

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// fold adds up what the events of a piece contribute to each metric, by the day on which they took effect. The result
// depends only on the events, so that every node that folds them gets the same.
type fold struct {
	piece    *loyalty.FigurePiece
	location *time.Location
	sums     map[place]*big.Int
}

// place is where a figure is stored.
type place struct {
	metric string
	key    loyalty.FigureKey
	day    int
}

// foldPiece returns what a piece adds to the figures.
func foldPiece(p *loyalty.FigurePiece, location *time.Location) (figures []loyalty.Figure) {
	f := fold{piece: p, location: location, sums: map[place]*big.Int{}}
	for i := range p.Events {
		f.event(&p.Events[i])
	}
	for at, sum := range f.sums {
		figures = append(figures, loyalty.Figure{Metric: at.metric, Key: at.key, Day: at.day, Value: *sum})
	}
	return figures
}

// add adds to a figure. Sums are unbounded, because years of a large programme may exceed 64 bits,
// and money is in ten thousandths.
func (f *fold) add(e *loyalty.FiguredEvent, metric string, key loyalty.FigureKey, n int64) {
	if n == 0 {
		return
	}
	at := place{metric, key, int(calendar.DayOf(e.At, f.location))}
	sum := f.sums[at]
	if sum == nil {
		sum = &big.Int{}
		f.sums[at] = sum
	}
	sum.Add(sum, big.NewInt(n))
}

// event adds the effects of one event. It goes by its effects instead of its name: several actions accept a purchase,
// and none does when its date passes.
func (f *fold) event(e *loyalty.FiguredEvent) {
	f.moves(e)
	x := e.Effects
	if x == nil {
		return
	}

	// a customer who returns from a suspension was enrolled before
	if x.Status == loyalty.Active && e.Action != "unsuspend" {
		f.add(e, enrolments, loyalty.FigureKey{}, 1)
		f.add(e, enrolments, f.cohort(e, ""), 1)
	}

	if x.Transaction != nil {
		f.purchase(e, e.Transaction, x.Transaction)
	}

	for i := range x.Purchases {
		f.purchase(e, x.Purchases[i].Name, &x.Purchases[i])
	}

	for i := range x.Claims {
		// only the event that made the claim; others record it too, such as a revocation or a transfer
		if c := &x.Claims[i]; c.ID == e.ID && e.Action != "reward_receive" {
			f.add(e, claims, loyalty.FigureKey{}, 1)
			f.add(e, claims, loyalty.NewFigureKey(byReward, "", c.Reward), 1)
		}
	}

	for i := range x.Coupons {
		f.coupon(e, &x.Coupons[i])
	}

	for _, c := range x.Campaigns {
		of := loyalty.NewFigureKey(byCampaign, "", c.Campaign)
		for _, key := range []loyalty.FigureKey{{}, of} {
			f.add(e, campaignPoints, key, c.Points)
			f.add(e, campaignTaken, key, c.TakenBack)
			f.add(e, campaignRuns, key, c.Runs)
		}
	}
}

// moves counts how points moved. Points that change hands by a merge, or with a guest's purchase,
// were neither earned nor taken.
func (f *fold) moves(e *loyalty.FiguredEvent) {
	if e.Action == "merge" || passed(e) {
		return
	}

	for _, m := range e.Moves {
		metric := ""
		switch from, to := m.From, m.To; {
		case from == points.Issued && to == points.Available:
			metric = earned
		case to == points.Issued && from != points.Promised:
			metric = takenBack
		case to == points.Spent:
			metric = burned
		case from == points.Spent && to == points.Available:
			metric = returned
		case to == points.Expired:
			metric = expired
		default: // reserved, released or promised points, or a debt that is paid
			continue
		}

		f.add(e, metric, loyalty.FigureKey{}, m.Points)
		if metric == earned || metric == burned {
			f.add(e, metric, f.cohort(e, ""), m.Points)
		}
	}
}

// passed reports whether points leave a guest, or arrive at the customer who claims their purchase:
// by a point_add for one lot that follows from the claim and is no campaign's award, and by one
// point_sub for all of them that ends the guest's purchase.
func passed(e *loyalty.FiguredEvent) bool {
	switch {
	case e.Action == "point_sub":
		return e.Effects != nil && e.Effects.Transaction != nil
	case e.Action != "point_add" || e.Parent == (loyalty.ID{}):
		return false
	}
	var gift struct {
		Campaign *string `json:"campaign"`
	}
	return json.Unmarshal(e.Data, &gift) == nil && gift.Campaign == nil
}

// purchase counts a purchase on the day on which it became final, and refunds on the day of the refund.
func (f *fold) purchase(e *loyalty.FiguredEvent, name string, t *loyalty.TransactionEffect) {
	of := f.piece.Purchases[name]
	if e.Action == "checkout" {
		of = checkoutOf(e)
	}

	if f.final(e, of, t) {
		// the full amount, even if the same piece records a refund of it
		f.money(e, revenue, of, int64(t.Total+t.Refunded))
		for _, key := range f.purchaseKeys(e, of, false) {
			f.add(e, purchases, key, 1)
		}
	}

	// the difference, because effects record the state of a purchase instead of the change
	if before := f.piece.Refunded[name]; t.Refunded > before {
		f.piece.Refunded[name] = t.Refunded
		f.money(e, refunds, of, int64(t.Refunded-before))
	}
}

// final reports whether the event made the purchase final.
func (f *fold) final(e *loyalty.FiguredEvent, of loyalty.FiguredPurchase, t *loyalty.TransactionEffect) bool {
	switch {
	case t.State != loyalty.Accepted:
		return false
	case e.Action == "checkout", e.Action == "checkout_accept":
		return true
	case e.Action != "pending_validate":
		return false
	}

	for _, p := range e.Effects.Progress { // a held purchase is validated under its checkout
		if p.Kind == loyalty.ProgressHeld && p.Data == nil && p.Key == of.Checkout.String() {
			return true
		}
	}

	return false
}

// checkoutOf reads the dimensions of a purchase from its checkout.
func checkoutOf(e *loyalty.FiguredEvent) (of loyalty.FiguredPurchase) {
	var data map[string]json.RawMessage
	if json.Unmarshal(e.Data, &data) != nil {
		return of
	}
	of.Store, of.Channel, of.Currency = loyalty.TextOf(data["store"]), loyalty.TextOf(data["channel"]),
		loyalty.TextOf(data["currency"])
	return of
}

// money counts an amount, always together with its currency.
func (f *fold) money(e *loyalty.FiguredEvent, metric string, of loyalty.FiguredPurchase, amount int64) {
	for _, key := range f.purchaseKeys(e, of, true) {
		f.add(e, metric, key, amount)
	}
}

// purchaseKeys returns the keys of the figures that a purchase belongs to.
func (f *fold) purchaseKeys(e *loyalty.FiguredEvent, of loyalty.FiguredPurchase, money bool) []loyalty.FigureKey {
	currency := ""
	if money {
		currency = of.Currency
	}
	return []loyalty.FigureKey{
		loyalty.NewFigureKey("", currency, ""), loyalty.NewFigureKey(byCurrency, of.Currency, ""),
		loyalty.NewFigureKey(byStore, currency, of.Store),
		loyalty.NewFigureKey(byChannel, currency, of.Channel), f.cohort(e, currency),
	}
}

// cohort returns the month in which an event's customer joined, by the programme's calendar.
func (f *fold) cohort(e *loyalty.FiguredEvent, currency string) loyalty.FigureKey {
	return loyalty.NewFigureKey(byJoined, currency, e.Joined.In(f.location).Format("2006-01"))
}

// coupon counts a coupon that the event redeemed.
func (f *fold) coupon(e *loyalty.FiguredEvent, c *loyalty.Coupon) {
	for _, use := range c.Uses {
		if use.Event != e.ID {
			continue
		}

		var worth money.Amount
		switch c.Type {
		case loyalty.CouponGiftCard:
			worth = use.Amount
		case loyalty.CouponAmount:
			worth = money.Amount(c.Value)
		}

		pool := loyalty.NewFigureKey(byPool, "", c.Pool)
		f.add(e, redemptions, loyalty.FigureKey{}, 1)
		f.add(e, redemptions, pool, 1)
		for _, key := range []loyalty.FigureKey{
			loyalty.NewFigureKey("", c.Currency, ""), loyalty.NewFigureKey(byCurrency, c.Currency, ""),
			loyalty.NewFigureKey(byPool, c.Currency, c.Pool),
		} {
			f.add(e, redemptionValue, key, int64(worth))
		}
	}
}
