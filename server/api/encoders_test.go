package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// maybe draws a value, or nil.
func maybe[T any](t *rapid.T, label string, of *rapid.Generator[T]) *T {
	if rapid.Bool().Draw(t, "no "+label) {
		return nil
	}
	v := of.Draw(t, label)
	return &v
}

// linksOf draws a page of some entries.
func linksOf[T any](t *rapid.T, entry func(*rapid.T) T) list.Links[T] {
	l := list.Links[T]{Entries: []T{}, Time: float64(rapid.IntRange(0, 20_000_000).Draw(t, "µs")) / 1e6}
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		l.Entries = append(l.Entries, entry(t))
	}
	l.Next, l.Previous = maybe(t, "next", anyText), maybe(t, "previous", anyText)
	return l
}

var (
	anyText    = rapid.SampledFrom([]string{"", "ada", `q"uote\\`, "<b>&", "Kovács", "\u2028", "a\nb", "\x7f"})
	anyTexts   = rapid.SliceOfN(anyText, 0, 3)
	anyNumber  = rapid.Int64()
	anyMoney   = rapid.Custom(func(t *rapid.T) money.Amount { return money.Amount(rapid.Int64().Draw(t, "money")) })
	anyInstant = rapid.Custom(func(t *rapid.T) common.Instant {
		return common.Instant(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms")))
	})
)

// appended is what a type's generated encoder writes.
func appended(v interface{ AppendJSON(b []byte) []byte }) string { return string(v.AppendJSON(nil)) }

// TestEncodersAreTheContracts checks that generated encoders write the bytes of encoding/json. Of rewards and customers,
// whose declared attributes come last, they write the same document.
func TestEncodersAreTheContracts(t *testing.T) {
	t.Run("events", rapid.MakeCheck(func(t *rapid.T) {
		l := linksOf(t, func(t *rapid.T) common.JournalEvent {
			e := common.JournalEvent{
				Action: anyText.Draw(t, "action"), Change: anyNumber.Draw(t, "change"), Label: anyText.Draw(t, "label"), Points: anyNumber.Draw(t, "points"),
				Data: json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"note":"é","points":5}`}).Draw(t, "data")), Timestamp: anyInstant.Draw(t, "timestamp"),
				Expdate: maybe(t, "expdate", anyInstant), TransactionID: maybe(t, "transaction", anyText),
			}
			copy(e.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
			if rapid.Bool().Draw(t, "follows") {
				e.Parent = &e.ID
			}
			if name := maybe(t, "customer", anyText); name != nil {
				e.Customer = &common.EventCustomer{ID: *name}
			}
			return e
		})

		page := display.EventList(AnswerOf(l))
		require.Equal(t, string(Marshal(page)), appended(&page))
	}))

	t.Run("coupons", rapid.MakeCheck(func(t *rapid.T) {
		l := linksOf(t, func(t *rapid.T) common.Coupon {
			c := common.Coupon{
				Balance: maybe(t, "balance", anyMoney), ClaimedAt: maybe(t, "claimed", anyInstant), Code: anyText.Draw(t, "code"), CreatedAt: anyInstant.Draw(t, "created"),
				Currency: maybe(t, "currency", anyText), ExpiresAt: maybe(t, "expires", anyInstant), Name: maybe(t, "name", anyText), Pool: maybe(t, "pool", anyText),
				Products: OrEmpty(anyTexts.Draw(t, "products")), RedeemedAt: maybe(t, "redeemed", anyInstant), Reward: maybe(t, "reward", anyText),
				Status: common.CouponStatus(anyText.Draw(t, "status")), Stores: OrEmpty(anyTexts.Draw(t, "stores")), Type: common.CouponType(anyText.Draw(t, "type")),
				Value: maybe(t, "value", anyMoney),
			}
			if name := maybe(t, "customer", anyText); name != nil {
				c.Customer = &common.CouponOwner{ID: *name}
			}
			return c
		})

		page := common.CouponList(AnswerOf(l))
		require.Equal(t, string(Marshal(page)), appended(&page))
	}))

	t.Run("rewards", rapid.MakeCheck(func(t *rapid.T) {
		l := linksOf(t, func(t *rapid.T) common.RewardEntry {
			e := common.RewardEntry{
				Claims: maybe(t, "claims", anyNumber), ClaimsLeft: maybe(t, "left", anyNumber), Description: maybe(t, "description", anyText), EndsAt: maybe(t, "ends", anyInstant),
				ID: anyText.Draw(t, "id"), InStock: maybe(t, "stock", anyNumber), LastClaimedAt: maybe(t, "claimed", anyInstant), Points: anyNumber.Draw(t, "points"),
				StartsAt: maybe(t, "starts", anyInstant), Status: common.DateStatus(anyText.Draw(t, "status")), Stores: OrEmpty(anyTexts.Draw(t, "stores")),
				Title: anyText.Draw(t, "title"), Type: common.RewardType(anyText.Draw(t, "type")),
			}

			if url := maybe(t, "action", anyText); url != nil {
				e.UnderscoreActions = &common.RewardActions{}
				if *url != "" {
					e.UnderscoreActions.Complete = &common.NextStep{Method: "POST", URL: *url}
				}
			}

			if why := maybe(t, "obstacle", anyText); why != nil {
				e.Obstacle = &common.Obstacle{Code: len(*why), Message: *why}
			}
			if size := maybe(t, "image", anyText); size != nil {
				e.Image = &common.ImageSet{Small: *size, Medium: *size, Large: *size}
			}
			if text := maybe(t, "attribute", anyText); text != nil {
				e.AdditionalProperties = map[string]any{"cf_season": *text, "cf_rank": 3}
			}

			return e
		})

		page := rewards.RewardList(AnswerOf(l))
		require.JSONEq(t, string(Marshal(page)), appended(&page))
	}))

	t.Run("customers", rapid.MakeCheck(func(t *rapid.T) {
		l := linksOf(t, func(t *rapid.T) common.Customer {
			c := common.Customer{
				BirthDate: maybe(t, "birth date", anyText), CreatedAt: maybe(t, "created", anyInstant), Currency: maybe(t, "currency", anyText), Email: maybe(t, "email", anyText),
				Expired: maybe(t, "expired", anyNumber), FirstName: maybe(t, "first", anyText), Gender: maybe(t, "gender", anyText), Handler: maybe(t, "handler", anyText),
				ID: anyText.Draw(t, "id"), ImageURL: maybe(t, "image", anyText), Labels: anyTexts.Draw(t, "labels"), Language: maybe(t, "language", anyText),
				LastName: maybe(t, "last", anyText), Pending: maybe(t, "pending", anyNumber), Referrer: maybe(t, "referrer", anyText), Reserved: maybe(t, "reserved", anyNumber),
				Score: maybe(t, "score", anyNumber), Spendable: maybe(t, "spendable", anyNumber), Spent: maybe(t, "spent", anyNumber),
				Status: (*common.CustomerStatus)(maybe(t, "status", anyText)), UpdatedAt: maybe(t, "updated", anyInstant),
			}
			if text := maybe(t, "attribute", anyText); text != nil {
				c.AdditionalProperties, c.ExternalIds = map[string]any{"cf_size": *text, "cf_rank": 3}, &loyalty.ExternalIDs{"crm": {*text}, "card": {*text, "2"}}
			}
			return c
		})

		page := customers.CustomerList(AnswerOf(l))
		require.JSONEq(t, string(Marshal(page)), appended(&page))
		for _, c := range l.Entries {
			answer := customers.CustomerAnswer{Data: c}
			require.JSONEq(t, string(Marshal(answer)), appended(&answer))
		}
	}))

	t.Run("points", rapid.MakeCheck(func(t *rapid.T) {
		p := customers.CustomerPoints{
			Debt: anyNumber.Draw(t, "debt"), Expired: anyNumber.Draw(t, "expired"), Pending: anyNumber.Draw(t, "pending"), Reserved: anyNumber.Draw(t, "reserved"),
			Score: anyNumber.Draw(t, "score"), Spendable: anyNumber.Draw(t, "spendable"), Spent: anyNumber.Draw(t, "spent"),
			Expiring: []customers.ExpiringPoints{}, Lots: []customers.PointLot{},
		}

		for range rapid.IntRange(0, 3).Draw(t, "lots") {
			l := customers.PointLot{
				EarnedAt: anyInstant.Draw(t, "earned"), ExpiresAt: maybe(t, "expires", anyInstant), Points: anyNumber.Draw(t, "points"),
				Remaining: anyNumber.Draw(t, "remaining"), Reserved: anyNumber.Draw(t, "reserved"), Spent: anyNumber.Draw(t, "used"), Expired: anyNumber.Draw(t, "over"),
			}
			copy(l.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
			p.Lots = append(p.Lots, l)
			p.Expiring = append(p.Expiring, customers.ExpiringPoints{ExpiresAt: l.EarnedAt, Points: l.Points})
		}

		answer := customers.CustomerPointsAnswer{Data: p}
		require.Equal(t, string(Marshal(answer)), appended(&answer))
	}))
}
