package egress

import (
	"cmp"
	"crypto/ed25519"
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

// The prefixes of Standard Webhooks' keys: a shared secret, a private key that signs, and the public key that verifies.
// secretSize is how many random bytes a secret has.
const (
	secretPrefix  = "whsec_"
	privatePrefix = "whsk_"
	publicPrefix  = "whpk_"
	secretSize    = 32
)

// NewSecret makes a secret that is shared with the receiver.
func NewSecret() string {
	random := make([]byte, secretSize)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// NewPrivateKey makes an Ed25519 key, for a receiver that is not to have a secret.
func NewPrivateKey() string {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails
	return privatePrefix + base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed))
}

// PublicKey is the key that verifies the signatures of a private key; empty for a shared secret.
func PublicKey(secret string) string {
	key, private := privateKey(secret)
	if !private {
		return ""
	}
	return publicPrefix + base64.StdEncoding.EncodeToString(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
}

func privateKey(secret string) (key ed25519.PrivateKey, private bool) {
	text, private := strings.CutPrefix(secret, privatePrefix)
	if !private {
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	return raw, err == nil && len(raw) == ed25519.PrivateKeySize
}

// Sign is the signature with one secret: an HMAC-SHA256, or the signature of a private key, over the id, the moment of
// the attempt in seconds and the body, joined by full stops. A receiver that compares the moment with its clock is safe
// from replayed messages.
func Sign(secret, id string, at time.Time, body []byte) string {
	signed := append([]byte(id+"."+strconv.FormatInt(at.Unix(), 10)+"."), body...)
	if key, private := privateKey(secret); private {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return "" // no valid secret; the others sign
	}
	h := hmac.New(sha256.New, key)
	h.Write(signed)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// signed writes the headers of Standard Webhooks: one signature for each valid secret, so that a receiver can change to
// a new one without a gap.
func signed(h http.Header, m *webhook.Message) {
	var all []string
	for _, secret := range m.Secrets {
		if s := Sign(secret, m.ID, m.At, m.Body); s != "" {
			all = append(all, s)
		}
	}

	h.Set("webhook-id", m.ID)
	h.Set("webhook-timestamp", strconv.FormatInt(m.At.Unix(), 10))
	h.Set("webhook-signature", strings.Join(all, " "))
	h.Set("traceparent", cmp.Or(m.Trace, traceOf(m.ID)))
	h.Del("tracestate")
	h.Del("webhook-replay")
	if m.Replay {
		h.Set("webhook-replay", "1")
	}
}
