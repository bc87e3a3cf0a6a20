package loyalty

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// BoardPeriod is the time over which a board of the leaderboard counts. Days are those
// of the programme's time zone; a week begins on Monday.
type BoardPeriod int16

// The periods.
const (
	BoardAll BoardPeriod = iota
	BoardYear
	BoardMonth
	BoardWeek
	BoardDay
)

// BoardPeriods lists the periods by the names that callers use.
var BoardPeriods = map[string]BoardPeriod{
	"all": BoardAll, "year": BoardYear, "month": BoardMonth, "week": BoardWeek, "day": BoardDay,
}

// Board is one list of the leaderboard: a period by its first day, in days since 1970-01-01; 0 for BoardAll. Boards of
// days exist twice while they are counted anew: Side is the set that this one belongs to (see BoardState).
type Board struct {
	Period BoardPeriod
	Start  int
	Side   int16
}

// firstMonday is 1970-01-05.
const firstMonday calendar.Day = 4

// first is the first day of the period that contains d.
func (p BoardPeriod) first(d calendar.Day) calendar.Day {
	year, month, _ := d.Date()
	switch p {
	case BoardYear:
		return calendar.Civil(year, time.January, 1)
	case BoardMonth:
		return calendar.Civil(year, month, 1)
	case BoardWeek:
		return firstMonday + calendar.Day(7*calendar.FloorDiv(int(d-firstMonday), 7))
	case BoardDay:
		return d
	}
	return 0
}

// next is the first day of the period after the one that begins on d.
func (p BoardPeriod) next(d calendar.Day) calendar.Day {
	switch p {
	case BoardYear:
		return d.PlusMonths(12)
	case BoardMonth:
		return d.PlusMonths(1)
	case BoardWeek:
		return d + 7
	}
	return d + 1
}

// Bounds returns the first instant of a board and the first one after it; both are zero for BoardAll.
func (b Board) Bounds(loc *time.Location) (from, before time.Time) {
	if b.Period == BoardAll {
		return from, before
	}
	return calendar.Day(b.Start).Begins(loc), b.Period.next(calendar.Day(b.Start)).Begins(loc)
}

// At returns the board of a period at an instant; with previous the one before it, and false for BoardAll, which has
// none.
func (p BoardPeriod) At(t time.Time, loc *time.Location, previous bool) (b Board, exists bool) {
	if p == BoardAll {
		return Board{}, !previous
	}
	start := p.first(calendar.DayOf(t, loc))
	if previous {
		start = p.first(start - 1)
	}
	return Board{Period: p, Start: int(start)}, true
}

// BoardCalendar determines which boards exist: for each period the current one and the one before it.
type BoardCalendar struct {
	loc    *time.Location
	oldest [BoardDay + 1]int
}

// clockGap is how far apart the clocks of two nodes may be. A board that one node no longer shows is kept that much
// longer for the others.
const clockGap = time.Hour

// NewBoardCalendar makes the calendar of an instant, by the days of a time zone.
func NewBoardCalendar(now time.Time, loc *time.Location) *BoardCalendar {
	c := &BoardCalendar{loc: loc}
	for p := BoardYear; p <= BoardDay; p++ {
		b, _ := p.At(now.Add(-clockGap), loc, true)
		c.oldest[p] = b.Start
	}
	return c
}

// Keeps reports whether a board is still kept.
func (c *BoardCalendar) Keeps(b Board) bool { return b.Start >= c.oldest[b.Period] }

// Of returns the boards that count an event of an instant.
func (c *BoardCalendar) Of(at time.Time) []Board {
	boards := make([]Board, 0, BoardDay+1)
	for p := BoardAll; p <= BoardDay; p++ {
		if b, _ := p.At(at, c.loc, false); c.Keeps(b) {
			boards = append(boards, b)
		}
	}
	return boards
}

// Oldest returns the earliest kept board of each period but BoardAll.
func (c *BoardCalendar) Oldest() (boards []Board) {
	for p := BoardYear; p <= BoardDay; p++ {
		boards = append(boards, Board{Period: p, Start: c.oldest[p]})
	}
	return boards
}

// BoardState is what the boards were counted from. The zero state: nothing was counted yet.
type BoardState struct {
	Zone       string // whose days they count
	Version    int64  // of the programme that had this zone
	Generation int64  // grows whenever the boards of days are counted anew
	Built      int64  // the last generation that is complete; 0: none is
	Behind     bool   // the tail has events that are not counted yet

	// Side is 0 or 1: the complete one of the two sets of boards of days, which is shown. While Built differs from
	// Generation the other set is being counted, and this one does not change.
	Side      int16
	WholeZone string // whose days the complete set counts while the other one is being counted
}

// Whole reports whether the boards of days are those of the last generation.
func (s BoardState) Whole() bool { return s.Built == s.Generation }

// BoardPlace is a position on a board: by score, the highest first; among equals, the customer who joined last comes
// first.
type BoardPlace struct {
	Score    int64
	Customer ID
}

// BoardQuery selects a page of a board. After is the last entry of the page before, Before the first one of the page
// after; if one of them is set, Offset is not used.
type BoardQuery struct {
	Board
	Limit, Offset int
	After, Before *BoardPlace
}

// BoardEntry is one customer on a board.
type BoardEntry struct {
	BoardPlace
	Rank                    int64 // 1, 2, 2, 4: one more than there are customers with a higher score
	Name, Handler, ImageURL string
}

// BoardStore keeps the boards, which follow the tail.
type BoardStore interface {
	TailStore
	// BoardState reads the state; zero if there is none.
	BoardState(ctx context.Context) (BoardState, error)
	// BoardCounted is the instant at which the last event that the boards of a period count was recorded; zero: they
	// count none.
	BoardCounted(ctx context.Context, p BoardPeriod) (time.Time, error)
	// BoardGlance is BoardState, and reports for the same instant whether an event recorded between two instants has no
	// number in the tail yet.
	BoardGlance(ctx context.Context, from, before time.Time) (state BoardState, unnumbered bool, err error)
	// SwapBoardState replaces before by after; false: the stored state was another one. A new generation has the boards
	// of days counted from the tail's beginning, beside the complete ones; the board of all time stays.
	SwapBoardState(ctx context.Context, before, after BoardState) (bool, error)
	// Count adds at most limit further events of the tail to the boards, and returns the number of their customers;
	// last: nothing follows. It fails with ErrBatchConflict if another node was faster or began another generation;
	// then nothing was written.
	Count(ctx context.Context, generation int64, calendar *BoardCalendar, limit int) (customers int, last bool, err error)
	// ForgetBoards deletes at most limit rows of boards before the given one of its period, and of boards of that
	// period that were replaced by a new count. It returns how many rows it deleted.
	ForgetBoards(ctx context.Context, oldest Board, limit int) (int, error)
	// BoardPage reads a part of a board, from the highest score down.
	BoardPage(ctx context.Context, q BoardQuery) ([]BoardEntry, error)
	// BoardAround reads a customer's entry with some of those above and below it. For a customer who is not shown it
	// returns the score alone.
	BoardAround(ctx context.Context, b Board, customer ID, neighbours int) (around []BoardEntry, score int64, err error)
	// BoardScores counts the customers on a board by bands of their scores, most bands at most; an empty board has
	// none.
	BoardScores(ctx context.Context, b Board, most int) ([]ScoreBand, error)
}

// ScoreBand is how many customers on a board have a score between two bounds.
type ScoreBand struct {
	From, To  int64
	Customers int64
}

// ScoreBands divides the scores from the lowest to the highest into bands of one width, most of them at most. The
// bounds are multiples of 1, 2 or 5 times a power of ten.
func ScoreBands(lowest, highest int64, most int) (bands []ScoreBand) {
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			width := digit * power
			first, last := floorDiv(lowest, width), floorDiv(highest, width)
			if last-first >= int64(most) && power < scoreLimit {
				continue
			}
			for n := first; n <= last; n++ {
				bands = append(bands, ScoreBand{From: n * width, To: (n+1)*width - 1})
			}
			return bands
		}
	}
}

// scoreLimit is above every possible score: the points of a customer are bounded far below it.
const scoreLimit = int64(1e17)

// floorDiv divides and rounds down, below 0 too.
func floorDiv(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}
