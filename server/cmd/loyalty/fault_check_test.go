//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// verdict is the result of a check. What could not be checked proves nothing
// and fails a run like what is broken.
type verdict int

const (
	held verdict = iota
	broken
	unchecked
)

func (v verdict) String() string { return [...]string{"held", "broken", "could not check"}[v] }

// finding is the verdict about one promise.
type finding struct {
	promise string
	verdict verdict
	detail  []string
}

// judge holds a promise against what speaks against it.
func judge(promise string, against []string, err error) finding {
	switch {
	case err != nil:
		return finding{promise, unchecked, []string{err.Error()}}
	case len(against) > 0:
		return finding{promise, broken, against}
	}
	return finding{promise, held, nil}
}

// row is a recorded event that a request asked for, or that followed from one.
type row struct {
	id, action, transaction string
	asked                   bool
}

// tag is what tells requests apart.
type tag struct{ action, transaction string }

// recorded reads the journal of the load's customers, past the program.
func (l *load) recorded() (rows []row, err error) {
	id := `encode(uuid_send(e.id), 'hex')`
	if strings.HasPrefix(l.g.url, "sqlite:") {
		id = `lower(hex(e.id))`
	}

	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	found, err := storetest.Raw(l.t, l.g.url).QueryContext(ctx, `SELECT c.name, `+id+`, e.action, coalesce(e.transaction_id, ''), e.parent IS NULL
 FROM events e LEFT JOIN customers c ON c.id = e.customer_id`)
	if err != nil {
		return nil, err
	}
	defer found.Close()

	for found.Next() {
		var r row
		var customer string
		if err := found.Scan(&customer, &r.id, &r.action, &r.transaction, &r.asked); err != nil {
			return nil, err
		}
		if slices.Contains(l.customers, customer) {
			rows = append(rows, r)
		}
	}

	return rows, found.Err()
}

// check holds what clients were told against the journal, the figures and the
// ledger. atMost is how often a request that was not answered may have had its
// effect.
func (l *load) check(address string, atMost int) []finding {
	rows, figures, err := l.settled(address)
	ids, effects := map[string]int{}, map[tag]int{}
	for _, r := range rows {
		ids[r.id]++
		if r.asked {
			effects[tag{r.action, r.transaction}]++
		}
	}

	lost, doubled := l.book.compare(ids, effects, atMost)
	return []finding{
		judge("no acknowledged event is lost", lost, err),
		judge("no event is recorded twice or unasked", doubled, err),
		judge("figures are the sums of the recorded events", l.book.sums(effects, figures), err),
		l.book.sane(),
		verifyLedger(l.t, l.g),
		followTail(l.t, l.g),
	}
}

// settled reads journal and figures of one state: what a killed program had
// already sent to its database may still arrive for a moment.
func (l *load) settled(address string) (rows []row, figures map[string]sum, err error) {
	rows, err = l.recorded()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if err == nil {
			figures, err = l.figures(address)
		}
		if err != nil {
			return nil, nil, err
		}
		var again []row
		if again, err = l.recorded(); err == nil && len(again) == len(rows) {
			return rows, figures, nil
		}
		rows = again
		time.Sleep(100 * time.Millisecond)
	}

	return nil, nil, fmt.Errorf("the journal does not come to rest (%w)", err)
}

// sum is a customer's figures.
type sum struct {
	Score, Spent, Reserved, Spendable int64
}

func (l *load) figures(address string) (map[string]sum, error) {
	all := map[string]sum{}
	for _, name := range l.customers {
		a := l.callers[0].get(address + "/customers/" + name)
		if a.err != nil || a.status != http.StatusOK {
			return nil, fmt.Errorf("figures of %s: %d %s %w", name, a.status, a.body, a.err)
		}
		var body struct{ Data sum }
		if err := json.Unmarshal(a.body, &body); err != nil {
			return nil, err
		}
		all[name] = body.Data
	}
	return all, nil
}

// compare counts the effects of every request.
func (b *book) compare(ids map[string]int, effects map[tag]int, atMost int) (lost, doubled []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := map[tag]bool{}
	for _, r := range b.all {
		asked[tag{r.action, r.transaction}] = true
		n, least, most := effects[tag{r.action, r.transaction}], 0, 0
		switch r.fate {
		case done, taken:
			least, most = 1, 1
		case unanswered:
			most = min(atMost, r.sent)
		}

		if n < least {
			lost = append(lost, fmt.Sprintf("%s %s was acknowledged and is not there", r.action, r.transaction))
		}
		if n > most {
			doubled = append(doubled, fmt.Sprintf("%s %s (answered %d) has %d effects instead of %d", r.action, r.transaction, r.status, n, most))
		}

		for _, id := range r.ids {
			if ids[strings.ReplaceAll(id, "-", "")] == 0 {
				lost = append(lost, fmt.Sprintf("event %s of %s %s is not there", id, r.action, r.transaction))
			}
		}
	}

	for id, n := range ids {
		if n != 1 {
			doubled = append(doubled, fmt.Sprintf("event %s is there %d times", id, n))
		}
	}

	for t := range effects {
		if !asked[t] && t.action != "opt_in" {
			doubled = append(doubled, fmt.Sprintf("nobody asked for %s %s", t.action, t.transaction))
		}
	}

	return lost, doubled
}

// sums computes the figures from the requests that are recorded, by the plain
// rules of the actions.
func (b *book) sums(effects map[tag]int, figures map[string]sum) (wrong []string) {
	want := map[string]sum{}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.all {
		n, s := int64(effects[tag{r.action, r.transaction}]), want[r.customer]
		switch r.action {
		case "point_add":
			s.Score += n * r.points
		case "point_spend":
			s.Spent += n * r.points
		case "checkout":
			s.Score += n * r.points
			s.Spent += n * r.burned
		case "reserve_points":
			ended := effects[tag{"release_points", r.transaction}] + effects[tag{"checkout", r.transaction}]
			if ended == 0 {
				s.Reserved += n * r.points
			}
		}

		s.Spendable = s.Score - s.Spent - s.Reserved
		want[r.customer] = s
	}

	for name, s := range want {
		if got, ok := figures[name]; !ok || got != s {
			wrong = append(wrong, fmt.Sprintf("%s has %+v, recorded were %+v", name, got, s))
		}
	}

	return wrong
}

// sane says that every answer was one that the fault explains.
func (b *book) sane() finding {
	b.mu.Lock()
	defer b.mu.Unlock()
	return judge("answers are 200, 422 by a rule, 503 with Retry-After unless a repetition could book twice, or none; repetitions are byte for byte the same", b.strange, nil)
}

func verifyLedger(t *testing.T, g *ground) finding {
	f := finding{promise: "the ledger's invariants hold"}
	switch r := command(t, g.dir, g.env, "ledger", "verify"); r.code {
	case 0:
	case codeFailed:
		f.verdict, f.detail = broken, []string{r.out, r.errors}
	default:
		f.verdict, f.detail = unchecked, []string{fmt.Sprint("exit code ", r.code), r.out, r.errors}
	}
	return f
}

// mustHold fails for everything that is broken or could not be checked.
func mustHold(t *testing.T, findings []finding) {
	t.Helper()
	require.NotEmpty(t, findings)
	for _, f := range findings {
		if f.verdict != held {
			t.Errorf("%s: %s (%d findings)\n%s", f.verdict, f.promise, len(f.detail), strings.Join(f.detail[:min(10, len(f.detail))], "\n"))
		}
	}
}
