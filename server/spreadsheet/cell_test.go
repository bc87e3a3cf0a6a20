package spreadsheet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuard: whatever a spreadsheet could take for a formula gets an apostrophe, and is read back as it was.
func TestGuard(t *testing.T) {
	for text, guarded := range map[string]string{
		"=1+1": "'=1+1", "+36 1": "'+36 1", "-5": "'-5", "@SUM": "'@SUM", "'=1": "''=1", "'t Hart": "''t Hart",
		"＝1+1": "'＝1+1", "＋36": "'＋36", "－5": "'－5", "＠SUM": "'＠SUM",
		" =1": "' =1", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "\u00a0=1": "'\u00a0=1", "\u3000＝1": "'\u3000＝1", "\ufeff=1": "'\ufeff=1", "\u200b=1": "'\u200b=1", "\x00=1": "'\x00=1",
		"": "", "Ada": "Ada", " Ada": " Ada", "0630": "0630", "1=1": "1=1", " ": " ", "\tAda": "'\tAda",
	} {
		require.Equal(t, guarded, Guard(text), "%q", text)
		require.Equal(t, text, Unguard(guarded), "%q", text)
	}
	require.Equal(t, "'Ada", Unguard("'Ada"), "an apostrophe that Guard did not write stays")
	require.Equal(t, "'0630", Unguard("'0630"))
}

// FuzzGuard: a guarded text begins no formula, and is read back as it was.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"=1", "'=1", " =1", "＝", "'", "\ufeff@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		guarded := Guard(text)
		require.Equal(t, text, Unguard(guarded))
		require.True(t, guarded == text || strings.HasPrefix(guarded, "'"))
		require.False(t, guarded == text && risky(text))
	})
}
