package signing

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A client sends the same Authorization header all day but for the signature, and many requests in one second. What was
// found of a header whose signature was good, and of a date, is kept, so that it is not found again. Nothing is kept of a
// request that was refused.

const (
	manyShapes   = 1024 // kept in each of the two generations
	longestShape = 512  // octets of a header that is kept
	signatureLen = 64
)

// shape is an Authorization header without its signature, read and checked.
type shape struct {
	auth   authorization // without the signature
	names  []string      // the signed headers, sorted
	keys   []string      // the same as in http.Header
	signed string        // the names, joined
	key    atomic.Pointer[secretKey]
}

// secretKey is the derived key of a secret on the shape's day.
type secretKey struct {
	secret string
	key    *signingKey
}

// shapes are those of recent use: as with keys, the old generation is dropped when the young one is full.
type shapes struct {
	mu         sync.RWMutex
	young, old map[string]*shape
}

// cutSignature parts a header from the signature at its end.
func cutSignature(header string) (before, signature string, ok bool) {
	n := len(header) - signatureLen
	if n <= 0 || n > longestShape {
		return "", "", false
	}
	return header[:n], header[n:], true
}

func (s *shapes) get(before string) *shape {
	s.mu.RLock()
	found := s.young[before]
	if found == nil {
		found = s.old[before]
	}
	s.mu.RUnlock()
	return found
}

func (s *shapes) put(before string, found *shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= manyShapes {
		s.old, s.young = s.young, map[string]*shape{}
	}
	s.young[before] = found
}

// recall takes what is known of the header; false: nothing is.
func (v *Verifier) recall(w *work) bool {
	before, signature, ok := cutSignature(w.authorizations[0])
	if !ok {
		return false
	}
	found := v.shapes.get(before)
	if found == nil || !decodeLower(&w.want, signature) {
		return false
	}
	w.shape, w.auth, w.signed = found, found.auth, found.signed
	w.auth.signature = signature
	w.names = append(w.names, found.names...)
	return true
}

// learn keeps what a request whose signature is good tells of those to come.
func (v *Verifier) learn(w *work, at time.Time) {
	if last := v.date.Load(); last == nil || at.After(last.at) { // not for each of a client whose clock is behind
		v.date.Store(&datedText{strings.Clone(w.dates[0]), w.stamp, at})
	}
	before, _, ok := cutSignature(w.authorizations[0])
	if !ok || w.shape != nil {
		return
	}
	header := strings.Clone(w.authorizations[0]) // apart from the request's memory
	found := new(shape)
	if found.auth, _ = parseAuthorization(header, new([signatureLen / 2]byte)); len(found.auth.signature) != signatureLen {
		return
	}
	found.auth.signature, found.signed = "", strings.Clone(w.signed)
	for rest, more := found.signed, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, ";")
		found.names, found.keys = append(found.names, name), append(found.keys, mimeKey(make([]byte, len(name)), name))
	}
	v.shapes.put(header[:len(before)], found)
}

// datedText is a date header, read.
type datedText struct {
	text  string
	stamp stamp
	at    time.Time
}

// readDate is parseDate that remembers the latest date.
func (v *Verifier) readDate(text string) (stamp, time.Time, bool) {
	if last := v.date.Load(); last != nil && last.text == text {
		return last.stamp, last.at, true
	}
	return parseDate(trim(text))
}
