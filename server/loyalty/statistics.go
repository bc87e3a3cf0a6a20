package loyalty

import (
	"context"
	"math/big"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The metrics that are not folded from the journal: states, which come from snapshots, and counts without events. They
// stay when everything else is folded anew.
const (
	MetricMembers     = "members"
	MetricActive      = "active_customers"
	MetricOutstanding = "points_outstanding"
	MetricDebt        = "points_debt"
	MetricTiers       = "members_by_tier"
	MetricRefused     = "refused_events"
)

// KeptMetrics lists them.
var KeptMetrics = []string{MetricMembers, MetricActive, MetricOutstanding, MetricDebt, MetricTiers, MetricRefused}

// The dimensions of breakdowns that more than one metric has.
const (
	ByCode = "code"
	ByTier = "tier"
)

// FigureKey is the part of a metric that a figure is about: all of it if By is empty.
type FigureKey struct {
	By       string // the dimension: store, channel …
	Currency string // of money, in capitals; empty: the programme's
	Name     string // the store, the channel …; empty: none was named
}

// figureSeparator separates the parts of a key. In callers' texts it is replaced.
const figureSeparator = "\x1f"

// figureName is the longest name, in characters, because callers may write any text.
const figureName = 100

// NewFigureKey makes a key of arbitrary texts.
func NewFigureKey(by, currency, name string) FigureKey {
	return FigureKey{by, figureText(strings.ToUpper(currency)), figureText(name)}
}

func figureText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))

	text = strings.TrimSpace(text)
	n := 0
	for i := range text {
		if n++; n > figureName {
			return text[:i]
		}
	}

	return text
}

// String returns the key as it is stored. All parts of one breakdown begin with its name.
func (k FigureKey) String() string {
	return k.By + figureSeparator + k.Currency + figureSeparator + k.Name
}

// ParseFigureKey parses what String returned.
func ParseFigureKey(text string) (k FigureKey) {
	k.By, text, _ = strings.Cut(text, figureSeparator)
	k.Currency, k.Name, _ = strings.Cut(text, figureSeparator)
	return k
}

// Figure is the sum of a metric on one day, or its state at the end of the day.
type Figure struct {
	Metric string
	Key    FigureKey
	Day    int     // since 1970-01-01, in the programme's time zone
	Value  big.Int // money in 1/10,000 of a unit
}

// PointMove is how many points an event moved from one account to another.
type PointMove struct {
	From, To points.Account
	Points   int64
}

// FiguredEvent is an event for figures: ID, Customer, Parent, At, Action, Transaction, Effects and, of a checkout and a
// derived point_add, Data.
type FiguredEvent struct {
	Event
	Moves  []PointMove
	Joined time.Time // when the profile under which it was recorded was made, which never changes
}

// FiguredPurchase is what figures need of a purchase whose checkout is not in the piece.
type FiguredPurchase struct {
	Checkout                 ID // the checkout event
	Store, Channel, Currency string
}

// FigurePiece is a part of the tail with the data for figures.
type FigurePiece struct {
	Events []FiguredEvent
	// Purchases are those that its events accepted after the checkout, or refunded.
	Purchases map[string]FiguredPurchase
	// Refunded is how much of each purchase was counted as refunded; the fold updates it.
	Refunded map[string]money.Parts
}

// StatisticsState is what the figures were folded from. The zero state: nothing was folded yet.
type StatisticsState struct {
	Zone         string // whose days they count
	Version      int64  // of the programme that had this zone
	Generation   int64  // grows when everything is folded anew
	Behind       int64  // events of the tail that are not counted
	Whole        bool   // events recorded before the tail began are included
	Photographed time.Time
}

// Photograph is the state of the programme at an instant.
type Photograph struct {
	At              time.Time
	Members, Active int64
	Outstanding     big.Int // points that customers hold, free or reserved
	Debt            big.Int
	Tiers           map[string]int64 // members by their tier
}

// FigureQuery selects figures of some metrics.
type FigureQuery struct {
	Metrics     []string
	By          string
	First, Last int         // days
	Keys        []FigureKey // only those; nil: all of By
}

// StatisticsStore keeps the figures, which follow the tail.
type StatisticsStore interface {
	TailStore
	// StatisticsState reads the state; zero if there is none.
	StatisticsState(ctx context.Context) (StatisticsState, error)
	// SwapStatistics replaces the zone, version and generation of before by those of after; false: the stored ones
	// differ. A new generation has everything but KeptMetrics folded from the tail's beginning.
	SwapStatistics(ctx context.Context, before, after StatisticsState) (bool, error)
	// FoldFigures adds at most limit further events of the tail to the figures, together with the position there, and
	// returns how many they were; last: nothing follows. It fails with ErrBatchConflict if another generation began.
	FoldFigures(ctx context.Context, generation int64, limit int,
		fold func(*FigurePiece) []Figure) (events int, last bool, err error)
	// Photograph reads the present state; a customer with an event after since is active.
	Photograph(ctx context.Context, now, since time.Time) (Photograph, error)
	// KeepPhotograph replaces the figures of the same day and metrics.
	KeepPhotograph(ctx context.Context, at time.Time, day int, figures []Figure) error
	// Figures reads figures one by one, those of one metric and key in sequence. each may use a figure only until it
	// returns.
	Figures(ctx context.Context, q FigureQuery, each func(*Figure)) error
}
