package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The journal of each customer is a hash chain: every event is hashed together with the previous hash, and the last
// hash, the head, is stored with the figures under the same guard. Changing, adding or removing a past row changes
// the head. If the head is changed as well, the next anchor's line in the log reveals it.

// link is one event's part of a customer's chain: its stored row and its postings. A merge moves points of a customer
// who has no event of it; such a link has postings only.
type link struct {
	customer, event UUID
	row             *eventLink
	postings        string // see postingText
}

// eventLink is an event's row.
type eventLink struct {
	recordedAt, at, expDate    Millis
	points                     *int64
	parent                     UUID
	action, transaction        string
	data, personal, effectText []byte
	sentBy                     string
}

// after returns the head that follows another one; nil is before the first.
func (l *link) after(head []byte) []byte {
	h := sha256.New()
	hashBytes(h, head)
	hashBytes(h, l.customer[:])
	hashBytes(h, l.event[:])
	if r := l.row; r != nil {
		for _, at := range []Millis{r.recordedAt, r.at, r.expDate} {
			hashNumber(h, at.Time().UnixMilli(), !at.Time().IsZero())
		}

		if r.points == nil {
			hashNumber(h, 0, false)
		} else {
			hashNumber(h, *r.points, true)
		}

		hashBytes(h, r.parent[:])
		hashBytes(h, []byte(r.action))
		hashBytes(h, []byte(r.transaction))
		hashBytes(h, r.data)
		hashBytes(h, r.personal)
		hashBytes(h, r.effectText)
		if r.sentBy != "" { // a row without a sender has no field for it
			hashBytes(h, []byte(r.sentBy))
		}
	}

	hashBytes(h, []byte(l.postings))
	return h.Sum(nil)
}

// hashBytes writes a field with its length, so that different rows never hash the same bytes. Absent and empty fields
// hash alike, because the databases keep both as NULL.
func hashBytes(h hash.Hash, field []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(field)))
	h.Write(length[:])
	h.Write(field)
}

func hashNumber(h hash.Hash, n int64, there bool) {
	var number [9]byte
	if there {
		number[0] = 1
		binary.BigEndian.PutUint64(number[1:], uint64(n))
	}
	h.Write(number[:])
}

// postingText writes a posting in the format of the proof's query (postingsOf).
func postingText(dst []byte, p *points.Posting) []byte {
	dst = strconv.AppendInt(dst, int64(p.Seq), 10)
	dst = strconv.AppendInt(append(dst, ':'), int64(p.From), 10)
	dst = strconv.AppendInt(append(dst, ':'), int64(p.To), 10)
	dst = append(dst, ':')
	if p.Lot != (points.ID{}) {
		dst = hex.AppendEncode(dst, p.Lot[:])
	}
	return append(strconv.AppendInt(append(dst, ':'), p.Points, 10), ';')
}

// chain extends the chains of a write's customers by its events. It returns the events in the form in which they are
// written.
func chain(w *loyalty.Writes) ([]writtenEvent, error) {
	if len(w.Events) == 0 && len(w.Postings) == 0 {
		return nil, nil
	}

	links, events, err := linksOf(w)
	if err != nil {
		return nil, err
	}

	for i := range w.NewCustomers {
		c := &w.NewCustomers[i]
		c.Chain = extended(loyalty.Chain{}, loyalty.ID{}, links[c.ID])
	}

	for i := range w.Customers {
		c := &w.Customers[i]
		c.After.Chain = extended(c.Before.Chain, c.Before.LastEvent, links[c.Before.ID])
	}

	return events, nil
}

// extended adds links to a chain. A chain that begins after past events records the event with which it begins.
func extended(c loyalty.Chain, last loyalty.ID, links []link) loyalty.Chain {
	if len(links) > 0 && c.Head == nil && last != (loyalty.ID{}) {
		c.From = loyalty.ID(links[0].event)
	}
	for i := range links {
		c.Head = links[i].after(c.Head)
	}
	return c
}

// linksOf returns the links of a write by customer, in the order of the chain: a customer's own events by id, then
// the postings by which a merge moved points away.
func linksOf(w *loyalty.Writes) (map[loyalty.ID][]link, []writtenEvent, error) {
	postings := map[[2]loyalty.ID][]byte{}
	for i := range w.Postings {
		p := &w.Postings[i]
		key := [2]loyalty.ID{p.Customer, loyalty.ID(p.Event)}
		postings[key] = postingText(postings[key], &p.Posting)
	}

	links := make(map[loyalty.ID][]link, len(w.Customers)+len(w.NewCustomers))
	events := make([]writtenEvent, len(w.Events))
	for i := range w.Events {
		e := &w.Events[i]
		row, err := eventLinkOf(e)
		if err != nil {
			return nil, nil, err
		}
		events[i] = writtenEvent{*e, Text(row.effectText)}
		key := [2]loyalty.ID{e.Customer, e.ID}
		links[e.Customer] = append(links[e.Customer], link{UUID(e.Customer), UUID(e.ID), row, string(postings[key])})
		delete(postings, key)
	}

	for customer := range links {
		slices.SortStableFunc(links[customer], byEvent)
	}

	var moved []link
	for key, text := range postings {
		moved = append(moved, link{customer: UUID(key[0]), event: UUID(key[1]), postings: string(text)})
	}

	slices.SortFunc(moved, byEvent)
	for _, l := range moved {
		links[loyalty.ID(l.customer)] = append(links[loyalty.ID(l.customer)], l)
	}

	return links, events, nil
}

func byEvent(a, b link) int {
	return cmp.Or(slices.Compare(a.event[:], b.event[:]), slices.Compare(a.customer[:], b.customer[:]))
}

func eventLinkOf(e *loyalty.Event) (*eventLink, error) {
	effects, err := Document[*loyalty.Effects]{e.Effects}.json()
	return &eventLink{
		recordedAt: Millis(e.RecordedAt), at: Millis(e.At), expDate: Millis(e.ExpDate), points: e.Points, parent: UUID(e.Parent),
		action: e.Action, transaction: e.Transaction, data: e.Data, personal: e.Personal, effectText: []byte(effects), sentBy: e.SentBy,
	}, err
}
