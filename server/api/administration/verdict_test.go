package administration

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestInvariantVerdicts: three results and not two, and no id of ours goes out.
func TestInvariantVerdicts(t *testing.T) {
	id := loyalty.NewID(time.Now(), loyalty.ID{})
	broken := invariant(loyalty.LedgerCheck{
		Invariant: "I1", Title: "figures", Verdict: loyalty.LedgerBroken, Broken: 30,
		Findings: []loyalty.LedgerFinding{{Customer: id, Name: "member-1001", Detail: "score is 1, should be 2"}, {Customer: id, Detail: "nobody"}},
	})

	text, err := json.Marshal(broken)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"I1","title":"figures","verdict":"broken","broken":30,
		"findings":[{"customer":"member-1001","detail":"score is 1, should be 2"},{"detail":"nobody"}]}`, string(text))
	unchecked := invariant(loyalty.LedgerCheck{Verdict: loyalty.LedgerUnchecked, Err: errors.New("password=secret")})
	text, err = json.Marshal(unchecked)
	require.NoError(t, err)
	require.Contains(t, string(text), `"could_not_check"`)
	require.NotContains(t, string(text), "secret")
	require.EqualValues(t, "held", invariant(loyalty.LedgerCheck{Verdict: loyalty.LedgerHeld}).Verdict)
}
