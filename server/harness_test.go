package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const region = servertest.Region

// house is a whole server of servertest, and what a test says to it.
type house struct {
	*servertest.House

	t           *testing.T
	url         string
	databaseURL string
	log         *logLines
	admin       *administration.Admin
	directory   *administration.Directory
	engine      *engine.Engine
	store       *store.Store
	key         signing.Credential
}

// open starts a house; adjust may change its options first.
func open(t *testing.T, adjust ...func(*server.Options)) *house {
	t.Helper()
	return openOn(t, storetest.SQLite(t), adjust...)
}

// openOn is open on a given database.
func openOn(t *testing.T, url string, adjust ...func(*server.Options)) *house {
	t.Helper()
	return openWith(t, url, nil, adjust...)
}

// openWith is openOn with another engine.
func openWith(t *testing.T, url string, change func(*engine.EngineOptions), adjust ...func(*server.Options)) *house {
	t.Helper()
	h := &house{t: t, databaseURL: url, log: &logLines{}, store: storetest.Open(t, url)}
	h.House = servertest.Open(t, servertest.Options{Store: h.store, Log: h.log, Engine: change, Server: adjust})
	h.url, h.key, h.admin, h.directory, h.engine = h.URL, h.Key, h.Admin, h.Directory, h.Engine
	return h
}

// newKey makes an access key with the given rights.
func (h *house) newKey(c administration.KeyChange) signing.Credential {
	h.t.Helper()
	return servertest.NewKey(h.t, h.admin, c)
}

// expiredKey is a key that was made two days ago, for a day.
func (h *house) expiredKey() signing.Credential {
	h.t.Helper()
	made := time.Now().AddDate(0, 0, -2)
	over := made.AddDate(0, 0, 1)
	then := administration.NewAdmin(administration.AdminOptions{
		Registry: action.Registry(), Store: h.store, Directory: h.directory, APIs: openapi.Names(), Clock: func() time.Time { return made },
	})
	return servertest.NewKey(h.t, then, administration.KeyChange{ExpiresAt: new(over.Format(time.RFC3339Nano))})
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
	return h.through(&servertest.Contract{T: h.t}, r)
}

// through sends a request by a transport.
func (h *house) through(transport http.RoundTripper, r *http.Request) answer {
	h.t.Helper()
	resp, err := transport.RoundTrip(r)
	require.NoError(h.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, string(body)}.note()
}

// signed sends a request signed with a key.
func (h *house) signed(key signing.Credential, r *http.Request) answer {
	h.t.Helper()
	return h.through(&signing.Transport{Scheme: signing.Default(region), Credential: key, Base: &servertest.Contract{T: h.t}}, r)
}

// unchecked sends a signed request whose answer need not be one of its document.
func (h *house) unchecked(method, target string, headers ...string) answer {
	h.t.Helper()
	return h.through(&signing.Transport{Scheme: signing.Default(region), Credential: h.key}, h.request(method, target, "", headers...))
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

// does sends what must be answered with 200.
func (h *house) does(target, body string, headers ...string) answer {
	h.t.Helper()
	a := h.post(target, body, headers...)
	require.Equal(h.t, http.StatusOK, a.status, "%s %s: %s", target, body, a.body)
	return a
}

// makes sends what must be answered with 201.
func (h *house) makes(target, body string, headers ...string) answer {
	h.t.Helper()
	a := h.post(target, body, headers...)
	require.Equal(h.t, http.StatusCreated, a.status, "%s %s: %s", target, body, a.body)
	return a
}

// sees reads what must be answered with 200.
func (h *house) sees(target string, headers ...string) answer {
	h.t.Helper()
	a := h.get(target, headers...)
	require.Equal(h.t, http.StatusOK, a.status, "%s: %s", target, a.body)
	return a
}

// entity makes entities of a type.
func (h *house) entity(kind string, bodies ...string) {
	h.t.Helper()
	for _, body := range bodies {
		h.makes("/entities/"+kind, body)
	}
}

// module switches a module on or off.
func (h *house) module(name string, on bool) {
	h.t.Helper()
	h.does("/admin/modules/"+name, fmt.Sprintf(`{"enabled":%t}`, on))
}

// happens sends an event.
func (h *house) happens(customer, action, data string) answer {
	h.t.Helper()
	return h.does("/events", fmt.Sprintf(`{"customer":%q,"action":%q,"data":%s}`, customer, action, data))
}

// bulk sends events of which none may be refused.
func (h *house) bulk(events ...string) {
	h.t.Helper()
	for part := range slices.Chunk(events, 500) {
		a := h.does("/events/bulk", bulkOf(part))
		require.Equal(h.t, "0", fmt.Sprint(a.json(h.t)["errors"]), a.body)
	}
}

func bulkOf(events []string) string { return `{"events":[` + strings.Join(events, ",") + `]}` }

// joins is the event that makes a customer active, earns one that gives them points.
func joins(id string) string {
	return `{"customer":"` + id + `","action":"opt_in","data":{"email":"` + id + `@shop.test"}}`
}

func earns(id string, points int) string {
	return fmt.Sprintf(`{"customer":%q,"action":"point_add","data":{"points":%d}}`, id, points)
}

// crowd makes the customers prefix0, prefix1 and so on, each with points where there are any to give.
func (h *house) crowd(prefix string, n, points int) {
	h.t.Helper()
	var events []string
	for i := range n {
		id := prefix + strconv.Itoa(i)
		if events = append(events, joins(id)); points > 0 {
			events = append(events, earns(id, points))
		}
	}
	h.bulk(events...)
}

// add gives a member points.
func (h *house) add(member, points string) {
	h.t.Helper()
	h.happens(member, "point_add", `{"points":`+points+`}`)
}

// enrol makes an active customer, in a millisecond of their own: within one,
// lists order customers by their random ids.
func (h *house) enrol(id string) {
	h.t.Helper()
	for before := time.Now().UnixMilli(); time.Now().UnixMilli() == before; {
		time.Sleep(100 * time.Microsecond)
	}
	h.does("/events", joins(id))
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
