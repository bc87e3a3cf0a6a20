package signing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An HMAC that goes on from a state is that of the whole text, wherever it is parted.
func TestMACGoesOnFromAState(t *testing.T) {
	d := newDigest()
	for n := range 200 {
		key := sha256.Sum256([]byte{byte(n)})
		text := bytes.Repeat([]byte{'a', byte(n), '\n'}, n)
		mac := hmac.New(sha256.New, key[:])
		mac.Write(text)
		want := mac.Sum(nil)
		k := newSigningKey(key, nil)
		require.Equal(t, want, k.sign(text))
		for _, at := range []int{0, len(text) / 3, min(64, len(text)), len(text)} {
			require.Equal(t, append([]byte("kept"), want...), k.sum(d, []byte("kept"), d.behind(k.inner, text[:at]), text[at:]), "%d of %d", at, len(text))
		}
	}
}

// What requests of one second have in common is remembered, and each is judged by what it says all the same: whatever differs
// and was signed is accepted, whatever was changed afterwards is refused.
func TestCommonOfOneSecond(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	scheme := Default("eu")
	scheme.Now = func() time.Time { return at }
	v, err := NewVerifier(scheme)
	require.NoError(t, err)
	lookup := func(string) ([]string, bool) { return []string{"new secret", "secret"}, true }
	signed := func(method, url, media, secret, body string) Incoming {
		r, err := http.NewRequest(method, url, nil)
		require.NoError(t, err)
		r.Header.Set("Content-Type", media)
		require.NoError(t, scheme.Sign(r, []byte(body), Credential{KeyID: "client", Secret: secret}, "content-type"))
		return FromRequest(r, []byte(body))
	}

	const url, media = "https://api.example.com/events", "application/json"
	usual := func(body string) Incoming { return signed(http.MethodPost, url, media, "secret", body) }
	kept := func() *common {
		before, _, ok := cutSignature(usual("").Header.Get("Authorization"))
		require.True(t, ok)
		found := v.shapes.find(before)
		require.NotNil(t, found)
		return found.common.Load()
	}

	accept := func(in Incoming, place int) {
		t.Helper()
		got, err := v.Verify(in, lookup)
		require.NoError(t, err)
		require.Equal(t, place, got.Secret)
	}

	for second := range 3 {
		accept(usual("one"), 1)
		accept(usual("two"), 1)
		common := kept()
		require.NotNil(t, common, "from the second request on")
		require.True(t, common.at.Equal(at), "of this second")
		for round := range 2 {
			accept(usual("three"), 1)
			others := []Incoming{
				signed(http.MethodPut, url, media, "secret", "three"), signed(http.MethodPost, url[:len(url)-1], media, "secret", "three"),
				signed(http.MethodPost, "https://api.example.org/events", media, "secret", "three"), signed(http.MethodPost, url+"?a=b", media, "secret", "three"),
				signed(http.MethodPost, url, "text/plain", "secret", "three"), signed(http.MethodPost, url, "application/json  ;x=1", "secret", "three"),
			}

			for i, other := range others {
				accept(other, 1)
				forged := other
				forged.Header = other.Header.Clone()
				forged.Header.Set("Authorization", usual("three").Header.Get("Authorization"))
				_, err := v.Verify(forged, lookup)
				require.Equal(t, refused(), err, "round %d, %d with the signature of the usual one", round, i)
			}

			accept(signed(http.MethodPost, url, media, "new secret", "three"), 0)
			changed := usual("three")
			changed.Body = []byte("four")
			_, err := v.Verify(changed, lookup)
			require.Equal(t, refused(), err, "another body")
			twice := usual("three")
			twice.Header["Content-Type"] = []string{media, media}
			_, err = v.Verify(twice, lookup)
			require.Equal(t, refused(), err, "a header twice")
			require.Same(t, common, kept(), "one for a second")
		}

		late := usual("late")
		at = at.Add(time.Second)
		accept(late, 1)
		require.Same(t, common, kept(), "not for each of a client whose clock is behind, in second %d", second)
	}
}
