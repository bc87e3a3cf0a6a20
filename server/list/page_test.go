package list

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestCursorIsBound: a cursor serves its own list under its own filters, in
// whatever order they are written, and nothing else.
func TestCursorIsBound(t *testing.T) {
	p := Page{path: "/customers", Query: []Pair{{"status", "active"}, {"score.gte", "5"}}}
	c := Cursor{At: time.UnixMilli(1_700_000_000_123).UTC(), ID: []byte("0123456789abcdef"), Back: true}
	text := c.text(p.hash())
	same := Page{path: "/customers", Query: []Pair{{"score.gte", "5"}, {"fields", "id"}, {"status", "active"}}}
	got, ok := parseCursor(text, same.hash())
	require.True(t, ok)
	require.Equal(t, c, *got)
	for _, other := range []Page{
		{path: "/admin/audit", Query: p.Query},
		{path: "/customers", Query: p.Query[:1]},
		{path: "/customers", Query: []Pair{{"status", "active"}, {"score.gte", "6"}}},
		{path: "/customers", Query: []Pair{{"status", "active"}, {"score", "gte5"}}},
	} {
		_, ok := parseCursor(text, other.hash())
		require.False(t, ok, other)
	}

	for _, broken := range []string{"", "x", text[:10], text + "!", "AAAA" + text[4:]} {
		_, ok := parseCursor(broken, p.hash())
		require.False(t, ok, broken)
	}
}

// TestLinksWalkTheList: following next gives every entry exactly once, and
// following previous from the end gives them all again, whatever the page size.
//
// spec: page.limit, page.links, list.next, list.previous
func TestLinksWalkTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := make([]loyalty.AccessKey, rapid.IntRange(0, 30).Draw(t, "entries"))
		for i := range all { // the newest first, some at the same instant
			all[i] = loyalty.AccessKey{ID: fmt.Sprintf("LK%02d", len(all)-i), CreatedAt: time.UnixMilli(int64(len(all)-i) / 3)}
		}

		p := Page{path: "/admin/keys", Limit: rapid.IntRange(1, 10).Draw(t, "limit")}
		p.filters = p.hash()
		turn := func(p Page) Links[loyalty.AccessKey] {
			return Linked(p, Cut(p, all, placeOf), time.Now(), placeOf)
		}
		var forward, backward []loyalty.AccessKey
		l := turn(p)
		require.Nil(t, l.Previous)
		for forward = append(forward, l.Entries...); l.Next != nil; forward = append(forward, l.Entries...) {
			p = followed(t, p, *l.Next)
			l = turn(p)
			require.NotEmpty(t, l.Entries)
			require.NotNil(t, l.Previous)
		}

		require.Equal(t, len(all), len(forward))
		for backward = l.Entries; l.Previous != nil; backward = append(append([]loyalty.AccessKey{}, l.Entries...), backward...) {
			p = followed(t, p, *l.Previous)
			l = turn(p)
		}

		require.ElementsMatch(t, all, backward)
		for i := range all {
			require.Equal(t, all[i].ID, forward[i].ID)
			require.Equal(t, all[i].ID, backward[i].ID)
		}
	})
}

// followed is the page behind a link.
func followed(t require.TestingT, p Page, link string) Page {
	u, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, p.path, u.Path)
	var ok bool
	p.Cursor, ok = parseCursor(u.Query().Get("cursor"), p.filters)
	require.True(t, ok)
	return p
}

func TestLinkRepeatsTheFilters(t *testing.T) {
	p := Page{path: "/customers/a%2Fb/events", Query: []Pair{{"search", "a b&c=d"}, {"action", "x"}, {"action", "y"}}, Limit: 5}
	require.Equal(t, "/customers/a%2Fb/events?search=a%20b%26c%3Dd&action=x&action=y&limit=5&offset=10", *p.link(10, nil))
}

// placeOf is where a key stands in the list.
func placeOf(k loyalty.AccessKey) Cursor { return Cursor{At: k.CreatedAt, ID: []byte(k.ID)} }
