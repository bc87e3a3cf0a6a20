//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// measures leaves a test out of the quick run that only tells figures.
func measures(t *testing.T) {
	t.Helper()
	if os.Getenv("LOYALTY_TORTURE") == "" {
		t.Skip("it measures: LOYALTY_TORTURE=500")
	}
}

// pile enrols customers and has so many events happen to them.
func pile(t *testing.T, c *caller, address string, customers, events, atOnce int) {
	t.Helper()
	var list []string
	flush := func() {
		if len(list) == 0 {
			return
		}
		a := c.post(address, "/events/bulk", `{"events":[`+strings.Join(list, ",")+`]}`, "")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		list = nil
	}

	for i := range customers {
		list = append(list, fmt.Sprintf(`{"customer":"m-%[1]d","action":"opt_in","data":{"email":"m-%[1]d@example.com"}}`, i))
	}

	flush()
	for i := range events - customers {
		list = append(list, fmt.Sprintf(`{"customer":"m-%d","action":"point_add","data":{"points":1}}`, i%customers))
		if len(list) == atOnce {
			flush()
		}
	}

	flush()
}

// steadily sends events at a rate for a while, so many with a request, and says how many were
// taken.
func steadily(t *testing.T, g *ground, address string, customers, rate, atOnce int, d time.Duration) (sent int) {
	t.Helper()
	pace := time.NewTicker(time.Second * time.Duration(atOnce) / time.Duration(rate))
	defer pace.Stop()
	work, counted, wait := make(chan int), make(chan bool, 1024), sync.WaitGroup{}
	for range 32 {
		c := newCaller(t, g.key)
		wait.Go(func() {
			for i := range work {
				var events []string
				for k := range atOnce {
					events = append(events, fmt.Sprintf(`{"customer":"m-%d","action":"point_add","data":{"points":1}}`, (i*atOnce+k)%customers))
				}
				path, body := "/events", events[0]
				if atOnce > 1 {
					path, body = "/events/bulk", `{"events":[`+strings.Join(events, ",")+`]}`
				}
				a := c.post(address, path, body, "")
				counted <- a.status == http.StatusOK
			}
		})
	}

	go func() {
		i := 0
		for until := time.Now().Add(d); time.Now().Before(until); i++ {
			<-pace.C
			work <- i
		}
		close(work)
		wait.Wait()
		close(counted)
	}()

	for good := range counted {
		if good {
			sent += atOnce
		}
	}

	return sent
}

// flatOut sends events over 64 connections for a while, and says how many were taken.
func flatOut(t *testing.T, g *ground, address string, customers int, d time.Duration) (sent int) {
	t.Helper()
	var wait sync.WaitGroup
	counts, until := make([]int, 64), time.Now().Add(d)
	for i := range counts {
		c := newCaller(t, g.key)
		wait.Go(func() {
			for k := i; time.Now().Before(until); k += len(counts) {
				if a := c.post(address, "/events", fmt.Sprintf(`{"customer":"m-%d","action":"point_add","data":{"points":1}}`, k%customers), ""); a.status == http.StatusOK {
					counts[i]++
				}
			}
		})
	}

	wait.Wait()
	for _, n := range counts {
		sent += n
	}

	return sent
}
