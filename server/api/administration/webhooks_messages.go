package administration

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// maxMessage is the longest message in bytes; a longer one loses its lines, then all its attributes.
const maxMessage = 64 << 10

// WebhookMessages renders the messages of webhooks from the current data. Messages are not stored, so waiting messages
// do not name a customer who has left since.
type WebhookMessages struct {
	reader    loyalty.WebhookReader
	programme func() *programme.Programme
}

// NewWebhookMessages returns a WebhookMessages.
func NewWebhookMessages(reader loyalty.WebhookReader, programme func() *programme.Programme) *WebhookMessages {
	return &WebhookMessages{reader, programme}
}

// webhookMessage is a message in the form of 2026-11.
type webhookMessage struct {
	Type      string           `json:"type"`
	ID        loyalty.ID       `json:"id"`
	Timestamp common.Instant   `json:"timestamp"`
	Version   string           `json:"version"`
	Sequence  *int64           `json:"sequence,omitempty"`
	Previous  *int64           `json:"previous,omitempty"`
	Customer  *messageCustomer `json:"customer,omitempty"`
	Data      json.RawMessage  `json:"data"`
	Figures   *messageFigures  `json:"figures,omitempty"`
	Postings  []messagePosting `json:"postings,omitempty"`
}

type messageCustomer struct {
	ID string `json:"id"`
}

// messageEvent is an event as in lists, without their texts.
type messageEvent struct {
	Action        string          `json:"action"`
	Points        *int64          `json:"points,omitempty"`
	Change        int64           `json:"change"`
	Timestamp     common.Instant  `json:"timestamp"`
	TransactionID *string         `json:"transaction_id,omitempty"`
	Parent        *loyalty.ID     `json:"parent,omitempty"`
	Expdate       *common.Instant `json:"expdate,omitempty"`
	Data          json.RawMessage `json:"data"`
	Truncated     bool            `json:"truncated,omitempty"`
}

// messageFigures are the customer's figures at the moment of sending.
type messageFigures struct {
	Version   int64 `json:"version"`
	Score     int64 `json:"score"`
	Spendable int64 `json:"spendable"`
	Spent     int64 `json:"spent"`
	Reserved  int64 `json:"reserved"`
	Expired   int64 `json:"expired"`
	Pending   int64 `json:"pending"`
	Debt      int64 `json:"debt"`
}

type messagePosting struct {
	From   string      `json:"from"`
	To     string      `json:"to"`
	Points int64       `json:"points"`
	Lot    *loyalty.ID `json:"lot,omitempty"`
}

// messages renders the messages of deliveries.
type messages struct {
	webhook *loyalty.Webhook
	part    loyalty.FeedPart
	at      map[int64]int // by number: the event's place in part
	figures map[loyalty.ID]loyalty.Customer
}

// Render returns the message of each delivery; an empty one if its event does not exist.
func (r *WebhookMessages) Render(ctx context.Context, w *loyalty.Webhook, list []loyalty.Delivery) ([][]byte, error) {
	m := messages{webhook: w, at: map[int64]int{}}
	if err := m.read(ctx, r, list); err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(list))
	for i := range list {
		body, err := m.message(&list[i])
		if err != nil {
			return nil, err
		}
		bodies[i] = body
	}
	return bodies, nil
}

// read reads the data of the messages.
func (m *messages) read(ctx context.Context, r *WebhookMessages, list []loyalty.Delivery) (err error) {
	var numbers []int64
	for i := range list {
		if n := list[i].Sequence; n != 0 && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}

	if m.part, err = r.reader.EventsAt(ctx, numbers, m.webhook.Has(loyalty.IncludePostings)); err != nil {
		return err
	}

	var customers []loyalty.ID
	for i, n := range m.part.Numbers {
		m.at[n] = i
		if id := m.part.Events[i].Customer; !slices.Contains(customers, id) {
			customers = append(customers, id)
		}
	}

	if m.webhook.Has(loyalty.IncludeFigures) {
		if m.figures, err = r.reader.CustomersByID(ctx, customers); err != nil {
			return err
		}
	}

	suppress := r.programme().SuppressPII
	if suppress { // customers are not named, as if all had left
		for id, c := range m.part.Customers {
			c.Status = loyalty.OptedOut
			m.part.Customers[id] = c
		}
		for i := range list {
			list[i].Subject = ""
		}
	}

	if suppress || !m.webhook.Has(loyalty.IncludePersonal) {
		m.part.Keys = nil
	}

	return nil
}

// message renders one message, without lines or attributes if it is too long.
func (m *messages) message(d *loyalty.Delivery) ([]byte, error) {
	out := webhookMessage{Type: d.Type, ID: d.Event, Version: m.webhook.Version,
		Timestamp: common.Instant(d.CreatedAt), Data: d.Notice}
	if d.Sequence == 0 {
		return m.enveloped(&out), nil
	}

	at, known := m.at[d.Sequence]
	if !known {
		return nil, nil
	}

	e := &m.part.Events[at]
	out.Timestamp, out.Sequence = common.Instant(e.RecordedAt), &d.Sequence
	if d.Previous != 0 {
		out.Previous = &d.Previous
	}

	if c, known := m.part.Customers[e.Customer]; known && c.Status != loyalty.OptedOut {
		out.Customer = &messageCustomer{c.Name}
	} else if d.Subject != "" {
		out.Customer = &messageCustomer{d.Subject}
	}

	if c, known := m.figures[e.Customer]; known {
		f := c.Figures
		out.Figures = &messageFigures{c.Version, f.Score, f.Spendable(), f.Spent, f.Reserved, f.Expired, f.Pending, f.Debt}
	}

	for _, p := range m.part.Postings[e.ID] {
		posting := messagePosting{From: p.From.String(), To: p.To.String(), Points: p.Points}
		if lot := loyalty.ID(p.Lot); lot != (loyalty.ID{}) {
			posting.Lot = &lot
		}
		out.Postings = append(out.Postings, posting)
	}

	data, err := m.event(e)
	if err != nil {
		return nil, err
	}

	out.Data = api.Marshal(data)
	body := m.enveloped(&out)
	for _, shorten := range []func(json.RawMessage) json.RawMessage{withoutItems,
		func(json.RawMessage) json.RawMessage { return json.RawMessage("{}") }} {
		if len(body) <= maxMessage {
			break
		}
		data.Data, data.Truncated = shorten(data.Data), true
		out.Data = api.Marshal(data)
		body = m.enveloped(&out)
	}

	return body, nil
}

func (m *messages) event(e *loyalty.Event) (messageEvent, error) {
	out := messageEvent{
		Action: e.Action, Points: e.Points, Change: e.Change, Timestamp: common.Instant(e.At),
		TransactionID: api.TextOrNil(e.Transaction), Expdate: api.InstantOrNil(e.ExpDate),
	}
	if e.Parent != (loyalty.ID{}) {
		out.Parent = &e.Parent
	}
	var err error
	if out.Data, err = m.part.Attributes(e); len(out.Data) == 0 {
		out.Data = json.RawMessage("{}")
	}
	return out, err
}

// withoutItems removes the lines of a purchase.
func withoutItems(data json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return data
	}
	delete(all, "items")
	return api.Marshal(all)
}

// cloudEvent is the envelope of CloudEvents 1.0, in structured JSON.
type cloudEvent struct {
	SpecVersion     string          `json:"specversion"`
	ID              loyalty.ID      `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Subject         string          `json:"subject,omitempty"`
	Time            common.Instant  `json:"time"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}

// eventSource is the source of the platform's messages in CloudEvents.
const eventSource = "/loyalty"

// enveloped is a message in the format of its webhook.
func (m *messages) enveloped(out *webhookMessage) []byte {
	body := api.WithoutHTML(api.Marshal(out))
	if m.webhook.Format != webhook.FormatCloudEvents {
		return body
	}
	e := cloudEvent{SpecVersion: "1.0", ID: out.ID, Source: eventSource, Type: out.Type,
		Time: out.Timestamp, DataContentType: "application/json", Data: body}
	if out.Customer != nil {
		e.Subject = out.Customer.ID
	}
	return api.WithoutHTML(api.Marshal(e))
}
