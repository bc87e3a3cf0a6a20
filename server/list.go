package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// How many entries a page has when the caller names no number, and the offset
// above which every list has ended.
const (
	defaultLimit = 100
	maxOffset    = 1 << 52
)

// cursor is a position in a list: the sort instant and the id of an entry, and
// which way to read from it. It travels as opaque text and is bound to the path
// and filters of its list.
type cursor struct {
	back bool
	at   time.Time
	id   []byte
}

// The layout of a cursor: version and direction, milliseconds, filters, id.
const (
	cursorForward = 0x10
	cursorBack    = 0x11
	cursorHead    = 1 + 8 + 8
)

func (c cursor) text(filters [8]byte) string {
	b := make([]byte, cursorHead, cursorHead+len(c.id))
	b[0] = cursorForward
	if c.back {
		b[0] = cursorBack
	}
	binary.BigEndian.PutUint64(b[1:], uint64(c.at.UnixMilli()))
	copy(b[9:], filters[:])
	return base64.RawURLEncoding.EncodeToString(append(b, c.id...))
}

func parseCursor(text string, filters [8]byte) (*cursor, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) <= cursorHead || b[0] != cursorForward && b[0] != cursorBack || [8]byte(b[9:17]) != filters {
		return nil, false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:]))).UTC()
	return &cursor{back: b[0] == cursorBack, at: at, id: b[cursorHead:]}, true
}

// page is which part of a list a request wants.
type page struct {
	path    string
	query   []pair // the filters, as they were sent
	filters [8]byte
	limit   int
	offset  int
	cursor  *cursor // wins over offset
	began   time.Time
	// oldestFirst says that a list with the newest entry first is turned round.
	oldestFirst bool
	more        bool // what was read ended early: something follows for certain
}

// pageOf reads what the contract has checked already. It fails for a cursor that
// is not one of this list's under these filters.
func pageOf(ctx context.Context, limit *common.Limit, offset *common.Offset, text *common.Cursor) (page, error) {
	r := requestOf(ctx)
	p := page{limit: defaultLimit, began: r.began}
	if c, ok := ctx.(*gin.Context); ok {
		p.path, _, _ = strings.Cut(c.Request.RequestURI, "?")
	}
	for _, q := range r.query {
		if q.name != "limit" && q.name != "offset" && q.name != "cursor" {
			p.query = append(p.query, q)
		}
	}
	p.filters = p.hash()
	if limit != nil {
		p.limit = *limit
	}
	if offset != nil {
		p.offset = int(min(*offset, maxOffset))
	}
	if text == nil {
		return p, nil
	}
	var ok bool
	if p.cursor, ok = parseCursor(*text, p.filters); !ok {
		return p, contract.ErrInvalidParameter.With("parameter", "cursor").With("reason", "schema").At("cursor")
	}
	return p, nil
}

// hash stands for the path and the filters, in any order, so that a cursor
// cannot be carried over to another list. What fields are shown is no filter.
func (p page) hash() [8]byte {
	sorted := slices.DeleteFunc(slices.Clone(p.query), func(q pair) bool { return q.name == "fields" })
	slices.SortFunc(sorted, func(a, b pair) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	h := sha256.New()
	h.Write([]byte(p.path))
	for _, q := range sorted {
		h.Write([]byte("\x00" + q.name + "\x00" + q.value))
	}
	return [8]byte(h.Sum(nil)[:8])
}

// fetch is how many entries to read: one more than the page, to see whether
// anything follows.
func (p page) fetch() int { return p.limit + 1 }

// links are a page's entries without the surplus one, and the relative links to
// its neighbours; nil where there is none.
type links[T any] struct {
	entries        []T
	next, previous *string
	time           float64 // seconds the server worked on the answer
}

// linked makes the links of a page from the entries read for it. at gives an
// entry's place in the list.
func linked[T any](p page, entries []T, now time.Time, at func(T) cursor) links[T] {
	return linkedBy(p, entries, now, at, func(e *T) int { return loyalty.Weight(e) })
}

// linkedBy is linked with a measure of its own for the bytes of an entry.
func linkedBy[T any](p page, entries []T, now time.Time, at func(T) cursor, weight func(*T) int) links[T] {
	back, n := p.cursor != nil && p.cursor.back, held(p, entries, weight)
	more := p.more || n < len(entries)
	if back {
		entries = entries[len(entries)-n:]
	} else {
		entries = entries[:n]
	}
	l := links[T]{entries: entries, time: now.Sub(p.began).Round(time.Microsecond).Seconds()}
	if entries == nil {
		l.entries = []T{}
	}
	if len(entries) == 0 {
		if p.offset > 0 && p.cursor == nil {
			l.previous = p.link(max(0, p.offset-p.limit), nil)
		}
		return l
	}
	if more || back {
		l.next = p.link(p.offset+len(entries), place(at, entries[len(entries)-1], false))
	}
	if more && back || !back && (p.cursor != nil || p.offset > 0) {
		l.previous = p.link(max(0, p.offset-p.limit), place(at, entries[0], true))
	}
	return l
}

// unweighed is how many entries are a page whatever their size: no entry is larger
// than a body.
const unweighed = 4

// held is how many of the entries the page holds: those nearest to where it begins,
// as many as were asked for, until they are too many bytes, but one at least.
func held[T any](p page, entries []T, weight func(*T) int) int {
	most := min(len(entries), p.limit)
	if most <= unweighed {
		return most
	}
	for i, size := 0, 0; i < most; i++ {
		at := i
		if p.cursor != nil && p.cursor.back {
			at = len(entries) - 1 - i
		}
		if size += weight(&entries[at]); size > loyalty.MaxPage && i > 0 {
			return i
		}
	}
	return most
}

// place is the cursor of an entry; nil in a list that goes by offsets alone.
func place[T any](at func(T) cursor, entry T, back bool) *cursor {
	if at == nil {
		return nil
	}
	c := at(entry)
	c.back = back
	return &c
}

// link repeats the filters of the request with another place in the list.
func (p page) link(offset int, c *cursor) *string {
	var b strings.Builder
	b.WriteString(p.path + "?")
	for _, q := range p.query {
		b.WriteString(escapeQuery(q.name) + "=" + escapeQuery(q.value) + "&")
	}
	b.WriteString("limit=" + strconv.Itoa(p.limit) + "&offset=" + strconv.Itoa(offset))
	if c != nil {
		b.WriteString("&cursor=" + c.text(p.filters))
	}
	text := b.String()
	return &text
}

// escapeQuery writes blanks as %20, which every signing client reads alike.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
