package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// received is a message that an address received.
type received struct {
	header http.Header
	body   []byte
}

// TestWebhookOfTheProgram has the program itself send what happened to an address inside,
// which the settings let it call; the portal's sample verifies it, and the metrics count it.
func TestWebhookOfTheProgram(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		messages := make(chan received, 16)
		var refused atomic.Bool // the first one is
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if refused.CompareAndSwap(false, true) {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			messages <- received{r.Header, body}
			w.WriteHeader(http.StatusNoContent)
		}))

		t.Cleanup(receiver.Close)
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info", "LOYALTY_WEBHOOKS_ALLOW=127.0.0.0/8")
		s := g.start(t)
		c := newCaller(t, g.key)
		becomesReady(t, s, c)
		id, secret := newWebhook(t, c, s.address, fmt.Sprintf(`{"label":"CRM","url":%q,"types":["event.point_add"]}`, receiver.URL+"/hook"))
		enrol(t, c, s.address, "ada")
		a := c.post(s.address, "/events", `{"customer":"ada","action":"point_add","data":{"points":7}}`, "")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		var got received
		select {
		case got = <-messages:
		case <-time.After(patience):
			require.Fail(t, "nothing was delivered", s.log())
		}

		require.Contains(t, string(got.body), `"event.point_add"`)
		verifiedBySample(t, s, secret, got)

		counted := func(name string, labels ...string) float64 {
			value, _ := scrape(t, managed(t, s)).value(name, labels...)
			return value
		}

		require.Eventually(t, func() bool {
			return counted("loyalty_webhook_attempts_total", "webhook", id, "outcome", "delivered") == 1
		}, patience, 50*time.Millisecond)
		require.Equal(t, 1.0, counted("loyalty_webhook_attempts_total", "outcome", "failed"))
		require.Equal(t, 2.0, counted("loyalty_webhook_duration_seconds"))
		require.Eventually(t, func() bool {
			_, found := scrape(t, managed(t, s)).value("loyalty_webhook_backlog", "webhook", id, "state", "waiting")
			return found && counted("loyalty_webhook_backlog", "state", "waiting") == 0 && counted("loyalty_webhook_backlog", "state", "unread") == 0
		}, patience, 500*time.Millisecond)
	})
}

// verifiedBySample runs the portal's sample of a receiver over a message, and over one that
// was changed.
func verifiedBySample(t *testing.T, s *serving, secret string, m received) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Logf("SKIPPED: there is no python3 to run the receiver's sample")
		return
	}

	sample := regexp.MustCompile("(?s)```python\n(.*?)\n```").FindStringSubmatch(unsigned(t, s.address+"/docs/webhooks.md"))
	require.NotNil(t, sample)
	headers := map[string]string{}
	for name, values := range m.header {
		headers[strings.ToLower(name)] = values[0]
	}

	given, err := json.Marshal([]any{secret, headers, string(m.body)})
	require.NoError(t, err)
	program := sample[1] + `
import json, sys
secret, headers, body = json.load(sys.stdin)
verify(secret, headers, body.encode())
try:
    verify(secret, headers, body.replace("7", "8", 1).encode())
except ValueError as error:
    print(error)
`

	run := exec.CommandContext(t.Context(), "python3", "-c", program)
	run.Stdin = strings.NewReader(string(given))
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "the signature is wrong\n", string(out))
}
