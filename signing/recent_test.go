package signing

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Hex is read and written by words: each octet at each place, against the library.
func TestHexByWords(t *testing.T) {
	var hash, read [32]byte
	for i := range hash {
		hash[i] = byte(i*37 + 11)
	}

	good := hex.EncodeToString(hash[:])
	for at := range len(good) {
		for c := range 256 {
			text := []byte(good)
			text[at] = byte(c)
			lower := strings.IndexByte("0123456789abcdef", byte(c)) >= 0
			require.Equal(t, lower, decodeLower(&read, string(text)), "%q at %d", byte(c), at)
			if lower {
				want, err := hex.DecodeString(string(text))
				require.NoError(t, err)
				require.Equal(t, want, read[:])
			}
		}
	}

	for c := range 256 {
		hash[c%len(hash)] = byte(c)
		require.Equal(t, hex.EncodeToString(hash[:]), string(appendHex(nil, &hash)))
	}
}

// Keys whose ids begin alike share a place among the headers that are remembered, and paths of one length among the targets:
// each request is judged by what it says, however often another one of its place was taken.
func TestRememberedByPlace(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	scheme := Default("eu")
	scheme.Now = func() time.Time { return at }
	v, err := NewVerifier(scheme)
	require.NoError(t, err)
	lookup := func(id string) ([]string, bool) { return []string{"secret of " + id}, true }
	signed := func(key, target string) Incoming {
		r, err := http.NewRequest(http.MethodPost, "https://api.example.com"+target, nil)
		require.NoError(t, err)
		require.NoError(t, scheme.Sign(r, []byte("body"), Credential{KeyID: key, Secret: "secret of " + key}))
		return FromRequest(r, []byte("body"))
	}

	for round := range 3 {
		for key := range 5 {
			for _, target := range []string{"/events", "/entity", "/a//bcd", "/a/./bc", "/a?b=cd", "/a%2Fb!"} {
				id := fmt.Sprintf("same-beginning-%d", key)
				in := signed(id, target)
				got, err := v.Verify(in, lookup)
				require.NoError(t, err, "round %d, %s of %s", round, target, id)
				require.Equal(t, id, got.KeyID)
				for _, other := range []string{"/eventz", "/a?b=cx", "/a/../bc"} {
					changed := in
					changed.Target = other
					_, err = v.Verify(changed, lookup)
					require.Error(t, err, "%s signed as %s", other, target)
				}

				broken := in
				broken.Target = in.Target[:len(in.Target)-1] + " "
				_, err = v.Verify(broken, lookup)
				require.ErrorAs(t, err, new(*RequestError))
			}
		}
	}
}
