package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLedgerProofs: each proof of the ledger is listed, the newest first, with who asked for it
// and what did not hold. Of one that was made before that was kept, the figures are shown.
func TestLedgerProofs(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Empty(t, proofsOf(t, h.get("/admin/ledger/proofs")).Data)
		h.enrol("member-1")
		raw := storetest.Raw(t, url)
		_, err := raw.Exec("INSERT INTO ledger_proofs (id, at, held, broken, unchecked) SELECT id, 1000, 8, 1, 1 FROM customers")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, h.get("/admin/ledger?verify=true").status)
		_, err = raw.Exec("UPDATE balances SET score = score + 1")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, h.get("/admin/ledger?verify=true").status)
		require.Equal(t, http.StatusOK, h.get("/admin/ledger").status, "a report proves nothing")

		all := proofsOf(t, h.get("/admin/ledger/proofs")).Data
		require.Len(t, all, 3)
		broken, held, before := all[0], all[1], all[2]
		require.Contains(t, broken.BrokenIDs, "I1")
		require.Len(t, broken.BrokenIDs, broken.Broken)
		require.Equal(t, []any{10 - broken.Broken, 0, []string{}}, []any{broken.Held, broken.Unchecked, broken.UncheckedIDs})
		require.Equal(t, proof{At: held.At, KeyID: h.key.KeyID, ActorKind: "key", Held: 10, BrokenIDs: []string{}, UncheckedIDs: []string{}}, held)
		require.Equal(t, []string{held.KeyID, "key"}, []string{broken.KeyID, broken.ActorKind})
		require.Equal(t, proof{At: "1970-01-01T00:00:01.000Z", Held: 8, Broken: 1, Unchecked: 1, BrokenIDs: []string{}, UncheckedIDs: []string{}}, before)

		var walked []proof
		target := "/admin/ledger/proofs?limit=1"
		for target != "" {
			page := proofsOf(t, h.get(target))
			require.Len(t, page.Data, 1)
			walked, target = append(walked, page.Data...), page.Next
		}

		require.Equal(t, all, walked)
	})
}

// TestLedgerProofsForRoles: which key or user asked is for those who may read the audit trail.
func TestLedgerProofsForRoles(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	require.Equal(t, http.StatusOK, p.enter("sample.viewer", loyalty.RoleViewer, false).get(bridged+"/admin/ledger?verify=true").status)
	for role, login := range map[loyalty.Role]string{loyalty.RoleViewer: "", loyalty.RoleEditor: "", loyalty.RoleOperator: "sample.viewer", loyalty.RoleOwner: "sample.viewer"} {
		all := proofsOf(t, p.enter("a-"+string(role), role, true).get(bridged+"/admin/ledger/proofs")).Data
		require.Len(t, all, 1)
		require.Equal(t, []string{login, "user"}, []string{all[0].KeyID, all[0].ActorKind}, role)
	}
}

// TestLedgerProofsAreKept: the newest thousand stay.
func TestLedgerProofsAreKept(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		raw := storetest.Raw(t, url)
		var rows []string
		for i := range loyalty.KeptProofs + 5 {
			rows = append(rows, fmt.Sprintf("(%s, %d, 10, 0, 0)", map[bool]string{true: fmt.Sprintf("'%032x'", i), false: fmt.Sprintf("x'%032x'", i)}[strings.HasPrefix(url, "postgres")], 1000+i))
		}
		_, err := raw.Exec("INSERT INTO ledger_proofs (id, at, held, broken, unchecked) VALUES " + strings.Join(rows, ","))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, h.get("/admin/ledger?verify=true").status)
		var kept, oldest int64
		require.NoError(t, raw.QueryRow("SELECT count(*), min(at) FROM ledger_proofs").Scan(&kept, &oldest))
		require.Equal(t, []int64{loyalty.KeptProofs, 1006}, []int64{kept, oldest})
	})
}

// proof is one of the list as the test reads it.
type proof struct {
	At           string
	KeyID        string `json:"key_id"`
	ActorKind    string `json:"actor_kind"`
	Held         int
	Broken       int
	Unchecked    int
	BrokenIDs    []string `json:"broken_ids"`
	UncheckedIDs []string `json:"unchecked_ids"`
}

type proofs struct {
	Data []proof
	Next string
}

func proofsOf(t *testing.T, a answer) (p proofs) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.NoError(t, json.Unmarshal([]byte(a.body), &p))
	return p
}
