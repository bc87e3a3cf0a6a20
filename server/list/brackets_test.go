package list

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// grammars are those of the documents, by method and path.
func grammars(t testing.TB) map[string]*Brackets {
	t.Helper()
	documents, err := contract.Documents()
	require.NoError(t, err)
	all := map[string]*Brackets{}
	for _, d := range documents {
		for path, item := range d.Spec.Paths.Map() {
			for method, o := range item.Operations() {
				for _, p := range append(slices.Clone(item.Parameters), o.Parameters...) {
					if p.Value.Style != openapi3.SerializationDeepObject {
						continue
					}
					if all[method+" "+path] == nil {
						all[method+" "+path] = NewBrackets()
					}
					require.NoError(t, all[method+" "+path].Add(p.Value))
				}
			}
		}
	}

	require.NotEmpty(t, all)
	return all
}

// TestBracketsFollowTheDocument: every attribute, operator and sort field that the
// document declares can be used.
func TestBracketsFollowTheDocument(t *testing.T) {
	values := map[Kind]string{Text: "x", Integer: "1", Instant: "2026-03-01"}
	for name, b := range grammars(t) {
		require.NotEmpty(t, b.fields, name)
		require.NotEmpty(t, b.sorts, name)
		for name, f := range b.fields {
			value := values[f.Kind]
			if f.Kind == Choice {
				value = f.Choices[0]
			}
			for _, op := range f.operators {
				query := []Pair{{"filter[" + name + "][" + op + "]", value}}
				require.True(t, b.Owns(query[0].Name))
				conditions, _, err := b.Read(query)
				require.NoError(t, err, query)
				require.Equal(t, name, conditions[0].Field)
				require.Equal(t, loyalty.Operator(op), conditions[0].Operator)
				require.Contains(t, operators, conditions[0].Operator)
			}
		}

		for _, name := range b.sorts {
			_, keys, err := b.Read([]Pair{{"sort[7][field]", name}, {"sort[7][direction]", "desc"}})
			require.NoError(t, err)
			require.Equal(t, []loyalty.Sorting{{Field: name, Descending: true}}, keys)
		}
	}
}

// TestBracketsCannotFollow: a declaration that no grammar could read stops the start.
func TestBracketsCannotFollow(t *testing.T) {
	number := openapi3.NewObjectSchema().WithProperty("eq", openapi3.NewFloat64Schema())
	for name, p := range map[string]*openapi3.Parameter{
		"the parameter colours cannot be nested":               {Name: "colours", Schema: openapi3.NewObjectSchema().NewRef()},
		"sort has no fields":                                   {Name: "sort", Schema: openapi3.NewObjectSchema().NewRef()},
		"filter[size]: values of this type cannot be compared": {Name: "filter", Schema: openapi3.NewObjectSchema().WithProperty("size", number).NewRef()},
		"filter[size]: it cannot equal anything":               {Name: "filter", Schema: openapi3.NewObjectSchema().WithProperty("size", openapi3.NewObjectSchema()).NewRef()},
	} {
		require.EqualError(t, NewBrackets().Add(p), name)
	}
}

// FuzzBrackets: whatever stands in a query, the grammar reads it or refuses it with
// 422, and what it lets through is declared.
func FuzzBrackets(f *testing.F) {
	all := grammars(f)
	for _, seed := range []string{
		"filter[action][in][]=a&filter[action][in][]=b", "filter[date][gte]=2026-02-30", "sort[0][field]=date&sort[0][direction]=desc",
		"filter[status][in]=pending,accepted&sort[1][field]=earned", "filter[[]][]=1", "filter]=1", "sort[99999999999999999999][field]=date", "filter[points][in][0]=1",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, raw string) {
		query, err := ParseQuery(raw)
		if err != nil {
			return
		}

		for _, b := range all {
			conditions, keys, err := b.Read(query)
			if err != nil {
				require.Equal(t, loyalty.Refused, loyalty.AsError(err).Kind)
				require.Len(t, loyalty.AsError(err).Details, 1)
				continue
			}
			for _, c := range conditions {
				require.Contains(t, b.fields[c.Field].operators, string(c.Operator))
				require.NotEmpty(t, c.Values)
			}
			for _, k := range keys {
				require.True(t, slices.Contains(b.sorts, k.Field), strings.Join(b.sorts, " "))
			}
		}
	})
}
