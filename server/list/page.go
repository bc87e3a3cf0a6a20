package list

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The number of entries on a page if the caller sends none, and the offset above which every list has ended.
const (
	defaultLimit = 100
	maxOffset    = 1 << 52
)

// Cursor is a position in a list: the sort instant and the id of an entry, and the direction of reading. It travels as
// opaque text and is bound to the path and filters of its list.
type Cursor struct {
	Back bool
	At   time.Time
	ID   []byte
}

// The layout of a cursor: version and direction, milliseconds, filters, id.
const (
	cursorForward = 0x10
	cursorBack    = 0x11
	cursorHead    = 1 + 8 + 8
)

func (c Cursor) text(filters [8]byte) string {
	b := make([]byte, cursorHead, cursorHead+len(c.ID))
	b[0] = cursorForward
	if c.Back {
		b[0] = cursorBack
	}
	binary.BigEndian.PutUint64(b[1:], uint64(c.At.UnixMilli()))
	copy(b[9:], filters[:])
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID...))
}

func parseCursor(text string, filters [8]byte) (*Cursor, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) <= cursorHead || b[0] != cursorForward && b[0] != cursorBack || [8]byte(b[9:17]) != filters {
		return nil, false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:]))).UTC()
	return &Cursor{Back: b[0] == cursorBack, At: at, ID: b[cursorHead:]}, true
}

// Page is the part of a list that a request wants: a number of entries behind an offset or a cursor, under its filters.
type Page struct {
	path    string
	Query   []Pair           // the filters, as they were sent
	Fields  map[string]Field // the fields that the contract declares as filters
	filters [8]byte
	Limit   int
	Offset  int
	Cursor  *Cursor // wins over Offset; nil: none was sent
	Began   time.Time
	// OldestFirst: the list, which has the newest entry first, is reversed.
	OldestFirst bool
	// More: reading stopped early, so more entries certainly follow.
	More bool
}

// NewPage reads the part of a list that a request wants: its path and decoded query, and the parameters limit, offset
// and cursor, which the contract has checked. fields are the list's filters; began is when the request arrived. It
// fails with contract.ErrInvalidParameter for a cursor that was not made for this list and these filters.
func NewPage(
	path string, query []Pair, fields map[string]Field, began time.Time, limit *int, offset *int64, text *string,
) (Page, error) {
	p := Page{path: path, Fields: fields, Limit: defaultLimit, Began: began}
	for _, q := range query {
		if q.Name != "limit" && q.Name != "offset" && q.Name != "cursor" {
			p.Query = append(p.Query, q)
		}
	}

	p.filters = p.hash()
	if limit != nil {
		p.Limit = *limit
	}
	if offset != nil {
		p.Offset = int(min(*offset, maxOffset))
	}
	if text == nil {
		return p, nil
	}

	var ok bool
	if p.Cursor, ok = parseCursor(*text, p.filters); !ok {
		return p, ErrCursor()
	}

	return p, nil
}

// ErrCursor returns the refusal of a cursor that was not made for its list.
func ErrCursor() error {
	return contract.ErrInvalidParameter.With("parameter", "cursor").With("reason", "schema").At("cursor")
}

// Conditions reads the filters of the page on its fields; see Conditions.
func (p Page) Conditions() (conditions []loyalty.Condition, readable bool) {
	return Conditions(p.Query, p.Fields)
}

// WithQuery is the page under other filters, which its links repeat.
func (p Page) WithQuery(query []Pair) Page {
	p.Query = query
	p.filters = p.hash()
	return p
}

// hash identifies the path and the filters, in any order, so that a cursor cannot be used for another list. The
// parameter fields is no filter.
func (p Page) hash() [8]byte {
	sorted := slices.DeleteFunc(slices.Clone(p.Query), func(q Pair) bool { return q.Name == "fields" })
	slices.SortFunc(sorted, func(a, b Pair) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
	h := sha256.New()
	h.Write([]byte(p.path))
	for _, q := range sorted {
		h.Write([]byte("\x00" + q.Name + "\x00" + q.Value))
	}
	return [8]byte(h.Sum(nil)[:8])
}

// Fetch is how many entries to read: one more than the page shows, to know whether more follow.
func (p Page) Fetch() int { return p.Limit + 1 }

// Store is the page for the store, Fetch entries of it.
func (p Page) Store() loyalty.Page {
	out := loyalty.Page{Limit: p.Fetch(), Offset: p.Offset}
	if p.Cursor == nil {
		return out
	}
	at := &loyalty.Cursor{At: p.Cursor.At}
	copy(at.ID[:], p.Cursor.ID)
	if p.Cursor.Back {
		out.Before = at
	} else {
		out.After = at
	}
	return out
}

// Links are a page's entries without the surplus one, and the relative links to the neighbouring pages; nil if there is
// none.
type Links[T any] struct {
	Entries        []T
	Next, Previous *string
	Time           float64 // seconds the server worked on the answer
}

// Linked cuts the entries that were read for a page, at most Fetch, to those of the page, and makes its links. at
// returns an entry's position in the list; nil means that links use offsets alone. now is for the duration of the
// answer.
func Linked[T any](p Page, entries []T, now time.Time, at func(T) Cursor) Links[T] {
	return LinkedBy(p, entries, now, at, func(e *T) int { return loyalty.Weight(e) })
}

// LinkedBy is Linked with another measure than loyalty.Weight for the bytes of an entry.
func LinkedBy[T any](p Page, entries []T, now time.Time, at func(T) Cursor, weight func(*T) int) Links[T] {
	back, n := p.Cursor != nil && p.Cursor.Back, held(p, entries, weight)
	more := p.More || n < len(entries)
	if back {
		entries = entries[len(entries)-n:]
	} else {
		entries = entries[:n]
	}

	l := Links[T]{Entries: entries, Time: now.Sub(p.Began).Round(time.Microsecond).Seconds()}
	if entries == nil {
		l.Entries = []T{}
	}

	if len(entries) == 0 {
		if p.Offset > 0 && p.Cursor == nil {
			l.Previous = p.link(max(0, p.Offset-p.Limit), nil)
		}
		return l
	}

	if more || back {
		l.Next = p.link(p.Offset+len(entries), place(at, entries[len(entries)-1], false))
	}
	if more && back || !back && (p.Cursor != nil || p.Offset > 0) {
		l.Previous = p.link(max(0, p.Offset-p.Limit), place(at, entries[0], true))
	}

	return l
}

// Render turns each entry that was read into an entry of the answer.
func Render[S, T any](l Links[S], entry func(*S) T) Links[T] {
	out := Links[T]{Entries: make([]T, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time}
	for i := range l.Entries {
		out.Entries[i] = entry(&l.Entries[i])
	}
	return out
}

// unweighed is the number of entries that a page holds at any size: no entry is larger than a body.
const unweighed = 4

// held is how many of the entries the page holds: those nearest to where it begins, up to the limit and a bound in
// bytes, but at least one.
func held[T any](p Page, entries []T, weight func(*T) int) int {
	most := min(len(entries), p.Limit)
	if most <= unweighed {
		return most
	}

	for i, size := 0, 0; i < most; i++ {
		at := i
		if p.Cursor != nil && p.Cursor.Back {
			at = len(entries) - 1 - i
		}
		if size += weight(&entries[at]); size > loyalty.MaxPage && i > 0 {
			return i
		}
	}

	return most
}

// place is the cursor of an entry; nil in a list that uses offsets alone.
func place[T any](at func(T) Cursor, entry T, back bool) *Cursor {
	if at == nil {
		return nil
	}
	c := at(entry)
	c.Back = back
	return &c
}

// Onward is the link to the entries behind a position, for a walk in one direction without offsets.
func (p Page) Onward(c Cursor) *string { return p.link(-1, &c) }

// link repeats the filters of the request with another position in the list; an offset below 0 is left out.
func (p Page) link(offset int, c *Cursor) *string {
	var b strings.Builder
	b.WriteString(p.path + "?")
	for _, q := range p.Query {
		b.WriteString(escapeQuery(q.Name) + "=" + escapeQuery(q.Value) + "&")
	}

	b.WriteString("limit=" + strconv.Itoa(p.Limit))
	if offset >= 0 {
		b.WriteString("&offset=" + strconv.Itoa(offset))
	}
	if c != nil {
		b.WriteString("&cursor=" + c.text(p.filters))
	}

	text := b.String()
	return &text
}

// escapeQuery writes blanks as %20, which all signing clients read alike.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
