package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// service is a started server under signed load.
type service struct {
	*process
	access
	machine   *machine
	window    time.Duration
	customers int
	// before makes room for a measurement; nil without need. check compares the content of the database with the number
	// of requests that were answered with 200.
	before func(ctx context.Context) error
	check  func(ctx context.Context, w workload, answered int) error
	// answered is the number of requests in the last measurement of a workload.
	answered map[string]int
}

// measure runs a workload for the window.
func (s *service) measure(ctx context.Context, w workload) (sample, error) {
	n := s.want(w)
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return sample{}, err
		}
	}

	requests, err := s.prepare(ctx, w, n, picker{customers: s.customers, hot: w.hot})
	if err != nil {
		return sample{}, err
	}

	l := load{s.access, w.connections, s.window, w.accept, s.machine, []*process{s.process}}
	s.machine.rest(ctx, s.window)
	latencies, watch, err := l.run(ctx, requests)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w\nthe end of the server's log:\n%s", w.name, err, s.tail())
	}

	s.answered[w.name] = len(latencies)
	if err := s.check(ctx, w, len(latencies)); err != nil {
		return sample{}, fmt.Errorf("%s: %w", w.name, err)
	}

	return watch.sample(latencies, w.events), nil
}

// want is how many requests to prepare: half as many again as the last window took, and at first more than such a
// machine answers. If they run out, the measurement ends early, with its true duration.
func (s *service) want(w workload) int {
	if n := s.answered[w.name]; n > 0 {
		return n + n/2
	}
	rate := 15000
	if w.events > 1 {
		rate = 1500
	}
	return int(float64(rate) * s.window.Seconds())
}

// startNaive starts the naive form over the yardstick's tables.
func startNaive(ctx context.Context, parent string, m *machine, f *floor) (*service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	port, err := pgserver.FreePort()
	if err != nil {
		return nil, err
	}

	dir, err := newDir(parent, "naive", false)
	if err != nil {
		return nil, err
	}

	address, secret := net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), rand.Text()
	p, err := start(dir, command{
		args:   []string{self, naiveCommand, address, f.cluster.url(floorDatabase)},
		env:    []string{naiveSecret + "=" + secret},
		signal: "TERM",
	})
	if err != nil {
		return nil, err
	}

	m.programs = append(m.programs, p)
	s := &service{
		process: p, machine: m, window: f.window, customers: f.customers, answered: map[string]int{},
		access: access{address: address, scheme: signing.Default(naiveRegion),
			keys: []signing.Credential{{KeyID: naiveKey, Secret: secret}}},
		before: f.empty, check: f.check,
	}

	return s, s.waitFor(ctx, func() error { return dialOnce(address) })
}

// check compares the yardstick's events with the answered requests.
func (f *floor) check(ctx context.Context, w workload, answered int) error {
	var events int
	if err := f.pool.QueryRow(ctx, "SELECT count(*) FROM events").Scan(&events); err != nil {
		return err
	}
	if events != answered*w.events {
		return fmt.Errorf("%d events were acknowledged and %d are recorded", answered*w.events, events)
	}
	return nil
}

func dialOnce(address string) error {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// waitFor polls every few milliseconds, up to a minute, until ready succeeds.
func (s *service) waitFor(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not start: %w: %s", err, s.tail())
		case <-time.After(2 * time.Millisecond):
		}
	}
}
