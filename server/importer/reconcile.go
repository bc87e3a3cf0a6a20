package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Ledger is the ledger that an import is compared with.
type Ledger interface {
	loyalty.PastStore
	BulkOperation(ctx context.Context, batch loyalty.ID, kinds ...string) (loyalty.BulkOperation, error)
	BulkErrors(ctx context.Context, batch loyalty.ID, q loyalty.BulkPage) ([]loyalty.BulkItem, error)
}

// Account is the result of comparing an import with the ledger.
type Account struct {
	Import   loyalty.ID `json:"import"`
	State    string     `json:"state"` // of its bulk operation; unknown: it ended more than 30 days ago
	Rows     int64      `json:"rows"`
	Done     int64      `json:"done"` // including refused rows
	Refused  int64      `json:"refused"`
	Lots     Sums       `json:"lots"`
	Expected Sums       `json:"expected"` // the lots of the files without refused rows
	// Months compares points by the last month in which they are valid: of the file, of the ledger.
	Months map[string][2]int64 `json:"months"`
	Wrong  int64               `json:"wrong"` // lines that differ
}

// Sums are sums over lots.
type Sums struct {
	Lots   int64 `json:"lots"`
	Points int64 `json:"points"`
}

// Exact reports whether the ledger has everything as in the files, except refused rows.
func (a *Account) Exact() bool {
	return a.Wrong == 0 && a.Lots == a.Expected && (a.State == "unknown" || a.State == string(loyalty.BulkDone))
}

// owed is a lot that the ledger must have.
type owed struct {
	points          int64
	earned, expires time.Time
	found           bool
}

// pastPage is how many events are read at once.
const pastPage = 1000

// reconciling compares the lots of files with the events of the ledger.
type reconciling struct {
	account  *Account
	zone     *time.Location
	lots     map[int]*owed // of the files, by line
	order    []place       // every row of the files, in the order of the import
	byPolicy bool          // the file has no expiry dates: the programme's policy set them
	tell     func(Finding)
}

// Reconcile compares every lot of the files with the ledger's events, line by line. It reports differences and refused
// rows.
func Reconcile(
	ctx context.Context, w World, l Ledger, files []File, o Options, i loyalty.Import, tell func(Finding),
) (Account, error) {
	a := Account{Import: i.ID, Rows: i.Total, State: "unknown", Months: map[string][2]int64{}}
	if op, err := l.BulkOperation(ctx, i.ID, loyalty.BulkImport); err == nil {
		a.State, a.Done, a.Refused = string(op.State), op.Done, op.Errors
	}

	r := &reconciling{account: &a, zone: w.Programme.Location, lots: map[int]*owed{}, tell: tell}
	for _, f := range files {
		if err := r.read(ctx, f, o); err != nil {
			return a, err
		}
	}

	if err := refusals(ctx, l, i, r.order, r.lots, tell); err != nil {
		return a, err
	}
	if err := eachImported(ctx, l, i, r.imported); err != nil {
		return a, err
	}

	r.missing()
	return a, nil
}

// read notes the lots of a file. Rows of any kind count for the order, because the operation names refused items by the
// number of their row.
func (r *reconciling) read(ctx context.Context, f File, o Options) error {
	return eachRow(source{f, o, r.zone, nil}, func(s *sheet) error {
		r.order = append(r.order, place{file: f.Kind, line: s.line})
		if f.Kind != "lots" {
			return nil
		}
		row, told := s.kind.row(s)
		if wrong := faults(told); len(wrong) > 0 {
			return fmt.Errorf("lots line %d: %w", s.line, wrong[0].Words)
		}
		r.byPolicy = !s.has("expires_at")
		r.lots[s.line] = &owed{points: s.whole("points", &told), earned: timeIn(row.Data, "effective_timestamp"),
			expires: timeIn(row.Data, "expdate")}
		return ctx.Err()
	}, wrongNow)
}

// imported compares a lot of the ledger with its line in the file.
func (r *reconciling) imported(line int, e *loyalty.PastEvent) {
	r.account.Lots.Lots++
	r.account.Lots.Points += e.Issued
	r.add(e.ExpDate, 1, e.Issued)
	want := r.lots[line]
	switch {
	case want == nil:
		r.wrong(line, say("ledger_extra", nil))
	case want.found:
		r.wrong(line, say("ledger_twice", nil))
	case want.points != e.Issued:
		r.wrong(line, say("ledger_points", args{"file": want.points, "ledger": e.Issued}))
	case !want.earned.Equal(e.At):
		r.wrong(line, say("ledger_earned", args{"file": instant(want.earned), "ledger": instant(e.At)}))
	case !r.byPolicy && !want.expires.Equal(e.ExpDate):
		r.wrong(line, say("ledger_expires", args{"file": instant(want.expires), "ledger": instant(e.ExpDate)}))
	}

	if want != nil {
		want.found = true
		if r.byPolicy {
			want.expires = e.ExpDate
		}
	}
}

// missing adds up the lots of the files, and reports those that the ledger lacks.
func (r *reconciling) missing() {
	for _, line := range slices.Sorted(maps.Keys(r.lots)) {
		want := r.lots[line]
		r.account.Expected.Lots++
		r.account.Expected.Points += want.points
		r.add(want.expires, 0, want.points)
		if !want.found {
			r.wrong(line, say("ledger_missing", nil))
		}
	}
}

// add counts points under the last month in which they are valid: of the files (side 0) or the ledger (1).
func (r *reconciling) add(expires time.Time, side int, n int64) {
	month := Never
	if !expires.IsZero() {
		month = monthThrough(expires, r.zone)
	}
	m := r.account.Months[month]
	m[side] += n
	r.account.Months[month] = m
}

func (r *reconciling) wrong(line int, w Words) {
	r.account.Wrong++
	r.tell(Finding{File: "lots", Line: line, Words: w})
}

// instant writes a point in time as the API does; – for none.
func instant(at time.Time) string {
	if at.IsZero() {
		return "–"
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// refusals reports the rows that the operation refused, and removes them from the lots that the ledger must have.
func refusals(
	ctx context.Context, l Ledger, i loyalty.Import, order []place, lots map[int]*owed, tell func(Finding),
) error {
	for after := int64(0); ; {
		items, err := l.BulkErrors(ctx, i.ID, loyalty.BulkPage{Limit: pastPage, After: after})
		if err != nil || len(items) == 0 {
			return err
		}

		for k := range items {
			after = items[k].Seq
			if after < 1 || after > int64(len(order)) {
				return fmt.Errorf("the import has a row %d, and the files have %d", after, len(order))
			}

			at := order[after-1]
			var told loyalty.Error
			_ = json.Unmarshal(items[k].Error, &told) // an unreadable error is not named
			f := Finding{File: at.file, Line: at.line, Value: items[k].Customer, Words: say("row_refused", nil),
				Refusal: &Words{told.Name, told.Args}}
			if len(told.Details) > 0 {
				f.Column = kindOf(at.file).columnOf(told.Details[0].Field)
			}

			tell(f)
			if at.file == "lots" {
				delete(lots, at.line)
			}
		}
	}
}

// eachImported calls take for the events of an import that issued points, with their lines.
func eachImported(ctx context.Context, l Ledger, i loyalty.Import, take func(line int, e *loyalty.PastEvent)) error {
	q := loyalty.PastQuery{Actions: []string{importAction}, From: i.CreatedAt,
		Before: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Limit: pastPage}
	for {
		list, err := l.PastEvents(ctx, q)
		if err != nil || len(list) == 0 {
			return err
		}

		for k := range list {
			e := &list[k]
			var from struct {
				Import string
				Line   int
			}
			if err := json.Unmarshal(e.Data, &from); err != nil {
				return fmt.Errorf("event %s: %w", e.ID, err)
			}
			if from.Import == i.ID.String() {
				take(from.Line, e)
			}
			q.After = loyalty.Cursor{At: e.RecordedAt, ID: e.ID}
		}
	}
}
