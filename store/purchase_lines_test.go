package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

var boughtAt = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

// pieceLines is how many lines a row of lines has, as store/README.md says.
const pieceLines = 64

func rowsFor(lines int) int {
	if lines <= pieceLines {
		return 0
	}
	return (lines + pieceLines - 1) / pieceLines
}

// buyer is a customer with a purchase.
type buyer struct {
	s        *store.Store
	raw      *sql.DB
	postgres bool
	purchase loyalty.Transaction // as it should be read
	name     loyalty.Name
}

func newBuyer(s *store.Store, url string, raw *sql.DB) *buyer {
	return &buyer{s: s, raw: raw, postgres: strings.HasPrefix(url, "postgres")}
}

func (b *buyer) put(w loyalty.Writes) error { return storetest.Put(b.s, boughtAt, w) }

// customer writes a customer.
func (b *buyer) customer() (loyalty.Customer, error) {
	var w loyalty.Writes
	c := storetest.Member("", boughtAt)
	c.Name = c.ID.String()
	storetest.Enrol(&w, c)
	return c, b.put(w)
}

// buy writes a customer and a purchase of theirs.
func (b *buyer) buy(lines []loyalty.Line) error {
	c, err := b.customer()
	if err != nil {
		return err
	}

	b.name = loyalty.Name{Kind: loyalty.NameTransaction, Value: "T-" + c.Name}
	b.purchase = loyalty.Transaction{
		Customer: c.ID, Holder: c.ID, Name: b.name.Value, OriginalTotal: 1000, UpdatedAt: boughtAt,
		PurchaseOpening: loyalty.PurchaseOpening{Checkout: loyalty.NewID(boughtAt, loyalty.ID{}), CreatedAt: boughtAt, CheckoutDate: boughtAt},
		PurchaseState:   loyalty.PurchaseState{State: loyalty.Pending, Total: 1000, AutoAccept: boughtAt.Add(time.Hour)},
		Detail: loyalty.TransactionDetail{
			Attributes: map[string]json.RawMessage{"currency": json.RawMessage(`"EUR"`), "store": json.RawMessage(`"s-1"`)}, Items: lines,
			PurchaseUses: loyalty.PurchaseUses{Coupons: []loyalty.RedeemedCoupon{{Code: "C"}}},
		},
	}

	return b.put(loyalty.Writes{NewTransactions: []loyalty.Transaction{b.purchase}, Claims: []loyalty.Claim{{Name: b.name, Owner: c.ID}}})
}

// change loads the purchase, changes it and writes it.
func (b *buyer) change(change func(t *loyalty.Transaction)) error {
	return b.s.Within(context.Background(), b.needs(), func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		before := l.Customers[b.purchase.Customer].Transactions[b.name.Value]
		after := before.Clone()
		change(after)
		after.UpdatedAt = after.UpdatedAt.Add(time.Millisecond)
		for i := range after.Detail.Items {
			after.Detail.Items[i].Changed = false // an event told it
		}
		b.purchase = *after
		return &loyalty.Writes{Transactions: []loyalty.Changed[loyalty.Transaction]{{Before: before, After: *after}}}, nil
	})
}

// move gives the purchase to another customer.
func (b *buyer) move() error {
	to, err := b.customer()
	if err != nil {
		return err
	}
	from := b.purchase.Customer
	return b.s.Within(context.Background(), b.needs(), func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		before := l.Customers[from].Transactions[b.name.Value]
		b.purchase = *before.Clone()
		b.purchase.Customer, b.purchase.Holder = to.ID, to.ID
		return &loyalty.Writes{Moved: []loyalty.Changed[loyalty.Transaction]{{Before: before, After: b.purchase}},
			Freed: []loyalty.Claim{{Name: b.name, Owner: from}}, Claims: []loyalty.Claim{{Name: b.name, Owner: to.ID}}}, nil
	})
}

func (b *buyer) needs() loyalty.Needs {
	return loyalty.Needs{Now: boughtAt, Customers: []loyalty.CustomerNeeds{{ID: b.purchase.Customer, Transactions: []string{b.name.Value}}}}
}

// holds compares the purchase with what each way of reading finds, and its lines with the
// rows that they should have.
func (b *buyer) holds(t require.TestingT, rows int) {
	ctx := context.Background()
	want := b.purchase
	want.Pieces = rows
	require.NoError(t, b.s.Within(ctx, b.needs(), func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		require.Equal(t, want, l.Customers[want.Customer].Transactions[want.Name])
		return nil, nil
	}))

	due := loyalty.Needs{Now: boughtAt, Customers: []loyalty.CustomerNeeds{{ID: want.Customer, Everything: true}}}
	require.NoError(t, b.s.Within(ctx, due, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		require.Equal(t, want, l.Customers[want.Customer].Transactions[want.Name], "with everything")
		return nil, nil
	}))

	page, err := b.s.Transactions(ctx, loyalty.TransactionQuery{Customer: want.Customer, Page: loyalty.Page{Limit: 10}})
	require.NoError(t, err)
	require.Equal(t, []loyalty.Transaction{want}, page.Transactions)
	part, err := b.s.ExportPurchases(ctx, loyalty.ExportQuery{After: loyalty.ExportPlace{Customer: want.Customer}, Limit: 1})
	require.NoError(t, err)
	want.Holder = loyalty.ID{} // an export tells whose row it is
	require.Equal(t, []loyalty.Transaction{want}, part.Rows, "exported")
	var n int
	require.NoError(t, b.raw.QueryRow(`SELECT COUNT(*) FROM purchase_lines WHERE transaction_id = '`+want.Name+`'`).Scan(&n))
	require.Equal(t, rows, n, "rows of lines")
}

// drawnLines are lines whose texts need care.
func drawnLines(t *rapid.T, from, to int) []loyalty.Line {
	n := rapid.OneOf(rapid.IntRange(from, to), rapid.SampledFrom([]int{max(from, 63), max(from, 64), max(from, 65), max(from, 128), max(from, 129)})).Draw(t, "lines")
	if n == 0 {
		return nil
	}

	seed := rapid.StringN(0, 8, 40).Draw(t, "text")
	lines := make([]loyalty.Line, n)
	for i := range lines {
		lines[i] = loyalty.Line{
			Event: loyalty.NewID(boughtAt, loyalty.ID{}), ProductID: fmt.Sprint(seed, "-", i), Quantity: int64(i + 1), Subtotal: money.Amount(i * 100),
			LineFigures: loyalty.LineFigures{Points: int64(i)}, Data: map[string]json.RawMessage{"name": loyalty.JSON(seed), "n": json.RawMessage(fmt.Sprint(i))},
		}
		if i%7 == 0 {
			lines[i].Rewarded, lines[i].Personal = new(int64(i)), []byte{0, byte(i), 255}
		}
	}

	return lines
}

// TestPurchaseLines: whatever becomes of a purchase, of few lines or of many, in its old
// form or in the new one, each way of reading finds it as it was written last.
func TestPurchaseLines(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw := storetest.Open(t, url), storetest.Raw(t, url)
		rapid.Check(t, func(t *rapid.T) {
			b := newBuyer(s, url, raw)
			require.NoError(t, b.buy(drawnLines(t, 0, 200)))
			rows := rowsFor(len(b.purchase.Detail.Items))
			b.holds(t, rows)
			for range rapid.IntRange(1, 6).Draw(t, "steps") {
				switch rapid.SampledFrom([]string{"lines", "head", "replace", "shrink", "grow", "move"}).Draw(t, "step") {
				case "lines":
					picks := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 4).Draw(t, "picks")
					require.NoError(t, b.change(func(p *loyalty.Transaction) {
						for _, i := range picks {
							if n := len(p.Detail.Items); n > 0 {
								l := &p.Detail.Items[i%n]
								l.Return(1, 1)
								l.Personal = append(slices.Clone(l.Personal), byte(i))
							}
						}
					}))

				case "head":
					require.NoError(t, b.change(func(p *loyalty.Transaction) {
						p.Total += 5
						p.Detail.Attributes = map[string]json.RawMessage{"note": loyalty.JSON(rapid.String().Draw(t, "note"))}
					}))

				case "replace":
					lines := drawnLines(t, 0, 200)
					require.NoError(t, b.change(func(p *loyalty.Transaction) { p.Detail.Items = lines }))
				case "shrink":
					require.NoError(t, b.change(func(p *loyalty.Transaction) {
						if p.Detail.Items = p.Detail.Items[:rapid.IntRange(0, len(p.Detail.Items)).Draw(t, "left")]; len(p.Detail.Items) == 0 {
							p.Detail.Items = nil
						}
					}))

				case "grow":
					lines := drawnLines(t, 1, 90)
					require.NoError(t, b.change(func(p *loyalty.Transaction) { p.Detail.Items = append(p.Detail.Items, lines...) }))
				case "move":
					require.NoError(t, b.move())
				}

				b.holds(t, rowsFor(len(b.purchase.Detail.Items)))
			}
		})
	})
}

// TestPurchaseLinesChangedTwice: a batch that loaded a purchase before another batch changed a line of it writes
// nothing.
func TestPurchaseLinesChangedTwice(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		b := newBuyer(storetest.Open(t, url), url, storetest.Raw(t, url))
		require.NoError(t, b.buy(largeLines(300)))
		stale := b.purchase
		stale.Pieces = rowsFor(300)
		require.NoError(t, b.change(func(p *loyalty.Transaction) { p.Detail.Items[5].Return(1, 0) }))
		late := stale.Clone()
		late.Detail.Items[299].Return(1, 0)
		late.UpdatedAt = late.UpdatedAt.Add(time.Second)
		for _, w := range []loyalty.Writes{{Transactions: []loyalty.Changed[loyalty.Transaction]{{Before: stale, After: *late}}},
			{Moved: []loyalty.Changed[loyalty.Transaction]{{Before: stale, After: *late}}}} {
			require.ErrorIs(t, b.put(w), loyalty.ErrBatchConflict)
		}
		b.holds(t, rowsFor(300))
	})
}

// TestPurchaseLinesMissing: a purchase of which rows of lines are gone is no purchase without
// lines. It is not read, and the check of the ledger finds it.
func TestPurchaseLinesMissing(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw := storetest.Open(t, url), storetest.Raw(t, url)
		for _, damage := range []string{
			`DELETE FROM purchase_lines WHERE piece = 1 AND transaction_id = `, `DELETE FROM purchase_lines WHERE transaction_id = `,
			`UPDATE purchase_lines SET lines = '[]' WHERE piece = 0 AND transaction_id = `, `UPDATE transactions SET pieces = 2 WHERE transaction_id = `,
		} {
			b := newBuyer(s, url, raw)
			require.NoError(t, b.buy(largeLines(300)))
			_, err := raw.Exec(damage + `'` + b.name.Value + `'`)
			require.NoError(t, err)
			require.ErrorContains(t, s.Within(t.Context(), b.needs(), func(*loyalty.Loaded) (*loyalty.Writes, error) { return nil, nil }), "purchase_lines", damage)
		}
	})
}

func largeLines(n int) []loyalty.Line {
	lines := make([]loyalty.Line, n)
	for i := range lines {
		lines[i] = loyalty.Line{
			Event: loyalty.NewID(boughtAt, loyalty.ID{}), ProductID: fmt.Sprint("sku-", i), Quantity: 1, Subtotal: 15000, LineFigures: loyalty.LineFigures{Points: 2},
			Data: map[string]json.RawMessage{"product_name": loyalty.JSON(fmt.Sprint("Article ", i)), "product_url": loyalty.JSON(fmt.Sprint("https://shop.test/p/", i))},
		}
	}
	return lines
}

// TestPurchaseLinesWritten: an update of one line of a purchase of 5,000, or of none, writes
// the purchase's head and the row of that line, and not all lines. What goes to the log of the
// database is counted.
func TestPurchaseLinesWritten(t *testing.T) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return storetest.SQLite(t) },
		"postgres": func(t *testing.T) string { return storetest.NewCluster(t).URL("postgres") },
	} {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			raw := storetest.Raw(t, url)
			s := storetest.Open(t, url)
			require.NoError(t, s.Migrate(t.Context()))
			for _, lines := range []int{3, 20, 64, 65, 200, 5000} {
				b := newBuyer(s, url, raw)
				require.NoError(t, b.buy(largeLines(lines)))
				require.NoError(t, b.change(func(p *loyalty.Transaction) { p.Total++ })) // the first touch of pages
				head := b.written(t, 10, func(p *loyalty.Transaction) { p.Total++ })
				note := ""
				longer := b.written(t, 10, func(p *loyalty.Transaction) {
					note += "x"
					p.Detail.Attributes = map[string]json.RawMessage{"note": loyalty.JSON(note)}
				})

				i := 0
				one := b.written(t, 10, func(p *loyalty.Transaction) { p.Detail.Items[i%lines].Return(1, 1); i += 67 })
				t.Logf("figures: %s, %d lines: an update of the head writes %d bytes, %d where its length changes, of one line %d", name, lines, head, longer, one)
				if lines > pieceLines { // SQLite writes pages, also those that it gives back
					most := map[string][2]int64{"sqlite": {12 << 10, 48 << 10}, "postgres": {1 << 10, 8 << 10}}[name]
					require.LessOrEqual(t, max(head, longer), most[0], "%d lines, the head", lines)
					require.LessOrEqual(t, one, most[1], "%d lines, one of them", lines)
				}

				b.holds(t, rowsFor(lines))
			}
		})
	}
}

// written is how many bytes a change writes to the log of the database, as the mean of some.
func (b *buyer) written(t *testing.T, times int64, change func(*loyalty.Transaction)) int64 {
	t.Helper()
	began := b.log(t)
	for range times {
		require.NoError(t, b.change(change))
	}
	return (b.log(t) - began) / times
}

// log is how far the log is.
func (b *buyer) log(t *testing.T) (n int64) {
	t.Helper()
	if b.postgres {
		require.NoError(t, b.raw.QueryRow(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn`).Scan(&n))
		return n
	}
	var ignored, name any
	var file string
	require.NoError(t, b.raw.QueryRow(`PRAGMA database_list`).Scan(&ignored, &name, &file))
	log, err := os.Stat(file + "-wal")
	require.NoError(t, err)
	return log.Size()
}
