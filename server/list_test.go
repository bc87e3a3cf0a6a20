package server

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
	p := page{path: "/customers", query: []pair{{"status", "active"}, {"score.gte", "5"}}}
	c := cursor{at: time.UnixMilli(1_700_000_000_123).UTC(), id: []byte("0123456789abcdef"), back: true}
	text := c.text(p.hash())
	same := page{path: "/customers", query: []pair{{"score.gte", "5"}, {"fields", "id"}, {"status", "active"}}}
	got, ok := parseCursor(text, same.hash())
	require.True(t, ok)
	require.Equal(t, c, *got)
	for _, other := range []page{
		{path: "/admin/audit", query: p.query},
		{path: "/customers", query: p.query[:1]},
		{path: "/customers", query: []pair{{"status", "active"}, {"score.gte", "6"}}},
		{path: "/customers", query: []pair{{"status", "active"}, {"score", "gte5"}}},
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
		p := page{path: "/admin/keys", limit: rapid.IntRange(1, 10).Draw(t, "limit")}
		p.filters = p.hash()
		turn := func(p page) links[loyalty.AccessKey] {
			return linked(p, inMemory(p, all, keyPlace), time.Now(), keyPlace)
		}
		var forward, backward []loyalty.AccessKey
		l := turn(p)
		require.Nil(t, l.previous)
		for forward = append(forward, l.entries...); l.next != nil; forward = append(forward, l.entries...) {
			p = followed(t, p, *l.next)
			l = turn(p)
			require.NotEmpty(t, l.entries)
			require.NotNil(t, l.previous)
		}
		require.Equal(t, len(all), len(forward))
		for backward = l.entries; l.previous != nil; backward = append(append([]loyalty.AccessKey{}, l.entries...), backward...) {
			p = followed(t, p, *l.previous)
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
func followed(t require.TestingT, p page, link string) page {
	u, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, p.path, u.Path)
	var ok bool
	p.cursor, ok = parseCursor(u.Query().Get("cursor"), p.filters)
	require.True(t, ok)
	return p
}

func TestLinkRepeatsTheFilters(t *testing.T) {
	p := page{path: "/customers/a%2Fb/events", query: []pair{{"search", "a b&c=d"}, {"action", "x"}, {"action", "y"}}, limit: 5}
	require.Equal(t, "/customers/a%2Fb/events?search=a%20b%26c%3Dd&action=x&action=y&limit=5&offset=10", *p.link(10, nil))
}
