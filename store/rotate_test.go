package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// sealing is a database with values in every column that is sealed.
type sealing struct {
	t         *testing.T
	url       string
	customers []loyalty.ID
}

const sealedCustomers = 1200 // more than two pages

// The keys of stored answers: of one of administration, and of one with a block.
var (
	sealedKey = loyalty.AnswerKey{AccessKey: "LKTEST", Key: "till-1"}
	blockKey  = loyalty.AnswerKey{AccessKey: "LKTEST", Key: "till-2"}
)

// sealedValues are two secrets, two answers, a block, and the customers' keys.
const sealedValues = 5 + sealedCustomers

func newSealing(t *testing.T, url string) *sealing {
	t.Helper()
	s := &sealing{t: t, url: url}
	db := s.open([32]byte{1})
	require.NoError(t, db.CheckMasterKey(t.Context()))
	now := time.Now().UTC().Truncate(time.Millisecond)
	var last loyalty.ID
	for range 3 {
		var w loyalty.Writes
		for range sealedCustomers / 3 {
			c := storetest.Member(fmt.Sprint("member-", len(s.customers)), now)
			last = loyalty.NewID(now, last)
			c.ID, c.Key = last, []byte(strings.Repeat("k", 31)+c.Name[len(c.Name)-1:])
			s.customers = append(s.customers, last)
			storetest.Enrol(&w, c)
		}
		require.NoError(t, storetest.Put(db, now, w))
	}

	require.NoError(t, db.Change(t.Context(), func(tx loyalty.AdminTx) error {
		return errors.Join(
			tx.SaveKey(loyalty.AccessKey{ID: "LKTEST", CreatedAt: now, Secrets: []loyalty.Secret{{Value: "s3cret", CreatedAt: now}, {Value: "older", CreatedAt: now.Add(-time.Hour)}}}),
			tx.SaveAnswer(loyalty.Answer{AnswerKey: sealedKey, Status: 200, Body: []byte("answered"), At: now}))
	}))

	block := loyalty.Answer{AnswerKey: blockKey, Status: 422, Body: []byte("refused"), Block: []byte("block"), At: now}
	require.NoError(t, storetest.Put(db, now, loyalty.Writes{Answers: []loyalty.Answer{block}}))
	return s
}

// open opens the database with a key, and with an old one where one is given.
func (s *sealing) open(key [32]byte, old ...[32]byte) *store.Store {
	s.t.Helper()
	o := store.Options{URL: s.url, MasterKey: key}
	for _, k := range old {
		o.OldMasterKey = &k
	}
	return storetest.OpenWith(s.t, o)
}

// good: everything that is sealed opens, and what is found by a hash is found.
func (s *sealing) good(db *store.Store) {
	s.t.Helper()
	ctx := s.t.Context()
	require.NoError(s.t, db.CheckMasterKey(ctx))
	snapshot, err := db.Snapshot(ctx, nil)
	require.NoError(s.t, err)
	require.Empty(s.t, snapshot.Unreadable)
	require.Equal(s.t, "s3cret", snapshot.Keys[0].Secrets[0].Value)
	require.Len(s.t, snapshot.Keys[0].Secrets, 2)
	require.NoError(s.t, db.Change(ctx, func(tx loyalty.AdminTx) error {
		a, found, err := tx.Answer(sealedKey)
		require.True(s.t, found)
		require.Equal(s.t, "answered", string(a.Body))
		return err
	}))

	require.NoError(s.t, db.Within(ctx, loyalty.Needs{Now: time.Now(), Answers: []loyalty.AnswerKey{blockKey}}, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		require.Equal(s.t, "refused block", string(l.Answers[blockKey].Body)+" "+string(l.Answers[blockKey].Block))
		return &loyalty.Writes{}, nil
	}))

	for _, id := range []loyalty.ID{s.customers[0], s.customers[len(s.customers)/2], s.customers[len(s.customers)-1]} {
		err := db.Within(ctx, loyalty.Needs{Now: time.Now(), Customers: []loyalty.CustomerNeeds{{ID: id, Key: true}}}, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			require.Len(s.t, l.Customers, 1)
			for _, c := range l.Customers {
				require.Len(s.t, c.Customer.Key, 32)
			}
			return &loyalty.Writes{}, nil
		})
		require.NoError(s.t, err)
	}
}

// TestReSeal changes the master key, is cut off in the middle, goes on, and leaves nothing
// that needs the old key; both are good in between, on servers that have both in either order.
func TestReSeal(t *testing.T) {
	first, second, third := [32]byte{1}, [32]byte{2}, [32]byte{3}
	storetest.EachURL(t, func(t *testing.T, url string) {
		_, err := storetest.Raw(t, url).Exec(`DELETE FROM master_check`) // the template's
		require.NoError(t, err)
		s := newSealing(t, url)
		_, err = s.open(first).ReSeal(t.Context(), nil)
		require.ErrorIs(t, err, store.ErrNoOldKey)
		require.ErrorIs(t, s.open(second).CheckMasterKey(t.Context()), store.ErrMasterKey)

		ready, both := s.open(first, second), s.open(second, first)
		s.good(ready)
		s.good(both)
		require.Contains(t, both.MasterKeyFingerprint(), "+", "copies made now need both")
		ctx, cancel := context.WithCancel(t.Context())
		_, err = both.ReSeal(ctx, func(done, of int64) {
			require.LessOrEqual(t, done, of)
			if done > 500 {
				cancel()
			}
		})

		require.ErrorIs(t, err, context.Canceled)
		s.good(ready)
		s.good(both)
		require.ErrorIs(t, s.open(second).CheckMasterKey(t.Context()), store.ErrMasterKey, "what is left needs the old key")

		r, err := both.ReSeal(t.Context(), nil)
		require.NoError(t, err)
		require.Positive(t, r.Already, "it went on where it was cut off")
		require.Positive(t, r.Anew)
		require.EqualValues(t, sealedValues, r.Anew+r.Already)
		require.Empty(t, r.Lost)
		require.NotContains(t, both.MasterKeyFingerprint(), "+")
		s.good(ready)
		s.good(both)
		s.good(s.open(second))
		require.ErrorIs(t, s.open(first).CheckMasterKey(t.Context()), store.ErrMasterKey)

		r, err = s.open(third, second).ReSeal(t.Context(), nil)
		require.NoError(t, err)
		require.EqualValues(t, sealedValues, r.Anew)
		s.good(s.open(third))
	})
}

// TestReSealLeavesTheGone: the key of a customer who opted out while it was read stays gone,
// and a value that neither key opens is named and left.
func TestReSealLeavesTheGone(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		raw := storetest.Raw(t, url)
		_, err := raw.Exec(`DELETE FROM master_check`)
		require.NoError(t, err)
		s := newSealing(t, url)
		_, err = raw.Exec(`UPDATE key_secrets SET sealed = (SELECT sealed FROM customer_keys LIMIT 1) WHERE id = (SELECT min(id::text)::uuid FROM key_secrets)`)
		if strings.HasPrefix(url, "sqlite:") {
			_, err = raw.Exec(`UPDATE key_secrets SET sealed = (SELECT sealed FROM customer_keys LIMIT 1) WHERE id = (SELECT min(id) FROM key_secrets)`)
		}

		require.NoError(t, err)
		left := 0
		db := s.open([32]byte{2}, [32]byte{1})
		require.NoError(t, db.CheckMasterKey(t.Context()))
		r, err := db.ReSeal(t.Context(), func(done, _ int64) {
			if left++; left == 2 {
				_, err := raw.Exec(`DELETE FROM customer_keys`)
				require.NoError(t, err)
			}
		})

		require.NoError(t, err)
		require.Equal(t, map[string]int64{"key_secrets": 1}, r.Lost)
		var keys int
		require.NoError(t, raw.QueryRow(`SELECT count(*) FROM customer_keys`).Scan(&keys))
		require.Zero(t, keys)
	})
}
