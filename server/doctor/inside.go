package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

// What is inside the database.

func schema(ctx context.Context, p *Patient) []Finding {
	switch err := p.Store.Ready(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMigrationsPending):
		return []Finding{{Severity: Broken, Says: "the schema is older than this program", Do: "loyalty migrate up"}}
	case errors.Is(err, store.ErrNewerSchema):
		return []Finding{{Severity: Broken, Says: "the schema is newer than this program: a newer version has migrated it", Do: "loyalty version"}}
	default:
		return unchecked(err)
	}
}

func masterKey(ctx context.Context, p *Patient) []Finding {
	switch err := p.Store.CheckMasterKey(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMasterKey):
		return []Finding{{Severity: Broken, Says: "the master key does not open what the database has sealed", Do: "ls -l $LOYALTY_MASTER_KEY_FILE"}}
	default:
		return unchecked(err)
	}
}

func database(ctx context.Context, p *Patient) (list []Finding) {
	c, err := p.Store.Condition(ctx)
	if err != nil {
		return unchecked(err)
	}
	if c.Encoding != "UTF8" {
		list = append(list, Finding{Severity: Broken, Says: "the database keeps texts as " + c.Encoding + ", which has no room for every name: make it with UTF8", Do: "createdb --encoding UTF8 loyalty"})
	}
	major, _, _ := strings.Cut(c.Version, ".")
	if n, err := strconv.Atoi(major); err == nil && c.Product == "PostgreSQL" && n < p.OldestPostgres {
		list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("PostgreSQL %s is older than %d, the oldest that is tested", c.Version, p.OldestPostgres), Do: "pg_upgrade --check"})
	}
	warnings, err := p.Store.Warnings(ctx)
	if err != nil {
		return append(list, unchecked(err)...)
	}
	for _, w := range warnings {
		list = append(list, Finding{Severity: Warning, Says: w, Do: `psql -c "ALTER SYSTEM SET fsync = on" -c "ALTER SYSTEM SET full_page_writes = on" -c "SELECT pg_reload_conf()"`})
	}
	if err := p.Store.Writable(ctx); err != nil {
		list = append(list, Finding{Severity: Broken, Says: "the database cannot be written: " + err.Error(), Do: "loyalty healthcheck"})
	}
	return list
}

// monthsEnough is how many months of the journal should be there ahead.
const monthsEnough = 3

func journal(ctx context.Context, p *Patient) []Finding {
	c, err := p.Store.Condition(ctx)
	switch {
	case err != nil:
		return unchecked(err)
	case c.Whole || c.Months >= monthsEnough:
		return nil
	}
	return []Finding{{Severity: Warning, Says: fmt.Sprintf("the journal's months are made for %d months ahead of this one, where %d are usual", max(0, c.Months), store.MonthsAhead), Do: "loyalty jobs run partitions"}}
}

// How far the clock may be off: from the second on nothing that is due is applied.
const (
	clockWarn  = 2 * time.Second
	clockBreak = time.Minute
)

func clock(ctx context.Context, p *Patient) []Finding {
	before := p.Now()
	at, err := p.Store.DatabaseTime(ctx)
	if err != nil {
		return unchecked(err)
	}
	off := before.Add(p.Now().Sub(before) / 2).Sub(at).Round(time.Millisecond)
	f := Finding{Severity: Warning, Says: fmt.Sprintf("this machine's clock is %s off the database's", off), Do: "timedatectl status"}
	switch {
	case off.Abs() >= clockBreak:
		f.Severity = Broken
	case off.Abs() < clockWarn:
		return nil
	}
	return []Finding{f}
}

func sqliteLog(_ context.Context, p *Patient) []Finding {
	if size, embedded := p.Store.LogBytes(); embedded && size > p.LogMost {
		return []Finding{{Severity: Warning, Says: fmt.Sprintf("the database's log has %d MiB: a reader does not end", size>>20), Do: "fuser -v " + p.Folder + "/loyalty.db"}}
	}
	return nil
}

// lateAfter is how long a job may be late, besides its interval.
const lateAfter = 10 * time.Minute

func late(p *Patient, j *job.Job) bool {
	return !j.NextAt.IsZero() && p.Now().Sub(j.NextAt) > j.Interval+lateAfter
}

func jobs(ctx context.Context, p *Patient) (list []Finding) {
	all, err := p.Jobs(ctx)
	if err != nil {
		return unchecked(err)
	}
	for _, j := range all {
		switch {
		case late(p, &j):
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("the job %s is late since %s: does a server run?", j.Name, j.NextAt.UTC().Format(time.RFC3339)), Do: "loyalty jobs run " + j.Name})
		case j.Failed > 0:
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("the last run of the job %s failed; failures in it: %d", j.Name, j.Failed), Do: "loyalty jobs list"})
		}
	}
	return list
}

// behindWarn is how many events a follower of the tail may be behind, and behindLong how
// long the first of them may have waited.
const (
	behindWarn = 10_000
	behindLong = time.Hour
)

func followers(ctx context.Context, p *Patient) (list []Finding) {
	b, err := p.Store.Backlog(ctx, p.Now())
	if err != nil {
		return unchecked(err)
	}
	for name, position := range b.Follows {
		behind := b.Head - position
		if behind <= 0 {
			continue
		}
		since, err := nextAt(ctx, p, position)
		if err != nil {
			return append(list, unchecked(err)...)
		}
		waits := p.Now().Sub(since)
		switch {
		case behind > behindWarn:
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("%s is %d events behind", name, behind), Do: "loyalty jobs list"})
		case !since.IsZero() && waits > behindLong:
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("%s is %d events behind, for %s", name, behind, waits.Round(time.Minute)), Do: "loyalty jobs list"})
		}
	}
	if late := p.Now().Sub(b.Oldest); !b.Oldest.IsZero() && late > lateAfter {
		list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("%d customers wait for what is due, since %s", b.Due, late.Round(time.Minute)), Do: "loyalty jobs run expiry"})
	}
	return list
}

// unusedAfter is when an unused key should go.
const unusedAfter = 90 * 24 * time.Hour

func keys(ctx context.Context, p *Patient) (list []Finding) {
	all, err := p.Keys(ctx)
	if err != nil {
		return unchecked(err)
	}
	var endless []string
	for _, k := range all {
		if !k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(p.Now()) {
			continue
		}
		used := k.LastUsedAt
		if used.IsZero() {
			used = k.CreatedAt
		}
		if p.Now().Sub(used) > unusedAfter {
			list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("nobody has used the key %s (%s) for 90 days", k.ID, k.Label), Do: "loyalty keys revoke " + k.ID})
		}
		if k.ExpiresAt.IsZero() {
			endless = append(endless, k.ID)
		}
	}
	if len(endless) > 0 {
		list = append(list, Finding{Severity: Warning, Says: "keys that never end: " + strings.Join(endless, ", "), Do: "loyalty keys create --expires-at 2030-01-31"})
	}
	return list
}

// ledger looks at the ledger for a little while: what it does not come to is not said to hold.
func ledger(ctx context.Context, p *Patient) (list []Finding) {
	ctx, cancel := context.WithTimeout(ctx, p.LedgerTime)
	defer cancel()
	p.Store.VerifyLedger(ctx, func(c loyalty.LedgerCheck) {
		switch {
		case c.Verdict == loyalty.LedgerBroken:
			list = append(list, Finding{Severity: Broken, Says: fmt.Sprintf("the ledger is broken: %s (%s), places: %d", c.Title, c.Invariant, c.Broken), Do: "loyalty ledger verify"})
		case c.Verdict == loyalty.LedgerUnchecked && ctx.Err() == nil:
			list = append(list, Finding{Severity: Unchecked, Says: c.Title + " could not be looked at", Do: "loyalty ledger verify"})
		}
	})
	if len(list) == 0 && ctx.Err() != nil {
		return []Finding{{Severity: Fine, Says: fmt.Sprintf("nothing was found in %s; the ledger is too large for more", p.LedgerTime), Do: "loyalty ledger verify"}}
	}
	return list
}
