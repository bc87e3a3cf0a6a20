package events

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// FeedPath is the path of the operation that returns all events in the order of the tail.
const FeedPath = "/events/feed"

// FeedWait bounds how long a page of the feed waits for an event, feedEffort how long it searches for events of the
// wanted types, and feedScan how many numbers one statement examines.
const (
	FeedWait   = 25 * time.Second
	feedEffort = 3 * time.Second
	feedScan   = 5000
	feedLimit  = 100 // default rows of a page
)

// How many pages and pieces of streams are read at once, and how many more wait for their turn.
const FeedsAtOnce, FeedsWaiting = 4, 252

// FeedAPI answers the followers of the feed.
type FeedAPI struct {
	Reader    loyalty.FeedReader
	Directory *admin.Directory
	Programme func() *programme.Programme
	Clock     func() time.Time
	Head      *feedHead
	Stopping  <-chan struct{}
	// Reads bounds reads from the database, streams the open answers: streams, and pages that may wait.
	Reads, Streams *api.Gate
}

// feedAsk is a request for the feed.
type feedAsk struct {
	*api.Request
	form  string // NdjsonType, SseType or empty: a page
	list  string // identifies the list for its cursors
	after int64
	limit int // 0: none was sent
	wait  time.Duration

	actions, prefixes, actors []string
	data, personal, postings  bool
	senders                   bool // senders of events are shown
}

// FollowEvents returns events in the order of the feed.
func (a *API) FollowEvents(
	ctx context.Context, _ events.FollowEventsRequestObject,
) (events.FollowEventsResponseObject, error) {
	ask, err := a.Feed.read(ctx)
	if err != nil {
		return nil, err
	}
	if ask.form != "" {
		return feedStream{feed: &a.Feed, ask: ask}, nil
	}

	if ask.wait > 0 {
		leave, err := a.Feed.Streams.Enter(api.Plain(ctx), ask.Key.ID)
		if err != nil {
			return nil, err
		}
		defer leave()
		if c, ok := ctx.(*gin.Context); ok { // a listener for a caller who goes away ends with the time for reading
			_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(api.WriteTimeout))
		}
	}

	body, err := a.Feed.page(api.Plain(ctx), ask)
	if err != nil {
		return nil, err
	}

	return api.RawResponse{Status: http.StatusOK, Body: body}, nil
}

// read reads a request for the feed. It fails for a cursor of another list, and for what the key or the user may not
// see.
func (f *FeedAPI) read(ctx context.Context) (*feedAsk, error) {
	ask := &feedAsk{Request: api.RequestOf(ctx), form: feedForm(api.HTTPRequest(ctx).Header)}
	ask.data = f.shows(ask.Key)
	ask.senders = ask.data && ask.ActorsShown()
	after, field := "", ""
	for _, p := range ask.Query {
		var unread error
		switch p.Name {
		case "after":
			after, field = p.Value, p.Name
		case "limit":
			ask.limit, unread = strconv.Atoi(p.Value)
		case "wait":
			var seconds int
			seconds, unread = strconv.Atoi(p.Value)
			ask.wait = min(time.Duration(seconds)*time.Second, FeedWait)

		case "types":
			ask.choose(p.Value)
		case "key_id":
			if !f.shows(ask.Key) {
				return nil, loyalty.ErrAPIForbidden.With("api", "display")
			}
			if !ask.senders {
				return nil, loyalty.ErrRoleNeeded.With("role", string(loyalty.RoleOperator))
			}
			ask.actors = sorted(strings.Split(p.Value, ","))

		case "include":
			if ask.include(p.Value); ask.data && !f.shows(ask.Key) {
				return nil, loyalty.ErrAPIForbidden.With("api", "display")
			}
		}

		if unread != nil {
			return nil, contract.ErrInvalidParameter.With("parameter", p.Name).With("reason", "schema").At(p.Name)
		}
	}

	if sent := api.HTTPRequest(ctx).Header.Get("Last-Event-ID"); sent != "" {
		after, field = sent, "Last-Event-ID"
	}

	ask.list = FeedPath + " " + strings.Join(ask.actions, ",") + " " + strings.Join(ask.prefixes, ",")
	if len(ask.actors) > 0 { // older cursors, without this filter, stay valid
		ask.list += " " + strings.Join(ask.actors, ",")
	}
	if after == "" {
		return ask, nil
	}

	state, err := f.Reader.TailState(api.Plain(ctx))
	if err != nil || after == "now" {
		ask.after = state.Head
		return ask, err
	}

	var ok bool
	if ask.after, ok = list.ParseNumberCursor(ask.list, after); !ok || ask.after > state.Head {
		return nil, contract.ErrInvalidParameter.With("parameter", field).With("reason", "cursor").At(field)
	}

	return ask, nil
}

// shows reports whether a key may see the customers of events: it may list them elsewhere.
func (f *FeedAPI) shows(key *loyalty.AccessKey) bool {
	return len(key.APIs) == 0 || slices.Contains(key.APIs, "display")
}

// choose reads the wanted types, in any order.
func (ask *feedAsk) choose(types string) {
	for _, t := range strings.Split(types, ",") {
		action := strings.TrimPrefix(t, "event.")
		if prefix, ok := strings.CutSuffix(action, "*"); ok {
			ask.prefixes = append(ask.prefixes, prefix)
		} else {
			ask.actions = append(ask.actions, action)
		}
	}
	ask.actions, ask.prefixes = sorted(ask.actions), sorted(ask.prefixes)
}

// sorted sorts texts and removes duplicates, so that a cursor is valid for the same request however it is written.
func sorted(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// include reads the additional parts of rows.
func (ask *feedAsk) include(parts string) {
	ask.data = false
	for _, part := range strings.Split(parts, ",") {
		switch part {
		case "postings":
			ask.postings = true
		case "personal":
			ask.personal = true
			fallthrough
		case "data":
			ask.data = true
		}
	}
}

// feedForm is the caller's preferred format; empty means a page.
func feedForm(h http.Header) (form string) {
	best := 0.0
	for _, part := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}

		weight := 1.0
		if q, sent := parameters["q"]; sent {
			weight, _ = strconv.ParseFloat(q, 64)
		}
		if weight <= best {
			continue
		}

		switch media {
		case api.NDJSONType, api.SSEType:
			best, form = weight, media
		case "application/json", "application/*", "*/*":
			best, form = weight, ""
		}
	}

	return form
}

// feedRow is a row of the feed: the event as in lists, and its place.
type feedRow struct {
	Sequence   int64          `json:"sequence"`
	Cursor     string         `json:"cursor"`
	Type       string         `json:"type"`
	KeyID      string         `json:"key_id,omitempty"`
	ActorKind  string         `json:"actor_kind,omitempty"`
	CustomerID loyalty.ID     `json:"customer_id"`
	RecordedAt common.Instant `json:"recorded_at"`
	common.JournalEvent
	Data     json.RawMessage      `json:"data,omitempty"`
	Postings []events.FeedPosting `json:"postings,omitempty"`
}

// feedPiece is a part of the feed, rendered.
type feedPiece struct {
	rows    [][]byte
	cursors []string // the cursor behind each row
	size    int      // of the rows, in bytes
	through int64    // the number up to which the piece is complete
	head    int64
	behind  time.Time // when the first event behind it was recorded; zero: none
}

// piece reads and renders what follows a number: at most limit rows, and not many more bytes than size.
func (f *FeedAPI) piece(ctx context.Context, ask *feedAsk, after int64, limit, size int) (p feedPiece, err error) {
	ctx, cancel := context.WithTimeout(ctx, api.WaitTime)
	defer cancel()
	leave, err := f.Reads.Enter(ctx, ask.Key.ID)
	if err != nil {
		return p, err
	}
	defer leave()

	q := loyalty.FeedQuery{After: after, Limit: limit, Scan: feedScan,
		Actions: ask.actions, Prefixes: ask.prefixes, Postings: ask.postings}
	for _, actor := range ask.actors {
		q.SentBy = append(q.SentBy, loyalty.KeyIDsOf(actor)...)
	}

	part, err := f.Reader.Feed(ctx, q)
	if err != nil {
		return p, err
	}

	p = feedPiece{through: part.Through, head: part.Head, behind: part.Behind.RecordedAt}
	suppress := f.Programme().SuppressPII
	if suppress { // customers are not named, as if all had left
		for id, c := range part.Customers {
			c.Status = loyalty.OptedOut
			part.Customers[id] = c
		}
	}

	if suppress || !ask.personal {
		part.Keys = nil
	}

	for i := range part.Events {
		if p.size > size {
			p.through, p.behind = part.Numbers[i-1], part.Events[i].RecordedAt
			break
		}
		row, cursor, err := f.row(ask, &part, i)
		if err != nil {
			return p, err
		}
		p.rows, p.cursors, p.size = append(p.rows, row), append(p.cursors, cursor), p.size+len(row)
	}

	return p, nil
}

// row renders an event of the feed.
func (f *FeedAPI) row(ask *feedAsk, part *loyalty.FeedPart, i int) (row []byte, cursor string, err error) {
	e := &part.Events[i]
	out := feedRow{
		Sequence: part.Numbers[i], Cursor: list.NumberCursor(ask.list, part.Numbers[i]), Type: "event." + e.Action,
		CustomerID: e.Customer, RecordedAt: common.Instant(e.RecordedAt),
	}

	if out.JournalEvent, err = api.JournalEvent(ask.Language, &part.EventPage, e); err != nil {
		return nil, "", err
	}

	if ask.senders && e.SentBy != "" {
		actor, kind := loyalty.ActorOf(e.SentBy)
		out.KeyID, out.ActorKind = actor, string(kind)
	}

	if ask.data {
		out.Data = out.JournalEvent.Data
	}
	if !f.shows(ask.Key) {
		out.Customer = nil
	}

	for _, p := range part.Postings[e.ID] {
		posting := events.FeedPosting{CustomerID: p.Customer, From: events.FeedAccount(p.From.String()),
			To: events.FeedAccount(p.To.String()), Points: p.Points}
		if p.Lot != (loyalty.ID{}) {
			lot := loyalty.ID(p.Lot)
			posting.Lot = &lot
		}
		out.Postings = append(out.Postings, posting)
	}

	return api.WithoutHTML(api.Marshal(out)), out.Cursor, nil
}

// page reads a page, and waits if there is nothing yet.
func (f *FeedAPI) page(ctx context.Context, ask *feedAsk) ([]byte, error) {
	limit, after := ask.limit, ask.after
	if limit == 0 {
		limit = feedLimit
	}

	var rows [][]byte
	var p feedPiece
	size, began := 0, time.Now()
	for {
		var err error
		if p, err = f.piece(ctx, ask, after, limit-len(rows), loyalty.MaxPage-size); err != nil {
			return nil, err
		}

		rows, size, after = append(rows, p.rows...), size+p.size, p.through
		if len(rows) >= limit || size >= loyalty.MaxPage {
			break
		}

		if after < p.head {
			if time.Since(began) > max(feedEffort, ask.wait) || len(rows) > 0 && time.Since(began) > feedEffort {
				break
			}
			continue
		}

		left := ask.wait - time.Since(began)
		if len(rows) > 0 || left <= 0 || f.over() || !f.mayGoOn(ask) {
			break
		}

		f.Head.wait(ctx, f.Stopping, after, min(left, time.Second))
	}

	var lag int64
	if !p.behind.IsZero() {
		lag = max(1, f.Clock().Sub(p.behind).Milliseconds())
	}

	return feedBody(rows, size, list.NumberCursor(ask.list, after), p.head, lag), nil
}

func feedBody(rows [][]byte, size int, next string, head, lag int64) []byte {
	out := append(make([]byte, 0, size+len(rows)+128), `{"data":[`...)
	for i, row := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, row...)
	}
	out = append(out, `],"next":"`+next+`","head":`...)
	out = strconv.AppendInt(out, head, 10)
	out = append(out, `,"lag_ms":`...)
	return append(strconv.AppendInt(out, lag, 10), '}')
}

// over reports whether the server is about to stop.
func (f *FeedAPI) over() bool {
	select {
	case <-f.Stopping:
		return true
	default:
		return false
	}
}

// mayGoOn reports whether the key may still read what it asked for.
func (f *FeedAPI) mayGoOn(ask *feedAsk) bool {
	if ask.Caller != nil {
		return true // the console ends the request with the session
	}
	key, ok := f.Directory.Key(ask.Key.ID)
	if !ok || !api.Admits(key, ask.Source) || len(key.APIs) > 0 && !slices.Contains(key.APIs, "events") {
		return false
	}
	return f.shows(key) || !f.shows(ask.Key)
}
