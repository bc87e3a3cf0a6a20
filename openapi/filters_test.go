package openapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shelves = `paths:
  /shelves:
    get:
      operationId: listShelves
      parameters:
        - $ref: 'common.yaml#/components/parameters/Limit'
      responses:
components:
  parameters:
    Other:
      name: other
  schemas:
`

// TestExpand: a filter is defined once for each operator of its kind and referred to by
// its operations, wherever it stood before; the rest of the document stays as it is.
func TestExpand(t *testing.T) {
	f := Filters{
		Parameters: map[string]Filter{"height": {Name: "height", Kind: "integer", What: "The shelf's height", Example: "2", Several: "1,2"}},
		Operations: map[string][]string{"listShelves": {"height but ne in nin"}},
	}

	once, err := f.Expand([]byte(shelves))
	require.NoError(t, err)
	text := string(once)
	require.Contains(t, text, `    height.gte:
      {name: height.gte, in: query, x-filter: true, description: 'The shelf''s height is at least this.', schema: {type: string, maxLength: 1024}, example: '2'}
`)
	require.Contains(t, text, `        - $ref: 'common.yaml#/components/parameters/Limit'
        - $ref: '#/components/parameters/height'
        - $ref: '#/components/parameters/height.eq'
        - $ref: '#/components/parameters/height.gt'
        - $ref: '#/components/parameters/height.gte'
        - $ref: '#/components/parameters/height.lt'
        - $ref: '#/components/parameters/height.lte'
      responses:
`)

	require.Equal(t, 6, strings.Count(text, "x-filter: true"), "an operator that no operation takes is not defined")
	again, err := f.Expand(once)
	require.NoError(t, err)
	require.Equal(t, text, string(again))

	f.Operations = map[string][]string{"listBooks": {"height"}}
	_, err = f.Expand(once)
	require.EqualError(t, err, "there is no operation listBooks")
}

// TestFiltersAreRefused: a line that cannot be used names itself.
func TestFiltersAreRefused(t *testing.T) {
	for want, f := range map[string]Filters{
		`a: the kind "colour" is not known`:      {Parameters: map[string]Filter{"a": {Name: "a", Kind: "colour"}}},
		`a: the schema "Limit" has no enum`:      {Parameters: map[string]Filter{"a": {Name: "a", Kind: "choice", Of: "Limit"}}},
		`listQuizzes: there is no filter weight`: {Operations: map[string][]string{"listQuizzes": {"weight but ne"}}},
	} {
		require.EqualError(t, f.complete("display", Reader()), want)
	}
}

// TestStoresAreDescribedAsTheyFilter: what is for all stores is found under each of them, and not among those that are for
// other stores only. Both the parameters and the lists must say so, or a till looks for what it has.
func TestStoresAreDescribedAsTheyFilter(t *testing.T) {
	found := 0
	for _, api := range Names() {
		doc, err := Load(api)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				require.NotContains(t, op.Description, "names none is not among them", path)
				for _, p := range op.Parameters {
					switch p.Value.Name {
					case "stores", "stores.eq", "stores.in":
						require.Contains(t, p.Value.Description, "or for all of them", path)
						found++
					case "stores.ne", "stores.nin":
						require.Contains(t, p.Value.Description, "some stores only", path)
						found++
					}
				}
			}
		}
	}

	require.Equal(t, 30, found)
}

// TestEveryAnswerHasAnExample in each media type that it can come in, streams and files too.
func TestEveryAnswerHasAnExample(t *testing.T) {
	for _, api := range Names() {
		doc, err := Load(api)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				for status, response := range op.Responses.Map() {
					for media, content := range response.Value.Content {
						require.True(t, content.Example != nil || len(content.Examples) > 0, "%s %s %s %s", method, path, status, media)
					}
				}
			}
		}
	}
}
