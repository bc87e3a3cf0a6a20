package loyalty

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
)

// KeySize is the length of a customer's key in bytes (AES-256).
const KeySize = 32

// Reseal opens a text with one customer's key and seals it under another's, bound to a row.
func Reseal(from, to, sealed []byte, was, is ID) ([]byte, error) {
	if sealed == nil || from == nil || to == nil {
		return nil, nil
	}
	plain, err := Open(from, was[:], sealed)
	if err != nil {
		return nil, err
	}
	return Seal(to, is[:], plain)
}

// OpenAttributes reads the personal attributes of a row. They were sealed for that row alone and do not open in another
// one.
func OpenAttributes(key, sealed []byte, row ID) (personal map[string]json.RawMessage, err error) {
	plain, err := Open(key, row[:], sealed)
	if err == nil {
		personal, err = Members(plain)
	}
	return personal, err
}

// NewCustomerKey makes a customer's key.
func NewCustomerKey() []byte {
	key := make([]byte, KeySize)
	if _, err := rand.Read(key); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return key
}

// Seal encrypts under a customer's key (AES-256-GCM, random nonce in front). bound is the row that the text belongs to;
// in another row it does not open.
func Seal(key, bound, plain []byte) ([]byte, error) {
	gcm, err := aead(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, gcm.NonceSize(), gcm.NonceSize()+len(plain)+gcm.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return gcm.Seal(nonce, nonce, plain, bound), nil
}

// Open decrypts what Seal made. It fails without the key, with another key, or if a byte was changed.
func Open(key, bound, sealed []byte) ([]byte, error) {
	gcm, err := aead(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < gcm.NonceSize() {
		return nil, errors.New("sealed text too short")
	}
	return gcm.Open(nil, sealed[:gcm.NonceSize()], sealed[gcm.NonceSize():], bound)
}

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
