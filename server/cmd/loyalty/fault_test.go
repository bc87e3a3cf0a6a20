//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// hang is when a request is no longer slow but stuck. A caller is let go
// after ten seconds; the rest is for a loaded machine.
const hang = 15 * time.Second

// rounds is how often a fault strikes: a few times, or fifty times in full.
func rounds(t *testing.T, few int) int { return full(t, few, 50) }

// full is how often something is done: a few times, or at the length of which
// LOYALTY_TORTURE=500 is all.
func full(t *testing.T, few, all int) int {
	t.Helper()
	text := os.Getenv("LOYALTY_TORTURE")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "LOYALTY_TORTURE is a number")
	return max(few, all*n/500)
}

// ground is a database under test, with a key that no rate limit stops.
type ground struct {
	url, dir string
	env      []string
	key      signing.Credential
}

func newGround(t *testing.T, url string) *ground {
	t.Helper()
	g := &ground{url: url, dir: t.TempDir()}
	g.env = []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32), "LOYALTY_LOG=text,warn"}
	g.key = g.newKey(t)
	return g
}

// newKey makes another such key, past any server.
func (g *ground) newKey(t *testing.T) signing.Credential {
	t.Helper()
	made := command(t, g.dir, g.env, "keys", "create", "--json", "--rate-limit", "1000000")
	require.Equal(t, 0, made.code, made.errors)
	var key struct {
		KeyID  string `json:"key_id"`
		Secret string `json:"secret"`
	}
	require.NoError(t, json.Unmarshal([]byte(made.out), &key))
	return signing.Credential{KeyID: key.KeyID, Secret: key.Secret}
}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, postgres func(*testing.T) string, test func(*testing.T, *ground)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, newGround(t, storetest.SQLiteForProgram(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, newGround(t, postgres(t))) })
}

// anyPostgres is a database on the server that all tests share.
func anyPostgres(t *testing.T) string { return storetest.ForProgram(t) }

// durablePostgres is a database on a server of the test's own that flushes
// every commit to the disk.
func durablePostgres(t *testing.T) string { return storetest.DurableForProgram(t) }

func durableCluster(t *testing.T) (*storetest.Cluster, string) {
	t.Helper()
	c := storetest.NewDurableCluster(t)
	return c, c.URL("postgres")
}

// start starts a server that is gone, and waited for, when the test ends.
func (g *ground) start(t *testing.T) *serving {
	t.Helper()
	s := serve(t, g.dir, g.env)
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
			if errors.Is(s.cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
				return
			}
		}
		t.Errorf("the server is still there")
	})
	return s
}

// caller is a client with a connection of its own.
type caller struct{ http http.Client }

func newCaller(t *testing.T, key signing.Credential) *caller {
	base := &http.Transport{MaxIdleConnsPerHost: 1}
	t.Cleanup(base.CloseIdleConnections)
	return &caller{http.Client{Timeout: hang, Transport: &signing.Transport{
		Scheme: signing.Default("local"), Credential: key, Headers: []string{"Content-Type", "Idempotency-Key"}, Base: base,
	}}}
}

// answer is what became of a request; err says that no whole answer came.
type answer struct {
	status int
	body   []byte
	header http.Header
	err    error
	took   time.Duration
}

func (a answer) replayed() bool { return a.header.Get("Idempotency-Replayed") == "true" }

// code is the code of an error.
func (a answer) code() int {
	var envelope struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(a.body, &envelope) != nil {
		return -1
	}
	return envelope.Error.Code
}

func (c *caller) post(address, path, body, idempotencyKey string) answer {
	r, err := http.NewRequest(http.MethodPost, address+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	return c.send(r)
}

func (c *caller) get(url string) answer {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return answer{err: err}
	}
	return c.send(r)
}

func (c *caller) send(r *http.Request) (a answer) {
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	response, err := c.http.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, body: body, header: response.Header, err: err}
}

// enrol makes an active customer.
func enrol(t *testing.T, c *caller, address, customer string) {
	t.Helper()
	a := c.post(address, "/events", `{"customer":"`+customer+`","action":"opt_in","data":{"email":"`+customer+`@example.com"}}`, "")
	require.NoError(t, a.err)
	require.Equal(t, http.StatusOK, a.status, string(a.body))
}
