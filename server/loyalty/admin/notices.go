package admin

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// altered is a change of the configuration as webhooks see it: action and target, named as in the audit trail, which
// has the details.
type altered struct {
	Action string `json:"action"`
	Target string `json:"target"`
}

// most limits the changes that one notice names.
const most = 100

// note remembers a change of the programme, for tell.
func (r *adminRun) note(action, target string) {
	if slices.ContainsFunc([]string{"entity.", "module.", "settings."},
		func(of string) bool { return strings.HasPrefix(action, of) }) {
		r.told = append(r.told, altered{action, target})
	}
}

// tell notifies webhooks that the programme was changed, by one notice for each transaction.
func (r *adminRun) tell() error {
	if len(r.told) == 0 {
		return nil
	}
	return r.Notify(loyalty.NewNotice(loyalty.ProgrammeChanged, r.now, map[string]any{
		"changes": r.told[:min(len(r.told), most)], "count": len(r.told),
	}))
}
