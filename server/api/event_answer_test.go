package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestEventAnswersAreTheContracts checks that the answer to an event is the bytes of its types.
func TestEventAnswersAreTheContracts(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "ada", `q"uote\\`, "<b>&", "Kovács", "\u2028", "a\nb", "\x7f"})
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms"))
	})

	id := rapid.Custom(func(t *rapid.T) (id loyalty.ID) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "id"))
		return id
	})

	number := rapid.Int64()
	rapid.Check(t, func(t *rapid.T) {
		var o loyalty.Outcome
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			e := loyalty.Event{ID: id.Draw(t, "id"), Parent: id.Draw(t, "parent"), Action: text.Draw(t, "action"), Change: number.Draw(t, "change"), ExpDate: instant.Draw(t, "expdate")}
			if rapid.Bool().Draw(t, "about points") {
				points := number.Draw(t, "points")
				e.Points = &points
			}
			o.Events = append(o.Events, e)
		}

		require.Equal(t, string(Marshal(events.EventOutcome{Events: Recorded(o.Events)})), string(Outcome(nil, o)))

		c := &o.Customer
		c.ID, c.Name, c.CreatedAt = id.Draw(t, "customer"), text.Draw(t, "name"), instant.Draw(t, "created")
		c.Status = rapid.SampledFrom([]loyalty.Status{loyalty.Active, loyalty.Inactive, loyalty.OptedOut}).Draw(t, "status")
		p := &c.Profile
		p.Currency, p.Email, p.FirstName = text.Draw(t, "currency"), text.Draw(t, "email"), text.Draw(t, "first")
		p.Handler, p.Language, p.LastName = text.Draw(t, "handler"), text.Draw(t, "language"), text.Draw(t, "last")
		f := &c.Figures
		f.Score, f.Spent, f.Pending, f.Reserved = number.Draw(t, "score"), number.Draw(t, "spent"), number.Draw(t, "pending"), number.Draw(t, "reserved")
		if s := Summary(o.Customer, false); s == nil {
			require.Empty(t, CustomerBlock(o))
			require.Equal(t, string(Outcome(nil, o)), string(OutcomeWithCustomer(nil, o)))
		} else {
			require.Equal(t, string(Marshal(s)), string(CustomerBlock(o)))
			require.Equal(t, string(WithCustomer(CustomerBlock(o), Outcome(nil, o))), string(OutcomeWithCustomer(nil, o)))
		}
	})
}
