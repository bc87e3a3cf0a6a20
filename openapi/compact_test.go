package openapi

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
	"github.com/stretchr/testify/require"
)

// TestCompactLeavesWhatJudges: what is missing from a compact document is prose and examples,
// and no property, parameter or schema that is called like them.
func TestCompactLeavesWhatJudges(t *testing.T) {
	for _, file := range Files() {
		text, err := fs.ReadFile(FS, file+".yaml")
		require.NoError(t, err)
		var whole, compact any
		_, err = yaml.Unmarshal(text, &whole, yaml.DecodeOpts{})
		require.NoError(t, err)
		small, err := Compact(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(small, &compact))
		require.Less(t, len(small), len(text))

		left := leaves(compact)
		for path := range leaves(whole) {
			if left[path] {
				continue
			}
			prose, name := false, false // whether the step is a name that the document chose
			for _, step := range strings.Split(path, "\x00") {
				prose = prose || !name && slices.Contains([]string{"description", "example", "examples"}, step)
				name = !name && slices.Contains([]string{"properties", "schemas", "parameters", "info"}, step)
			}
			require.True(t, prose, "%s: %q is missing", file, path)
		}
	}
}

// leaves lists the values of a tree with their paths.
func leaves(v any) map[string]bool {
	all := map[string]bool{}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			all[at+"{}"] = true
			for key, value := range v {
				walk(value, at+key+"\x00")
			}
		case []any:
			for _, value := range v {
				walk(value, at+"[]\x00")
			}
		default:
			raw, _ := json.Marshal(v) // a value of JSON always marshals
			all[at+string(raw)] = true
		}
	}

	walk(v, "")
	return all
}
