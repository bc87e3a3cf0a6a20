package signing

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// countMACs counts the HMACs that are completed, those of key derivation included.
func countMACs(v *Verifier) *atomic.Int64 {
	v.keys.macs = new(atomic.Int64)
	return v.keys.macs
}

// A refused request costs the same number of HMACs and gives the same error whether the key exists or not, on the first
// request of a day and later, with one form or many.
func TestUnknownKeyAndWrongSecretCostTheSame(t *testing.T) {
	lookups := map[string]Lookup{
		"wrong secret":             func(string) ([]string, bool) { return []string{"wrong"}, true },
		"two wrong secrets":        func(string) ([]string, bool) { return []string{"wrong", "also wrong"}, true },
		"unknown key":              func(string) ([]string, bool) { return nil, false },
		"revoked key":              func(string) ([]string, bool) { return []string{testSecret}, false },
		"key without secrets":      func(string) ([]string, bool) { return nil, true },
		"key with an empty secret": func(string) ([]string, bool) { return []string{""}, true },
	}

	for _, c := range []struct {
		name, target string
		forms        int64
	}{{"one form", "/events", 1}, {"eight forms", "/a:b?limit=10&limit.eq=5&q=!", 8}, {"all forms", "/a:b/./x?a!=1&&a=~&a=%C3%A9&a.b=3&a%5Bc%5D=!&a1=4", 36}} {
		t.Run(c.name, func(t *testing.T) {
			want := int64(minTried) * (c.forms + 4)
			for name, lookup := range lookups {
				v := newTestVerifier(t)
				sums := countMACs(v)
				for round := range 3 {
					sums.Store(0)
					_, err := v.Verify(request(targeted(c.target)), lookup)
					require.Equal(t, refused(), err, name)
					require.Equal(t, want, sums.Load(), "%s, round %d", name, round)
				}
			}
		})
	}
}

// The first matching form under a cached key costs one HMAC.
func TestGoodRequestIsCheap(t *testing.T) {
	v, in, lookup := benchRequest(t, 300)
	sums := countMACs(v)
	verify := verifyOf(t, v, in, lookup)
	verify()
	require.EqualValues(t, 5, sums.Load(), "four to derive, one to verify")
	verify()
	require.EqualValues(t, 6, sums.Load())
}

func TestEmptySecretIsNoSecret(t *testing.T) {
	s := testScheme()
	day := "20260301"
	c := workedCases[0]
	signature := newKeyring(s).derive("", day).sign([]byte(c.text))
	c.signature = fmt.Sprintf("%x", signature)
	_, err := newTestVerifier(t).Verify(c.incoming(), func(string) ([]string, bool) { return []string{"", ""}, true })
	require.Equal(t, refused(), err)
}

// The dummy secret stands in for a missing one in the work done, never in the verdict.
func TestDummySecretIsNeverAccepted(t *testing.T) {
	v, c := newTestVerifier(t), workedCases[0]
	c.signature = fmt.Sprintf("%x", v.keys.derive(v.dummy, "20260301").sign([]byte(c.text)))
	for _, lookup := range []Lookup{testLookup, func(string) ([]string, bool) { return nil, false }} {
		_, err := v.Verify(c.incoming(), lookup)
		require.Equal(t, refused(), err)
	}
}

func TestRotationOverlap(t *testing.T) {
	v, in := newTestVerifier(t), workedCases[0].incoming()
	for place, secrets := range [][]string{{testSecret, "new"}, {"new", testSecret}, {"newest", "new", testSecret}} {
		verified, err := v.Verify(in, func(string) ([]string, bool) { return secrets, true })
		require.NoError(t, err)
		require.Equal(t, Verified{KeyID: testKey, Secret: place, Time: testNow, Signature: workedCases[0].signature, SignedHeaders: verified.SignedHeaders}, verified)
		require.Equal(t, "date;host", verified.SignedHeaders)
	}
	_, err := v.Verify(in, func(string) ([]string, bool) { return []string{"new"}, true })
	require.Equal(t, refused(), err, "the overlap is over")
}

func TestKeyCacheIsBounded(t *testing.T) {
	k := newKeyring(testScheme())
	held, derived := k.get("in use", "20260301")
	require.True(t, derived)
	for i := range 3 * cacheSize {
		k.get(fmt.Sprint(i), "20260301")
		again, derived := k.get("in use", "20260301")
		require.False(t, derived)
		require.Same(t, held, again)
	}
	require.LessOrEqual(t, len(k.young)+len(k.old), 2*cacheSize)
	_, derived = k.get("in use", "20260302")
	require.True(t, derived, "each day has its key")
}

func TestVerifierIsSafeForConcurrentUse(t *testing.T) {
	v := newTestVerifier(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, c := range workedCases {
				if c.legacyPlus {
					continue
				}
				if _, err := v.Verify(c.incoming(), testLookup); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	}

	wg.Wait()
}

func TestExplainIsAlikeForAllKeysAndHoldsNoSignature(t *testing.T) {
	v := newTestVerifier(t)
	known, err := v.Explain(workedCases[5].incoming())
	require.NoError(t, err)
	unknown := workedCases[5].incoming()
	edit(&unknown, testKey, "nobody")
	alike, err := v.Explain(unknown)
	require.NoError(t, err)
	require.Equal(t, known, alike)
	for _, a := range known {
		require.NotContains(t, a.CanonicalRequest+a.StringToSign, workedCases[5].signature)
	}

	_, err = v.Explain(request(replaced("/eu/", "/us/")))
	require.Equal(t, CodeScope, codeOf(t, err))
	require.False(t, strings.Contains(err.Error(), testSecret))
}
