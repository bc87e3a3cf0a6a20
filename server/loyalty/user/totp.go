package user

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // required by RFC 6238, as authenticator apps implement it
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The second factor is TOTP (RFC 6238) as every authenticator app implements it: SHA-1, six digits,
// a new code each 30 seconds.
const (
	step       = 30 * time.Second
	digits     = 1_000_000
	secretSize = 20
	drift      = 1 // steps that a clock may be off, in either direction
)

var secretText = base32.StdEncoding.WithPadding(base32.NoPadding)

func stepAt(t time.Time) int64 { return t.Unix() / int64(step/time.Second) }

// codeAt returns the code of a step.
func codeAt(secret []byte, at int64) string {
	mac := hmac.New(sha1.New, secret)
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at))
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[offset:])&0x7fffffff%digits)
}

// stepOf returns the step of a code, which must be later than the last one that was used, so that a
// code works once; ok is false if the code is wrong, expired or used.
func stepOf(secret []byte, code string, now time.Time, last int64) (int64, bool) {
	code = strings.ReplaceAll(code, " ", "")
	found, ok := int64(0), false
	for at := stepAt(now) - drift; at <= stepAt(now)+drift; at++ {
		if subtle.ConstantTimeCompare([]byte(codeAt(secret, at)), []byte(code)) == 1 && at > last {
			found, ok = at, true
		}
	}
	return found, ok
}

func newSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret)
	return secret
}

// enrolment is the URL that authenticator apps read.
func enrolment(secret []byte, login string) string {
	q := url.Values{"secret": {secretText.EncodeToString(secret)}, "issuer": {"Loyalty"}}
	return "otpauth://totp/Loyalty:" + url.PathEscape(login) + "?" + q.Encode()
}

// newRecovery makes ten codes of 80 bits, each valid once in place of a second factor, and their
// stored form.
func newRecovery() (codes, hashes []string) {
	for range 10 {
		random := make([]byte, 10)
		_, _ = rand.Read(random)
		text := strings.ToLower(secretText.EncodeToString(random))
		codes = append(codes, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
		hashes = append(hashes, recoveryHash(text))
	}
	return codes, hashes
}

func recoveryHash(code string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))))
	return hex.EncodeToString(sum[:])
}

// CodeAt returns what an authenticator app shows for a secret, as it is written, at an instant.
func CodeAt(secret string, at time.Time) (string, error) {
	raw, err := secretText.DecodeString(secret)
	return codeAt(raw, stepAt(at)), err
}
