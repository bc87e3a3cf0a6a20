package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/deliver"
	"github.com/loyalty-platform/loyalty/server/docs"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const region = "test"

// house is a whole server on loopback over a real database, with one access key
// that may do everything.
type house struct {
	t           *testing.T
	url         string
	databaseURL string
	log         *logLines
	admin       *administration.Admin
	directory   *administration.Directory
	engine      *engine.Engine
	store       *store.Store
	key         signing.Credential
	server      *server.Server
	egress      *deliver.Client
	imports     func(context.Context) (int, error) // what the job imports does
}

// open starts a house; adjust may change its options first.
func open(t *testing.T, adjust ...func(*server.Options)) *house {
	t.Helper()
	return openOn(t, storetest.SQLite(t), adjust...)
}

// openOn is open on a given database.
func openOn(t *testing.T, url string, adjust ...func(*server.Options)) *house {
	t.Helper()
	h := &house{t: t, databaseURL: url, log: &logLines{}, store: storetest.Open(t, url)}
	directory, err := administration.NewDirectory(context.Background(), administration.DirectoryOptions{Registry: action.Registry(), Store: h.store})
	require.NoError(t, err)
	h.directory = directory
	vocabulary, err := contract.NewVocabulary()
	require.NoError(t, err)
	h.engine, err = engine.NewEngine(engine.EngineOptions{
		Store: h.store, Contract: vocabulary, Programmes: directory, Rules: action.All(), Features: action.Features(),
	})
	require.NoError(t, err)
	t.Cleanup(h.engine.Close)
	h.egress = deliver.NewClient(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Agent: "test"})
	t.Cleanup(h.egress.Close)
	h.admin = administration.NewAdmin(administration.AdminOptions{Registry: action.Registry(), Store: h.store, Directory: directory, APIs: openapi.Names()})
	webhooks := administration.NewWebhooks(h.admin, h.store, administration.WebhookRules{
		URLFault: h.egress.URLFault, NewSecret: deliver.NewSecret, NewPrivateKey: deliver.NewPrivateKey, PublicKey: deliver.PublicKey, Sign: deliver.Sign, Notices: webhook.NoticeNames(), Version: webhook.Version,
	})
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	h.imports = h.importer(vocabulary)
	o := server.Options{
		Listen: "127.0.0.1:0", Region: region, Engine: h.engine, Directory: directory, Admin: h.admin, Reader: h.store, Feed: h.store, Exports: h.store, Imports: h.store,
		Webhooks: webhooks, Messages: server.NewWebhookMessages(h.store, directory.Programme),
		Leaderboard: leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: h.store, Programmes: directory}),
		Statistics:  statistics.New(statistics.Options{Store: h.store, Programmes: directory}),
		Jobs:        job.NewJobs(job.JobsOptions{Engine: h.engine, Store: h.store, Imports: h.imports}),
		Vocabulary:  vocabulary, Catalogue: catalogue, Ready: h.store.Ready, Portal: docs.New(region, nil),
		Logger: slog.New(slog.NewJSONHandler(h.log, nil)),
	}
	patient := &doctor.Patient{
		Now: time.Now, Local: true, Store: h.store, Keys: h.admin.Keys, Jobs: o.Jobs.List, LogMost: 1 << 40, OldestPostgres: store.OldestPostgres,
		Node: loyalty.NewID(time.Now(), loyalty.ID{}), Program: server.SystemProgram{Version: "test", Go: runtime.Version(), Platform: runtime.GOOS},
	}
	o.System = func(ctx context.Context) (*server.System, error) { return doctor.System(ctx, patient) }
	for _, f := range adjust {
		f(&o)
	}
	h.server, err = server.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { h.server.Close(context.Background()) })
	listening := httptest.NewServer(h.server)
	t.Cleanup(listening.Close)
	h.url = listening.URL
	most := 1_000_000 // no test waits for its budget
	h.key = h.newKey(administration.KeyChange{RateLimit: &most})
	return h
}

// newKey makes an access key with the given rights.
func (h *house) newKey(c administration.KeyChange) signing.Credential {
	h.t.Helper()
	done, err := h.admin.CreateKey(context.Background(), administration.Call{KeyID: administration.CommandLine}, c)
	require.NoError(h.t, err)
	return signing.Credential{KeyID: done.Value.ID, Secret: done.Value.Secrets[0].Value}
}

// expiredKey is a key that was made two days ago, for a day.
func (h *house) expiredKey() signing.Credential {
	h.t.Helper()
	made := time.Now().AddDate(0, 0, -2)
	over := made.AddDate(0, 0, 1)
	admin := administration.NewAdmin(administration.AdminOptions{
		Registry: action.Registry(),
		Store:    h.store, Directory: h.directory, APIs: openapi.Names(), Clock: func() time.Time { return made },
	})
	done, err := admin.CreateKey(h.t.Context(), administration.Call{KeyID: administration.CommandLine}, administration.KeyChange{ExpiresAt: &over})
	require.NoError(h.t, err)
	return signing.Credential{KeyID: done.Value.ID, Secret: done.Value.Secrets[0].Value}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// json reads the body.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	require.NoError(t, d.Decode(&v), a.body)
	return v
}

// fault is the envelope of an error.
type fault struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"details"`
}

func (a answer) fault(t *testing.T) fault {
	t.Helper()
	var v struct {
		Error fault `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v.Error
}

// fields lists the fields at fault.
func (f fault) fields() []string {
	fields := []string{}
	for _, d := range f.Details {
		fields = append(fields, d.Field)
	}
	return fields
}

// request makes a request; headers are pairs of name and value.
func (h *house) request(method, target, body string, headers ...string) *http.Request {
	h.t.Helper()
	r, err := http.NewRequest(method, h.url+target, strings.NewReader(body))
	require.NoError(h.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// send sends a request as it is and checks the answer against the contract.
func (h *house) send(r *http.Request) answer {
	h.t.Helper()
	resp, err := (&servertest.Contract{T: h.t}).RoundTrip(r)
	require.NoError(h.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, string(body)}.note()
}

// signed sends a request signed with a key.
func (h *house) signed(key signing.Credential, r *http.Request) answer {
	h.t.Helper()
	transport := &signing.Transport{Scheme: signing.Default(region), Credential: key, Base: &servertest.Contract{T: h.t}}
	resp, err := transport.RoundTrip(r)
	require.NoError(h.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, string(body)}.note()
}

// unchecked sends a signed request whose answer need not be one of its document.
func (h *house) unchecked(method, target string, headers ...string) answer {
	h.t.Helper()
	transport := &signing.Transport{Scheme: signing.Default(region), Credential: h.key}
	resp, err := transport.RoundTrip(h.request(method, target, "", headers...))
	require.NoError(h.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, string(body)}.note()
}

func (h *house) get(target string, headers ...string) answer {
	h.t.Helper()
	return h.signed(h.key, h.request(http.MethodGet, target, "", headers...))
}

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

func (h *house) post(target, body string, headers ...string) answer {
	h.t.Helper()
	return h.signed(h.key, h.request(http.MethodPost, target, body, append([]string{"Content-Type", jsonType}, headers...)...))
}

func (h *house) form(target, body string) answer {
	h.t.Helper()
	return h.signed(h.key, h.request(http.MethodPost, target, body, "Content-Type", formType))
}

// enrol makes an active customer, in a millisecond of their own: within one,
// lists order customers by their random ids.
func (h *house) enrol(id string) {
	h.t.Helper()
	for before := time.Now().UnixMilli(); time.Now().UnixMilli() == before; {
		time.Sleep(100 * time.Microsecond)
	}
	a := h.post("/events", `{"customer":"`+id+`","action":"opt_in","data":{"email":"`+id+`@shop.test"}}`)
	require.Equal(h.t, http.StatusOK, a.status, a.body)
}

// days are the day on which the test runs and the next one, in UTC. A test that
// begins shortly before midnight waits for the new day, so that all it records is
// of one.
func days(t *testing.T) (today, tomorrow string) {
	t.Helper()
	const enough = 3 * time.Minute
	now := time.Now().UTC()
	if midnight := now.Truncate(24*time.Hour).AddDate(0, 0, 1); midnight.Sub(now) < enough {
		time.Sleep(midnight.Sub(now) + time.Second)
		now = time.Now().UTC()
	}
	return now.Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly)
}

// logLines keeps what was logged.
type logLines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lines waits for the log of an answer, which is written after it was sent.
func (l *logLines) lines(t *testing.T, requestID string) []map[string]any {
	t.Helper()
	var found []map[string]any
	require.Eventually(t, func() bool {
		found = nil
		for line := range strings.Lines(l.String()) {
			var v map[string]any
			if json.Unmarshal([]byte(line), &v) == nil && v["request_id"] == requestID {
				found = append(found, v)
			}
		}
		return len(found) > 0
	}, time.Minute, 5*time.Millisecond, "no log line has the request id %s", requestID)
	return found
}
