package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/signing"
)

// workload is one kind of request.
type workload struct {
	name        string
	path        string
	connections int
	events      int // recorded by each request, as the table counts them
	action      string
	hot         bool // all for one customer
	accept      func([]byte) error
	body        func(*bytes.Buffer, picker)
}

// complete sets the defaults of a workload: point_add, one for each request.
func (w workload) complete() workload {
	if w.body == nil {
		w.body, w.action = pointAdd, "point_add"
	}
	w.path = "/events"
	if w.events > 1 {
		w.path, w.accept, w.body = "/events/bulk", noErrors, bulkOf(w.events, w.body)
	}
	w.events = max(w.events, 1)
	return w
}

// picker chooses the subject of a request.
type picker struct {
	customers int
	hot       bool
	number    int // of the request in its measurement, from 0
}

func (p picker) customer() int {
	if p.hot {
		return 1
	}
	return 1 + rand.IntN(p.customers)
}

// purchases numbers the purchases of this run, so that no two have the same transaction id.
var purchases atomic.Int64

// run distinguishes this run's purchases from those of another run on the same database.
var run = time.Now().UTC().Format("20060102T150405")

func pointAdd(b *bytes.Buffer, p picker) {
	fmt.Fprintf(b, `{"customer":"%d","action":"point_add","data":{"points":%d,"reason":"Spring campaign"}}`,
		p.customer(), 1+rand.IntN(500))
}

func checkout(b *bytes.Buffer, p picker) {
	n := purchases.Add(1)
	fmt.Fprintf(b, `{"customer":"%d","action":"checkout","data":{"transaction_id":"%s-%d","total":129.9,"currency":"EUR","channel":"web","items":[`, p.customer(), run, n)
	for i := range 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		id := rand.IntN(5000)
		fmt.Fprintf(b, `{"product_id":"p-%d","product_name":"Espresso beans 1 kg","product_url":"https://shop.test/p/%d","quantity":2,"price":21.65,"subtotal":43.3,"product_category":"Grocery"}`, id, id)
	}
	b.WriteString(`]}}`)
}

// bulkOf makes a body of n events.
func bulkOf(n int, one func(*bytes.Buffer, picker)) func(*bytes.Buffer, picker) {
	return func(b *bytes.Buffer, p picker) {
		b.WriteString(`{"events":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			one(b, p)
		}
		b.WriteString(`]}`)
	}
}

// access is what a client needs to know of a server.
type access struct {
	address string
	scheme  signing.Scheme
	keys    []signing.Credential // used in turn: each has a rate limit of its own
}

// request makes the nth signed request, ready to send. It is valid for the scheme's window.
func (a access) request(path string, body []byte, n int) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, "http://"+a.address+path, nil)
	if err != nil {
		return nil, err
	}
	if err := a.scheme.Sign(r, body, a.keys[n%len(a.keys)]); err != nil {
		return nil, err
	}
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, a.address, a.scheme.DateHeader, r.Header.Get(a.scheme.DateHeader),
		a.scheme.AuthHeader, r.Header.Get(a.scheme.AuthHeader), len(body))
	return append([]byte(head), body...), nil
}

// prepare signs n requests, on all processors, before the clock starts.
func (a access) prepare(ctx context.Context, w workload, n int, p picker) ([][]byte, error) {
	requests := make([][]byte, n)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			var body bytes.Buffer
			p := p
			for i := worker; i < n && ctx.Err() == nil; i += workers {
				body.Reset()
				p.number, p.hot = i, w.hot
				w.body(&body, p)
				var err error
				if requests[i], err = a.request(w.path, body.Bytes(), i); err != nil {
					fail(err)
				}
			}
		})
	}

	all.Wait()
	return requests, context.Cause(ctx)
}
