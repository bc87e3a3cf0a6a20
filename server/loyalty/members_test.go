package loyalty

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyJSON draws a value in canonical form.
func anyJSON(depth int) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		most := 5
		if depth == 0 {
			most = 3
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return json.RawMessage(rapid.SampledFrom([]string{"null", "true", "-1.50", "1e3"}).Draw(t, "word"))
		case 1, 2, 3:
			return unescaped(rapid.SampledFrom([]string{"", "a", `"`, `\`, "{", "]},:", "<&>", "é\u2028", "\n"}).Draw(t, "text"))
		case 4:
			return list(rapid.SliceOfN(anyJSON(depth-1), 0, 4).Draw(t, "list"))
		}
		return object(drawMembers(depth-1).Draw(t, "object"))
	})
}

func drawMembers(depth int) *rapid.Generator[map[string]json.RawMessage] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "bc", `q"`, `\`, "é", "x<y", "cf_a:b,c"}), anyJSON(depth), 0, 5)
}

// The forms as the checked body has them: without escapes for HTML.
func unescaped(s string) json.RawMessage {
	out := []byte{'"'}
	for _, c := range []byte(s) {
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, `\u000a`...)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

func list(items []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

func object(members map[string]json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for name, value := range members {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, unescaped(name)...), ':'), value...)
	}
	return append(out, '}')
}

func TestMembersAreWhatEncodingJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := object(drawMembers(3).Draw(t, "members"))
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &want))
		got, err := Members(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, want, got, "%s", text)
		require.Equal(t, string(JSON(want)), string(Object(got)), "%s", text)

		many := list([]json.RawMessage{text, text})
		elements, err := Elements(many)
		require.NoError(t, err)
		require.Equal(t, []map[string]json.RawMessage{want, want}, elements)
	})
}

func TestMembersRefuse(t *testing.T) {
	for _, text := range []string{``, `{`, `}`, `[]`, `"a"`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1}}`, `{"a":1]`, `{"a`} {
		_, err := Members(json.RawMessage(text))
		require.Error(t, err, text)
	}
	for _, text := range []string{`[1]`, `[{}`, `[{},]`, `{}`} {
		_, err := Elements(json.RawMessage(text))
		require.Error(t, err, text)
	}
	none, err := Elements(json.RawMessage(`[]`))
	require.NoError(t, err)
	require.Empty(t, none)
}

// FuzzMembers: no text breaks it, and what is in canonical form, which is UTF-8, is taken
// apart as encoding/json does.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\"}"}],"c":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Members(text)
		var want map[string]json.RawMessage
		var compact bytes.Buffer
		if !utf8.Valid(text) || json.Compact(&compact, text) != nil || compact.String() != string(text) || json.Unmarshal(text, &want) != nil || want == nil {
			return
		}
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(JSON(want)), string(Object(got)), "%s", text)
	})
}
