package job_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// desk is the administration of the tests of the rules, with what fills of pools are asked.
type desk struct{ *loyaltytest.Desk }

func eachDesk(t *testing.T, engines int, test func(t *testing.T, d *desk)) {
	t.Helper()
	loyaltytest.EachDesk(t, engines, func(t *testing.T, d *loyaltytest.Desk) { test(t, &desk{d}) })
}

// between is a store that does something of its own around each transaction of the
// programme.
type between struct {
	*store.Store
	before func(piece int) error // inside the transaction, behind all that it does
	after  func(piece int)       // when it is committed
	pieces int
}

var errKilled = errors.New("killed")

func (b *between) Change(ctx context.Context, work func(loyalty.AdminTx) error) error {
	b.pieces++
	err := b.Store.Change(ctx, func(tx loyalty.AdminTx) error {
		if err := work(tx); err != nil {
			return err
		}
		if b.before != nil {
			return b.before(b.pieces)
		}
		return nil
	})
	if err == nil && b.after != nil {
		b.after(b.pieces)
	}

	return err
}

// workFills has the job do all that there is to do, and gives what it counted.
func (c *desk) workFills(s loyalty.JobStore) (done, failed int64) {
	c.T.Helper()
	done, failed, _, err := job.NewJobs(job.JobsOptions{Engine: c.Engines[0], Store: s}).WorkBulk(context.Background())
	require.NoError(c.T, err)
	return done, failed
}

// fill begins a fill.
func (c *desk) fill(pool string, codes []string, generate int) loyalty.BulkOperation {
	c.T.Helper()
	done, err := c.FillPool(context.Background(), loyaltytest.Caller, pool, codes, generate)
	require.NoError(c.T, err)
	o := done.Value
	require.Equal(c.T, []any{loyalty.BulkQueued, int64(0), int64(len(codes) + generate), int64(0)}, []any{o.State, o.Done, o.Total, o.Errors})
	return o
}

func (c *desk) stands(o loyalty.BulkOperation) string {
	c.T.Helper()
	o, err := c.Store.BulkOperation(context.Background(), o.ID, admin.BulkPoolFill)
	require.NoError(c.T, err)
	require.Equal(c.T, o.State == loyalty.BulkDone, !o.FinishedAt.IsZero())
	return fmt.Sprint(o.State, " ", o.Done, " ", o.Total, " ", o.Errors)
}

// refusals lists what a fill refused.
func (c *desk) refusals(o loyalty.BulkOperation) (list []string) {
	c.T.Helper()
	items, err := c.Store.BulkErrors(context.Background(), o.ID, loyalty.BulkPage{Limit: 1000})
	require.NoError(c.T, err)
	for _, i := range items {
		list = append(list, fmt.Sprint(i.Seq, " ", i.Code, " ", i.Count, " ", i.Failure()))
	}
	return list
}

// free lists the codes of a pool in the order in which they are handed out.
func (c *desk) free(pool string) (codes []string) {
	c.T.Helper()
	page, err := c.Store.Coupons(context.Background(), loyalty.CouponQuery{
		At: c.Now(), Conditions: []loyalty.Condition{{Field: "pool", Operator: "eq", Values: []any{pool}}}, Page: loyalty.Page{Limit: 100_000},
	})
	require.NoError(c.T, err)
	for i := range page.Coupons { // the newest first
		codes = append(codes, page.Coupons[len(page.Coupons)-1-i].Code)
	}
	return codes
}

// kept counts the pieces of uploads that wait.
func (c *desk) kept() (n int) {
	c.T.Helper()
	require.NoError(c.T, storetest.Raw(c.T, c.URL).QueryRow(`SELECT count(*) FROM kept_codes`).Scan(&n))
	return n
}

// manyCodes are n codes whose order is not that of their texts.
func manyCodes(n int) []string {
	codes := make([]string, n)
	for i := range codes {
		codes[i] = fmt.Sprintf("%c-%05d", 'A'+(i*7)%26, i)
	}
	return codes
}

// A fill adds all codes but those that are taken, in the order of the list, and says
// which those were; others write between its pieces.
func TestFillPool(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		ctx := t.Context()
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("coupons/pool", "autumn", loyaltytest.FiveOff)
		c.Enrol(1)
		codes := manyCodes(3500)
		c.Send("member-1001", "coupon_create", fmt.Sprintf(`{"code":%q,"value":1}`, codes[3]))
		_, err := c.AddCodes(ctx, loyaltytest.Caller, "autumn", []string{codes[2999]}, 0)
		require.NoError(t, err)

		o := c.fill("spring", codes, 0)
		require.Equal(t, 3500/admin.FillPiece, c.kept())
		s := &between{Store: c.Store, after: func(piece int) {
			c.Send("member-1001", "point_add", `{"points":1}`)
			if piece < 3500/admin.FillPiece {
				require.Equal(t, fmt.Sprintf("processing %d 3500 %d", admin.FillPiece*piece, 1+piece*admin.FillPiece/3000), c.stands(o))
			}
		}}

		c.Wait(time.Second)
		done, failed := c.workFills(s)
		require.Equal(t, []int64{3500, 0, 3500 / admin.FillPiece}, []int64{done, failed, int64(s.pieces)})
		require.Equal(t, "done 3500 3500 2", c.stands(o))
		require.Equal(t, []string{
			fmt.Sprintf("4 %s 1 coupon_exists (190033) codes[3]: coupon_exists", codes[3]),
			fmt.Sprintf("3000 %s 1 coupon_exists (190033) codes[2999]: coupon_exists", codes[2999]),
		}, c.refusals(o))

		require.Zero(t, c.kept())
		want := append(append([]string{}, codes[:3]...), codes[4:2999]...)
		require.Equal(t, append(want, codes[3000:]...), c.free("spring"))
		one, _, err := c.Store.Coupon(ctx, codes[0])
		require.NoError(t, err)
		require.Equal(t, []any{loyalty.CouponCreated, "EUR", c.Now()}, []any{one.State, one.Currency, one.CreatedAt})

		log, err := c.AuditLog(ctx, loyalty.AuditQuery{Page: loyalty.Page{Limit: 2}})
		require.NoError(t, err)
		entries := map[string]loyalty.AuditEntry{log[0].Action: log[0], log[1].Action: log[1]}
		require.JSONEq(t, fmt.Sprintf(`{"added":3498,"source":"uploaded","batch_id":%q}`, o.ID), string(entries["coupon_pool.add_codes"].After))
		require.JSONEq(t, fmt.Sprintf(`{"total":3500,"batch_id":%q}`, o.ID), string(entries["bulk.pool_fill"].After))
		for _, e := range entries {
			require.Equal(t, []string{"coupons/pool/spring", loyaltytest.Caller.KeyID}, []string{e.Target, e.Actor})
		}

		done, failed = c.workFills(c.Store)
		require.Equal(t, []int64{0, 0}, []int64{done, failed})
		loyaltytest.Proven(t, c.Store)
	})
}

// Codes are handed out in the order of the requests, even if the clock of the node that adds them is behind, or a later
// call is faster.
func TestFillKeepsTheOrder(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("rewards/reward", "five", `{"title":{"en":"Five off"},"type":"coupon","pool":"spring"}`)
		codes := manyCodes(2001)
		c.fill("spring", codes, 0)
		s := &between{Store: c.Store, after: func(int) { c.Wait(-time.Second) }}
		c.workFills(s)
		c.Wait(time.Minute)
		c.Enrol(1)
		for _, want := range codes[:3] {
			o, err := c.Engines[0].Submit(t.Context(), loyaltytest.ClaimOf("member-1001", "five"))
			require.NoError(t, err)
			require.Equal(t, want, o.Value.(*reward.ClaimResult).Coupon.Code)
		}

		rows, err := storetest.Raw(t, c.URL).Query(`SELECT code FROM coupons WHERE pool = 'spring' ORDER BY id`)
		require.NoError(t, err)
		defer rows.Close()
		var order []string
		for rows.Next() {
			var code string
			require.NoError(t, rows.Scan(&code))
			order = append(order, code)
		}

		require.NoError(t, rows.Err())
		require.Equal(t, codes, order)
	})
}

// What can be refused at once is refused at once, and leaves nothing behind.
func TestFillRefused(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("coupons/pool", "old", loyaltytest.FiveOff)
		_, err := c.ArchiveEntity(t.Context(), loyaltytest.Caller, admin.EntityChange{Type: "coupons/pool", ID: "old"})
		require.NoError(t, err)
		codes := manyCodes(2500)
		for _, bad := range []struct {
			pool     string
			codes    []string
			generate int
			want     error
			field    string
		}{
			{"spring", append(manyCodes(2500), codes[7]), 0, loyalty.ErrPropertyInvalid, "codes[2500]"},
			{"spring", append(manyCodes(2500), "-"), 0, loyalty.ErrReservedName, "codes[2500]"},
			{"spring", codes, 3000, loyalty.ErrPropertyInvalid, "generate"},
			{"spring", nil, 3000, loyalty.ErrPoolSource, "generate"},
			{"spring", nil, admin.MaxGenerated + 1, loyalty.ErrPropertyInvalid, "generate"},
			{"autumn", codes, 0, loyalty.ErrEntityNotFound, ""},
			{"old", codes, 0, loyalty.ErrEntityArchived, ""},
		} {
			_, err := c.FillPool(t.Context(), loyaltytest.Caller, bad.pool, bad.codes, bad.generate)
			require.ErrorIs(t, err, bad.want, "%s %d", bad.pool, bad.generate)
			if bad.field != "" {
				require.Equal(t, bad.field, loyalty.AsError(err).Details[0].Field)
			}
		}

		require.Zero(t, c.kept())
		open, err := c.Store.OpenBulk(t.Context())
		require.NoError(t, err)
		require.Empty(t, open)
	})
}

// A fill under one key is one fill, however often it is asked for, also when it was
// refused.
func TestFillOnce(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		call := func(key string) admin.Call {
			call := loyaltytest.Caller
			call.Idempotency = &admin.AdminIdempotency{
				AnswerKey: loyalty.AnswerKey{AccessKey: loyaltytest.Caller.KeyID, Key: key}, Hash: sha256.Sum256([]byte(key)),
				Render: func(result any, err error) (int, []byte) {
					if err != nil {
						return 404, []byte(err.Error())
					}
					return 202, []byte(result.(loyalty.BulkOperation).ID.String())
				},
			}
			return call
		}

		first, err := c.FillPool(t.Context(), call("1"), "spring", manyCodes(2500), 0)
		require.NoError(t, err)
		require.Equal(t, 2500/admin.FillPiece, c.kept())
		again, err := c.FillPool(t.Context(), call("1"), "spring", manyCodes(2500), 0)
		require.NoError(t, err)
		require.Equal(t, first.Value.ID.String(), string(again.Replayed.Body))
		require.Equal(t, 2500/admin.FillPiece, c.kept(), "nothing is kept for a repetition")
		c.workFills(c.Store)
		again, err = c.FillPool(t.Context(), call("1"), "spring", manyCodes(2500), 0)
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)

		_, err = c.FillPool(t.Context(), call("2"), "none", manyCodes(2500), 0)
		require.ErrorIs(t, err, loyalty.ErrEntityNotFound)
		c.Entity("coupons/pool", "none", loyaltytest.FiveOff)
		again, err = c.FillPool(t.Context(), call("2"), "none", manyCodes(2500), 0)
		require.NoError(t, err)
		require.Equal(t, 404, again.Replayed.Status)
		require.Len(t, c.free("spring"), 2500)
	})
}

// A kill at any instant of a piece undoes the piece, and the next run does it.
func TestFillKilled(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("coupons/pool", "cards", `{"name":"Cards","source":"generated","pattern":"GC-********","coupon":{"type":"gift_card","value":20}}`)
		codes := manyCodes(1600)
		up, made := c.fill("spring", codes, 0), c.fill("cards", nil, 1600)
		for run := 0; ; run++ {
			require.Less(t, run, 40)
			s := &between{Store: c.Store, before: func(piece int) error {
				if piece > 1 { // one piece a run, the others are lost
					return errKilled
				}
				return nil
			}}
			if done, failed := c.workFills(s); failed == 0 {
				require.Positive(t, run)
				require.LessOrEqual(t, done, int64(admin.FillPiece))
				break
			}
		}

		require.Equal(t, []string{"done 1600 1600 0", "done 1600 1600 0"}, []string{c.stands(up), c.stands(made)})
		require.Equal(t, codes, c.free("spring"))
		cards := c.free("cards")
		require.Len(t, cards, 1600)
		loyaltytest.Distinct(t, cards)
		require.Zero(t, c.kept())
		loyaltytest.Proven(t, c.Store)
	})
}

// Two nodes that both think the job is theirs add every code once.
func TestFillTwoNodes(t *testing.T) {
	eachDesk(t, 2, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("coupons/pool", "cards", `{"name":"Cards","source":"generated","pattern":"GC-********","coupon":{"type":"gift_card","value":20}}`)
		up, made := c.fill("spring", manyCodes(5500), 0), c.fill("cards", nil, 5500)
		var nodes sync.WaitGroup
		var lock sync.Mutex
		var total int64
		for _, e := range c.Engines {
			db := storetest.Open(t, c.URL)
			nodes.Go(func() {
				for range 50 { // a node that lost too often leaves the rest to its next run
					done, _, _, err := job.NewJobs(job.JobsOptions{Engine: e, Store: db}).WorkBulk(context.Background())
					lock.Lock()
					total += done
					lock.Unlock()
					if open, listed := db.OpenBulk(context.Background()); err != nil || listed != nil || len(open) == 0 {
						return
					}
				}
			})
		}

		nodes.Wait()
		require.EqualValues(t, 11_000, total, "what the nodes counted")
		require.Equal(t, []string{"done 5500 5500 0", "done 5500 5500 0"}, []string{c.stands(up), c.stands(made)})
		require.Equal(t, manyCodes(5500), c.free("spring"))
		require.Len(t, c.free("cards"), 5500)
	})
}

// A pattern gives what it has, and the rest is one error.
func TestFillSpendsThePattern(t *testing.T) {
	loyaltytest.AllowFewCodes(t)

	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "few", `{"name":"Few","source":"generated","pattern":"F-##","coupon":{"type":"free_shipping"}}`)
		_, err := c.AddCodes(t.Context(), loyaltytest.Caller, "few", []string{"F-42", "OTHER"}, 0)
		require.NoError(t, err)
		o := c.fill("few", nil, 3000)
		_, failed := c.workFills(c.Store)
		require.Zero(t, failed)
		require.Equal(t, "done 3000 3000 2901", c.stands(o))
		require.Equal(t, []string{"100  2901 pattern_exhausted (190106) generate: pattern_exhausted"}, c.refusals(o))
		codes := c.free("few")
		loyaltytest.Distinct(t, codes)
		require.Len(t, codes, 101)
	})
}

// A pool that cannot be filled any more ends the rest, and what was added stays.
func TestFillOfAPoolThatGoes(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		for pool, end := range map[string]func(pool string){
			"archived": func(pool string) {
				_, err := c.ArchiveEntity(context.Background(), loyaltytest.Caller, admin.EntityChange{Type: "coupons/pool", ID: pool})
				require.NoError(t, err)
			},
			"lost": func(string) {
				_, err := storetest.Raw(t, c.URL).Exec(`DELETE FROM kept_codes`)
				require.NoError(t, err)
			},
		} {
			c.Entity("coupons/pool", pool, loyaltytest.FiveOff)
			codes := make([]string, 2500)
			for i := range codes {
				codes[i] = fmt.Sprint(pool, "-", i)
			}

			o := c.fill(pool, codes, 0)
			ended := false
			_, failed := c.workFills(&between{Store: c.Store, after: func(piece int) {
				if !ended {
					ended = true
					end(pool)
				}
			}})

			why := "entity_archived (190054)"
			if pool == "lost" {
				why = "internal (190001)"
				require.EqualValues(t, 1, failed)
			}

			left, reason := 2500-admin.FillPiece, strings.Fields(why)[0]
			require.Equal(t, fmt.Sprint("done 2500 2500 ", left), c.stands(o), pool)
			require.Equal(t, []string{fmt.Sprintf("%d  %d %s codes[%d]: %s", admin.FillPiece+1, left, why, admin.FillPiece, reason)}, c.refusals(o))
			require.Equal(t, codes[:admin.FillPiece], c.free(pool))
			require.Zero(t, c.kept(), "what was kept for it is forgotten")
		}
	})
}

// Codes that were kept for a fill whose begin was cut off are forgotten.
func TestFillCutOff(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		require.NoError(t, c.Store.KeepCodes(t.Context(), loyalty.NewID(c.Now(), loyalty.ID{}), c.Now(), []loyalty.KeptCodes{{Place: 0, Codes: []string{"A"}}, {Place: 1, Codes: []string{"B"}}}))
		c.Wait(59 * time.Minute)
		c.workFills(c.Store)
		require.Equal(t, 2, c.kept(), "it may be about to begin")
		c.Wait(time.Minute + time.Millisecond)
		c.workFills(c.Store)
		require.Zero(t, c.kept())
	})
}
