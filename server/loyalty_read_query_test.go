package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// grammars are those of the document.
func grammars(t testing.TB) (all []*operation) {
	t.Helper()
	documents, err := contract.Documents()
	require.NoError(t, err)
	operations, err := operationsOf(documents)
	require.NoError(t, err)
	for _, o := range operations {
		if o.bracketed != nil {
			all = append(all, o)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// TestBracketsFollowTheDocument: every attribute, operator and sort field that the
// document declares can be used.
func TestBracketsFollowTheDocument(t *testing.T) {
	values := map[fieldKind]string{textField: "x", integerField: "1", instantField: "2026-03-01"}
	for _, o := range grammars(t) {
		require.NotEmpty(t, o.bracketed.fields, o.route.Path)
		require.NotEmpty(t, o.bracketed.sorts, o.route.Path)
		for name, f := range o.bracketed.fields {
			value := values[f.kind]
			if f.kind == choiceField {
				value = f.choices[0]
			}
			for _, op := range f.operators {
				query := []pair{{"filter[" + name + "][" + op + "]", value}}
				require.NoError(t, o.known(query, nil))
				conditions, _, err := o.bracketed.read(query)
				require.NoError(t, err, query)
				require.Equal(t, name, conditions[0].Field)
				require.Equal(t, loyalty.Operator(op), conditions[0].Operator)
				require.Contains(t, operators, conditions[0].Operator)
			}
		}
		for _, name := range o.bracketed.sorts {
			_, keys, err := o.bracketed.read([]pair{{"sort[7][field]", name}, {"sort[7][direction]", "desc"}})
			require.NoError(t, err)
			require.Equal(t, []loyalty.Sorting{{Field: name, Descending: true}}, keys)
		}
	}
}

// TestBracketsCannotFollow: a declaration that nobody could read stops the start.
func TestBracketsCannotFollow(t *testing.T) {
	number := openapi3.NewObjectSchema().WithProperty("eq", openapi3.NewFloat64Schema())
	for name, p := range map[string]*openapi3.Parameter{
		"the parameter colours cannot be nested":               {Name: "colours", Schema: openapi3.NewObjectSchema().NewRef()},
		"sort has no fields":                                   {Name: "sort", Schema: openapi3.NewObjectSchema().NewRef()},
		"filter[size]: values of this type cannot be compared": {Name: "filter", Schema: openapi3.NewObjectSchema().WithProperty("size", number).NewRef()},
		"filter[size]: it cannot equal anything":               {Name: "filter", Schema: openapi3.NewObjectSchema().WithProperty("size", openapi3.NewObjectSchema()).NewRef()},
	} {
		require.EqualError(t, (&operation{}).addBracketed(p), name)
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
		query, err := parseQuery(raw)
		if err != nil {
			return
		}
		for _, o := range all {
			conditions, keys, err := o.bracketed.read(query)
			if err != nil {
				require.Equal(t, loyalty.Refused, loyalty.AsError(err).Kind)
				require.Len(t, loyalty.AsError(err).Details, 1)
				continue
			}
			for _, c := range conditions {
				require.Contains(t, o.bracketed.fields[c.Field].operators, string(c.Operator))
				require.NotEmpty(t, c.Values)
			}
			for _, k := range keys {
				require.True(t, slices.Contains(o.bracketed.sorts, k.Field), strings.Join(o.bracketed.sorts, " "))
			}
		}
	})
}
