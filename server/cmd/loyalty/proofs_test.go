//go:build unix

package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestProofDue: a proof is due at its time of day in a zone, also over a change of the clocks.
func TestProofDue(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Budapest")
	require.NoError(t, err)
	at := 3*time.Hour + 30*time.Minute

	for now, due := range map[string]string{
		"2026-11-25T23:00:00+01:00": "2026-11-25T03:30:00+01:00",
		"2026-11-26T03:29:59+01:00": "2026-11-25T03:30:00+01:00",
		"2026-11-26T03:30:00+01:00": "2026-11-26T03:30:00+01:00",
		"2026-10-25T12:00:00+01:00": "2026-10-25T03:30:00+01:00", // the day of 25 hours
		"2026-01-01T00:00:00+01:00": "2025-12-31T03:30:00+01:00",
	} {
		clock, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		require.Equal(t, due, proofDue(clock.In(zone), at).Format(time.RFC3339), now)
	}
}

// TestLedgerIsProven: a server proves the ledger when its time has come, says in its metrics when that was and what was
// found, and does not do it again where another one did; off means off.
func TestLedgerIsProven(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		raw := storetest.Raw(t, g.url)
		proofs := func() (n int, actor string) {
			require.NoError(t, raw.QueryRow(`SELECT count(*), coalesce(max(actor), '') FROM ledger_proofs`).Scan(&n, &actor))
			return n, actor
		}

		ran := command(t, g.dir, append(g.env, "LOYALTY_LEDGER_PROOF=off"), "jobs", "run", "ledger")
		require.Equal(t, codeUsage, ran.code, ran.errors)
		wrong := command(t, g.dir, append(g.env, "LOYALTY_LEDGER_PROOF=25:00"), "jobs", "list")
		require.Equal(t, codeUsage, wrong.code)
		require.Contains(t, wrong.errors, "LOYALTY_LEDGER_PROOF")
		n, _ := proofs()
		require.Zero(t, n)

		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		s := g.start(t)
		c := newCaller(t, g.key)
		becomesReady(t, s, c)
		at := managed(t, s)
		require.Eventually(t, func() bool {
			when, known := scrape(t, at).value("loyalty_ledger_verified_timestamp_seconds")
			return known && time.Since(time.Unix(int64(when), 0)) < time.Hour
		}, patience, 50*time.Millisecond, "nobody asked for it")

		n, actor := proofs()
		require.Equal(t, 1, n)
		require.Equal(t, loyalty.OwnJob, actor)
		require.Equal(t, 0, s.stop(terminate), s.log())

		p, done := g.proofs(t)
		defer done()
		did, err := p.make(context.Background(), false)
		require.NoError(t, err)
		require.False(t, did, "it was proven since its time")
		id := map[bool]string{true: "'" + strings.Repeat("ab", 16) + "'", false: "x'" + strings.Repeat("ab", 16) + "'"}[strings.HasPrefix(g.url, "postgres")]
		_, err = raw.Exec(`INSERT INTO postings (customer_id, event_id, lot_id, points, seq, from_account, to_account) VALUES (` + id + `, ` + id + `, ` + id + `, 5, 0, 1, 2)`)
		require.NoError(t, err)
		_, err = raw.Exec(`UPDATE ledger_proofs SET at = at - 86400000`)
		require.NoError(t, err)
		did, err = p.make(context.Background(), false)
		require.NoError(t, err)
		require.True(t, did, "a day has passed")
		last, err := p.app.store.LastProof(context.Background())
		require.NoError(t, err)
		require.Positive(t, last.Broken)
	})
}

// proofs is what a server over this database does about the proof of its ledger.
func (g *ground) proofs(t *testing.T) (*proofs, func()) {
	t.Helper()
	s, f, ctx := &settings{}, pflag.NewFlagSet("", pflag.ContinueOnError), context.Background()
	s.flags(f)
	require.NoError(t, s.read(f, func(name string) (string, bool) {
		for _, e := range g.env {
			if value, found := strings.CutPrefix(e, name+"="); found {
				return value, true
			}
		}
		return "", false
	}))

	db, err := s.openExisting(ctx)
	require.NoError(t, err)
	a := &app{store: db, logger: slog.New(slog.DiscardHandler)}
	require.NoError(t, s.wire(ctx, a))
	return a.proofs, func() {
		a.engine.Close()
		require.NoError(t, db.Close())
	}
}

// TestKeysThatEndAreTold: the metrics count keys in use that end within two weeks, and no others.
func TestKeysThatEndAreTold(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		ends := time.Now().Add(5 * 24 * time.Hour).Truncate(time.Second)
		_, err := storetest.Raw(t, g.url).Exec(`UPDATE access_keys SET expires_at = `+map[bool]string{true: "$1", false: "?"}[strings.HasPrefix(g.url, "postgres")], ends.UnixMilli())
		require.NoError(t, err)
		g.newKey(t) // without an end
		s := g.start(t)
		c := newCaller(t, g.key)
		becomesReady(t, s, c)
		at := managed(t, s)
		require.Equal(t, 200, c.get(s.address+"/admin/keys").status) // it is used
		require.Eventually(t, func() bool {
			told := scrape(t, at)
			n, _ := told.value("loyalty_keys_ending")
			first, known := told.value("loyalty_key_end_timestamp_seconds")
			return n == 1 && known && int64(first) == ends.Unix()
		}, 2*patience, 100*time.Millisecond)

		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}
