package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestForgetAnswers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		key := func(i int) loyalty.AnswerKey { return loyalty.AnswerKey{AccessKey: "k", Key: fmt.Sprint(i)} }
		var w loyalty.Writes
		for i := range 2500 {
			w.Answers = append(w.Answers, loyalty.Answer{AnswerKey: key(i), Status: 200, Body: []byte("{}"), At: ledgerStart.Add(time.Duration(i) * time.Second)})
		}

		require.NoError(t, storetest.Put(s, ledgerStart, w))
		require.NoError(t, s.ForgetAnswers(t.Context(), ledgerStart.Add(2400*time.Second)))
		require.NoError(t, s.Change(t.Context(), func(tx loyalty.AdminTx) error {
			for i := range 2500 {
				a, found, err := tx.Answer(key(i))
				require.NoError(t, err)
				require.Equal(t, i >= 2400, found, i)
				if found {
					require.Equal(t, "{}", string(a.Body), "sealed by the batch, opened here")
				}
			}
			return nil
		}))
	})
}
