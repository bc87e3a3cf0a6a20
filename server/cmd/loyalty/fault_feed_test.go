//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

// warehouse follows the feed over HTTP as one does that keeps rows and cursor in one
// transaction: what it was given when it died is not kept, and it goes on from its cursor.
type warehouse struct {
	client http.Client
	mu     sync.Mutex
	nodes  []string

	cursor string
	last   int64             // sequence of the last row
	of     map[string]string // by customer: the last event's id
	deaths int               // with something under way
	fault  error
}

func newWarehouse(t *testing.T, key signing.Credential) *warehouse {
	base := &http.Transport{MaxIdleConnsPerHost: 2}
	t.Cleanup(base.CloseIdleConnections)
	return &warehouse{client: http.Client{Transport: &signing.Transport{Scheme: signing.Default("local"), Credential: key, Base: base}}, of: map[string]string{}}
}

// at says where the nodes are.
func (w *warehouse) at(nodes ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = slices.Clone(nodes)
}

func (w *warehouse) node() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[dice.IntN(len(w.nodes))]
}

// fed is a row of the feed.
type fed struct {
	Sequence   int64  `json:"sequence"`
	Cursor     string `json:"cursor"`
	CustomerID string `json:"customer_id"`
	EventID    string `json:"id"`
}

// keep takes rows and the cursor behind them, or neither.
func (w *warehouse) keep(rows []fed, cursor string) error {
	for _, r := range rows {
		if r.Sequence != w.last+1 {
			return fmt.Errorf("%d came behind %d", r.Sequence, w.last)
		}
		if before := w.of[r.CustomerID]; r.EventID <= before {
			return fmt.Errorf("%s of %s came behind %s", r.EventID, r.CustomerID, before)
		}
		w.last, w.of[r.CustomerID] = r.Sequence, r.EventID
	}
	w.cursor = cursor
	return nil
}

// follow lives and dies until ctx ends. It dies at random, in the middle of whatever it reads.
func (w *warehouse) follow(ctx context.Context) {
	for ctx.Err() == nil && w.fault == nil {
		life, die := context.WithTimeout(ctx, 20*time.Millisecond+dice.within(2*time.Second))
		for life.Err() == nil && w.fault == nil {
			w.fault = w.read(life, "")
		}
		w.deaths++
		die()
	}
}

// read reads a page or a stream. An error is one of what was read; that nothing could be read
// is none.
func (w *warehouse) read(ctx context.Context, form string) error {
	target := fmt.Sprintf("%s/events/feed?limit=%d&wait=1", w.node(), 1+dice.IntN(400))
	if w.cursor != "" {
		target += "&after=" + w.cursor
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	if form == "" && dice.IntN(2) == 0 {
		form = "application/x-ndjson"
	}
	if form != "" {
		r.Header.Set("Accept", form)
	}

	response, err := w.client.Do(r)
	if err != nil {
		time.Sleep(time.Millisecond)
		return nil
	}
	defer response.Body.Close()

	switch {
	case response.StatusCode >= 500:
		return nil
	case response.StatusCode != http.StatusOK:
		body, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%d: %s", response.StatusCode, body)
	case form != "":
		return w.lines(response.Body)
	}

	var page struct {
		Data []fed
		Next string
	}

	if json.NewDecoder(response.Body).Decode(&page) != nil {
		return nil
	}

	return w.keep(page.Data, page.Next)
}

// lines keeps the rows of a stream one by one.
func (w *warehouse) lines(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row fed
		if !json.Valid(lines.Bytes()) {
			return nil // cut off
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return err
		}
		if err := w.keep([]fed{row}, row.Cursor); err != nil {
			return err
		}
	}

	return nil
}

// TestFaultFeed has a reader that is killed at random follow the feed over HTTP, while the
// program is killed too: on PostgreSQL two nodes whose clocks are 20 s apart. It has each event
// once, those of a customer in the order of commit. In full 64 connections write.
func TestFaultFeed(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		clocks := []string{"0s"}
		if !strings.HasPrefix(g.url, "sqlite:") {
			clocks = append(clocks, "-20s")
		}

		start := func(i int) *serving {
			return serveProgram(t, exec.Command(os.Args[0]), g.dir, append(g.env, clockOff+"="+clocks[i]))
		}
		nodes, loads, addresses := make([]*serving, len(clocks)), make([]*load, len(clocks)), make([]string, len(clocks))
		for i := range clocks {
			nodes[i], loads[i] = start(i), newLoad(t, g)
			loads[i].widen(full(t, clients, 64/len(clocks)), full(t, len(loads[i].customers), 60))
			loads[i].book, addresses[i] = loads[0].book, nodes[i].address
		}

		reader := newWarehouse(t, g.key)
		reader.at(addresses...)
		loads[0].open(nodes[0].address)
		ctx, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { reader.follow(ctx) })
		t.Cleanup(func() { stop(); wait.Wait() })
		for i, l := range loads {
			l.run(nodes[i].address)
		}

		kills, between := full(t, 2, 100), full(t, 100, 1000)
		for k := range kills {
			i := k % len(nodes)
			loads[0].progress(between)
			time.Sleep(dice.within(500 * time.Millisecond))
			require.Equal(t, -1, nodes[i].stop(os.Kill), nodes[i].log())
			loads[i].stop()
			nodes[i] = start(i)
			addresses[i] = nodes[i].address
			reader.at(addresses...)
			loads[i].resume(nodes[i].address)
			loads[i].run(nodes[i].address)
		}

		for _, l := range loads {
			l.stop()
		}

		mustHold(t, loads[0].check(nodes[0].address, 1))
		stop()
		wait.Wait()
		require.NoError(t, reader.fault)
		state, err := g.database(t).TailState(t.Context())
		require.NoError(t, err)
		for until := time.Now().Add(patience); reader.last < state.Head && time.Now().Before(until); {
			require.NoError(t, reader.read(t.Context(), ""))
		}

		require.Equal(t, state.Head, reader.last, "each event once")
		for _, n := range nodes {
			require.Equal(t, 0, n.stop(terminate), n.log())
		}

		t.Logf("figures: W5: %d events, %d kills of nodes, %d of the reader; %s", state.Head, kills, reader.deaths, loads[0].book)
	})
}
