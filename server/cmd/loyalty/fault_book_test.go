//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// fate is what the answers so far say about a request.
type fate int

const (
	unanswered fate = iota // no answer, or 503: one effect or none
	done                   // 200: exactly one effect
	taken                  // a repeated purchase met its own first effect (409, 5003)
	refused                // a rule said no: no effect
)

// request is one event that a client asked for. Its action and transaction_id
// together are unique.
type request struct {
	customer, action, transaction, key string
	points, burned                     int64 // added, spent, reserved or earned; burned by a purchase

	fate   fate
	sent   int
	status int
	body   []byte
	ids    []string // of the events it recorded
}

func (r request) event() string {
	data := fmt.Sprintf(`{"transaction_id":%q,"points":%d}`, r.transaction, r.points)
	switch r.action {
	case "checkout":
		data = fmt.Sprintf(`{"transaction_id":%q,"total":%d,"points_burned":%d,"items":[{"product_id":"p","product_name":"Tea","product_url":"https://shop.example.com/p","quantity":1,"subtotal":%d}]}`,
			r.transaction, r.points, r.burned, r.points)
	case "release_points":
		data = fmt.Sprintf(`{"transaction_id":%q}`, r.transaction)
	}
	return fmt.Sprintf(`{"customer":%q,"action":%q,"data":%s}`, r.customer, r.action, data)
}

// book is everything that clients asked for and were told.
type book struct {
	mu           sync.Mutex
	all          []*request
	acknowledged int // requests answered 200
	silent, away int // attempts without an answer, and answered 503
	repeated     int // decided requests that were asked again
	slowest      time.Duration
	strange      []string // what no fault excuses
}

// add begins a request.
func (b *book) add(r request) *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.transaction == "" {
		r.transaction = fmt.Sprintf("t-%d", len(b.all))
	}
	if r.key != "" {
		r.key = fmt.Sprintf("k-%d", len(b.all))
	}
	b.all = append(b.all, &r)
	return b.all[len(b.all)-1]
}

// send asks for a request, the first time or again, and notes the answer.
func (b *book) send(c *caller, address string, r *request) answer {
	a := c.post(address, "/events", r.event(), r.key)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.sent++
	b.slowest = max(b.slowest, a.took)
	if problem := b.take(r, a); problem != "" {
		b.strange = append(b.strange, fmt.Sprintf("%s %s (key %q, attempt %d, after %s): %s", r.action, r.transaction, r.key, r.sent, a.took.Round(time.Millisecond), problem))
	}
	return a
}

// take gives what is wrong with an answer.
func (b *book) take(r *request, a answer) string {
	again := r.fate != unanswered
	switch {
	case a.err != nil:
		b.silent++
		if a.took >= hang {
			return "hangs: " + a.err.Error()
		}

	case a.status == http.StatusServiceUnavailable:
		b.away++
		// a client that repeats an unknown outcome without a key may book twice
		if never := r.key == "" && a.code() == 190420; never != (a.header.Get("Retry-After") == "") {
			return fmt.Sprintf("503 (%d) with Retry-After %q", a.code(), a.header.Get("Retry-After"))
		}

	case again && (r.key == "" || !a.replayed() || a.status != r.status || !bytes.Equal(a.body, r.body)):
		return fmt.Sprintf("was answered %d %s and now (replayed: %t) %d %s", r.status, r.body, a.replayed(), a.status, a.body)
	case again:
		b.repeated++
	default:
		return b.decide(r, a)
	}

	return ""
}

// decide notes the first answer that tells what became of a request.
func (b *book) decide(r *request, a answer) string {
	r.status, r.body = a.status, a.body
	switch {
	case a.status == http.StatusOK:
		r.fate = done
		b.acknowledged++
		var outcome struct {
			Events []struct {
				ID string `json:"id"`
			} `json:"events"`
		}
		if err := json.Unmarshal(a.body, &outcome); err != nil || len(outcome.Events) == 0 {
			return fmt.Sprintf("200 without events (%v): %s", err, a.body)
		}
		for _, e := range outcome.Events {
			r.ids = append(r.ids, e.ID)
		}

	case a.status == http.StatusUnprocessableEntity && slices.Contains([]int{0, 190022}, a.code()): // not enough points; nothing reserved
		r.fate = refused
	case a.status == http.StatusConflict && a.code() == 5003 && r.key == "" && r.sent > 1:
		r.fate = taken
	default:
		return fmt.Sprintf("%d %s", a.status, a.body)
	}

	return ""
}

// find gives the requests that match, oldest first.
func (b *book) find(match func(*request) bool) (found []*request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.all {
		if match(r) {
			found = append(found, r)
		}
	}
	return found
}

func (b *book) acks() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.acknowledged
}

func (b *book) aways() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.away
}

// String is the figures of a run.
func (b *book) String() string {
	open := len(b.find(func(r *request) bool { return r.fate == unanswered && r.sent > 0 }))
	no := len(b.find(func(r *request) bool { return r.fate == refused }))
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%d requests: %d acknowledged, %d refused by rules, %d never answered; %d attempts without answer, %d answered 503, %d repeated with equal bytes; slowest %s",
		len(b.all), b.acknowledged, no, open, b.silent, b.away, b.repeated, b.slowest.Round(time.Millisecond))
}
