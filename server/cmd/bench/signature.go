package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/signing"
)

// signatureTime is how long a round measures the verification of a signed POST, and how long the unavoidable hashing.
const signatureTime = 100 * time.Millisecond

// measureSignature repeats one operation on one signed request for a while, in this program.
func measureSignature(size int, do func(*signing.Verifier, signing.Incoming) (func() error, error)) (sample, error) {
	v, in, err := signed(size)
	if err != nil {
		return sample{}, err
	}

	once, err := do(v, in)
	if err != nil {
		return sample{}, err
	}

	const block = 50
	var blocks []float64
	for began := time.Now(); time.Since(began) < signatureTime || len(blocks) == 0; {
		from := time.Now()
		for range block {
			if err := once(); err != nil {
				return sample{}, err
			}
		}
		blocks = append(blocks, time.Since(from).Seconds()/block)
	}

	one := median(blocks)
	return sample{rate: 1 / one, p50: 1e3 * one, client: 1e6 * one}, nil
}

// benchSecret is only used here.
const benchSecret = "s3cr3t-of-the-loyalty-client"

// signed is a POST /events as a server receives it.
func signed(size int) (*signing.Verifier, signing.Incoming, error) {
	scheme, body := signing.Default(naiveRegion), bytes.Repeat([]byte("x"), size)
	r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/events", nil)
	if err != nil {
		return nil, signing.Incoming{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if err := scheme.Sign(r, body, signing.Credential{KeyID: naiveKey, Secret: benchSecret}, "content-type"); err != nil {
		return nil, signing.Incoming{}, err
	}
	v, err := signing.NewVerifier(scheme)
	return v, signing.FromRequest(r, body), err
}

func verifyingOf(v *signing.Verifier, in signing.Incoming) (func() error, error) {
	secrets := []string{benchSecret}
	lookup := func(id string) ([]string, bool) { return secrets, id == naiveKey }
	return func() error { _, err := v.Verify(in, lookup); return err }, nil
}

// hashingOf is the work that no verifier can avoid: the hash of the body, the hash of the canonical request, and one
// HMAC with a derived key, without allocations.
func hashingOf(v *signing.Verifier, in signing.Incoming) (func() error, error) {
	attempts, err := v.Explain(in)
	if err != nil {
		return nil, err
	}

	canonical, text := []byte(attempts[0].CanonicalRequest), []byte(attempts[0].StringToSign)
	key := sha256.Sum256([]byte("any key of this length"))
	mac, out := hmac.New(sha256.New, key[:]), make([]byte, 0, sha256.Size)
	return func() error {
		sum := sha256.Sum256(in.Body)
		copy(canonical, sum[:])
		sum = sha256.Sum256(canonical)
		copy(text, sum[:])
		mac.Reset()
		mac.Write(text)
		out = mac.Sum(out[:0])
		return nil
	}, nil
}
