// Package administration answers the Administration API: keys, users, webhooks, jobs, imports, exports, and how the
// installation is.
package administration

import (
	"log/slog"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// API answers the Administration API.
type API struct {
	Admin      *admin.Admin
	Jobs       api.Jobs
	Statistics *statistics.Statistics
	System     *SystemLook
	Failures   *FailureLog
	Pace       *Pace
	Vocabulary *contract.Vocabulary
	Webhooks   *admin.Webhooks
	Reader     loyalty.Reader
	Messages   *WebhookMessages
	Programme  func() *programme.Programme
	Entities   *contract.Entities
	Logger     *slog.Logger
	Users      *admin.Users
	OpenTo     func(*api.Request) []string
	Clock      func() time.Time
	Region     string
	JobWait    time.Duration
	Totals     *api.Gate // for reads that add up any number of rows
	Exports    api.Exports
	Imports    ImportsAPI

	Liabilities api.Shared[loyalty.Liability]
	Proofs      api.Shared[[]administration.Invariant]
}

var _ administration.StrictServerInterface = (*API)(nil)
