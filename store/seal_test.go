package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func testSealer(t require.TestingT, first byte) sealer {
	s, err := newSealer([32]byte{first})
	require.NoError(t, err)
	return s
}

func TestSealed(t *testing.T) {
	ours, theirs := testSealer(t, 1), testSealer(t, 2)
	rapid.Check(t, func(t *rapid.T) {
		plain, row := rapid.SliceOf(rapid.Byte()).Draw(t, "plain"), rapid.SliceOf(rapid.Byte()).Draw(t, "row")
		sealed := ours.seal(row, plain)
		got, err := ours.open(row, sealed)
		require.NoError(t, err)
		require.Equal(t, string(plain), string(got))
		require.NotEqual(t, sealed, ours.seal(row, plain), "each sealing has its own nonce")

		for name, open := range map[string]func() ([]byte, error){
			"another key": func() ([]byte, error) { return theirs.open(row, sealed) },
			"another row": func() ([]byte, error) { return ours.open(append(row, 'x'), sealed) },
			"cut short": func() ([]byte, error) {
				return ours.open(row, sealed[:rapid.IntRange(0, len(sealed)-1).Draw(t, "length")])
			},
			"one bit": func() ([]byte, error) {
				bit := rapid.IntRange(0, 8*len(sealed)-1).Draw(t, "bit")
				changed := append([]byte(nil), sealed...)
				changed[bit/8] ^= 1 << (bit % 8)
				return ours.open(row, changed)
			},
		} {
			_, err := open()
			require.ErrorIs(t, err, errSealed, name)
		}
	})
}

func TestRowIDsDiffer(t *testing.T) {
	require.NotEqual(t, rowID("answers", "ab", "c"), rowID("answers", "a", "bc"))
	require.NotEqual(t, rowID("answers", "a"), rowID("answers", "a", ""))
}

func FuzzOpenSealed(f *testing.F) {
	s := testSealer(f, 1)
	f.Add([]byte("row"), s.seal([]byte("row"), []byte("plain")))
	f.Add([]byte(""), []byte{})
	f.Fuzz(func(t *testing.T, row, sealed []byte) {
		if plain, err := s.open(row, sealed); err != nil {
			require.ErrorIs(t, err, errSealed)
			require.Nil(t, plain)
		}
	})
}
