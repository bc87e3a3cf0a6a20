package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"strings"
	"sync"
)

// cacheSize is the number of derived keys kept in each of the two generations.
const cacheSize = 4096

// keyring derives signing keys (step 3) and keeps those of recent use. When the young generation is full it becomes the
// old one and the former old one is dropped, so the memory is bounded and keys in use stay.
type keyring struct {
	prefix string
	scope  []string
	newMAC func(key []byte) hash.Hash

	mu         sync.RWMutex
	young, old map[keyRef]*signingKey
}

type keyRef struct{ secret, day string }

// signingKey is a derived key as a pool of HMACs that have its padding hashed already.
type signingKey struct{ macs sync.Pool }

func newKeyring(s Scheme) *keyring {
	return &keyring{
		prefix: s.AlgorithmPrefix,
		scope:  strings.Split(s.Scope, "/"),
		newMAC: func(key []byte) hash.Hash { return hmac.New(sha256.New, key) },
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
	newMAC := k.newMAC
	return &signingKey{sync.Pool{New: func() any { return newMAC(sum) }}}
}

func (k *keyring) step(key []byte, data string) []byte {
	mac := k.newMAC(key)
	mac.Write([]byte(data))
	return mac.Sum(nil)
}

// sign appends the signature of a string to sign as 32 octets.
func (k *signingKey) sign(dst, text []byte) []byte {
	mac := k.macs.Get().(hash.Hash)
	mac.Reset()
	mac.Write(text)
	dst = mac.Sum(dst)
	k.macs.Put(mac)
	return dst
}

// sumOf sets the signature of the string to sign. The HMAC stays with the work, which mostly is of the same key next time.
func (k *signingKey) sumOf(w *work) {
	if w.macOf != k {
		if w.macOf != nil {
			w.macOf.macs.Put(w.mac)
		}
		w.macOf, w.mac = k, k.macs.Get().(hash.Hash)
	}
	w.mac.Reset()
	w.mac.Write(w.text)
	w.sum = w.mac.Sum(w.sum[:0])
}
