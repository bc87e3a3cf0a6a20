package user

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCodes: the codes are those of RFC 6238, appendix B, to six digits; one works once,
// and a step to either side of the clock.
func TestCodes(t *testing.T) {
	secret := []byte("12345678901234567890")
	for unix, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		now := time.Unix(unix, 0)
		require.Equal(t, code, codeAt(secret, stepAt(now)), unix)
		for _, off := range []time.Duration{-step, 0, step} {
			at, ok := stepOf(secret, code, now.Add(off), 0)
			require.True(t, ok, "%d %s", unix, off)
			require.Equal(t, stepAt(now), at)
			_, ok = stepOf(secret, code, now.Add(off), at)
			require.False(t, ok, "a code works once")
		}
		_, ok := stepOf(secret, code, now.Add(2*step), 0)
		require.False(t, ok, "two steps are too far")
	}

	_, ok := stepOf(secret, "", time.Unix(59, 0), 0)
	require.False(t, ok)
}

// TestPasswords: what is kept of a password opens with it alone, and is made anew when
// the cost rises.
func TestPasswords(t *testing.T) {
	ctx := t.Context()
	cheap := newHasher(cost{memory: 64, passes: 1, lanes: 1})
	kept, err := cheap.hash(ctx, "correct horse")
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, kept)
	again, err := cheap.hash(ctx, "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, kept, again, "the salt differs")
	for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false} {
		ok, stale, err := cheap.matches(ctx, password, kept)
		require.NoError(t, err)
		require.Equal(t, want, ok, password)
		require.False(t, stale)
	}

	ok, _, err := cheap.matches(ctx, "", "")
	require.NoError(t, err)
	require.False(t, ok, "no password opens nothing")
	ok, stale, err := newHasher(cost{memory: 128, passes: 1, lanes: 1}).matches(ctx, "correct horse", kept)
	require.NoError(t, err)
	require.True(t, ok && stale)
	for _, bad := range []string{"x", "$argon2i$v=19$m=64,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=x$AAAA$AAAA"} {
		_, _, err := cheap.matches(ctx, "x", bad)
		require.Error(t, err, bad)
	}

	require.Error(t, checkPassword("short"))
	require.NoError(t, checkPassword("long enough"))
}
