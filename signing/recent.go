package signing

import (
	"encoding/binary"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A client's Authorization header stays the same all day except for the signature, and many requests carry the same
// date. The verifier therefore caches the parsed form of headers and of the latest date. Only requests with a good
// signature enter the cache.

const (
	manyShapes    = 1024 // in each of the two generations
	manyPlaces    = 64
	longestShape  = 512 // octets of a cached header
	longestTarget = 64  // octets of a cached target
	signatureLen  = 64
)

// shape is an Authorization header without its signature, read and checked.
type shape struct {
	before string        // the header up to its signature
	auth   authorization // without the signature
	names  []string      // the same, as keys of http.Header
	keys   []string      // the same as in http.Header
	signed string        // the names, joined
	key    atomic.Pointer[secretKey]
	common atomic.Pointer[common]
}

// targets are recently used targets without a query and with a path that needs no cleaning, by their length. Most
// writes go to few paths.
type targets [16]atomic.Pointer[string]

func (t *targets) has(text string) bool {
	found := t[len(text)%len(t)].Load()
	return found != nil && *found == text
}

// learn caches the target of a write. Targets of reads contain customers' ids and would rarely repeat.
func (t *targets) learn(w *work) {
	if w.plain || w.hasQuery || w.in.Method != http.MethodPost || len(w.in.Target) > longestTarget ||
		w.path != w.in.Target || needsCleaning(w.path) {
		return
	}
	text := strings.Clone(w.in.Target)
	t[len(text)%len(t)].Store(&text)
}

// secretKey is the derived key of a secret on the shape's day.
type secretKey struct {
	secret string
	key    *signingKey
}

// shapes are recently used shapes. As with keys, the old generation is dropped when the young one is full.
type shapes struct {
	places     [manyPlaces]atomic.Pointer[shape] // the latest of each place, read without a lock
	mu         sync.RWMutex
	young, old map[string]*shape
}

// cutSignature splits a header from the signature at its end.
func cutSignature(header string) (before, signature string, ok bool) {
	n := len(header) - signatureLen
	if n <= 0 || n > longestShape {
		return "", "", false
	}
	return header[:n], header[n:], true
}

// place is where a header is looked up first, without a lock. Headers differ in their key ids, which begin at the
// same octet in all of them. Headers whose ids begin alike share a place; the map finds them by the whole header.
func (s *shapes) place(before string, keyAt int) *atomic.Pointer[shape] {
	var mixed uint64
	if len(before) >= keyAt+8 {
		mixed = binary.LittleEndian.Uint64([]byte(before[keyAt : keyAt+8]))
	}
	return &s.places[(mixed+uint64(len(before)))*0x9E3779B97F4A7C15>>58]
}

func (s *shapes) get(before string, keyAt int) *shape {
	place := s.place(before, keyAt)
	if found := place.Load(); found != nil && found.before == before {
		return found
	}
	found := s.find(before)
	if found != nil {
		place.Store(found)
	}
	return found
}

func (s *shapes) find(before string) *shape {
	s.mu.RLock()
	found := s.young[before]
	if found == nil {
		found = s.old[before]
	}
	s.mu.RUnlock()
	return found
}

func (s *shapes) put(found *shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= manyShapes {
		s.old, s.young = s.young, map[string]*shape{}
	}
	s.young[found.before] = found
}

// recall takes the cached form of the header; false: there is none.
func (v *Verifier) recall(w *work) bool {
	before, signature, ok := cutSignature(w.authorizations[0])
	if !ok {
		return false
	}
	found := v.shapes.get(before, len(v.algorithm)+len(" Credential="))
	if found == nil || !decodeLower(&w.want, signature) {
		return false
	}
	w.shape, w.auth, w.signed, w.names = found, found.auth, found.signed, found.names
	w.auth.signature = signature
	return true
}

// learn caches what later requests can share with a request whose signature is good.
func (v *Verifier) learn(w *work, at time.Time) {
	// Only newer dates enter: a client whose clock is behind would replace the entry with each request.
	if last := v.date.Load(); last == nil || at.After(last.at) {
		v.date.Store(&datedText{strings.Clone(w.dates[0]), w.date, at})
	}

	v.targets.learn(w)
	if w.shape != nil {
		v.learnCommon(w, at)
		return
	}

	before, _, ok := cutSignature(w.authorizations[0])
	if !ok {
		return
	}

	header := strings.Clone(w.authorizations[0]) // separate from the request's memory
	found := new(shape)
	if found.auth, _ = parseAuthorization(header, new([signatureLen / 2]byte)); len(found.auth.signature) != signatureLen {
		return
	}

	found.before = header[:len(before)]
	found.auth.signature, found.signed = "", strings.Clone(w.signed)
	for rest, more := found.signed, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, ";")
		found.names, found.keys = append(found.names, name), append(found.keys, mimeKey(make([]byte, len(name)), name))
	}

	v.shapes.put(found)
}

// datedText is a date header, read.
type datedText struct {
	text      string
	condensed [len(condensed)]byte
	at        time.Time
}

// readDate is parseDate with a cache of the latest date.
func (v *Verifier) readDate(text string) ([len(condensed)]byte, time.Time, bool) {
	if last := v.date.Load(); last != nil && last.text == text {
		return last.condensed, last.at, true
	}
	d, at, ok := parseDate(trim(text))
	return d.condensed(), at, ok
}
