package servertest

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/egress"
	"github.com/loyalty-platform/loyalty/server/importer"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/portal"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store"
)

// Region is the region of signatures.
const Region = "test"

// House is a whole server on loopback over a real database, with one access key that has all rights.
type House struct {
	*loyaltytest.Office

	URL     string
	Key     signing.Credential
	Engine  *engine.Engine
	Server  *server.Server
	Egress  *egress.Client
	Imports func(context.Context) (int, error) // the work of the job imports
}

// Options are a test's choices for its house.
type Options struct {
	Store  *store.Store
	Log    io.Writer                   // nil: no log
	Engine func(*engine.EngineOptions) // changes the options of the engine; nil: defaults. Boards use its clock
	Server []func(o *server.Options)   // change the options, in this order
}

// Open starts a house until the test ends.
func Open(t testing.TB, o Options) *House {
	t.Helper()
	h := &House{Office: loyaltytest.NewOffice(t, o.Store, nil)}
	vocabulary, err := contract.NewVocabulary()
	require.NoError(t, err)
	e := engine.EngineOptions{Store: o.Store, Contract: vocabulary, Programmes: h.Directory}
	if o.Engine != nil {
		o.Engine(&e)
	}

	h.Engine = loyaltytest.NewEngine(t, e)
	h.Egress = egress.NewClient(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Agent: "test"})
	t.Cleanup(h.Egress.Close)
	h.Imports = h.importer(o.Store, vocabulary)
	s := h.options(t, o, vocabulary)
	s.Leaderboard = leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: o.Store,
		Programmes: h.Directory, Clock: e.Clock})
	for _, change := range o.Server {
		change(&s)
	}

	h.Server, err = server.New(s)
	require.NoError(t, err)
	t.Cleanup(func() { h.Server.Close(context.Background()) })
	listening := httptest.NewServer(h.Server)
	t.Cleanup(listening.Close)
	h.URL = listening.URL
	most := 1_000_000 // no test waits for its rate limit
	h.Key = NewKey(t, h.Admin, admin.KeyChange{RateLimit: &most})
	return h
}

// NewKey makes an access key with the given rights.
func NewKey(t testing.TB, a *admin.Admin, c admin.KeyChange) signing.Credential {
	t.Helper()
	done, err := a.CreateKey(t.Context(), admin.Call{KeyID: admin.CommandLine}, c)
	require.NoError(t, err)
	return signing.Credential{KeyID: done.Value.ID, Secret: done.Value.Secrets[0].Value}
}

func (h *House) options(t testing.TB, o Options, vocabulary *contract.Vocabulary) server.Options {
	t.Helper()
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	logger := slog.New(slog.DiscardHandler)
	if o.Log != nil {
		logger = slog.New(slog.NewJSONHandler(o.Log, nil))
	}

	webhooks := admin.NewWebhooks(h.Admin, o.Store, admin.WebhookRules{
		URLFault: h.Egress.URLFault, NewSecret: egress.NewSecret, NewPrivateKey: egress.NewPrivateKey,
		PublicKey: egress.PublicKey, Sign: egress.Sign, Notices: webhook.NoticeNames(), Version: webhook.Version,
	})
	jobs := job.NewJobs(job.JobsOptions{Engine: h.Engine, Store: o.Store, Imports: h.Imports})
	patient := &doctor.Patient{
		Now: time.Now, Local: true, Store: o.Store, Keys: h.Keys,
		Jobs: jobs.List, LogMost: 1 << 40, OldestPostgres: store.OldestPostgres,
		Node:    loyalty.NewID(time.Now(), loyalty.ID{}),
		Program: administration.SystemProgram{Version: "test", Go: runtime.Version(), Platform: runtime.GOOS},
	}

	return server.Options{
		Listen: "127.0.0.1:0", Region: Region, Engine: h.Engine, Directory: h.Directory,
		Admin: h.Admin, Reader: o.Store, Feed: o.Store, Exports: o.Store, Imports: o.Store,
		Webhooks: webhooks, Messages: administration.NewWebhookMessages(o.Store, h.Directory.Programme),
		Statistics: statistics.New(statistics.Options{Store: o.Store, Programmes: h.Directory}), Jobs: jobs,
		Vocabulary: vocabulary, Catalogue: catalogue, Ready: o.Store.Ready, Portal: portal.New(Region, nil), Logger: logger,
		System: func(ctx context.Context) (*administration.System, error) { return doctor.System(ctx, patient) },
	}
}

// importer does the work of the job imports.
func (h *House) importer(s *store.Store, contract loyalty.Contract) func(context.Context) (int, error) {
	u := &importer.Uploads{
		Store: s, Ledger: s, Now: h.Engine.Now,
		World: func(context.Context) (importer.World, error) {
			return importer.World{Store: s, Programme: h.Directory.Programme(), Contract: contract, Now: h.Engine.Now()}, nil
		},
		Begin: func(ctx context.Context, keyID string, i loyalty.Import) error {
			_, err := h.BeginImport(ctx, admin.Call{KeyID: keyID}, i)
			return err
		},
	}
	return u.Work
}
