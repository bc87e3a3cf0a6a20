package signing

import (
	"crypto/hmac"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"time"
)

// minTried is the number of secrets that every refused request is compared with: the two of a key in rotation. A
// dummy secret fills in for a key that has fewer or is unknown, so that the work tells nothing about the key.
const minTried = 2

// Lookup gives the secrets valid now for an access key id; during a rotation these are several. It answers false for an
// unknown, revoked or expired key. keyID shares memory with the request: clone it to keep it.
type Lookup func(keyID string) (secrets []string, ok bool)

// Verified is what a good signature proves.
type Verified struct {
	// KeyID is the access key that signed.
	KeyID string
	// Secret is the index of the matching secret in the list of Lookup, so that use of an old secret can be shown.
	Secret int
	// Time is the date of the request, UTC.
	Time time.Time
	// Signature is the 64 hex digits; with KeyID it identifies the request for a replay guard.
	Signature string
	// SignedHeaders are the names of the headers that the signature covers, in lower case and joined with semicolons.
	// Any other header may have been changed on the way. They share memory with the request.
	SignedHeaders string
}

// Verifier checks signed requests. It is safe for concurrent use; make one per scheme and keep it, because it caches
// the derived keys.
type Verifier struct {
	scheme             Scheme
	algorithm          string
	dateName, authName string // lower case
	dateKey, authKey   string // as in http.Header
	now                func() time.Time
	keys               *keyring
	shapes             shapes
	targets            targets
	date               atomic.Pointer[datedText]
	dummy              string
}

type triedKey struct {
	key  *signingKey
	real bool
}

// NewVerifier makes the verifier of a scheme, or says which field of the scheme cannot be used.
func NewVerifier(s Scheme) (*Verifier, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}

	v := &Verifier{
		scheme:    s,
		algorithm: s.algorithm(),
		dateName:  strings.ToLower(s.DateHeader),
		authName:  strings.ToLower(s.AuthHeader),
		now:       s.clock(),
		keys:      newKeyring(s),
		dummy:     rand.Text(),
	}

	v.dateKey = mimeKey(make([]byte, len(v.dateName)), v.dateName)
	v.authKey = mimeKey(make([]byte, len(v.authName)), v.authName)
	return v, nil
}

// Verify checks the signature of a request. The checks come in this order: size and target, grammar of the header,
// algorithm, scope, date, window, signed headers, key, signature. It answers *RequestError (400) for a request that
// cannot be judged, *Error (401) for a refused one. It calls lookup once, and only after all checks before the key
// have passed.
//
// Dot segments and empty segments of the path do not change the verdict: serve only what IsClean accepts.
func (v *Verifier) Verify(in Incoming, lookup Lookup) (Verified, error) {
	claim, err := v.Claim(in)
	if err != nil {
		return Verified{}, err
	}
	secrets, ok := lookup(claim.KeyID())
	if !ok {
		secrets = nil
	}
	return claim.Verify(in.Body, secrets)
}

// match tries the forms and the secrets and gives the index of the secret that matched, or -1.
func (v *Verifier) match(w *work, secrets []string) int {
	w.first()
	matched := v.try(w, secrets)
	if matched >= 0 {
		w.matched = w.keys[matched].key
		return matched
	}

	w.common = nil // common belongs to the first form only
	seen := false
	w.each(v.scheme.LegacyPlus, func() bool {
		if !seen { // the first form was tried above
			seen = true
			return true
		}
		matched = v.try(w, secrets)
		return matched < 0
	})

	if matched < 0 {
		for ; w.cold < minTried; w.cold++ {
			v.keys.derive(v.dummy, w.auth.day)
		}
	}

	return matched
}

// try compares the signature of the current canonical request under every secret, and under the dummy for lack of
// them.
func (v *Verifier) try(w *work, secrets []string) int {
	w.hashCanonical()
	for i := range max(len(secrets), minTried) {
		if i == len(w.keys) {
			w.keys = append(w.keys, v.key(w, secrets, i))
		}
		w.setSum(v, w.keys[i].key)
		if hmac.Equal(w.sum, w.want[:]) && w.keys[i].real {
			return i
		}
	}
	return -1
}

// key gives the derived key of a secret. An empty secret counts as none, because any caller could sign with it.
func (v *Verifier) key(w *work, secrets []string, i int) triedKey {
	secret, valid := v.dummy, false
	if i < len(secrets) && secrets[i] != "" {
		secret, valid = secrets[i], true
	}

	if w.shape != nil && valid {
		if known := w.shape.key.Load(); known != nil && known.secret == secret {
			return triedKey{known.key, true}
		}
	}

	key, derived := v.keys.get(secret, w.auth.day)
	if derived {
		w.cold++
	}
	if w.shape != nil && valid {
		w.shape.key.Store(&secretKey{secret, key})
	}

	return triedKey{key, valid}
}
