package action_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TestInternalActionsAgree: what the document says is never submitted is what
// the engine refuses with the operation that writes it.
func TestInternalActionsAgree(t *testing.T) {
	require.ElementsMatch(t, internalActions(t), programme.InternalActions())
}
