package action_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The points that a reward gave are taken back with it, also where nothing of their
// lot is left: they were taken away or paid a debt. What costs nothing is given to
// customers who owe points too.
func TestRevokedAward(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{"paid a debt": {"point_sub", ""}, "was taken away": {"", "point_sub"}} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, nil, func(t *testing.T, s *shop) {
				s.Make(nil, things{{"rewards/reward", "gift", `{"title":{"en":"G"},"type":"points","points":0,"award":50}`}})
				s.Enrol("ada")
				if c.before != "" {
					s.Must("ada", c.before, `{"points":50}`)
				}
				claim := s.Operate("ada", "reward_claim", `{"reward":"gift"}`).Events[0].ID
				if c.after != "" {
					s.Must("ada", c.after, `{"points":50}`)
				}
				require.Zero(t, s.Customer("ada").Figures.Spendable())
				s.Must("ada", "reward_revoke", `{"event":"`+claim.String()+`"}`)
				require.EqualValues(t, -50, s.Customer("ada").Figures.Spendable())
				s.FoldsBack()
			})
		})
	}
}
