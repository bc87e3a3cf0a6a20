package doctor

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

// Checks inside the database.

func schema(ctx context.Context, p *Patient) []Finding {
	if errors.Is(p.Store.Restored(ctx), store.ErrUnfinishedRestore) {
		return []Finding{broken("restore_unfinished", "loyalty restore --help", nil)}
	}
	switch err := p.Store.Ready(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMigrationsPending):
		return []Finding{broken("schema_older", "loyalty migrate up", nil)}
	case errors.Is(err, store.ErrNewerSchema):
		return []Finding{broken("schema_newer", "loyalty version", nil)}
	default:
		return unchecked(err)
	}
}

func masterKey(ctx context.Context, p *Patient) []Finding {
	switch err := p.Store.CheckMasterKey(ctx); {
	case err == nil && strings.Contains(p.Store.MasterKeyFingerprint(), "+"):
		return []Finding{warn("master_key_two", "loyalty keys rotate-master", nil)}
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMasterKey):
		return []Finding{broken("master_key_wrong", "ls -l $LOYALTY_MASTER_KEY_FILE", nil)}
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
		list = append(list, broken("encoding", "createdb --encoding UTF8 loyalty", args{"encoding": c.Encoding}))
	}

	major, _, _ := strings.Cut(c.Version, ".")
	if n, err := strconv.Atoi(major); err == nil && c.Product == "PostgreSQL" && n < p.OldestPostgres {
		list = append(list, warn("postgres_old",
			"pg_upgrade --check", args{"version": c.Version, "oldest": p.OldestPostgres}))
	}

	warnings, err := p.Store.Warnings(ctx)
	if err != nil {
		return append(list, unchecked(err)...)
	}

	for _, w := range warnings {
		list = append(list, warn("durability",
			`psql -c "ALTER SYSTEM SET fsync = on" -c "ALTER SYSTEM SET full_page_writes = on" -c "SELECT pg_reload_conf()"`,
			args{"fault": w}))
	}

	if err := p.Store.Writable(ctx); err != nil {
		list = append(list, broken("not_writable", "loyalty healthcheck", args{"fault": err}))
	}

	return list
}

// monthsEnough is how many months of the journal should exist in advance.
const monthsEnough = 3

func journal(ctx context.Context, p *Patient) []Finding {
	c, err := p.Store.Condition(ctx)
	switch {
	case err != nil:
		return unchecked(err)
	case c.Whole || c.Months >= monthsEnough:
		return nil
	}
	return []Finding{warn("months_few",
		"loyalty jobs run partitions", args{"months": max(0, c.Months), "usual": store.MonthsAhead})}
}

// How far the clock may be off. Beyond the second bound nothing due is applied.
const (
	clockWarn  = 2 * time.Second
	clockBreak = time.Minute
)

func clock(ctx context.Context, p *Patient) []Finding {
	if !p.ClockRight.IsZero() {
		return []Finding{broken("clock_step",
			"timedatectl status", args{"right": p.ClockRight.UTC().Format(time.RFC3339),
				"today": p.Now().UTC().Format(time.DateOnly)})}
	}

	before := p.Now()
	at, err := p.Store.DatabaseTime(ctx)
	if err != nil {
		return unchecked(err)
	}

	off := before.Add(p.Now().Sub(before) / 2).Sub(at).Round(time.Millisecond)
	f := warn("clock_off", "timedatectl status", args{"off": off.String()})
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
		return []Finding{warn("log_large", "fuser -v "+p.Folder+"/loyalty.db", args{"size": size >> 20})}
	}
	return nil
}

// lateAfter is how late a job may be, beyond its interval.
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
			list = append(list, warn("job_late", "loyalty jobs run "+j.Name,
				args{"job": j.Name, "since": j.NextAt.UTC().Format(time.RFC3339)}))
		case j.Failed > 0:
			list = append(list, warn("job_failed", "loyalty jobs list", args{"job": j.Name, "failures": j.Failed}))
		}
	}
	return list
}

// behindWarn is how many events a follower of the tail may be behind, and behindLong how long the first of them may
// have waited.
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
			list = append(list, warn("follower_behind", "loyalty jobs list", args{"follower": name, "events": behind}))
		case !since.IsZero() && waits > behindLong:
			list = append(list, warn("follower_waits",
				"loyalty jobs list", args{"follower": name, "events": behind, "waits": waits.Round(time.Minute).String()}))
		}
	}

	if late := p.Now().Sub(b.Oldest); !b.Oldest.IsZero() && late > lateAfter {
		list = append(list, warn("due_waits",
			"loyalty jobs run expiry", args{"customers": b.Due, "waits": late.Round(time.Minute).String()}))
	}

	return list
}

// unusedAfter is when an unused key should be revoked. A key that was used within usedWithin and ends within endsWithin
// takes its caller down with it.
const (
	unusedAfter = 90 * 24 * time.Hour
	usedWithin  = 7 * 24 * time.Hour
	endsWithin  = 14 * 24 * time.Hour
)

// EndsSoon reports whether a key that is in use ends within two weeks.
func EndsSoon(k *loyalty.AccessKey, now time.Time) bool {
	return k.RevokedAt.IsZero() && k.ExpiresAt.After(now) && k.ExpiresAt.Sub(now) < endsWithin &&
		now.Sub(k.LastUsedAt) < usedWithin
}

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
			list = append(list, warn("key_unused", "loyalty keys revoke "+k.ID,
				args{"key": k.ID, "label": k.Label, "days": int(unusedAfter.Hours() / 24)}))
		}

		if k.ExpiresAt.IsZero() {
			endless = append(endless, k.ID)
		} else if EndsSoon(&k, p.Now()) {
			list = append(list, warn("key_ending", "loyalty keys rotate "+k.ID,
				args{"key": k.ID, "label": k.Label, "at": k.ExpiresAt.UTC().Format(time.RFC3339)}))
		}
	}

	if len(endless) > 0 {
		list = append(list, warn("keys_endless", "loyalty keys create --expires-at 2030-01-31", args{"keys": endless}))
	}

	return list
}

// ledger checks the ledger for a bounded time; it makes no claim about the invariants that it does not reach.
func ledger(ctx context.Context, p *Patient) (list []Finding) {
	if err := p.Store.Ready(ctx); err != nil { // reported once, and not for each invariant
		return unchecked(err)
	}

	ctx, cancel := context.WithTimeout(ctx, p.LedgerTime)
	defer cancel()
	p.Store.VerifyLedger(ctx, func(c loyalty.LedgerCheck) {
		switch {
		case c.Verdict == loyalty.LedgerBroken:
			list = append(list, broken("ledger_broken",
				"loyalty ledger verify", args{"title": c.Title, "invariant": c.Invariant, "places": c.Broken}))
		case c.Verdict == loyalty.LedgerUnchecked && ctx.Err() == nil:
			list = append(list, found(Unchecked, "ledger_unchecked", "loyalty ledger verify", args{"title": c.Title}))
		}
	})

	if len(list) == 0 && ctx.Err() != nil {
		return []Finding{found(Fine, "ledger_partly", "loyalty ledger verify", args{"time": p.LedgerTime.String()})}
	}

	return list
}
