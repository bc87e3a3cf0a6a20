package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func TestParseJSON(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"numbers keep their digits": {`{"a":1.10,"b":12345678901234567890,"c":1e3,"d":-0.0}`, `{"a":1.10,"b":12345678901234567890,"c":1e3,"d":-0.0}`},
		"letter case is kept apart": {`{"a":1,"A":2}`, `{"A":2,"a":1}`},
		"blanks":                    {" { \"a\" : [ ] } \n", `{"a":[]}`},
		"a character of two halves": {`{"\ud83d\ude00":"\uD83D\uDE00"}`, `{"😀":"😀"}`},
		"half of one, spelled out":  {`{"a":"\\ud800"}`, `{"a":"\\ud800"}`},
		"escapes":                   {`{"a":"\u00e1\"\\\n"}`, `{"a":"á\"\\\u000a"}`},
		"NUL spelled out":           {`{"a":"\\u0000"}`, `{"a":"\\u0000"}`},
		"a list":                    {`[null,true]`, `[null,true]`},
		"as deep as allowed":        {strings.Repeat("[", maxJSONDepth) + strings.Repeat("]", maxJSONDepth), strings.Repeat("[", maxJSONDepth) + strings.Repeat("]", maxJSONDepth)},
		"brackets inside text":      {`{"a":"[[[[\"[[[["}`, `{"a":"[[[[\"[[[["}`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := ParseJSON([]byte(c.body))
			require.NoError(t, err)
			require.Equal(t, c.want, string(AppendJSON(nil, v)))
		})
	}
}

func TestParseJSONRefused(t *testing.T) {
	for name, c := range map[string]struct{ body, reason string }{
		"cut":               {`{"a":`, "syntax"},
		"single quotes":     {`{'a':1}`, "syntax"},
		"a comma too many":  {`{"a":1,}`, "syntax"},
		"NaN":               {`{"a":NaN}`, "syntax"},
		"a leading zero":    {`{"a":05}`, "syntax"},
		"two values":        {`{} {}`, "trailing"},
		"a bracket behind":  {`{}]`, "trailing"},
		"text behind":       {`{}x`, "trailing"},
		"not UTF-8":         {"{\"a\":\"\xff\"}", "encoding"},
		"NUL in a value":    {`{"a":"x\u0000"}`, "nul"},
		"NUL in a name":     {`{"b":[{"\u0000":1}]}`, "nul"},
		"half a character":  {`{"a":"x\ud800"}`, "surrogate"},
		"half of a name":    {`{"b":[{"\udfff":1}]}`, "surrogate"},
		"two first halves":  {`{"a":"\ud83d\ud83d\ude00"}`, "surrogate"},
		"two second halves": {`{"a":"\ude00\ud83d"}`, "surrogate"},
		"behind a whole":    {`{"a":"\ud83d\ude00\uD83D"}`, "surrogate"},
		"half, then text":   {`{"a":"\ud83d ude00"}`, "surrogate"},
		"half as raw bytes": {"{\"a\":\"\xed\xa0\x80\"}", "encoding"},
		"a name twice":      {`{"a":1,"a":2}`, "repeated_name"},
		"twice, nested":     {`{"b":[{},{"a":1,"c":2,"a":1}]}`, "repeated_name"},
		"twice, escaped":    {`{"a":1,"\u0061":null}`, "repeated_name"},
		"too deep":          {strings.Repeat("[", maxJSONDepth+1) + strings.Repeat("]", maxJSONDepth+1), "depth"},
		"far too deep, cut": {strings.Repeat(`{"a":`, 200_000), "depth"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseJSON([]byte(c.body))
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "malformed_body", e.Name)
			require.Equal(t, c.reason, e.Args["reason"])
		})
	}
}

// TestRefusedJSONNamesTheField: what is refused says where it stands.
func TestRefusedJSONNamesTheField(t *testing.T) {
	for body, field := range map[string]string{
		`{"a":"x\u0000"}`: "a",
		`{"data":{"items":[{"sku":"a"},{"sku":"b\u0000"}]}}`: "data.items[1].sku",
		`{"a":[[1,2],["\u0000"]]}`:                           "a[1][0]",
		`{"a":{"b":{}},"c":"\ud800"}`:                        "c",
		`{"a":{"b":1,"\u0000":2}}`:                           "a",
		`["a","\u0000"]`:                                     "[1]",
		`{"":{"a":nope}}`:                                    "a",
		`"\u0000"`:                                           "",
		`{"\u0000":1}`:                                       "",
		`{"customer":`:                                       "customer",
		`{"customer":"a","data":{"points":05}}`:              "data",
		`{"data":{"items":[{"sku":"a"},{"sku":nope}]}}`:      "data.items[1].sku",
		`{"a":1,}`:                                           "",
		`{"data":{"items":[{"sku":"a","sku":"a"}]}}`:         "data.items[0].sku",
		`{"a":1, "a" : {"b":1,"b":2}}`:                       "a",
		`{"data":{"b":"\u0000"},"data":{"b":"\ud800"}}`:      "data.b",
	} {
		_, err := ParseJSON([]byte(body))
		var e *loyalty.Error
		require.ErrorAs(t, err, &e, body)
		if field == "" {
			require.Empty(t, e.Details, body)
			continue
		}
		require.Len(t, e.Details, 1, body)
		require.Equal(t, field, e.Details[0].Field, body)
	}
}

// TestAppendJSONIsJSON: what appendJSON writes, the standard library reads back
// as the same value.
func TestAppendJSONIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyTree(3).Draw(t, "tree")
		text := AppendJSON(nil, v)
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		var back any
		require.NoError(t, d.Decode(&back), string(text))
		require.Equal(t, v, back)
	})
}

func anyTree(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](false),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,8})?`), func(s string) any { return json.Number(s) }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(anyTree(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), anyTree(depth-1), 0, 40/(4-depth)), func(m map[string]any) any { return m }),
	)...)
}

// FuzzJSON: whatever bytes come, the body is read or refused as the caller's
// fault, and the check against the contract never panics.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`,
		`{"customer":"ada","action":"checkout","data":{"transaction_id":"T","total":1e400,"items":[null,{"quantity":1.0}]}}`,
		`{"action":7}`, `[]`, `null`, `{"customer":"ada","action":"profile","data":{"external_ids":{"crm":null},"labels":[null]}}`,
		`{"customer":"ada","action":"checkout_update","data":{"auto_accept":null,"Total":5}}`,
		`{"customer":"ada","action":"opt_in","data":{"effective_timestamp":"x"}}`,
	} {
		f.Add([]byte(seed))
	}

	v, err := NewVocabulary()
	if err != nil {
		f.Fatal(err)
	}

	f.Fuzz(func(t *testing.T, body []byte) {
		tree, err := ParseJSON(body)
		if err != nil {
			requireInvalid(t, err)
			return
		}
		requireChecked(t, v, tree)
	})
}

// agrees holds the reader against encoding/json, which reads the same language: what one
// takes the other takes, as the same tree.
func agrees(t require.TestingT, body []byte) {
	got, err := ParseJSON(body)
	reason := ""
	var fault *loyalty.Error
	if errors.As(err, &fault) {
		reason, _ = fault.Args["reason"].(string)
	}
	if reason == "encoding" || reason == "depth" || reason == "too_many" {
		return // refused before it is read
	}

	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var want any
	theirs := d.Decode(&want)
	if theirs == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			theirs = errors.New("something follows")
		}
	}

	switch reason {
	case "":
		require.NoError(t, theirs, "%q", body)
		require.Equal(t, want, got, "%q", body)
	case "surrogate", "nul", "repeated_name":
		require.NoError(t, theirs, "%q", body)
	default:
		require.Error(t, theirs, "%q", body)
	}
}

// TestReaderAgrees draws texts of pieces that JSON is made of.
func TestReaderAgrees(t *testing.T) {
	pieces := []string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"`, `"a"`, `"a":`, ` `, "\n", `0`, `1`, `-`, `.`, `e`, `E+`, `05`, `1.50`, `-0`, `true`, `false`, `null`,
		`\u00e1`, `\ud83d`, `\ude00`, `\u0000`, `\u12`, `\n`, `\/`, `\x`, `\\`, `\"`, "\x01", "é", `tru`, `"b":{"c":[1,"x"]}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		agrees(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")))
		agrees(t, []byte(`{"a":"`+strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[22:]), 0, 6).Draw(t, "text"), "")+`"}`))
		agrees(t, []byte(`[`+strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[11:20]), 0, 4).Draw(t, "number"), "")+`]`))
	})
}

// FuzzReader: any bytes are read as encoding/json reads them, or refused by both.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"a":[1.50,-0,1e3,true,null,"\u00e1\ud83d\ude00\ud800"]}`, `"\u0000"`, `[05]`, `{"a":1,"a":2} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { agrees(t, body) })
}
