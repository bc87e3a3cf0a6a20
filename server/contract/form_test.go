package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func TestFormGrammar(t *testing.T) {
	for name, c := range map[string]struct {
		form string
		want string // canonical JSON of the form without a schema
	}{
		"plain":                          {`a=1&b=x`, `{"a":"1","b":"x"}`},
		"nothing":                        {``, `{}`},
		"empty pairs":                    {`&&a=1&`, `{"a":"1"}`},
		"without equals":                 {`a`, `{"a":""}`},
		"equals in the value":            {`a=b=c`, `{"a":"b=c"}`},
		"nested":                         {`data[items][0][product_id]=p-1`, `{"data":{"items":[{"product_id":"p-1"}]}}`},
		"encoded brackets":               {`data%5Btotal%5D=5`, `{"data":{"total":"5"}}`},
		"appended":                       {`l[]=a&l[]=b`, `{"l":["a","b"]}`},
		"appended behind a place":        {`l[5]=b&l[]=c&l[1]=a`, `{"l":["a","b","c"]}`},
		"sparse":                         {`l[1000]=b&l[7]=a`, `{"l":["a","b"]}`},
		"appended objects":               {`l[][a]=1&l[][a]=2`, `{"l":[{"a":"1"},{"a":"2"}]}`},
		"semicolon is data":              {`a=1;b=2`, `{"a":"1;b=2"}`},
		"plus is a blank":                {`a=x+y&b=x%2By`, `{"a":"x y","b":"x+y"}`},
		"UTF-8":                          {`n=Kov%C3%A1cs`, `{"n":"Kovács"}`},
		"a leading zero is a name":       {`l[0]=a&l[01]=b`, `{"l":{"0":"a","01":"b"}}`},
		"a name among places":            {`l[0]=a&l[x]=b`, `{"l":{"0":"a","x":"b"}}`},
		"a huge place is a name":         {`l[99999999999]=a`, `{"l":{"99999999999":"a"}}`},
		"dots mean nothing":              {`a.b=1`, `{"a.b":"1"}`},
		"brackets in the value":          {`a=[b]`, `{"a":"[b]"}`},
		"an empty name inside, of a set": {`a[][]=x`, `{"a":[["x"]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := ParseForm([]byte(c.form))
			require.NoError(t, err)
			require.Equal(t, c.want, string(AppendJSON(nil, n.free())))
		})
	}
}

func TestFormRefused(t *testing.T) {
	deep := "a" + strings.Repeat("[b]", maxFormDepth)

	for name, c := range map[string]struct{ form, name, reason string }{
		"text, then names":      {`a=1&a[x]=2`, "conflicting_parameter", ""},
		"names, then text":      {`a[x]=2&a=1`, "conflicting_parameter", ""},
		"deeper, then text":     {`a[x][y]=2&a[x]=1`, "conflicting_parameter", ""},
		"text, then appended":   {`a=1&a[]=2`, "conflicting_parameter", ""},
		"twice":                 {`a=1&a=2`, "malformed_body", "repeated_name"},
		"twice, nested":         {`a[b]=1&a[b]=2`, "malformed_body", "repeated_name"},
		"twice, a place":        {`a[]=1&a[0]=2`, "malformed_body", "repeated_name"},
		"twice, escaped":        {`a=1&%61=1`, "malformed_body", "repeated_name"},
		"open bracket":          {`a[b=1`, "malformed_body", "brackets"},
		"closing bracket":       {`ab]=1`, "malformed_body", "brackets"},
		"text behind a bracket": {`a[b]c=1`, "malformed_body", "brackets"},
		"bracket in a bracket":  {`a[b[c]]=1`, "malformed_body", "brackets"},
		"no name":               {`=1`, "malformed_body", "brackets"},
		"only a bracket":        {`[a]=1`, "malformed_body", "brackets"},
		"broken triplet":        {`a=%zz`, "malformed_body", "encoding"},
		"cut triplet":           {`a=%4`, "malformed_body", "encoding"},
		"broken triplet, name":  {`%=1`, "malformed_body", "encoding"},
		"not UTF-8":             {`a=%ff`, "malformed_body", "encoding"},
		"half a character":      {`a=%ed%a0%80`, "malformed_body", "encoding"},
		"half, in the name":     {`%ed%bf%bf=1`, "malformed_body", "encoding"},
		"NUL":                   {`a=%00`, "malformed_body", "encoding"},
		"too deep":              {deep + `=1`, "malformed_body", "depth"},
		"too many":              {strings.Repeat("a[]=&", maxFormPairs+1), "malformed_body", "too_many"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseForm([]byte(c.form))
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.name, e.Name)
			require.Equal(t, loyalty.Invalid, e.Kind)
			if c.reason != "" {
				require.Equal(t, c.reason, e.Args["reason"])
			}
		})
	}
}

func TestFormAtItsLimits(t *testing.T) {
	_, err := ParseForm([]byte("a" + strings.Repeat("[b]", maxFormDepth-1) + "=1"))
	require.NoError(t, err)
	_, err = ParseForm([]byte(strings.Repeat("a[]=&", maxFormPairs)))
	require.NoError(t, err)
}

// FuzzForm: whatever bytes come, the form is read or refused as the caller's
// fault, and what is read can be written as JSON and checked against the
// contract without a panic.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`customer=ada&action=visit&data[url]=https://shop.test/&data[points]=5`, `a=1&a[x]=2`, `l[5]=b&l[]=c`,
		`data[items][0][product_id]=p&data[items][0][quantity]=05`, `a[b]c=1`, `%5B%5D=%zz`, `data=1`, `data[]=1`,
		`action=profile&data[opt_in]=&data[labels]=a`, `action[x]=1`,
	} {
		f.Add([]byte(seed))
	}

	v, err := NewVocabulary()
	if err != nil {
		f.Fatal(err)
	}

	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := ParseForm(body)
		if err != nil {
			requireInvalid(t, err)
			return
		}
		again, err := ParseJSON(AppendJSON(nil, n.free()))
		if err == nil {
			require.Equal(t, n.free(), again)
		}
		requireChecked(t, v, n)
	})
}

// requireChecked: a checked tree passes the check again, unchanged.
func requireChecked(t *testing.T, v *Vocabulary, tree any) {
	t.Helper()
	checked, err := v.event.Check(tree, "")
	if err != nil {
		requireInvalid(t, err)
		return
	}
	once := string(AppendJSON(nil, checked))
	parsed, err := ParseJSON([]byte(once))
	require.NoError(t, err, once)
	twice, err := v.event.Check(parsed, "")
	require.NoError(t, err, once)
	require.Equal(t, once, string(AppendJSON(nil, twice)))
}

func requireInvalid(t *testing.T, err error) {
	t.Helper()
	var e *loyalty.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, loyalty.Invalid, e.Kind)
	require.NotEmpty(t, e.Name)
}
