package deliver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// secretPrefix begins a secret of Standard Webhooks, secretSize is how many random bytes
// follow it.
const (
	secretPrefix = "whsec_"
	secretSize   = 32
)

// NewSecret makes the secret of a receiver.
func NewSecret() string {
	random := make([]byte, secretSize)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// sign is the signature under one secret: an HMAC-SHA256 over the id, the moment of the
// attempt in seconds and the body, joined by full stops. A receiver that compares the moment
// with its clock cannot be shown an old message again.
func sign(secret, id string, at time.Time, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return "" // it is none of ours; the others sign
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	h.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// signed writes the headers of Standard Webhooks: one signature for each secret that is
// good, so that a receiver may change to a new one without a gap.
func signed(h http.Header, m *webhook.Message) {
	var all []string
	for _, secret := range m.Secrets {
		if s := sign(secret, m.ID, m.At, m.Body); s != "" {
			all = append(all, s)
		}
	}
	h.Set("webhook-id", m.ID)
	h.Set("webhook-timestamp", strconv.FormatInt(m.At.Unix(), 10))
	h.Set("webhook-signature", strings.Join(all, " "))
	h.Del("webhook-replay")
	if m.Replay {
		h.Set("webhook-replay", "1")
	}
}
