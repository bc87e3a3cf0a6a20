package loyalty

import (
	"context"
	"math/big"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The metrics that are not folded from the journal: states, which are photographed, and
// what never became an event. They stay when everything else is folded anew.
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

// What figures are broken down by, where more than one metric is.
const (
	ByCode = "code"
	ByTier = "tier"
)

// FigureKey says which part of a metric a figure is: all of it without By.
type FigureKey struct {
	By       string // what it is broken down by: store, channel …
	Currency string // of money, in capitals; empty: the programme's
	Name     string // the store, the channel …; empty: none was named
}

// figureSeparator stands between the parts of a key. Texts of callers have it replaced.
const figureSeparator = "\x1f"

// figureName is how long a name can be, in characters: what callers write is any text.
const figureName = 100

// NewFigureKey makes a key of texts that may be anything.
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

// String returns the key as it is kept. All parts of one breakdown begin with its name.
func (k FigureKey) String() string {
	return k.By + figureSeparator + k.Currency + figureSeparator + k.Name
}

// ParseFigureKey parses what String returned.
func ParseFigureKey(text string) (k FigureKey) {
	k.By, text, _ = strings.Cut(text, figureSeparator)
	k.Currency, k.Name, _ = strings.Cut(text, figureSeparator)
	return k
}

// Figure is what came together of a metric on one day, or what was there at its end.
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

// FiguredEvent is an event as figures see it: ID, Customer, Parent, At, Action,
// Transaction, Effects and, of a checkout and a derived point_add, Data.
type FiguredEvent struct {
	Event
	Moves  []PointMove
	Joined time.Time // when the profile under which it was recorded was made, which never changes
}

// FiguredPurchase is what figures must know of a purchase whose checkout they do not have
// at hand.
type FiguredPurchase struct {
	Checkout                 ID // the checkout event
	Store, Channel, Currency string
}

// FigurePiece is a part of the tail with what figures are made of.
type FigurePiece struct {
	Events []FiguredEvent
	// Purchases are those that its events accepted later than they were made, or gave back.
	Purchases map[string]FiguredPurchase
	// Refunded is how much of purchases was counted as given back; the fold moves it on.
	Refunded map[string]money.Parts
}

// StatisticsState says what the figures are made of. The zero state: nothing yet.
type StatisticsState struct {
	Zone         string // whose days they count
	Version      int64  // of the programme that had this zone
	Generation   int64  // grows when everything is folded anew
	Behind       int64  // so many events of the tail are not counted
	Whole        bool   // what was recorded before there was a tail is in it
	Photographed time.Time
}

// Photograph is what there was at an instant.
type Photograph struct {
	At              time.Time
	Members, Active int64
	Outstanding     big.Int // points that customers hold, free or reserved
	Debt            big.Int
	Tiers           map[string]int64 // members by the tier that they have
}

// FigureQuery selects figures of some metrics.
type FigureQuery struct {
	Metrics     []string
	By          string
	First, Last int         // days
	Keys        []FigureKey // those alone; nil: all of By
}

// StatisticsStore keeps the figures, which follow the tail.
type StatisticsStore interface {
	TailStore
	// StatisticsState reads the state; zero: there is none.
	StatisticsState(ctx context.Context) (StatisticsState, error)
	// SwapStatistics puts the zone, version and generation of after in the place of before's;
	// false: they were others. With another generation everything but KeptMetrics is folded
	// from the tail's beginning.
	SwapStatistics(ctx context.Context, before, after StatisticsState) (bool, error)
	// FoldFigures takes the next events of the tail into the figures, limit at most,
	// together with the position there, and says how many they were; last: nothing
	// follows. It fails with ErrBatchConflict where another generation began.
	FoldFigures(ctx context.Context, generation int64, limit int, fold func(*FigurePiece) []Figure) (events int, last bool, err error)
	// Photograph looks at what there is; since: who did something after it is active.
	Photograph(ctx context.Context, now, since time.Time) (Photograph, error)
	// KeepPhotograph puts figures in the place of those of the same day and metrics.
	KeepPhotograph(ctx context.Context, at time.Time, day int, figures []Figure) error
	// Figures gives figures one by one, those of one metric and key together. Each has the
	// figure until it returns.
	Figures(ctx context.Context, q FigureQuery, each func(*Figure)) error
}
