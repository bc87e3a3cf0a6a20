package user

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Bounds of a password, in characters and bytes. Length is the only rule, because
// demanding certain kinds of characters does not make passwords harder to guess.
const (
	leastPassword = 10
	mostPassword  = 1024
)

// cost is what computing a hash takes: memory in KiB, passes and lanes. A hash that was made at
// another cost is replaced at the next successful sign-in.
type cost struct {
	memory, passes uint32
	lanes          uint8
}

// present is what OWASP's cheat sheet on storing passwords recommends. With more, a flood of sign-ins would cost the
// server more than its sender.
var present = cost{memory: 19 << 10, passes: 2, lanes: 1}

const (
	saltSize = 16
	hashSize = 32
)

// hasher makes Argon2id hashes within bounds of memory and time; see room.
type hasher struct {
	cost  cost
	room  *room
	dummy string // hash of no password: an unknown login costs the same work
}

func newHasher(c cost) *hasher {
	h := &hasher{cost: c, room: newRoom()}
	h.dummy = h.encode(make([]byte, saltSize), make([]byte, hashSize))
	return h
}

// checkPassword returns an error unless a password is acceptable.
func checkPassword(password string) error {
	switch {
	case !utf8.ValidString(password) || utf8.RuneCountInString(password) < leastPassword:
		return loyalty.ErrPasswordWeak.With("limit", leastPassword).At("password")
	case len(password) > mostPassword:
		return loyalty.ErrPasswordLong.With("limit", mostPassword).At("password")
	}
	return nil
}

// hash makes the stored form of a password, in PHC format.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails: crypto/rand ends the program instead
	made, err := h.derive(ctx, password, salt, h.cost)
	return h.encode(salt, made), err
}

func (h *hasher) encode(salt, made []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.memory, h.cost.passes, h.cost.lanes,
		b.EncodeToString(salt), b.EncodeToString(made))
}

// matches compares a password with its stored form. If nothing is stored it does the same work and returns false, so
// that the time does not reveal which users have passwords. stale says that the hash was made at another cost than
// today's.
func (h *hasher) matches(ctx context.Context, password, kept string) (ok, stale bool, err error) {
	known := kept != ""
	if !known {
		kept = h.dummy
	}
	c, salt, want, err := decode(kept)
	if err != nil || len(password) > mostPassword {
		return false, false, err
	}
	made, err := h.derive(ctx, password, salt, c)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(made, want) == 1 && known, c != h.cost, nil
}

func (h *hasher) derive(ctx context.Context, password string, salt []byte, c cost) (made []byte, err error) {
	err = h.room.use(ctx, int64(c.memory)<<10, func() {
		made = argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.lanes, hashSize)
	})
	return made, err
}

func decode(kept string) (c cost, salt, made []byte, err error) {
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, fmt.Errorf("a password is not kept as Argon2id")
	}
	if _, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.lanes); err != nil {
		return c, nil, nil, fmt.Errorf("the cost of a password: %w", err)
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, nil, nil, fmt.Errorf("the salt of a password: %w", err)
	}
	if made, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return c, nil, nil, fmt.Errorf("the hash of a password: %w", err)
	}

	return c, salt, made, nil
}
