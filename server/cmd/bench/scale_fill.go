package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

// fillSpan is the age of the first event of a filled database: a little less than points live, so that nothing expires
// during a measurement.
const fillSpan = 350 * 24 * time.Hour

// filler fills a database with a year of events through the engine and the store, so that it has the same rows as a
// server's. The engine uses the filler's clock, which goes through the year with the events.
type filler struct {
	events, customers int
	now               time.Time
	progress          io.Writer
	began             time.Time

	store    *store.Store
	engine   *engine.Engine
	recorded atomic.Int64 // events of the journal, including those that followed from others
	told     atomic.Int64 // reported tenths of the work
}

// clock is the time of the next event.
func (f *filler) clock() time.Time {
	done := min(1, float64(f.recorded.Load())/float64(f.events))
	return f.now.Add(-time.Duration((1 - done) * float64(fillSpan)))
}

// fill makes customers with the names 1 to n until the given number of events is recorded. A twentieth of them, the
// regulars, have half of the events. Then it computes the leaderboard. It returns the number of events.
func (l launch) fill(ctx context.Context, events, customers int, progress io.Writer) (int64, error) {
	var master [32]byte
	if _, err := hex.Decode(master[:], []byte(l.master)); err != nil {
		return 0, err
	}
	db, err := store.Open(ctx, store.Options{URL: l.url, DataDir: l.data, MasterKey: master})
	if err != nil {
		return 0, err
	}
	f := &filler{events: events, customers: customers, now: time.Now().UTC(), progress: progress,
		began: time.Now(), store: db}
	err = errors.Join(f.fill(ctx), db.Close())
	return f.recorded.Load(), err
}

func (f *filler) fill(ctx context.Context) error {
	directory, err := admin.NewDirectory(ctx, admin.DirectoryOptions{Registry: action.Registry(), Store: f.store})
	if err != nil {
		return err
	}

	office := admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: f.store,
		Directory: directory, APIs: openapi.Names()})
	if err := offerMug(ctx, office); err != nil {
		return err
	}

	vocabulary, err := contract.NewVocabulary()
	if err != nil {
		return err
	}

	f.engine, err = engine.NewEngine(engine.EngineOptions{
		Store: f.store, Contract: vocabulary, Programmes: directory, Rules: action.All(),
		Features: action.Features(), Clock: f.clock,
	})
	if err != nil {
		return err
	}
	defer f.engine.Close()

	workers := runtime.GOMAXPROCS(0)
	if f.customers < 20*workers {
		workers = 1
	}

	failures := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { failures[i] = f.work(ctx, i, workers) })
	}

	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}

	done, err := job.NewJobs(job.JobsOptions{Engine: f.engine, Store: f.store}).Run(ctx, "leaderboard")
	if err == nil && done.Failed > 0 {
		err = errors.New(done.Result)
	}
	if err != nil {
		return fmt.Errorf("counting the leaderboard: %w", err)
	}

	return nil
}

// offerMug makes the reward of the claims.
func offerMug(ctx context.Context, office *admin.Admin) error {
	data := json.RawMessage(`{"title":{"en":"A mug"},"type":"points","award":10,"points":1}`)
	as := func(fields json.RawMessage) (json.RawMessage, error) { return fields, nil }
	_, err := office.CreateEntity(ctx, admin.Call{KeyID: admin.CommandLine},
		admin.EntityChange{Type: loyalty.RewardType, ID: "mug", Data: data, Check: as})
	return err
}

// work is one worker's part. Customers are divided between workers, so that no two write the same customer's rows.
func (f *filler) work(ctx context.Context, worker, workers int) error {
	w := crowd{first: 1 + worker, step: workers, size: (f.customers - worker + workers - 1) / workers,
		dice: rand.New(rand.NewPCG(1, uint64(worker)))}
	for f.recorded.Load() < int64(f.events) || w.joined < w.size {
		if err := ctx.Err(); err != nil {
			return err
		}

		batch := make([]loyalty.Submission, traffic.MaxBatch)
		for i := range batch {
			batch[i] = w.next()
		}

		accepted, recorded := 0, 0
		var err error
		f.engine.SubmitEach(ctx, batch, func(i int, r loyalty.Result) {
			switch {
			case r.Err == nil:
				accepted++
				recorded += len(r.Outcome.Events)
			case batch[i].Action != "reward_claim" || loyalty.AsError(r.Err).Kind == loyalty.Internal:
				// a customer without points claims nothing
				err = fmt.Errorf("%s of %s: %w", batch[i].Action, batch[i].Customer, r.Err)
			}
		})

		if err == nil && accepted == 0 {
			err = errors.New("nothing was accepted")
		}
		if err != nil {
			return err
		}

		f.tell(f.recorded.Add(int64(recorded)))
	}

	return nil
}

// tell reports each tenth once.
func (f *filler) tell(recorded int64) {
	tenth := 10 * recorded / int64(f.events)
	if told := f.told.Load(); tenth > told && f.told.CompareAndSwap(told, tenth) {
		fmt.Fprintf(f.progress, "  %d events after %s\n", recorded, time.Since(f.began).Round(time.Second))
	}
}

// crowd draws the actions of one worker's customers: first they join one after the other, then they earn, buy, look,
// get coupons and claim rewards.
type crowd struct {
	first, step, size int // their names: first, first+step, …
	joined            int
	number            int // of purchases and codes
	dice              *rand.Rand
}

func (c *crowd) next() loyalty.Submission {
	if c.joined < c.size {
		name := strconv.Itoa(c.first + c.joined*c.step)
		c.joined++
		return loyalty.Submission{Customer: name, Action: "opt_in",
			Data: fmt.Appendf(nil, `{"email":"customer%s@shop.test","first_name":"Ada","last_name":"Kovács"}`, name)}
	}

	most := c.size
	if c.dice.IntN(2) == 0 {
		most = max(1, c.size/20)
	}

	s := loyalty.Submission{Customer: strconv.Itoa(c.first + c.dice.IntN(most)*c.step)}
	c.number++
	switch n := c.dice.IntN(100); {
	case n < 45:
		s.Action, s.Data = "point_add", fmt.Appendf(nil, `{"points":%d,"reason":"Spring campaign"}`, 1+c.dice.IntN(500))
	case n < 65:
		s.Action, s.Data = "visit", fmt.Appendf(nil, `{"url":"https://shop.test/p/%d"}`, c.dice.IntN(5000))
	case n < 80:
		s.Action, s.Data = "checkout",
			fmt.Appendf(nil, `{"transaction_id":"P-%d-%d","total":43.3,"currency":"EUR","channel":"web","items":[`+
				`{"product_id":"p-%d","product_name":"Espresso beans 1 kg","product_url":"https://shop.test/p/1","quantity":2,"price":21.65,"subtotal":43.3,"product_category":"Grocery"}]}`, c.first, c.number, c.dice.IntN(5000))
	case n < 90:
		s.Action, s.Data = "coupon_create",
			fmt.Appendf(nil, `{"code":"SPRING-%d-%d","type":"percentage","value":10,"name":"Ten percent off","currency":"EUR"}`,
				c.first, c.number)
	default:
		s.Action, s.Data, s.Operation = "reward_claim", json.RawMessage(`{"reward":"mug"}`), true
	}

	return s
}
