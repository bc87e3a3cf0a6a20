// Package leaderboard answers the Leaderboard API: top customers, and the place of one.
package leaderboard

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/loyalty-platform/loyalty/gen/leaderboard"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	boards "github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Leaderboard API.
type API struct {
	Boards    *boards.Leaderboard
	Customers api.CustomerReader
	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ leaderboard.StrictServerInterface = (*API)(nil)

// defaultNeighbours is how many customers are shown above and below the requested one.
const defaultNeighbours = 2

// GetLeaderboard reads a page of a board.
func (a *API) GetLeaderboard(
	ctx context.Context, in leaderboard.GetLeaderboardRequestObject,
) (leaderboard.GetLeaderboardResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	name, period := periodOf((*string)(in.Params.Period))
	q, err := boardQuery(p, period)
	if err != nil {
		return nil, err
	}

	part, err := a.Boards.Page(api.Plain(ctx), q, in.Params.Previous != nil && *in.Params.Previous)
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, part.Entries, a.Clock(),
		func(e loyalty.BoardEntry) list.Cursor { return boardCursor(part.Board, e.BoardPlace) })
	return leaderboard.GetLeaderboard200JSONResponse{
		Period: boardPeriod(name, &part), Data: a.boardEntries(l.Entries), Next: l.Next, Previous: l.Previous, Time: l.Time,
	}, nil
}

// GetCustomerLeaderboard reads a customer's rank, after applying everything that is due for the customer.
func (a *API) GetCustomerLeaderboard(
	ctx context.Context, in leaderboard.GetCustomerLeaderboardRequestObject,
) (leaderboard.GetCustomerLeaderboardResponseObject, error) {
	c, err := a.Customers.Current(api.Plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}

	name, period := periodOf((*string)(in.Params.Period))
	q := loyalty.BoardQuery{Board: loyalty.Board{Period: period}, Limit: defaultNeighbours}
	if in.Params.Neighbours != nil {
		q.Limit = *in.Params.Neighbours
	}

	s, err := a.Boards.Around(api.Plain(ctx), q, c.ID, in.Params.Previous != nil && *in.Params.Previous)
	if err != nil {
		return nil, err
	}

	out := leaderboard.Standing{ID: c.Name, Period: boardPeriod(name, &s.BoardPart),
		Score: s.Score, Neighbours: a.boardEntries(s.Entries)}
	if s.Rank > 0 {
		out.Rank = &s.Rank
	}
	if c.Status != loyalty.OptedOut {
		out.Handler, out.ImageURL = api.TextOrNil(c.Profile.Handler), api.TextOrNil(c.Profile.ImageURL)
	}

	return leaderboard.GetCustomerLeaderboard200JSONResponse{Data: out}, nil
}

const defaultBands = 20

// GetLeaderboardScores returns the distribution of the scores of a board.
func (a *API) GetLeaderboardScores(
	ctx context.Context, in leaderboard.GetLeaderboardScoresRequestObject,
) (leaderboard.GetLeaderboardScoresResponseObject, error) {
	name, period := periodOf((*string)(in.Params.Period))
	most := defaultBands
	if in.Params.Bands != nil {
		most = *in.Params.Bands
	}

	part, bands, err := a.Boards.Scores(api.Plain(ctx), period, in.Params.Previous != nil && *in.Params.Previous, most)
	if err != nil {
		return nil, err
	}

	out := leaderboard.Scores{Period: boardPeriod(name, &part), Bands: make([]leaderboard.ScoreBand, len(bands))}
	for i, b := range bands {
		out.Bands[i] = leaderboard.ScoreBand{From: b.From, To: b.To, Customers: b.Customers}
		out.Customers += b.Customers
	}

	return leaderboard.GetLeaderboardScores200JSONResponse{Data: out}, nil
}

// periodOf reads the parameter period; absent: all.
func periodOf(sent *string) (name string, p loyalty.BoardPeriod) {
	name = "all"
	if sent != nil {
		name = *sent
	}
	return name, loyalty.BoardPeriods[name]
}

func boardPeriod(name string, part *boards.BoardPart) leaderboard.BoardPeriod {
	return leaderboard.BoardPeriod{
		Name: leaderboard.BoardPeriodName(name), StartsAt: api.InstantOrNil(part.From),
		EndsAt: api.InstantOrNil(part.Until), AsOf: api.InstantOrNil(part.AsOf),
	}
}

// boardEntries renders entries. Without ids a board can be shown to the public.
func (a *API) boardEntries(entries []loyalty.BoardEntry) []leaderboard.BoardEntry {
	hidden, out := a.Programme().HideIDs, make([]leaderboard.BoardEntry, len(entries))
	for i, e := range entries {
		if hidden {
			e.Name = ""
		}
		out[i] = leaderboard.BoardEntry{
			ID: api.TextOrNil(e.Name), Handler: api.TextOrNil(e.Handler),
			ImageURL: api.TextOrNil(e.ImageURL), Score: e.Score, Rank: e.Rank,
		}
	}
	return out
}

// boardCursor is the position of an entry: the first day of the board, so that a walk stays on the same board when its
// period ends, then customer and score.
func boardCursor(b loyalty.Board, e loyalty.BoardPlace) list.Cursor {
	return list.Cursor{At: time.Unix(int64(b.Start)*daySeconds, 0),
		ID: binary.BigEndian.AppendUint64(e.Customer[:], uint64(e.Score))}
}

const daySeconds = 24 * 60 * 60

// boardQuery reads the position of a page. It fails for a cursor of another list.
func boardQuery(p list.Page, period loyalty.BoardPeriod) (loyalty.BoardQuery, error) {
	q := loyalty.BoardQuery{Board: loyalty.Board{Period: period}, Limit: p.Fetch(), Offset: p.Offset}
	if p.Cursor == nil {
		return q, nil
	}

	place := &loyalty.BoardPlace{}
	n := copy(place.Customer[:], p.Cursor.ID)
	if len(p.Cursor.ID) != n+8 {
		return q, list.ErrCursor()
	}

	place.Score = int64(binary.BigEndian.Uint64(p.Cursor.ID[n:]))
	q.Start = int(p.Cursor.At.Unix() / daySeconds)
	if p.Cursor.Back {
		q.Before = place
	} else {
		q.After = place
	}

	return q, nil
}
