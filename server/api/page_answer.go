package api

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/list"
)

// Frequently read pages are written without reflection, like the answer to an event, because encoding/json took much of
// the time of a read. The bytes are those of the contract's types, which a test checks.

// JournalPage is the answer of an operation that lists events.
type JournalPage struct {
	list.Links[common.JournalEvent]
}

func (p JournalPage) VisitListCustomerEventsResponse(w http.ResponseWriter) error { return p.write(w) }
func (p JournalPage) VisitListEventsResponse(w http.ResponseWriter) error         { return p.write(w) }
func (p JournalPage) VisitListTransactionEventsResponse(w http.ResponseWriter) error {
	return p.write(w)
}
func (p JournalPage) VisitReadEventsResponse(w http.ResponseWriter) error { return p.write(w) }

func (p JournalPage) write(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, appendPage(nil, p.Links, appendJournalEvent, 320))
	return nil
}

// appendPage writes a list: its entries by write, about each bytes long, and the links to its neighbours.
func appendPage[T any](b []byte, l list.Links[T], write func([]byte, *T) []byte, each int) []byte {
	if b == nil {
		b = make([]byte, 0, 256+each*len(l.Entries))
	}
	b = append(b, `{"data":[`...)
	for i := range l.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, &l.Entries[i])
	}
	b = appendLink(append(b, `],"next":`...), l.Next)
	b = appendLink(append(b, `,"previous":`...), l.Previous)
	return append(strconv.AppendFloat(append(b, `,"time":`...), l.Time, 'f', -1, 64), '}')
}

// appendLink writes a link; null if there is none.
func appendLink(b []byte, link *string) []byte {
	if link == nil {
		return append(b, "null"...)
	}
	return appendText(b, *link)
}

// appendJournalEvent writes a common.JournalEvent.
func appendJournalEvent(b []byte, e *common.JournalEvent) []byte {
	b = appendText(append(b, `{"action":`...), e.Action)
	b = strconv.AppendInt(append(b, `,"change":`...), e.Change, 10)
	if e.Customer != nil {
		b = append(appendText(append(b, `,"customer":{"id":`...), e.Customer.ID), '}')
	}

	b = append(append(b, `,"data":`...), e.Data...)
	b = appendInstantOf(b, `,"expdate":`, e.Expdate)
	b = appendID(append(b, `,"id":`...), e.ID)
	b = appendText(append(b, `,"label":`...), e.Label)
	if e.Parent != nil {
		b = appendID(append(b, `,"parent":`...), *e.Parent)
	}

	b = strconv.AppendInt(append(b, `,"points":`...), e.Points, 10)
	b = appendInstantOf(b, `,"timestamp":`, &e.Timestamp)
	b = appendTextAt(b, `,"transaction_id":`, e.TransactionID)
	return append(b, '}')
}

// appendInstantOf writes a property unless it is nil.
func appendInstantOf(b []byte, name string, i *common.Instant) []byte {
	if i == nil {
		return b
	}
	return append(i.Append(append(append(b, name...), '"')), '"')
}

// appendTextAt writes a property unless it is nil.
func appendTextAt(b []byte, name string, s *string) []byte {
	if s == nil {
		return b
	}
	return appendText(append(b, name...), *s)
}

// couponPage is the answer of an operation that lists coupons.
type couponPage struct{ list.Links[common.Coupon] }

func (p couponPage) VisitListCouponsResponse(w http.ResponseWriter) error         { return p.write(w) }
func (p couponPage) VisitListCustomerCouponsResponse(w http.ResponseWriter) error { return p.write(w) }

func (p couponPage) write(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, appendPage(nil, p.Links, appendCoupon, 320))
	return nil
}

// appendCoupon writes a common.Coupon.
func appendCoupon(b []byte, c *common.Coupon) []byte {
	b = append(b, '{')
	if c.Balance != nil {
		b = append(c.Balance.Append(append(b, `"balance":`...)), ',')
	}
	if c.ClaimedAt != nil {
		b = append(appendInstantOf(b, `"claimed_at":`, c.ClaimedAt), ',')
	}

	b = appendText(append(b, `"code":`...), c.Code)
	b = appendInstantOf(b, `,"created_at":`, &c.CreatedAt)
	b = appendTextAt(b, `,"currency":`, c.Currency)
	if c.Customer != nil {
		b = append(appendText(append(b, `,"customer":{"id":`...), c.Customer.ID), '}')
	}

	b = appendInstantOf(b, `,"expires_at":`, c.ExpiresAt)
	b = appendTextAt(b, `,"name":`, c.Name)
	b = appendTextAt(b, `,"pool":`, c.Pool)
	b = appendTexts(append(b, `,"products":`...), c.Products)
	b = appendInstantOf(b, `,"redeemed_at":`, c.RedeemedAt)
	b = appendTextAt(b, `,"reward":`, c.Reward)
	b = appendText(append(b, `,"status":`...), string(c.Status))
	b = appendTexts(append(b, `,"stores":`...), c.Stores)
	b = appendText(append(b, `,"type":`...), string(c.Type))
	if c.Value != nil {
		b = c.Value.Append(append(b, `,"value":`...))
	}

	return append(b, '}')
}

// appendTexts writes a list of texts.
func appendTexts(b []byte, all []string) []byte {
	if all == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, text := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

// RewardPage is the answer of an operation that lists rewards.
type RewardPage struct{ list.Links[common.RewardEntry] }

func (p RewardPage) VisitListRewardsResponse(w http.ResponseWriter) error          { return p.write(w) }
func (p RewardPage) VisitListRewardActivitiesResponse(w http.ResponseWriter) error { return p.write(w) }

func (p RewardPage) write(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, appendPage(nil, p.Links, appendReward, 640))
	return nil
}

// appendReward writes a common.RewardEntry, followed by the attributes that the programme declares.
func appendReward(b []byte, e *common.RewardEntry) []byte {
	b = append(b, '{')
	if a := e.UnderscoreActions; a != nil && a.Complete == nil {
		b = append(b, `"_actions":{},`...)
	} else if a != nil {
		b = appendText(append(b, `"_actions":{"complete":{"method":`...), a.Complete.Method)
		b = append(appendText(append(b, `,"url":`...), a.Complete.URL), `}},`...)
	}

	if e.Claims != nil {
		b = append(strconv.AppendInt(append(b, `"claims":`...), *e.Claims, 10), ',')
	}
	if e.ClaimsLeft != nil {
		b = append(strconv.AppendInt(append(b, `"claims_left":`...), *e.ClaimsLeft, 10), ',')
	}
	if e.Description != nil {
		b = append(appendTextAt(b, `"description":`, e.Description), ',')
	}
	if e.EndsAt != nil {
		b = append(appendInstantOf(b, `"ends_at":`, e.EndsAt), ',')
	}

	b = appendText(append(b, `"id":`...), e.ID)
	if e.Image != nil {
		b = append(append(b, `,"image":`...), Marshal(e.Image)...)
	}
	if e.InStock != nil {
		b = strconv.AppendInt(append(b, `,"in_stock":`...), *e.InStock, 10)
	}

	b = appendInstantOf(b, `,"last_claimed_at":`, e.LastClaimedAt)
	if o := e.Obstacle; o != nil {
		b = strconv.AppendInt(append(b, `,"obstacle":{"code":`...), int64(o.Code), 10)
		b = append(appendText(append(b, `,"message":`...), o.Message), '}')
	}

	b = strconv.AppendInt(append(b, `,"points":`...), e.Points, 10)
	b = appendInstantOf(b, `,"starts_at":`, e.StartsAt)
	b = appendText(append(b, `,"status":`...), string(e.Status))
	b = appendTexts(append(b, `,"stores":`...), e.Stores)
	b = appendText(append(b, `,"title":`...), e.Title)
	b = appendText(append(b, `,"type":`...), string(e.Type))
	return append(appendDeclared(b, e.AdditionalProperties), '}')
}

// CustomerPage is the answer of an operation that lists customers.
type CustomerPage struct{ list.Links[common.Customer] }

func (p CustomerPage) VisitListCustomersResponse(w http.ResponseWriter) error { return p.write(w) }
func (p CustomerPage) VisitReadCustomersResponse(w http.ResponseWriter) error { return p.write(w) }

func (p CustomerPage) write(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, appendPage(nil, p.Links, appendCustomer, 640))
	return nil
}

// appendCustomer writes a common.Customer, followed by the attributes that the programme declares.
func appendCustomer(b []byte, c *common.Customer) []byte {
	b = appendText(append(b, `{"id":`...), c.ID)
	b = appendTextAt(b, `,"birth_date":`, c.BirthDate)
	b = appendInstantOf(b, `,"created_at":`, c.CreatedAt)
	b = appendTextAt(b, `,"currency":`, c.Currency)
	b = appendTextAt(b, `,"email":`, c.Email)
	b = appendNumberAt(b, `,"expired":`, c.Expired)
	if c.ExternalIds != nil {
		b = append(append(b, `,"external_ids":`...), Marshal(c.ExternalIds)...)
	}

	b = appendTextAt(b, `,"first_name":`, c.FirstName)
	b = appendTextAt(b, `,"gender":`, c.Gender)
	b = appendTextAt(b, `,"handler":`, c.Handler)
	b = appendTextAt(b, `,"image_url":`, c.ImageURL)
	if c.Labels != nil {
		b = appendTexts(append(b, `,"labels":`...), c.Labels)
	}

	b = appendTextAt(b, `,"language":`, c.Language)
	b = appendTextAt(b, `,"last_name":`, c.LastName)
	b = appendNumberAt(b, `,"pending":`, c.Pending)
	b = appendTextAt(b, `,"referrer":`, c.Referrer)
	b = appendNumberAt(b, `,"reserved":`, c.Reserved)
	b = appendNumberAt(b, `,"score":`, c.Score)
	b = appendNumberAt(b, `,"spendable":`, c.Spendable)
	b = appendNumberAt(b, `,"spent":`, c.Spent)
	b = appendTextAt(b, `,"status":`, (*string)(c.Status))
	b = appendInstantOf(b, `,"updated_at":`, c.UpdatedAt)
	return append(appendDeclared(b, c.AdditionalProperties), '}')
}

// appendNumberAt writes a property unless it is nil.
func appendNumberAt(b []byte, name string, n *int64) []byte {
	if n == nil {
		return b
	}
	return strconv.AppendInt(append(b, name...), *n, 10)
}

// appendDeclared writes the attributes that the programme declares, after other properties.
func appendDeclared(b []byte, attributes map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		b = append(appendText(append(b, ','), name), ':')
		b = append(b, Marshal(attributes[name])...)
	}
	return b
}

// CustomerAnswer is the answer with one customer.
type CustomerAnswer common.Customer

func (c CustomerAnswer) VisitGetCustomerResponse(w http.ResponseWriter) error  { return c.write(w) }
func (c CustomerAnswer) VisitReadCustomerResponse(w http.ResponseWriter) error { return c.write(w) }

func (c CustomerAnswer) write(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, c.append(make([]byte, 0, 768)))
	return nil
}

func (c CustomerAnswer) append(b []byte) []byte {
	return append(appendCustomer(append(b, `{"data":`...), (*common.Customer)(&c)), '}')
}

// PointsAnswer is the answer with a customer's figures and lots.
type PointsAnswer customers.CustomerPoints

// VisitGetCustomerPointsResponse writes it.
func (p PointsAnswer) VisitGetCustomerPointsResponse(w http.ResponseWriter) error {
	WriteJSON(w, http.StatusOK, p.append(make([]byte, 0, 512+192*len(p.Lots))))
	return nil
}

func (p *PointsAnswer) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"data":{"debt":`...), p.Debt, 10)
	b = strconv.AppendInt(append(b, `,"expired":`...), p.Expired, 10)
	b = append(b, `,"expiring":[`...)
	for i := range p.Expiring {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInstantOf(b, `{"expires_at":`, &p.Expiring[i].ExpiresAt)
		b = append(strconv.AppendInt(append(b, `,"points":`...), p.Expiring[i].Points, 10), '}')
	}

	b = append(b, `],"lots":[`...)
	for i := range p.Lots {
		l := &p.Lots[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInstantOf(b, `{"earned_at":`, &l.EarnedAt)
		b = strconv.AppendInt(append(b, `,"expired":`...), l.Expired, 10)
		b = appendInstantOf(b, `,"expires_at":`, l.ExpiresAt)
		b = appendID(append(b, `,"id":`...), l.ID)
		b = strconv.AppendInt(append(b, `,"points":`...), l.Points, 10)
		b = strconv.AppendInt(append(b, `,"remaining":`...), l.Remaining, 10)
		b = strconv.AppendInt(append(b, `,"reserved":`...), l.Reserved, 10)
		b = append(strconv.AppendInt(append(b, `,"spent":`...), l.Spent, 10), '}')
	}

	b = strconv.AppendInt(append(b, `],"pending":`...), p.Pending, 10)
	b = strconv.AppendInt(append(b, `,"reserved":`...), p.Reserved, 10)
	b = strconv.AppendInt(append(b, `,"score":`...), p.Score, 10)
	b = strconv.AppendInt(append(b, `,"spendable":`...), p.Spendable, 10)
	return append(strconv.AppendInt(append(b, `,"spent":`...), p.Spent, 10), "}}"...)
}
