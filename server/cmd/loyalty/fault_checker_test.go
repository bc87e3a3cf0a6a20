//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultChecker shows the checker what it must find, so that its silence in
// the other tests means something.
func TestFaultChecker(t *testing.T) {
	t.Parallel()
	l := newLoad(t, newGround(t, storetest.SQLiteForProgram(t)))
	s := l.g.start(t)
	l.open(s.address)
	verdicts := func() (all []verdict) {
		for _, f := range l.check(s.address, 1) {
			all = append(all, f.verdict)
		}
		return all
	}

	require.Equal(t, []verdict{held, held, held, held, held, held}, verdicts())

	first := l.book.all[0]
	lost := l.book.add(request{customer: "ada", action: "point_add", points: 1, fate: done})
	require.Equal(t, []verdict{broken, held, held, held, held, held}, verdicts(), "acknowledged and not there")
	lost.fate = unanswered
	ids := first.ids
	first.ids = []string{"01890000-0000-7000-8000-000000000000"}
	require.Equal(t, []verdict{broken, held, held, held, held, held}, verdicts(), "an event id that is not there")
	first.ids = ids
	first.fate = refused
	require.Equal(t, []verdict{held, broken, held, held, held, held}, verdicts(), "refused and there")
	first.fate, first.action = done, "point_sub"
	require.Equal(t, []verdict{broken, broken, broken, held, held, held}, verdicts(), "another event than was asked for")
	first.action = "point_add"
	first.points++
	require.Equal(t, []verdict{held, held, broken, held, held, held}, verdicts(), "figures that are not the sums")
	first.points--
	require.NotEmpty(t, l.book.take(&request{fate: done, key: "k", status: 200, body: []byte("a")}, answer{status: 200, body: []byte("b")}), "another answer under the same key")
	require.NotEmpty(t, l.book.take(&request{}, answer{status: 500}))
	require.NotEmpty(t, l.book.take(&request{}, answer{status: 503}), "503 says when to come back")
	l.book.strange = append(l.book.strange, "500")
	require.Equal(t, []verdict{held, held, held, broken, held, held}, verdicts(), "an answer that nothing excuses")
	l.book.strange = nil

	db := storetest.Raw(t, l.g.url)
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(sql)
		require.NoError(t, err)
	}

	exec(`UPDATE balances SET spent = spent + 1, score = score + 1`)
	require.Equal(t, []verdict{held, held, broken, held, broken, held}, verdicts(), "a ledger that does not add up")
	exec(`UPDATE balances SET spent = spent - 1, score = score - 1`)
	exec(`ALTER TABLE events RENAME TO elsewhere`)
	require.Equal(t, []verdict{unchecked, unchecked, unchecked, held, broken, unchecked}, verdicts(), "what cannot be read proves nothing, but the guards of the journal are seen to be gone")
	exec(`ALTER TABLE elsewhere RENAME TO events`)
	require.Equal(t, []verdict{held, held, held, held, held, held}, verdicts())
	exec(`UPDATE tail SET event_id = zeroblob(16) WHERE number = 1`)
	require.Equal(t, []verdict{held, held, held, held, held, broken}, verdicts(), "an event that its followers never see")
	exec(`DELETE FROM tail`)
	require.Equal(t, []verdict{held, held, held, held, held, broken}, verdicts(), "no event is told to anybody")
	require.Equal(t, 0, s.stop(terminate), s.log())
	require.Equal(t, []verdict{unchecked, unchecked, unchecked, held, held, broken}, verdicts(), "a server that is gone proves nothing")
}
