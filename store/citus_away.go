package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// slowBatch is how long a batch may take before the machines are probed, lookEvery how often machines are probed
// while one is away, and probeAnswer how long an answer may take.
const (
	slowBatch   = time.Second
	lookEvery   = time.Second
	probeAnswer = 2 * time.Second
)

// machines remembers which of several machines are away. While none is, it costs a batch only a timer.
type machines struct {
	url  *pgx.ConnConfig
	life context.Context // ends with the engine
	end  context.CancelFunc

	lock    sync.Mutex
	away    []int32 // groups of pg_dist_node
	looking bool
	running map[*attemptUnderWay]bool
	done    sync.WaitGroup
}

// attemptUnderWay is a running batch, which is cancelled if it waits for a machine that is away.
type attemptUnderWay struct {
	began  time.Time
	cancel context.CancelCauseFunc
}

func newMachines(c *pgx.ConnConfig) *machines {
	m := &machines{url: c.Copy(), running: map[*attemptUnderWay]bool{}}
	m.url.ConnectTimeout = probeAnswer
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// close stops the probes.
func (m *machines) close() {
	m.end()
	m.done.Wait()
}

// watched starts a probe of the machines if a batch takes long. The returned context ends when a machine goes away
// meanwhile.
func (m *machines) watched(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &attemptUnderWay{began: time.Now(), cancel: cancel}
	m.lock.Lock()
	m.running[a] = true
	m.lock.Unlock()
	slow := time.AfterFunc(slowBatch, m.suspect)

	return ctx, func() {
		slow.Stop()
		m.lock.Lock()
		delete(m.running, a)
		m.lock.Unlock()
		cancel(nil)
	}
}

// suspect starts probing, unless a probe is running. Probing continues until all machines answer.
func (m *machines) suspect() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.looking || m.life.Err() != nil {
		return
	}
	m.looking = true
	m.done.Go(m.probe)
}

// probe asks every machine, and again each second while one is away.
func (m *machines) probe() {
	for {
		away, err := m.look(m.life)
		m.lock.Lock()
		if err == nil {
			m.note(away)
		} else {
			m.away = nil // the coordinator is away itself: each batch finds out on its own
		}

		if len(m.away) == 0 || m.life.Err() != nil {
			m.looking = false
			m.lock.Unlock()
			return
		}

		m.lock.Unlock()

		select {
		case <-m.life.Done():
		case <-time.After(lookEvery):
		}
	}
}

// note remembers which machines are away. If one has just gone, it cancels all running batches: they could wait for
// it.
func (m *machines) note(away []int32) {
	fresh := slices.ContainsFunc(away, func(group int32) bool { return !slices.Contains(m.away, group) })
	m.away = away
	if !fresh {
		return
	}
	for a := range m.running {
		if time.Since(a.began) >= slowBatch {
			a.cancel(errMachine)
		}
	}
}

var errMachine = fmt.Errorf("%w: a machine does not answer", loyalty.ErrMachineAway)

// look asks each machine with rows, over a separate session. The coordinator makes the connection, because only the
// coordinator has to reach the machines. A frozen machine accepts connections, but does not answer on them.
func (m *machines) look(ctx context.Context) (away []int32, err error) {
	c, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}

	rows, err := c.Query(ctx, `SELECT DISTINCT ON (groupid) groupid, nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0 AND isactive`)
	type machine struct {
		Group int32
		Name  string
		Port  int32
	}

	var list []machine
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[machine])
	}
	if err = errors.Join(err, c.Close(ctx)); err != nil {
		return nil, err
	}

	answered := make([]bool, len(list))
	var asked sync.WaitGroup
	for i, one := range list {
		asked.Go(func() { answered[i] = m.answers(ctx, one.Name, one.Port) })
	}

	asked.Wait()
	for i, one := range list {
		if !answered[i] {
			away = append(away, one.Group)
		}
	}

	return away, ctx.Err()
}

func (m *machines) answers(ctx context.Context, name string, port int32) (answered bool) {
	ctx, cancel := context.WithTimeout(ctx, probeAnswer)
	defer cancel()
	c, err := m.connect(ctx)
	if err != nil {
		return true // no session with the coordinator: that says nothing about the machine
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	err = c.QueryRow(ctx, `SELECT citus_check_connection_to_node($1, $2)`, name, port).Scan(&answered)
	return err == nil && answered
}

func (m *machines) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, probeAnswer)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, m.url)
	if err == nil {
		_, err = c.Exec(ctx, `SET statement_timeout = '2s'; SET citus.node_connection_timeout = '1s'`)
	}
	return c, err
}

// gone lists the machines that are away now.
func (m *machines) gone() []int32 {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Clone(m.away)
}
