package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	rules "github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

func testEntitySchemas(t testing.TB) *Entities {
	t.Helper()
	doc, err := openapi.Load("entities")
	require.NoError(t, err)
	s, err := newEntitySchemas(doc)
	require.NoError(t, err)
	return s
}

// TestEntityModules: the engine and the document agree on which entities there
// are and which module each needs.
func TestEntityModules(t *testing.T) {
	s := testEntitySchemas(t)
	require.ElementsMatch(t, append(rules.Registry().EntityTypes(), ownTypes), slices.Collect(maps.Keys(s.byType)))
	p := rules.Registry().Declarations(nil)
	p.OwnTypes = map[string]bool{"custom/machine": true}

	for kind, fields := range s.byType {
		kind = strings.Replace(kind, "{kind}", "machine", 1)
		module := extension(fields.source, "x-module")
		err := p.CheckEntityType(kind)
		if module == "" {
			require.NoError(t, err, kind)
			continue
		}
		require.Equal(t, module, loyalty.AsError(err).Args["module"], kind)
	}
}

func TestUnknownEntitySchema(t *testing.T) {
	_, err := testEntitySchemas(t).Of("rewards/rewards", &programme.Programme{})
	require.ErrorIs(t, err, loyalty.ErrEntityUnknown)
}

// FuzzEntityBodies: no body breaks the reading of an entity, what is accepted is
// accepted again as it was written, and a patch is an object.
func FuzzEntityBodies(f *testing.F) {
	s := testEntitySchemas(f)
	kinds := slices.Sorted(maps.Keys(s.byType))
	for i := range kinds {
		f.Add(byte(i), false, []byte(`{"id":"x","title":{"en":"T"},"type":"custom","name":{"en":"N"},"options":[{"type":"empty"}],"cf_a":null}`))
		f.Add(byte(i), true, []byte(`title[en]=T&type=custom&name=N&points=&options[0][type]=empty&id[]=x`))
	}

	f.Fuzz(func(t *testing.T, kind byte, form bool, raw []byte) {
		fields := s.byType[kinds[int(kind)%len(kinds)]]
		read := func() (any, bool) {
			if form {
				root, err := ParseForm(raw)
				return root, err == nil
			}
			tree, err := ParseJSON(raw)
			return tree, err == nil
		}

		body, ok := read()
		if !ok {
			return
		}

		if made, err := fields.Creation(body); err == nil {
			again, err := fields.CheckJSON(made, "")
			require.NoError(t, err, "%s", made)
			require.Equal(t, string(made), string(again))
		}

		body, _ = read() // reading changes it
		changes, err := fields.Patch(body)
		if err != nil {
			return
		}

		var object map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(changes, &object), "%s", changes)
		require.NotContains(t, object, "id")
	})
}
