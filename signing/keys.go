package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"hash"
	"strings"
	"sync"
	"sync/atomic"
)

// cacheSize is the number of derived keys kept in each of the two generations.
const cacheSize = 4096

// keyring derives signing keys (step 3) and caches recently used ones. When the young generation is full it becomes
// the old one and the previous old one is dropped: memory is bounded and keys in use stay.
type keyring struct {
	prefix string
	scope  []string
	macs   *atomic.Int64 // counts completed HMACs; nil: no count

	mu         sync.RWMutex
	young, old map[keyRef]*signingKey
}

type keyRef struct{ secret, day string }

// signingKey is a derived key, kept as the states of SHA-256 after its two paddings, with which each HMAC under it
// begins.
type signingKey struct {
	inner, outer []byte
	macs         *atomic.Int64
}

func newKeyring(s Scheme) *keyring {
	return &keyring{
		prefix: s.AlgorithmPrefix,
		scope:  strings.Split(s.Scope, "/"),
		young:  make(map[keyRef]*signingKey),
	}
}

// get gives the key of a secret for a day (YYYYMMDD) and tells whether it had to be derived.
func (k *keyring) get(secret, day string) (key *signingKey, derived bool) {
	ref := keyRef{secret, day}
	k.mu.RLock()
	key, recent := k.young[ref]
	if key == nil {
		key = k.old[ref]
	}

	k.mu.RUnlock()
	if recent {
		return key, false
	}
	if key == nil {
		key, derived = k.derive(secret, day), true
	}

	k.put(keyRef{secret, strings.Clone(day)}, key)
	return key, derived
}

func (k *keyring) put(ref keyRef, key *signingKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.young) >= cacheSize {
		k.old, k.young = k.young, make(map[keyRef]*signingKey)
	}
	k.young[ref] = key
}

// derive is step 3: the chain of HMACs over day, region, service and terminator.
func (k *keyring) derive(secret, day string) *signingKey {
	sum := k.step([]byte(k.prefix+secret), day)
	for _, part := range k.scope {
		sum = k.step(sum, part)
	}
	return newSigningKey([sha256.Size]byte(sum), k.macs)
}

func (k *keyring) step(key []byte, data string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(data))
	count(k.macs)
	return mac.Sum(nil)
}

func newSigningKey(key [sha256.Size]byte, macs *atomic.Int64) *signingKey {
	padding := func(octet byte) []byte { // RFC 2104, for a key that is shorter than a block
		var block [sha256.BlockSize]byte
		copy(block[:], key[:])
		for i := range block {
			block[i] ^= octet
		}
		return block[:]
	}
	d := newDigest()
	return &signingKey{d.behind(nil, padding(0x36)), d.behind(nil, padding(0x5c)), macs}
}

// sign is the signature of a string to sign.
func (k *signingKey) sign(text []byte) []byte { return k.sum(newDigest(), nil, k.inner, text) }

// sum is the HMAC of a text whose beginning is already hashed: state is the state after that beginning, rest is the
// remainder. crypto/hmac gives the same result for a whole text, but cannot resume after a prefix that many texts
// share.
func (k *signingKey) sum(d digest, dst, state, rest []byte) []byte {
	count(k.macs)
	dst = d.from(state, rest, dst)
	inner := dst[len(dst)-sha256.Size:]
	return d.from(k.outer, inner, dst[:len(dst)-sha256.Size])
}

func count(macs *atomic.Int64) {
	if macs != nil {
		macs.Add(1)
	}
}

// digest is a SHA-256 that can resume from a saved state.
type digest struct {
	hash.Hash
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

func newDigest() digest {
	h := sha256.New()
	return digest{h, h.(encoding.BinaryMarshaler), h.(encoding.BinaryUnmarshaler)}
}

// behind gives the state after a text that continues from a state; a nil state is the start of a text.
func (d digest) behind(state, text []byte) []byte {
	d.restore(state)
	d.Write(text)
	after, err := d.MarshalBinary()
	if err != nil {
		panic(err) // SHA-256 always can
	}
	return after
}

// from appends the hash of a text that continues from a state.
func (d digest) from(state, rest, dst []byte) []byte {
	d.restore(state)
	d.Write(rest)
	return d.Sum(dst)
}

func (d digest) restore(state []byte) {
	if state == nil {
		d.Reset()
		return
	}
	if err := d.UnmarshalBinary(state); err != nil {
		panic(err) // the state comes from behind, so it is valid
	}
}
