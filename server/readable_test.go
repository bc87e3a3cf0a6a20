package server

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/api"
)

func TestWithoutHTML(t *testing.T) {
	for escaped, want := range map[string]string{
		`{"next":"/a?b=1\u0026c=2"}`: `{"next":"/a?b=1&c=2"}`,
		`"\u003cb\u003e"`:            `"<b>"`,
		`"\\u0026"`:                  `"\\u0026"`,
		`"\\\u0026"`:                 `"\\&"`,
		`"\u000a\u2028\u00e9"`:       `"\u000a\u2028\u00e9"`,
		`"\"\u0026\""`:               `"\"&\""`,
		`"\u00`:                      `"\u00`, `"\`: `"\`, ``: ``,
	} {
		require.Equal(t, want, string(api.WithoutHTML([]byte(escaped))), escaped)
	}

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`&<>\u0026"c3eé `))).Draw(t, "text")
		escaped, err := json.Marshal(text)
		require.NoError(t, err)
		plain := api.WithoutHTML(escaped)
		var back string
		require.NoError(t, json.Unmarshal(plain, &back))
		require.Equal(t, text, back)
		require.NotContains(t, string(plain), "&amp;")
	})
}
