package contract

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// declaring is a vocabulary of a programme that declares these schemas.
func declaring(t *testing.T, schemas map[string]string) *Vocabulary {
	t.Helper()
	v, err := NewVocabulary()
	require.NoError(t, err)
	for name, schema := range schemas {
		require.NoError(t, v.DeclareAction(name, json.RawMessage(schema)), name)
	}
	v.UseDeclarations(func(action string) json.RawMessage {
		if schema, ok := schemas[action]; ok {
			return json.RawMessage(schema)
		}
		return nil
	})
	return v
}

const tasting = `{"type":"object","required":["place"],"properties":{
	"place":{"type":"string","minLength":2,"maxLength":20,"pattern":"^[a-z]+$"},
	"cups":{"type":"integer","minimum":1,"maximum":9},
	"price":{"type":"number","format":"decimal"},
	"with_friends":{"type":"boolean"},
	"day":{"type":"string","format":"date"},
	"roast":{"type":"string","enum":["light","dark"]},
	"notes":{"type":"array","items":{"type":"string"},"maxItems":2,"uniqueItems":true},
	"host":{"type":"object","x-personal":true,"required":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer"}}}}}`

// fault gives the name and field of the first thing that is wrong.
func fault(t *testing.T, err error) (name, field string) {
	t.Helper()
	var e *loyalty.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, loyalty.Invalid, e.Kind)
	require.NotEmpty(t, e.Details)
	return e.Name, e.Details[0].Field
}

// TestDeclare: a schema that cannot be compiled is refused where it is wrong.
func TestDeclare(t *testing.T) {
	v := vocabulary(t)
	property := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
	for name, c := range map[string]struct{ schema, fault, field string }{
		"nothing":                 {``, "malformed_body", ""},
		"not JSON":                {`{`, "malformed_body", ""},
		"not an object":           {`[]`, "must_be_type", "schema"},
		"no type":                 {`{}`, "property_empty", "schema.type"},
		"not of type object":      {`{"type":"string"}`, "must_be_one_of", "schema.type"},
		"a list of types":         {`{"type":["object"]}`, "must_be_one_of", "schema.type"},
		"unknown type":            {property(`{"type":"text"}`), "must_be_one_of", "schema.properties.a.type"},
		"no type further down":    {property(`{}`), "property_empty", "schema.properties.a.type"},
		"unknown word":            {property(`{"type":"string","maxlen":4}`), "property_unknown", "schema.properties.a.maxlen"},
		"wrong letter case":       {property(`{"type":"string","maxlength":4}`), "case_mismatch", "schema.properties.a.maxlength"},
		"reference":               {property(`{"type":"object","$ref":"#/components/schemas/Event"}`), "property_unknown", "schema.properties.a.$ref"},
		"alternatives":            {property(`{"type":"object","oneOf":[]}`), "property_unknown", "schema.properties.a.oneOf"},
		"unknown format":          {property(`{"type":"string","format":"colour"}`), "must_be_one_of", "schema.properties.a.format"},
		"broken pattern":          {property(`{"type":"string","pattern":"["}`), "bad_format", "schema.properties.a.pattern"},
		"a costly pattern":        {property(`{"type":"string","pattern":"^\\w{900}-\\w{900}$"}`), "property_invalid", "schema.properties.a.pattern"},
		"a long text for it":      {property(`{"type":"string","maxLength":100000,"pattern":"^[a-z]{3}[0-9]{30}$"}`), "property_invalid", "schema.properties.a.pattern"},
		"costly items":            {property(`{"type":"array","items":{"type":"string","pattern":"(a{900}){1}b{900}c{900}"}}`), "property_invalid", "schema.properties.a.items.pattern"},
		"negative length":         {property(`{"type":"string","minLength":-1}`), "too_small", "schema.properties.a.minLength"},
		"a text for a number":     {property(`{"type":"integer","minimum":"1"}`), "must_be_type", "schema.properties.a.minimum"},
		"empty enum":              {property(`{"type":"string","enum":[]}`), "too_few", "schema.properties.a.enum"},
		"enum of another type":    {property(`{"type":"string","enum":["a",7]}`), "must_be_type", "schema.properties.a.enum[1]"},
		"enum out of bounds":      {property(`{"type":"integer","maximum":3,"enum":[1,7]}`), "must_be_type", "schema.properties.a.enum[1]"},
		"list without items":      {property(`{"type":"array"}`), "property_empty", "schema.properties.a.items"},
		"broken items":            {property(`{"type":"array","items":{"type":"array"}}`), "property_empty", "schema.properties.a.items.items"},
		"required, not declared":  {`{"type":"object","required":["b"],"properties":{"a":{"type":"string"}}}`, "property_unknown", "schema.required[0]"},
		"additional, as a schema": {`{"type":"object","additionalProperties":{"type":"string"}}`, "must_be_type", "schema.additionalProperties"},
		"too deep":                {strings.Repeat(`{"type":"object","properties":{"a":`, 40) + `{}` + strings.Repeat(`}}`, 40), "malformed_body", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := declare(v, json.RawMessage(c.schema))
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, loyalty.Invalid, e.Kind)
			require.Equal(t, c.fault, e.Name)
			if c.field != "" {
				require.Equal(t, c.field, e.Details[0].Field)
			}
		})
	}

	require.NoError(t, declare(v, json.RawMessage(tasting)))
	require.NoError(t, declare(v, json.RawMessage(`{"type":"object"}`)))
	name, field := fault(t, declare(v, json.RawMessage(`{"type":"object","title":"`+strings.Repeat("a", maxDeclaredSize)+`"}`)))
	require.Equal(t, []string{"number_out_of_range", "schema"}, []string{name, field})
}

// TestPatternBudget: texts without an end, and many of them, are held against a
// pattern as long as the event's budget lasts. What was declared before there was one
// stays in force.
func TestPatternBudget(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]{20}"},
		"b":{"type":"array","items":{"type":"string","pattern":"^[a-z]{20}"}}}}`
	v := vocabulary(t)
	require.NoError(t, declare(v, json.RawMessage(schema)))
	check := func(schema, data string) error {
		_, err := v.CheckDeclared(json.RawMessage(schema), json.RawMessage(data), "data")
		return err
	}

	long := strings.Repeat("x", 100_000)
	require.NoError(t, check(schema, `{"a":"`+long+`"}`))
	name, field := fault(t, check(schema, `{"a":"`+long+long+`"}`))
	require.Equal(t, []string{"property_invalid", "data.a"}, []string{name, field})
	item := `"` + long[:50_000] + `"`
	require.NoError(t, check(schema, `{"b":[`+item+`,`+item+`]}`))
	name, field = fault(t, check(schema, `{"b":[`+strings.Repeat(item+",", 5)+item+`]}`))
	require.Equal(t, []string{"property_invalid", "data.b[3]"}, []string{name, field})

	const costly = `{"type":"object","properties":{"a":{"type":"string","pattern":"^\\w{900}-\\w{900}$"}}}`
	require.Error(t, declare(v, json.RawMessage(costly)))
	require.NoError(t, check(costly, `{"a":"`+long[:900]+"-"+long[:900]+`"}`))
	name, _ = fault(t, check(costly, `{"a":"short"}`))
	require.Equal(t, "bad_pattern", name)
}

// TestPatternSize: the size that is counted is near what the pattern compiles to.
func TestPatternSize(t *testing.T) {
	for _, pattern := range []string{`^[a-z]+$`, `abc`, `(?i)kelvin|ångström`, `(a{10}b?){20}`, `\w{50}-\d{3,7}x{2,}`, `(?:(?:a|bc)*d)+`, `[[:alpha:]]{3}(\.[^.]+){0,9}`} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		program, err := syntax.Compile(parsed.Simplify())
		require.NoError(t, err)
		size := patternSize(parsed)
		require.LessOrEqual(t, len(program.Inst), 2*size+3, pattern)
		require.LessOrEqual(t, size, 2*len(program.Inst), pattern)
	}
}

// TestDeclareAction: what the document says of an action cannot be declared
// again, and what only the platform writes cannot be declared at all.
func TestDeclareAction(t *testing.T) {
	v := vocabulary(t)
	schema := func(attribute string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{"` + attribute + `":{"type":"string"}}}`)
	}
	for _, c := range []struct{ action, attribute, fault, field string }{
		{"tasting", "place", "", ""},
		{"visit", "colour", "", ""},
		{"checkout_item", "colour", "", ""},
		{"tasting", "effective_timestamp", "property_invalid", "schema.properties.effective_timestamp"},
		{"visit", "url", "property_invalid", "schema.properties.url"},
		{"visit", "URL", "property_invalid", "schema.properties.URL"},
		{"checkout", "items", "property_invalid", "schema.properties.items"},
		{"checkout_item", "subtotal", "property_invalid", "schema.properties.subtotal"},
		{"checkout_item", "total", "property_invalid", "schema.properties.total"},
		{"reward_claim", "colour", "property_invalid", "name"},
	} {
		err := v.DeclareAction(c.action, schema(c.attribute))
		if c.fault == "" {
			require.NoError(t, err, c)
			continue
		}
		name, field := fault(t, err)
		require.Equal(t, []string{c.fault, c.field}, []string{name, field}, c)
	}

	require.Error(t, v.DeclareAction("tasting", json.RawMessage(`{}`)))
}

// TestDeclaredAction: an action that the programme declares is checked by its
// schema in every way an event can come, and the same whether as JSON or as a
// form.
func TestDeclaredAction(t *testing.T) {
	v := declaring(t, map[string]string{"tasting": tasting})
	full := `{"cf_a":1,"cups":2,"day":"2026-03-01","effective_timestamp":"2026-02-27T18:05:00Z","host":{"age":41,"name":"x"},"notes":["a","b"],"place":"riga","price":1.2345,"roast":"dark","with_friends":true}`
	got, err := v.Check("tasting", json.RawMessage(full), "data")
	require.NoError(t, err)
	require.Equal(t, full, string(got))
	got, err = v.CheckDeclared(json.RawMessage(tasting), json.RawMessage(full), "data")
	require.NoError(t, err)
	require.Equal(t, full, string(got))

	got, err = v.Check("tasting", json.RawMessage(`{"place":"riga","price":1.00005}`), "data")
	require.NoError(t, err)
	require.Equal(t, `{"place":"riga","price":1.0001}`, string(got), "to four decimals, half away from zero")

	form, err := ParseForm([]byte(`customer=a&action=tasting&data[place]=riga&data[cups]=2&data[price]=1.2345&data[with_friends]=1&data[day]=2026-03-01&data[roast]=dark&data[notes][]=a&data[notes][]=b&data[host][name]=x&data[host][age]=41&data[effective_timestamp]=2026-02-27T18:05:00Z&data[cf_a]=1`))
	require.NoError(t, err)
	e, err := v.Read(form, "")
	require.NoError(t, err)
	require.Equal(t, strings.Replace(full, `"cf_a":1`, `"cf_a":"1"`, 1), string(e.Data))
	require.True(t, e.Checked)

	for data, want := range map[string][2]string{
		`{}`:                                            {"property_empty", "data.place"},
		`{"place":" "}`:                                 {"property_empty", "data.place"},
		`{"place":"RIGA"}`:                              {"bad_pattern", "data.place"},
		`{"place":"r"}`:                                 {"too_short", "data.place"},
		`{"place":"riga","cups":0}`:                     {"too_small", "data.cups"},
		`{"place":"riga","cups":"2"}`:                   {"must_be_type", "data.cups"},
		`{"place":"riga","cups":1.5}`:                   {"must_be_type", "data.cups"},
		`{"place":"riga","day":"2026-02-30"}`:           {"bad_format", "data.day"},
		`{"place":"riga","roast":"green"}`:              {"must_be_one_of", "data.roast"},
		`{"place":"riga","notes":["a","a"]}`:            {"not_unique", "data.notes"},
		`{"place":"riga","notes":"a"}`:                  {"must_be_type", "data.notes"},
		`{"place":"riga","host":{}}`:                    {"property_empty", "data.host.name"},
		`{"place":"riga","host":{"name":"x","cf_a":1}}`: {"property_unknown", "data.host.cf_a"},
		`{"place":"riga","colour":"red"}`:               {"property_unknown", "data.colour"},
		`{"place":"riga","Cups":1}`:                     {"case_mismatch", "data.Cups"},
	} {
		_, err := v.Check("tasting", json.RawMessage(data), "data")
		name, field := fault(t, err)
		require.Equal(t, want, [2]string{name, field}, data)
		tree, err := ParseJSON([]byte(`{"customer":"a","action":"tasting","data":` + data + `}`))
		require.NoError(t, err)
		_, err = v.Read(tree, "events[3]")
		name, field = fault(t, err)
		require.Equal(t, [2]string{want[0], "events[3]." + want[1]}, [2]string{name, field}, data)
	}
}

// TestUndeclaredAction: an unknown action goes on to the engine, which says so; nothing has checked its data.
func TestUndeclaredAction(t *testing.T) {
	v := declaring(t, map[string]string{"tasting": tasting, "checkout_item": `{"type":"object"}`})
	for _, name := range []string{"dance", "checkout_item"} {
		tree, err := ParseJSON([]byte(`{"customer":"a","action":"` + name + `","data":{"anything":[1]}}`))
		require.NoError(t, err)
		e, err := v.Read(tree, "")
		require.NoError(t, err)
		require.Equal(t, name, e.Action)
		require.False(t, e.Checked)
	}
	_, ok := v.Shape("dance")
	require.False(t, ok)
}

// TestDeclaredAttributes: actions of the document, and lines of a purchase, have
// what the programme declares for them besides their own.
func TestDeclaredAttributes(t *testing.T) {
	v := declaring(t, map[string]string{
		"visit":         `{"type":"object","required":["kiosk"],"properties":{"kiosk":{"type":"integer"},"guide":{"type":"string","x-personal":true}}}`,
		"checkout":      `{"type":"object","properties":{"table":{"type":"integer"}}}`,
		"checkout_item": `{"type":"object","properties":{"size":{"type":"string","enum":["s","m"]}}}`,
	})

	const line = `{"product_id":"p","product_name":"n","product_url":"https://a.b","quantity":1,"subtotal":1%s}`
	checkout := func(more, ofLine string) string {
		return `{"transaction_id":"T","total":1` + more + `,"items":[` + fmt.Sprintf(line, ofLine) + `]}`
	}
	for _, c := range []struct{ action, data, fault, field string }{
		{"visit", `{"url":"https://a.b","kiosk":7,"guide":"x"}`, "", ""},
		{"visit", `{"kiosk":7}`, "property_empty", "data.url"},
		{"visit", `{"url":"https://a.b"}`, "property_empty", "data.kiosk"},
		{"visit", `{"url":"https://a.b","kiosk":"7"}`, "must_be_type", "data.kiosk"},
		{"visit", `{"url":"https://a.b","kiosk":7,"other":1}`, "property_unknown", "data.other"},
		{"video", `{"url":"https://a.b","kiosk":7}`, "property_unknown", "data.kiosk"},
		{"checkout", checkout(`,"table":4,"own":"kept"`, `,"size":"m","own":"kept"`), "", ""},
		{"checkout", checkout(`,"table":"4"`, ``), "must_be_type", "data.table"},
		{"checkout", checkout(``, `,"size":"xl"`), "must_be_one_of", "data.items[0].size"},
		{"checkout_update", checkout(`,"table":"4"`, `,"size":"xl"`), "must_be_one_of", "data.items[0].size"},
	} {
		_, err := v.Check(c.action, json.RawMessage(c.data), "data")
		if c.fault == "" {
			require.NoError(t, err, c)
			continue
		}
		name, field := fault(t, err)
		require.Equal(t, []string{c.fault, c.field}, []string{name, field}, c)
	}

	shape, ok := v.Shape("checkout")
	require.True(t, ok)
	require.Contains(t, shape.Attributes, "table")
	require.Contains(t, shape.Attributes["items"].Items.Attributes, "size")
	require.NotContains(t, shape.Attributes["items"].Items.Attributes, "effective_timestamp")
	shape, _ = v.Shape("visit")
	require.True(t, shape.Attributes["guide"].Personal)
	require.False(t, shape.Attributes["kiosk"].Personal)
	shape, _ = vocabulary(t).Shape("visit")
	require.NotContains(t, shape.Attributes, "kiosk", "the document itself is as it was")
}

func TestDeclaredShape(t *testing.T) {
	shape, err := declaredShape(vocabulary(t), json.RawMessage(tasting))
	require.NoError(t, err)
	require.True(t, shape.Attributes["host"].Personal)
	require.False(t, shape.Attributes["place"].Personal)
	require.Contains(t, shape.Attributes, "effective_timestamp")
	_, err = declaredShape(vocabulary(t), json.RawMessage(`{}`))
	require.Error(t, err)
}

// TestDeclarationsAreBounded: a long history of schemas does not fill the memory.
func TestDeclarationsAreBounded(t *testing.T) {
	v := declaring(t, nil)
	for i := range maxCompiled + 10 {
		require.NoError(t, declare(v, json.RawMessage(fmt.Sprintf(`{"type":"object","title":"%d"}`, i))))
	}
	require.LessOrEqual(t, len(v.declared.compiled), maxCompiled)
}

// TestInternalShapes: what the platform writes itself has a shape, and is no
// part of what can be submitted.
func TestInternalShapes(t *testing.T) {
	v := vocabulary(t)
	for name := range v.internal {
		_, ok := v.Shape(name)
		require.True(t, ok, name)
		require.Nil(t, v.branch(name), name)
		require.NotContains(t, v.Actions(), name)
	}

	answer, _ := v.Shape("profile_answer")
	require.True(t, answer.Attributes["answer"].Personal)
	require.False(t, answer.Attributes["question"].Personal)
	require.Equal(t, "profiling", answer.Module)
	item, _ := v.Shape("checkout_item")
	require.Contains(t, item.Attributes, "subtotal")
	require.Contains(t, item.Attributes, "transaction_id")
	require.NotContains(t, item.Attributes, "items")
	checkout, _ := v.Shape("checkout")
	require.Contains(t, checkout.Attributes, "items", "the checkout itself is as it was")
	data, err := v.Check("profile_answer", json.RawMessage(`{"flow":"f","question":"q","answer":[1],"more":true}`), "data")
	require.NoError(t, err)
	require.Equal(t, `{"answer":[1],"flow":"f","more":true,"question":"q"}`, string(data))
}

func TestDeprecated(t *testing.T) {
	v := vocabulary(t)
	for _, name := range []string{"coupon", "review"} {
		since, ok := v.Deprecated(name)
		require.True(t, ok, name)
		require.Equal(t, 2026, since.Year())
	}
	for _, name := range []string{"coupon_create", "review_submit", "merge", "dance"} {
		_, ok := v.Deprecated(name)
		require.False(t, ok, name)
	}
}

// FuzzDeclare: whatever schema is taken can judge whatever data; what it lets
// through it lets through again, unchanged.
func FuzzDeclare(f *testing.F) {
	v, err := NewVocabulary()
	require.NoError(f, err)
	f.Add(tasting, `{"place":"riga","cups":2,"notes":["a"],"host":{"name":"x"},"price":1.5,"cf_a":null}`)
	f.Add(`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"array","items":{"type":"array","items":{"type":"number","multipleOf":0.5}}}}}`, `{"a":[[1,1.5]],"b":{}}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"object","nullable":true,"additionalProperties":false}}}`, `{"a":null}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"string","pattern":"(?i)^x{2,3}$","enum":["XX"]}}}`, `{"a":"xx"}`)

	f.Fuzz(func(t *testing.T, schema, data string) {
		if declare(v, json.RawMessage(schema)) != nil {
			return
		}
		once, err := v.CheckDeclared(json.RawMessage(schema), json.RawMessage(data), "data")
		if err != nil {
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, loyalty.Invalid, e.Kind)
			return
		}
		twice, err := v.CheckDeclared(json.RawMessage(schema), once, "data")
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

// declare compiles a schema as it is compiled when it is declared.
func declare(v *Vocabulary, schema json.RawMessage) error {
	_, err := v.declared.declare(schema)
	return err
}

// declaredShape gives what a declared schema says of its attributes.
func declaredShape(v *Vocabulary, schema json.RawMessage) (*loyalty.Shape, error) {
	s, err := v.declared.compile(schema)
	if err != nil {
		return nil, err
	}
	return meaningOf(s), nil
}
