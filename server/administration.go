package server

import (
	"log/slog"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// administrationAPI answers the Administration API.
type administrationAPI struct {
	admin      *admin.Admin
	jobs       Jobs
	statistics *statistics.Statistics
	system     *systemLook
	failures   *failureLog
	pace       *pace
	vocabulary *contract.Vocabulary
	webhooks   *admin.Webhooks
	reader     loyalty.Reader
	messages   *WebhookMessages
	programme  func() *programme.Programme
	entities   *contract.Entities
	logger     *slog.Logger
	users      *admin.Users
	openTo     func(*request) []string
	clock      func() time.Time
	region     string
	jobWait    time.Duration
	totals     *gate // for reads that add up any number of rows
	exports    exportsAPI
	imports    importsAPI

	liabilities shared[loyalty.Liability]
	proofs      shared[[]administration.Invariant]
}

var _ administration.StrictServerInterface = (*administrationAPI)(nil)
