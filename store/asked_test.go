package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Questions whose answer does not come in time fail as such, alone and several together.
func TestQuestionsOutOfTime(t *testing.T) {
	url := storetest.Postgres(t)
	s := storetest.Open(t, url)
	_, err := s.Backlogs(t.Context()) // the connection is open, and knows the statement
	require.NoError(t, err)
	_, err = s.Webhooks(t.Context())
	require.NoError(t, err)

	blocker, err := storetest.Raw(t, url).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, blocker.Rollback()) }()
	_, err = blocker.Exec("LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = s.Backlogs(hurried)
	require.ErrorIs(t, err, loyalty.ErrUnavailable, "one statement")
	hurried, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = s.Webhooks(hurried)
	require.ErrorIs(t, err, loyalty.ErrUnavailable, "two, which see one instant")
}
