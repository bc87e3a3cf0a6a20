package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
)

// keyVersion is the first byte of every sealed value, so that a later master key or cipher can exist beside this one.
const keyVersion = 1

// errSealed says that a sealed value cannot be opened: it was sealed with another master key, or
// the row was tampered with.
var errSealed = errors.New("a sealed value does not open: LOYALTY_MASTER_KEY is not the key it was sealed with, or the row was changed")

// sealer seals values under the master key with AES-256-GCM. Each value is bound to the row it belongs to, so that it
// cannot be moved to another. While the master key is being changed there is an old one too, which only opens.
type sealer struct {
	aead   cipher.AEAD
	old    cipher.AEAD // nil: there is none
	names  *namesKey
	prints []string // fingerprints of the master keys
}

// namesKey is the key for hashing names. It is the same on all nodes, whatever master key they seal with: see
// loadNames.
type namesKey struct {
	now     atomic.Pointer[[]byte]
	derived [][]byte // from the master key, and from the old one
	// old says that the database still needs the old master key, because some values are sealed under it.
	old atomic.Bool
}

func newSealer(master [32]byte, old ...[32]byte) (sealer, error) {
	s := sealer{names: &namesKey{}}
	for _, key := range append([][32]byte{master}, old...) {
		block, err := aes.NewCipher(key[:])
		if err != nil {
			return s, err
		}

		aead, err := cipher.NewGCM(block)
		if err != nil {
			return s, err
		}

		if s.aead == nil {
			s.aead = aead
		} else {
			s.old = aead
		}

		s.names.derived = append(s.names.derived, derive(key, "names"))
		s.prints = append(s.prints, MasterKeyFingerprint(key))
	}

	s.names.now.Store(&s.names.derived[0])
	return s, nil
}

// fingerprintSize is how many bytes identify a master key. They do not help to guess it.
const fingerprintSize = 8

// MasterKeyFingerprint identifies a master key in manifests of archives and backups without
// revealing it.
func MasterKeyFingerprint(master [32]byte) string {
	return hex.EncodeToString(derive(master, "fingerprint")[:fingerprintSize])
}

// KnowsMasterKeys reports whether some keys open everything that was sealed under the keys of a MasterKeyFingerprint.
func KnowsMasterKeys(fingerprint string, keys ...[32]byte) bool {
	for part := range strings.SplitSeq(fingerprint, "+") {
		if !slices.ContainsFunc(keys, func(key [32]byte) bool { return MasterKeyFingerprint(key) == part }) {
			return false
		}
	}
	return true
}

// derive makes another key from the master key.
func derive(master [32]byte, purpose string) []byte {
	h := hmac.New(sha256.New, master[:])
	h.Write([]byte(purpose))
	return h.Sum(nil)
}

// hash makes the search key of a row whose name must be neither readable nor guessable by trying names: only the
// master key can compute it.
func (s sealer) hash(row []byte) string {
	h := hmac.New(sha256.New, *s.names.now.Load())
	h.Write(row)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// seal returns version, nonce and ciphertext. row is the table's name and the row's key, in the form of rowID.
func (s sealer) seal(row, plain []byte) []byte {
	size := s.aead.NonceSize()
	out := make([]byte, 1+size, 1+size+len(plain)+s.aead.Overhead())
	out[0] = keyVersion
	if _, err := rand.Read(out[1:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return s.aead.Seal(out, out[1:1+size], plain, row)
}

// open returns the value that was sealed for the row, or errSealed.
func (s sealer) open(row, sealed []byte) ([]byte, error) {
	plain, _, err := s.openBy(row, sealed)
	return plain, err
}

// openBy is open, and reports whether the old master key opened the value.
func (s sealer) openBy(row, sealed []byte) (plain []byte, old bool, err error) {
	size := s.aead.NonceSize()
	if len(sealed) < 1+size || sealed[0] != keyVersion {
		return nil, false, errSealed
	}
	if plain, err = s.aead.Open(nil, sealed[1:1+size], sealed[1+size:], row); err == nil {
		return plain, false, nil
	}
	if s.old != nil {
		if plain, err = s.old.Open(nil, sealed[1:1+size], sealed[1+size:], row); err == nil {
			return plain, true, nil
		}
	}
	return nil, false, errSealed
}

// rowID names a row for seal: the table and the parts of its key, each ended by a zero byte, so that different keys
// give different names.
func rowID(table string, key ...string) []byte {
	size := len(table) + 1
	for _, k := range key {
		size += len(k) + 1
	}
	id := append(append(make([]byte, 0, size), table...), 0)
	for _, k := range key {
		id = append(append(id, k...), 0)
	}
	return id
}

// secretID binds a sealed secret to its key.
func secretID(key string, id UUID) []byte { return rowID("key_secrets", key, string(id[:])) }
