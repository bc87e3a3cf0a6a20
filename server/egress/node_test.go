package egress

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// verifier has the reference library for JavaScript judge messages, one a line.
const verifier = `
const { Webhook } = require(process.argv[1]);
const all = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(all.map(m => {
  try { new Webhook(m.secret).verify(m.body, m.headers); return "good"; } catch (e) { return e.message; }
})));`

// TestSignatureVerifiesInJavaScript: so does the other reference library, under each secret
// of a rotation.
func TestSignatureVerifiesInJavaScript(t *testing.T) {
	library, err := filepath.Abs(filepath.Join("..", "..", ".bin", "npm-webhooks", "node_modules", "standardwebhooks"))
	require.NoError(t, err)
	node, missing := exec.LookPath("node")
	if _, err := os.Stat(library); err != nil && missing == nil {
		missing = err
	}

	if missing != nil {
		if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
			require.NoError(t, missing, "standardwebhooks is needed: make tools")
		}
		t.Skipf("SKIPPED: there is no standardwebhooks for JavaScript; make tools installs it (%v)", missing)
	}

	m := &webhook.Message{ID: "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01", At: time.Now(), Body: []byte(`{"type":"event.point_add","é":"\u0000 & <"}`), Secrets: []string{NewSecret(), NewSecret()}}
	h := http.Header{}
	signed(h, m)
	type judged struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}

	headers := map[string]string{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers[name] = h.Get(name)
	}

	input, err := json.Marshal([]judged{
		{m.Secrets[0], string(m.Body), headers}, {m.Secrets[1], string(m.Body), headers},
		{NewSecret(), string(m.Body), headers}, {m.Secrets[0], string(m.Body) + " ", headers},
	})

	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), node, "-e", verifier, library)
	c.Stdin = bytes.NewReader(input)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var told []string
	require.NoError(t, json.Unmarshal(out, &told), "%s", out)
	require.Equal(t, []string{"good", "good", "No matching signature found", "No matching signature found"}, told)
}

// publicVerifier has Node's own crypto judge messages signed by a private key: the reference
// libraries know no v1a.
const publicVerifier = `
const { createPublicKey, verify } = require("crypto");
const all = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(all.map(m => {
  const key = createPublicKey({ key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(m.secret.slice("whpk_".length), "base64")]), format: "der", type: "spki" });
  const signed = m.headers["webhook-id"] + "." + m.headers["webhook-timestamp"] + "." + m.body;
  return m.headers["webhook-signature"].split(" ").some(s => s.startsWith("v1a,") && verify(null, Buffer.from(signed), key, Buffer.from(s.slice(4), "base64"))) ? "good" : "bad";
})));`

// TestPublicSignatureVerifiesInJavaScript: a receiver that has the public keys alone verifies
// what is sent during a rotation, under each of them.
func TestPublicSignatureVerifiesInJavaScript(t *testing.T) {
	node, missing := exec.LookPath("node")
	if missing != nil {
		if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
			require.NoError(t, missing)
		}
		t.Skipf("SKIPPED: there is no node (%v)", missing)
	}

	m := &webhook.Message{ID: "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01", At: time.Now(), Body: []byte(`{"type":"event.point_add","é":"\u0000 & <"}`), Secrets: []string{NewPrivateKey(), NewPrivateKey()}}
	h := http.Header{}
	signed(h, m)
	headers := map[string]string{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers[name] = h.Get(name)
	}

	type judged struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}

	other := map[string]string{"webhook-id": m.ID + "1", "webhook-timestamp": headers["webhook-timestamp"], "webhook-signature": headers["webhook-signature"]}
	input, err := json.Marshal([]judged{
		{PublicKey(m.Secrets[0]), string(m.Body), headers}, {PublicKey(m.Secrets[1]), string(m.Body), headers},
		{PublicKey(NewPrivateKey()), string(m.Body), headers}, {PublicKey(m.Secrets[0]), string(m.Body) + " ", headers}, {PublicKey(m.Secrets[0]), string(m.Body), other},
	})

	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), node, "-e", publicVerifier)
	c.Stdin = bytes.NewReader(input)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var told []string
	require.NoError(t, json.Unmarshal(out, &told), "%s", out)
	require.Equal(t, []string{"good", "good", "bad", "bad", "bad"}, told)
}
