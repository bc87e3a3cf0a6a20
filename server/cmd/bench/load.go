package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load sends signed requests over kept connections. Each connection sends its next request when it has the whole answer
// to the last.
type load struct {
	access      // the target; of several servers, the nth connection and request go to the nth one
	connections int
	window      time.Duration
	// accept checks the body of an answer with status 200; nil: bodies are not checked.
	accept   func(body []byte) error
	machine  *machine
	measured []*process // whose processor time counts as the server's
}

// run sends requests until the window is over or no request is left, and returns the latency of each. Every connection
// sends at least one, however late, so that a busy machine gives a bad figure instead of none. The first wrong answer
// fails the run. It returns when the last answer has arrived.
func (l load) run(ctx context.Context, requests [][]byte) ([]time.Duration, stopwatch, error) {
	connections, err := l.dial(ctx)
	defer func() {
		for _, c := range connections {
			_ = c.Close()
		}
	}()

	if err != nil {
		return nil, stopwatch{}, err
	}

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	defer context.AfterFunc(ctx, func() {
		for _, c := range connections {
			_ = c.SetDeadline(time.Now()) // wakes connections that wait for an answer
		}
	})()

	// garbage of the preparation must not be collected during the measurement
	runtime.GC()
	var taken atomic.Int64 // requests
	latencies := make([][]time.Duration, len(connections))
	var all sync.WaitGroup
	watch := l.machine.watch(l.measured...)
	for i, c := range connections {
		all.Go(func() {
			var err error
			if latencies[i], err = l.drive(c, requests, &taken, watch.began); err != nil {
				fail(err)
			}
		})
	}

	all.Wait()
	watch.stop()
	return slices.Concat(latencies...), watch, context.Cause(ctx)
}

func (l load) dial(ctx context.Context) (connections []net.Conn, err error) {
	var dialer net.Dialer
	for range l.connections {
		c, err := dialer.DialContext(ctx, "tcp", l.address)
		if err != nil {
			return connections, err
		}
		connections = append(connections, c)
	}
	return connections, nil
}

// drive is the work of one connection.
func (l load) drive(c net.Conn, requests [][]byte, taken *atomic.Int64, began time.Time) ([]time.Duration, error) {
	latencies := make([]time.Duration, 0, len(requests)/l.connections+1)
	in := answers{r: bufio.NewReaderSize(c, 16<<10), drop: l.accept == nil}
	for sent := time.Now(); len(latencies) == 0 || sent.Sub(began) < l.window; {
		i := int(taken.Add(1)) - 1
		if i >= len(requests) {
			break
		}
		if _, err := c.Write(requests[i]); err != nil {
			return nil, err
		}

		status, err := in.next()
		if err != nil {
			return nil, fmt.Errorf("reading an answer: %w", err)
		}

		answered := time.Now()
		latencies = append(latencies, answered.Sub(sent))
		if err := l.judge(status, in.body); err != nil {
			return nil, fmt.Errorf("%.120s: %w", firstLine(requests[i]), err)
		}

		sent = answered
	}

	return latencies, nil
}

func (l load) judge(status int, body []byte) error {
	if status != 200 {
		return fmt.Errorf("status %d: %.500s", status, body)
	}
	if l.accept == nil {
		return nil
	}
	return l.accept(body)
}

// noErrors accepts the answer of a bulk whose events were all recorded.
func noErrors(body []byte) error {
	if !bytes.Contains(body, []byte(`"errors":0`)) {
		return fmt.Errorf("some events were refused: %.1000s", body)
	}
	return nil
}

func firstLine(request []byte) []byte {
	line, _, _ := bytes.Cut(request, []byte("\r\n"))
	return line
}
