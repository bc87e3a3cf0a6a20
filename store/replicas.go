package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Replicated is a Store whose marked reads (loyalty.Reading) are answered by replicas: standbys to which PostgreSQL
// streams the primary's log. Everything else goes to the Store, because what decides a write must be read on the
// primary.
//
// A read of one customer, one coupon or the like is answered by a replica that has replayed everything committed when
// the read arrived, whichever node wrote it. A list or a report may be older, by ReplicaOptions.Lag at most. If no
// replica is that far, or it does not answer in time, or fails, the primary answers within the same read.
type Replicated struct {
	*Store
	log      *primaryLog
	replicas []*replica
	turn     atomic.Uint32
	primary  atomic.Int64 // reads that the primary answered
	stop     context.CancelFunc
	watches  sync.WaitGroup
}

// ReplicaOptions say which replicas there are.
type ReplicaOptions struct {
	// URLs are the replicas' addresses; none: the Store answers everything.
	URLs []string
	// Lag is the greatest age of a list.
	Lag time.Duration
	// ReadConnections bounds the pools of each replica; zero: as in Options.
	ReadConnections int
	// Report is called with the new state of a replica, counted from 1, and the reason; may be nil.
	Report func(replica int, state string, err error)
}

// WithReplicas adds replicas to a Store. It contacts none of them, so a replica that is away costs nothing. It fails
// for an invalid address, and on a database that has no replicas. Release ends it; the Store stays open.
func WithReplicas(ctx context.Context, s *Store, o ReplicaOptions) (*Replicated, error) {
	r := &Replicated{Store: s, stop: func() {}}
	if len(o.URLs) == 0 {
		return r, nil
	}

	e, is := s.engine.(*postgresEngine)
	if !is {
		return nil, errors.New("LOYALTY_REPLICA_URL: only a database on PostgreSQL has replicas, and one that is spread over machines has none of the whole")
	}

	r.log = newPrimaryLog(e.reads.Config().ConnConfig, o.Lag)
	for n, address := range o.URLs {
		one, err := openReplica(ctx, s.database, address, Options{BatchConnections: o.ReadConnections, ReadConnections: o.ReadConnections})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("LOYALTY_REPLICA_URL: address %d: %w", n+1, err), r.Release())
		}
		r.replicas = append(r.replicas, one)
	}

	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	for n, one := range r.replicas {
		r.watches.Go(func() {
			one.watch(watching, r.log, func(state string, err error) {
				if o.Report != nil {
					o.Report(n+1, state, err)
				}
			})
		})
	}

	return r, nil
}

// Release closes the connections to the replicas.
func (s *Replicated) Release() error {
	s.stop()
	s.watches.Wait()
	if s.log != nil {
		s.log.close()
	}
	var failed []error
	for _, r := range s.replicas {
		failed = append(failed, r.store.Close())
	}
	return errors.Join(failed...)
}

// Replica is the state of a replica, and its counts.
type Replica struct {
	Name  string // replica1, in the order of the addresses
	State string // unknown, ready, behind, away, promoted or foreign
	// Lag is how far it is behind; negative: unknown.
	Lag time.Duration
	// Reads are the reads that it answered, Lost those that it failed and that the primary answered; both since the
	// start.
	Reads, Lost int64
}

// Replicas returns the states of the replicas, without asking them.
func (s *Replicated) Replicas() (list []Replica) {
	for n, r := range s.replicas {
		list = append(list, Replica{replicaName(n), *r.state.Load(), time.Duration(r.lag.Load()), r.reads.Load(), r.lost.Load()})
	}
	return list
}

func replicaName(n int) string { return "replica" + strconv.Itoa(n+1) }

// PrimaryReads counts the reads since the start that could have gone to a replica but were answered by the primary.
func (s *Replicated) PrimaryReads() int64 { return s.primary.Load() }

// Pools returns how the connections are used, including those to replicas.
func (s *Replicated) Pools() []Pool {
	list := s.pools()
	for n, r := range s.replicas {
		for _, p := range r.store.pools() {
			p.Name = replicaName(n) + "_" + p.Name
			list = append(list, p)
		}
	}
	return list
}

// freshness is how recent a read has to be.
type freshness bool

const (
	current freshness = true  // as of its arrival
	recent  freshness = false // a list or a report
)

// Time limits of a read from a replica; the primary has its own.
const (
	currentTime = 2 * time.Second
	recentTime  = 20 * time.Second
)

// choose returns a replica that may answer, and what the read demands of it; nil if the primary must answer.
func (s *Replicated) choose(ctx context.Context, how freshness) (*replica, demand) {
	first := int(s.turn.Add(1))
	for n := range s.replicas {
		r := s.replicas[(first+n)%len(s.replicas)]
		if !r.serves(how, s.log.bound) {
			continue
		}

		if how == recent {
			m, known := s.log.oldest(time.Now())
			if !known {
				return nil, demand{}
			}
			return r, demand{mark: m}
		}

		// A caller that goes away does not take the connection with it.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), replicaEvery)
		defer cancel()
		m, err := s.log.asOf(asking, time.Now())
		if err != nil {
			return nil, demand{}
		}

		return r, demand{m, catchUp}
	}

	return nil, demand{}
}

// limit is how long a replica may take.
func (how freshness) limit() time.Duration {
	if how == current {
		return currentTime
	}
	return recentTime
}

// answer reads from a replica, or from the primary.
func answer[R any](ctx context.Context, s *Replicated, how freshness, read func(context.Context, *Store) (R, error)) (R, error) {
	if len(s.replicas) == 0 || !loyalty.IsReading(ctx) {
		return read(ctx, s.Store)
	}

	if r, need := s.choose(ctx, how); r != nil {
		asking, done := r.reading(ctx, need, how.limit())
		found, err := read(asking, r.store)
		if r.final(ctx, asking, err) {
			done()
			return found, err
		}
		done()
	}

	s.primary.Add(1)
	return read(ctx, s.Store)
}

// forward is answer for a method of the Store that takes one argument, as most reads do.
func forward[Q, R any](ctx context.Context, s *Replicated, how freshness, read func(*Store, context.Context, Q) (R, error), q Q) (R, error) {
	return answer(ctx, s, how, func(ctx context.Context, from *Store) (R, error) { return read(from, ctx, q) })
}

// ofOne is the freshness of a list that may be one customer's.
func ofOne(one bool) freshness { return freshness(one) }
