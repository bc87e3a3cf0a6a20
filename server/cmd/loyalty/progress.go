package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/archive"
)

// progress shows the progress of some work on a terminal, if it takes longer than a moment. Elsewhere it shows nothing:
// logs are for events.
type progress struct {
	out   io.Writer // nil: no terminal
	what  string
	begun time.Time
	shown time.Time
	width int

	lock sync.Mutex // guards the display
	now  string     // the current step
}

// How soon a bar appears, and how often it moves.
const (
	progressAfter = 2 * time.Second
	progressEvery = 200 * time.Millisecond
)

func newProgress(out io.Writer, what string) *progress {
	p := &progress{what: what, begun: time.Now()}
	if isTerminal(out) {
		p.out = out
	}
	return p
}

// isTerminal reports whether out is a terminal.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// rows shows the number of finished rows.
func (p *progress) rows(n archive.Progress) { p.show(n.Done, n.Of, "rows") }

// show shows how much of the work is done; of is 0 if the total is unknown.
func (p *progress) show(done, of int64, unit string) {
	now := time.Now()
	if p.out == nil || now.Sub(p.begun) < progressAfter || now.Sub(p.shown) < progressEvery {
		return
	}

	p.shown = now
	line := fmt.Sprintf("%s: %d %s, %s", p.what, done, unit, now.Sub(p.begun).Round(time.Second))
	if of > 0 {
		part := min(1, float64(done)/float64(of))
		line = fmt.Sprintf("%s [%-40s] %3.0f %%  %d of %d %s",
			p.what, strings.Repeat("=", int(40*part)), 100*part, done, of, unit)
		if done > 0 {
			left := time.Duration(float64(now.Sub(p.begun)) * (1 - part) / part)
			line += fmt.Sprintf(", %s left", left.Round(time.Second))
		}
	}

	p.lock.Lock()
	defer p.lock.Unlock()
	p.line(line)
}

// step shows the current step.
func (p *progress) step(what string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.now = what
}

// during shows the step and the elapsed time until stop is called, for work that reports no progress.
func (p *progress) during() (stop func()) {
	if p.out == nil {
		return func() {}
	}

	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if took := time.Since(p.begun); took > progressAfter {
				p.lock.Lock()
				p.line(strings.TrimSuffix(fmt.Sprintf("%s, %s: %s", p.what, took.Round(time.Second), p.now), ": "))
				p.lock.Unlock()
			}
		}
	}()

	return func() { close(done); <-ended; p.end() }
}

// aside prints lasting text in place of the bar, which comes back below it.
func (p *progress) aside(print func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.clear()
	print()
}

// line shows a line in place of the last one. The caller holds the lock.
func (p *progress) line(text string) {
	fmt.Fprintf(p.out, "\r%-*s", p.width, text)
	p.width = max(p.width, len(text))
}

// clear removes the line. The caller holds the lock.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%*s\r", p.width, "")
		p.width = 0
	}
}

// end removes the bar.
func (p *progress) end() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.clear()
}
