//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// clockOff is the environment's name for how far the clock of a program of a test is off.
const clockOff = "TEST_CLOCK_OFF"

// skewed is the program as it is, except that its clock is off.
func skewed(by string) int {
	off, err := time.ParseDuration(by)
	if err != nil {
		panic(err)
	}
	clock = func() time.Time { return time.Now().Add(off) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// TestFaultTail kills one of two nodes after the other while both serve the same customers with clocks 20 s apart: a
// follower of the tail sees each event once, those of a customer in the order of commit, and no number late.
func TestFaultTail(t *testing.T) {
	t.Parallel()
	g := newGround(t, anyPostgres(t))
	start := func(off string) *serving {
		return serveProgram(t, exec.Command(os.Args[0]), g.dir, append(g.env, clockOff+"="+off))
	}
	clocks := []string{"0s", "-20s"}
	nodes := []*serving{start(clocks[0]), start(clocks[1])}
	loads := []*load{newLoad(t, g), newLoad(t, g)}
	loads[1].book = loads[0].book
	loads[0].open(nodes[0].address)
	db := g.database(t)
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan error)
	go func() { followed <- follow(ctx, db) }()
	for i, l := range loads {
		l.run(nodes[i].address)
	}

	kills := full(t, 2, 100)
	for i := range kills {
		loads[0].progress(100)
		time.Sleep(dice.within(500 * time.Millisecond))
		require.Equal(t, -1, nodes[i%2].stop(os.Kill), nodes[i%2].log())
		loads[i%2].stop()
		nodes[i%2] = start(clocks[i%2])
		loads[i%2].resume(nodes[i%2].address)
		loads[i%2].run(nodes[i%2].address)
	}

	for _, l := range loads {
		l.stop()
	}

	stop()
	require.NoError(t, <-followed)
	mustHold(t, loads[0].check(nodes[0].address, 1))
	for _, n := range nodes {
		require.Equal(t, 0, n.stop(terminate), n.log())
	}

	t.Logf("figures: the tail: %d kills; %s", kills, loads[0].book)
}

// follow reads the tail as it grows, and holds what it reads against what it promises.
func follow(ctx context.Context, db *store.Store) error {
	position, through := int64(0), map[loyalty.ID]loyalty.ID{}
	for ctx.Err() == nil {
		list, err := db.Tail(context.Background(), position, 50)
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.Number != position+1 || loyalty.CompareID(e.ID, through[e.Customer]) <= 0 {
				return fmt.Errorf("number %d after %d, %s of %s after %s", e.Number, position, e.ID, e.Customer, through[e.Customer])
			}
			position, through[e.Customer] = e.Number, e.ID
		}
		time.Sleep(5 * time.Millisecond)
	}

	return nil
}

// database is the store under test, past the program.
func (g *ground) database(t *testing.T) *store.Store {
	t.Helper()
	return storetest.OpenWith(t, store.Options{URL: g.url, MasterKey: testMaster})
}

// followTail numbers what is left to number, and holds the tail against the journal.
func followTail(t *testing.T, g *ground) finding {
	t.Helper()
	db, ctx := g.database(t), t.Context()
	for after, last := (loyalty.ID{}), false; !last; {
		var err error
		if after, last, err = db.NumberBehind(ctx, after, 100); err != nil {
			return judge("the tail has each event", nil, err)
		}
	}

	var against []string
	list, err := db.Tail(ctx, 0, 1_000_000)
	through := map[loyalty.ID]loyalty.ID{}
	for i, e := range list {
		if e.Number != int64(i)+1 || loyalty.CompareID(e.ID, through[e.Customer]) <= 0 {
			against = append(against, fmt.Sprintf("%d: number %d, %s of %s after %s", i, e.Number, e.ID, e.Customer, through[e.Customer]))
		}
		through[e.Customer] = e.ID
	}

	var events, missing int
	if err == nil {
		err = storetest.Raw(t, g.url).QueryRow(`SELECT count(*), count(*) - count(t.number)
FROM events e LEFT JOIN tail t ON t.customer_id = e.customer_id AND t.event_id = e.id`).Scan(&events, &missing)
	}

	if events != len(list) || missing > 0 {
		against = append(against, fmt.Sprintf("%d numbers, %d events, of which %d have none", len(list), events, missing))
	}

	return judge("the tail has each event once, in the order of commit", against, err)
}
