package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

var loadVocabulary = sync.OnceValues(NewVocabulary)

func vocabulary(t *testing.T) *Vocabulary {
	t.Helper()
	v, err := loadVocabulary()
	require.NoError(t, err)
	return v
}

func checkEvent(t *testing.T, body string) (string, *loyalty.Error) {
	t.Helper()
	tree, err := ParseJSON([]byte(body))
	require.NoError(t, err)
	return outcome(t, tree)
}

func checkForm(t *testing.T, body string) (string, *loyalty.Error) {
	t.Helper()
	n, err := ParseForm([]byte(body))
	require.NoError(t, err)
	return outcome(t, n)
}

func outcome(t *testing.T, tree any) (string, *loyalty.Error) {
	t.Helper()
	checked, err := vocabulary(t).event.Check(tree, "")
	if err == nil {
		return string(AppendJSON(nil, checked)), nil
	}
	var e *loyalty.Error
	require.ErrorAs(t, err, &e)
	return "", e
}

// TestRequired: a required property that is missing, null or blank is one error,
// which tells the first of them in the contract's order, before every other fault.
func TestRequired(t *testing.T) {
	for name, c := range map[string]struct{ body, property, field string }{
		"nothing":                {`{}`, "customer", "customer"},
		"null":                   {`{"customer":null}`, "customer", "customer"},
		"no action":              {`{"customer":"a"}`, "action", "action"},
		"blank":                  {`{"customer":" \t ","action":"visit"}`, "customer", "customer"},
		"no data":                {`{"customer":"a","action":"visit"}`, "data", "data"},
		"in the data":            {`{"customer":"a","action":"visit","data":{}}`, "url", "data.url"},
		"the first of two":       {`{"customer":"a","action":"checkout","data":{}}`, "transaction_id", "data.transaction_id"},
		"the second of two":      {`{"customer":"a","action":"checkout","data":{"transaction_id":"T"}}`, "total", "data.total"},
		"before other faults":    {`{"customer":"a","action":"checkout","data":{"zzz":1,"transaction_id":7,"shipping":"x"}}`, "total", "data.total"},
		"of a line":              {`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1,"items":[{"product_id":"p","product_name":"n","product_url":"https://a.b","quantity":1,"subtotal":1},{"product_name":"n"}]}}`, "product_id", "data.items[1].product_id"},
		"of an unknown action":   {`{"customer":"a","action":"dance"}`, "data", "data"},
		"an action that is none": {`{"customer":"a","action":{}}`, "data", "data"},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := checkEvent(t, c.body)
			require.NotNil(t, e)
			require.Equal(t, "property_empty", e.Name)
			require.Zero(t, e.Code)
			require.Equal(t, c.property, e.Args["property"])
			require.Equal(t, c.field, e.Details[0].Field)
		})
	}

	t.Run("all of them are listed, and then the other faults", func(t *testing.T) {
		_, e := checkEvent(t, `{"customer":"a","action":"checkout","data":{"shipping":"x","items":[{"product_name":"n","quantity":1,"subtotal":1}]}}`)
		var fields []string
		for _, d := range e.Details {
			fields = append(fields, d.Field+" "+d.Name)
		}
		require.Equal(t, []string{
			"data.transaction_id property_empty", "data.total property_empty",
			"data.items[0].product_id property_empty", "data.items[0].product_url property_empty",
			"data.shipping must_be_type",
		}, fields)
	})

	t.Run("and no more than a hundred", func(t *testing.T) {
		_, e := checkEvent(t, `{"customer":"a","action":"checkout","data":{"total":1,"items":[`+strings.Repeat(`{},`, 200)+`{}]}}`)
		require.Len(t, e.Details, maxDetails)
	})
}

func TestFaultsOfABody(t *testing.T) {
	line := func(more string) string {
		return `{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1,"items":[{"product_id":"p","product_name":"n","product_url":"https://a.b","quantity":1,"subtotal":1` + more + `}]}}`
	}
	visit := func(more string) string {
		return `{"customer":"a","action":"visit","data":{"url":"https://shop.test/"` + more + `}}`
	}
	profile := func(data string) string { return `{"customer":"a","action":"profile","data":{` + data + `}}` }

	for name, c := range map[string]struct {
		body, fault, field string
		code               int
	}{
		"not an object":                {`[]`, "must_be_type", "", 190010},
		"unknown in the envelope":      {`{"customer":"a","action":"visit","data":{"url":"https://a.b"},"Guest":true}`, "property_unknown", "Guest", 190011},
		"letter case, envelope":        {`{"customer":"a","action":"visit","data":{"url":"https://a.b"},"Customer":"b"}`, "case_mismatch", "Customer", 190011},
		"letter case, kept attributes": {`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1,"Total":5}}`, "case_mismatch", "data.Total", 190011},
		"letter case, of a line":       {line(`,"QUANTITY":7`), "case_mismatch", "data.items[0].QUANTITY", 190011},
		"letter case, folding":         {visit(`,"poinT\u017f":5`), "case_mismatch", "data.poinTſ", 190011},
		"unknown in data":              {visit(`,"colour":"red"`), "property_unknown", "data.colour", 190011},
		"customer is a number":         {`{"customer":7,"action":"visit","data":{"url":"https://a.b"}}`, "must_be_type", "customer", 190010},
		"customer is too long":         {`{"customer":"` + string(make256()) + `","action":"visit","data":{"url":"https://a.b"}}`, "too_long", "customer", 190010},
		"data is a list":               {`{"customer":"a","action":"visit","data":[1]}`, "must_be_type", "data", 190010},
		"points as text":               {visit(`,"points":"5"`), "must_be_type", "data.points", 190010},
		"points with a fraction":       {visit(`,"points":5.5`), "must_be_type", "data.points", 190010},
		"points too small to see":      {visit(`,"points":1e-400`), "must_be_type", "data.points", 190010},
		"points with a huge exponent":  {visit(`,"points":1e400`), "number_out_of_range", "data.points", 190015},
		"an exponent without an end":   {visit(`,"points":1e99999999999999999999`), "number_out_of_range", "data.points", 190015},
		"points of zero":               {visit(`,"points":0`), "too_small", "data.points", 190010},
		"points above the limit":       {visit(`,"points":9007199254740992`), "too_large", "data.points", 190010},
		"points beyond 64 bits":        {visit(`,"points":99999999999999999999`), "number_out_of_range", "data.points", 190015},
		"a number beyond everything":   {line(`,"price":1e400`), "number_out_of_range", "data.items[0].price", 190015},
		"an amount without an end":     {line(`,"price":1e999999999`), "number_out_of_range", "data.items[0].price", 190015},
		"of one's own, beyond doubles": {line(`,"cf_x":1e400`), "number_out_of_range", "data.items[0].cf_x", 190015},
		"the same, nested":             {line(`,"size":{"cm":[1,-1e400]}`), "number_out_of_range", "data.items[0].size", 190015},
		"a negative price":             {line(`,"price":-1`), "too_small", "data.items[0].price", 190010},
		"no complete address":          {`{"customer":"a","action":"visit","data":{"url":"shop.test/spring"}}`, "bad_format", "data.url", 190010},
		"an address without a host":    {`{"customer":"a","action":"visit","data":{"url":"https:///x"}}`, "bad_format", "data.url", 190010},
		"no e-mail":                    {profile(`"email":"ada"`), "bad_format", "data.email", 190010},
		"an e-mail with a name":        {profile(`"email":"Ada <ada@shop.test>"`), "bad_format", "data.email", 190010},
		"a day before all years":       {`{"customer":"a","action":"coupon_create","data":{"code":"c","value":1,"expdate":"0000-01-01"}}`, "bad_format", "data.expdate", 190010},
		"a day that does not exist":    {profile(`"birth_date":"2023-02-30"`), "bad_format", "data.birth_date", 190010},
		"born in another century":      {profile(`"birth_date":"1899-12-31"`), "bad_format", "data.birth_date", 190010},
		"not born yet":                 {profile(`"birth_date":"2999-01-01"`), "bad_format", "data.birth_date", 190010},
		"a day and a time":             {profile(`"birth_date":"2023-02-03T00:00:00Z"`), "bad_format", "data.birth_date", 190010},
		"labels are no list":           {profile(`"labels":"vip"`), "must_be_type", "data.labels", 190010},
		"null among labels":            {profile(`"labels":["vip",null]`), "must_be_type", "data.labels[1]", 190010},
		"an external id is an object":  {profile(`"external_ids":{"crm":{"a":"b"}}`), "must_be_type", "data.external_ids.crm", 190010},
		"one of several is a number":   {profile(`"external_ids":{"crm":["1",7]}`), "must_be_type", "data.external_ids.crm[1]", 190010},
		"one of several is null":       {profile(`"external_ids":{"crm":["1",null]}`), "must_be_type", "data.external_ids.crm[1]", 190010},
		"one of several is a list":     {profile(`"external_ids":{"crm":[["1"],"2"]}`), "must_be_type", "data.external_ids.crm[0]", 190010},
		"one of several is blank":      {profile(`"external_ids":{"crm":["1"," "]}`), "too_short", "data.external_ids.crm[1]", 190010},
		"one of several twice":         {profile(`"external_ids":{"crm":["1","2","1 "]}`), "not_unique", "data.external_ids.crm", 190010},
		"too many external ids":        {profile(`"external_ids":{"crm":["` + strings.Join(strings.Split("abcdefghijklmnopqrstu", ""), `","`) + `"]}`), "too_many", "data.external_ids.crm", 190010},
		"an external id is a number":   {profile(`"external_ids":{"crm":7}`), "must_be_type", "data.external_ids.crm", 190010},
		"neither instant nor seconds":  {visit(`,"effective_timestamp":"yesterday"`), "bad_format", "data.effective_timestamp", 190010},
		"seconds with a fraction":      {visit(`,"effective_timestamp":1.5`), "must_be_type", "data.effective_timestamp", 190010},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := checkEvent(t, c.body)
			require.NotNil(t, e)
			require.Equal(t, c.fault, e.Name)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, loyalty.Invalid, e.Kind)
			require.Equal(t, c.field, e.Details[0].Field)
		})
	}
}

func make256() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

// TestEveryFaultIsNamed: an answer lists all fields at fault, not the first one.
func TestEveryFaultIsNamed(t *testing.T) {
	_, e := checkEvent(t, `{"customer":"a","action":"checkout","extra":1,"data":{"transaction_id":"T","total":-1,"shipping":1.5,
		"items":[{"product_id":"p","product_name":"n","product_url":"x","quantity":0,"subtotal":1,"colour":"red"}]}}`)
	require.NotNil(t, e)
	var fields []string
	for _, d := range e.Details {
		fields = append(fields, d.Field)
	}
	require.Equal(t, []string{"data.items[0].product_url", "data.items[0].quantity", "data.shipping", "data.total", "extra"}, fields)
	require.Equal(t, e.Details[0].Name, e.Name)
}

func TestKept(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"null counts as absent": {
			`{"customer":"a","action":"visit","data":{"url":"https://a.b","points":null,"cf_x":null,"colour":null},"external_id":null}`,
			`{"action":"visit","customer":"a","data":{"url":"https://a.b"}}`},
		"custom attributes": {
			`{"customer":"a","action":"visit","data":{"url":"https://a.b","cf_x":{"deep":[1.50,null,{"n":null}]}}}`,
			`{"action":"visit","customer":"a","data":{"cf_x":{"deep":[1.50,null,{"n":null}]},"url":"https://a.b"}}`},
		"any attribute of a checkout": {
			`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":99.9900,"colour":"red"}}`,
			`{"action":"checkout","customer":"a","data":{"colour":"red","total":99.9900,"transaction_id":"T"}}`},
		"null removes the date of a pending purchase": {
			`{"customer":"a","action":"checkout_update","data":{"transaction_id":"T","total":1,"auto_accept":null}}`,
			`{"action":"checkout_update","customer":"a","data":{"auto_accept":null,"total":1,"transaction_id":"T"}}`},
		"null removes an external id": {
			`{"customer":"a","action":"profile","data":{"external_ids":{"crm":null,"shop":"7"}}}`,
			`{"action":"profile","customer":"a","data":{"external_ids":{"crm":null,"shop":"7"}}}`},
		"whole numbers as fractions": {
			`{"customer":"a","action":"visit","data":{"url":"https://a.b","points":5.0}}`,
			`{"action":"visit","customer":"a","data":{"points":5,"url":"https://a.b"}}`},
		"whole numbers with an exponent": {
			`{"customer":"a","action":"visit","data":{"url":"https://a.b","points":50e-1,"effective_timestamp":1.7e9}}`,
			`{"action":"visit","customer":"a","data":{"effective_timestamp":1700000000,"points":5,"url":"https://a.b"}}`},
		"amounts of a client that counts in binary": {
			`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":3.3000000000000003,"shipping":2e0,"size":3.3000000000000003}}`,
			`{"action":"checkout","customer":"a","data":{"shipping":2,"size":3.3000000000000003,"total":3.3,"transaction_id":"T"}}`},
		"amounts too small to see": {
			`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1e-400}}`,
			`{"action":"checkout","customer":"a","data":{"total":0,"transaction_id":"T"}}`},
		"blanks around ids": {
			`{"customer":" a\u00a0","action":"refund_item","external_id":"\tcrm ","data":{"transaction_id":"\u2003T 1\n","product_id":" p ","effective_timestamp":1700000000}}`,
			`{"action":"refund_item","customer":"a","data":{"effective_timestamp":1700000000,"product_id":"p","transaction_id":"T 1"},"external_id":"crm"}`},
		"blanks around ids of other systems": {
			`{"customer":"a","action":"profile","data":{"external_ids":{"crm":" 42 ","till":null},"first_name":" A "}}`,
			`{"action":"profile","customer":"a","data":{"external_ids":{"crm":"42","till":null},"first_name":" A "}}`},
		"several ids of another system, and none": {
			`{"customer":"a","action":"profile","data":{"external_ids":{"card":[" 1 ","2"],"crm":[],"till":null}}}`,
			`{"action":"profile","customer":"a","data":{"external_ids":{"card":["1","2"],"crm":[],"till":null}}}`},
		"seconds since 1970": {
			`{"customer":"a","action":"opt_out","data":{"effective_timestamp":1700000000}}`,
			`{"action":"opt_out","customer":"a","data":{"effective_timestamp":1700000000}}`},
		"an unknown action is the engine's to refuse": {
			`{"customer":"a","action":"dance","data":{"steps":3}}`,
			`{"action":"dance","customer":"a","data":{"steps":3}}`},
		"an e-mail with blanks around it": {
			`{"customer":"a","action":"opt_in","data":{"email":" ada@shop.test "}}`,
			`{"action":"opt_in","customer":"a","data":{"email":" ada@shop.test "}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, e := checkEvent(t, c.body)
			require.Nil(t, e)
			require.Equal(t, c.want, got)
		})
	}
}

// TestFormValues: a form's text becomes what the schema wants.
func TestFormValues(t *testing.T) {
	for name, c := range map[string]struct{ form, want string }{
		"numbers keep their digits": {
			`customer=a&action=checkout&data[transaction_id]=0001&data[total]=99.990&data[shipping]=4`,
			`{"action":"checkout","customer":"a","data":{"shipping":4,"total":99.990,"transaction_id":"0001"}}`},
		"lines": {
			`customer=a&action=checkout&data[transaction_id]=T&data[total]=1&data[items][3][product_id]=p&data[items][3][product_name]=n` +
				`&data[items][3][product_url]=https://a.b&data[items][3][quantity]=2&data[items][3][subtotal]=1e1&data[items][3][size]=07`,
			`{"action":"checkout","customer":"a","data":{"items":[{"product_id":"p","product_name":"n","product_url":"https://a.b","quantity":2,"size":"07","subtotal":1e1}],"total":1,"transaction_id":"T"}}`},
		"true":                  {`customer=a&action=profile&data[opt_in]=1`, `{"action":"profile","customer":"a","data":{"opt_in":true}}`},
		"true, spelled out":     {`customer=a&action=profile&data[opt_in]=true`, `{"action":"profile","customer":"a","data":{"opt_in":true}}`},
		"false":                 {`customer=a&action=profile&data[opt_in]=0`, `{"action":"profile","customer":"a","data":{"opt_in":false}}`},
		"false, empty":          {`customer=a&action=profile&data[opt_in]=`, `{"action":"profile","customer":"a","data":{"opt_in":false}}`},
		"a list of texts":       {`customer=a&action=profile&data[labels][]=vip&data[labels][]=7`, `{"action":"profile","customer":"a","data":{"labels":["vip","7"]}}`},
		"undeclared stays text": {`customer=a&action=opt_out&data[cf_size]=10&data[cf_list][]=1`, `{"action":"opt_out","customer":"a","data":{"cf_list":["1"],"cf_size":"10"}}`},
		"an instant":            {`customer=a&action=opt_out&data[effective_timestamp]=2026-02-27T18:05:00Z`, `{"action":"opt_out","customer":"a","data":{"effective_timestamp":"2026-02-27T18:05:00Z"}}`},
		"seconds since 1970":    {`customer=a&action=opt_out&data[effective_timestamp]=1700000000`, `{"action":"opt_out","customer":"a","data":{"effective_timestamp":1700000000}}`},
		"names of a map":        {`customer=a&action=profile&data[external_ids][crm]=007`, `{"action":"profile","customer":"a","data":{"external_ids":{"crm":"007"}}}`},
		"ids of one name":       {`customer=a&action=profile&data[external_ids][card][]=1&data[external_ids][card][]=+2&data[external_ids][crm]=`, `{"action":"profile","customer":"a","data":{"external_ids":{"card":["1","2"],"crm":null}}}`},
		"whole, as a fraction":  {`customer=a&action=checkout&data[transaction_id]=T&data[total]=3.3000000000000003&data[shipping]=2.0&data[effective_timestamp]=17e8`, `{"action":"checkout","customer":"a","data":{"effective_timestamp":1700000000,"shipping":2,"total":3.3,"transaction_id":"T"}}`},
		"no data":               {`customer=a&action=opt_out`, `{"action":"opt_out","customer":"a","data":{}}`},
		"empty data":            {`customer=a&action=suspend&data=`, `{"action":"suspend","customer":"a","data":{}}`},
		"blank data":            {`customer=a&action=unsuspend&data=+`, `{"action":"unsuspend","customer":"a","data":{}}`},
		"no data, unknown":      {`customer=a&action=dance`, `{"action":"dance","customer":"a","data":{}}`},
		"an empty date":         {`customer=a&action=checkout_update&data[transaction_id]=T&data[total]=1&data[auto_accept]=`, `{"action":"checkout_update","customer":"a","data":{"auto_accept":"","total":1,"transaction_id":"T"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, e := checkForm(t, c.form)
			require.Nil(t, e)
			require.Equal(t, c.want, got)
		})
	}
}

func TestFormFaults(t *testing.T) {
	visit := `customer=a&action=visit&data[url]=https://a.b&`

	for name, c := range map[string]struct{ form, fault, field string }{
		"a code is no number":       {visit + `data[points]=05`, "must_be_type", "data.points"},
		"no data where some is due": {`customer=a&action=point_add`, "property_empty", "data"},
		"empty data, some is due":   {`customer=a&action=point_add&data=`, "property_empty", "data.points"},
		"a fraction of a point":     {visit + `data[points]=5.5`, "must_be_type", "data.points"},
		"empty is no number":        {visit + `data[points]=`, "must_be_type", "data.points"},
		"plus is no sign":           {visit + `data[points]=%2B5`, "must_be_type", "data.points"},
		"hexadecimal":               {visit + `data[points]=0x10`, "must_be_type", "data.points"},
		"yes is no boolean":         {`customer=a&action=profile&data[opt_in]=yes`, "must_be_type", "data.opt_in"},
		"text for a list":           {`customer=a&action=profile&data[labels]=a`, "must_be_type", "data.labels"},
		"names for a list":          {`customer=a&action=profile&data[labels][x]=a`, "must_be_type", "data.labels"},
		"names for a text":          {`customer[x]=a&action=opt_out&data[reason]=x`, "must_be_type", "customer"},
		"text for an object":        {`customer=a&action=visit&data=5`, "must_be_type", "data"},
		"a comma as decimal point":  {`customer=a&action=partial_refund&data[transaction_id]=T&data[amount]=1,5`, "must_be_type", "data.amount"},
		"a number without a digit":  {`customer=a&action=partial_refund&data[transaction_id]=T&data[amount]=.5`, "must_be_type", "data.amount"},
		"an exponent without digit": {`customer=a&action=partial_refund&data[transaction_id]=T&data[amount]=1e`, "must_be_type", "data.amount"},
		"an exponent of a sign":     {`customer=a&action=partial_refund&data[transaction_id]=T&data[amount]=1e-`, "must_be_type", "data.amount"},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := checkForm(t, c.form)
			require.NotNil(t, e)
			require.Equal(t, c.fault, e.Name)
			require.Equal(t, c.field, e.Details[0].Field)
		})
	}
}

// TestVocabulary: the engine gets what the document's extensions say.
func TestVocabulary(t *testing.T) {
	v := vocabulary(t)
	var _ loyalty.Contract = v
	checkout, ok := v.Shape("checkout")
	require.True(t, ok)
	require.Equal(t, "checkout_accept", checkout.Attributes["total_quantity"].Module)
	require.Contains(t, checkout.Attributes["items"].Items.Attributes, "subtotal")
	require.Empty(t, checkout.Module)
	accept, ok := v.Shape("checkout_accept")
	require.True(t, ok)
	require.Equal(t, "checkout_accept", accept.Module)
	optIn, ok := v.Shape("opt_in")
	require.True(t, ok)
	require.True(t, optIn.Attributes["email"].Personal)
	require.True(t, optIn.Attributes["external_ids"].Personal)
	require.True(t, optIn.Attributes["language"].Personal, "any text is taken")
	require.False(t, optIn.Attributes["opt_in"].Personal)
	require.False(t, checkout.Attributes["channel"].Personal)
	_, ok = v.Shape("refund")
	require.True(t, ok)
	_, ok = v.Shape("dance")
	require.False(t, ok)
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	actions := doc.Components.Schemas["Event"].Value.Discriminator.Mapping

	require.ElementsMatch(t, slices.Collect(maps.Keys(actions)), v.Actions())
}

func TestVocabularyCheck(t *testing.T) {
	v := vocabulary(t)
	data, err := v.Check("visit", json.RawMessage(`{"points":null,"url":"https://c.d"}`), "data")
	require.NoError(t, err)
	require.Equal(t, `{"url":"https://c.d"}`, string(data))
	_, err = v.Check("visit", json.RawMessage(`{}`), "data")
	var e *loyalty.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "data.url", e.Details[0].Field)
	_, err = v.Check("visit", json.RawMessage(`{"url":`), "data")
	require.ErrorAs(t, err, &e)
	require.Equal(t, "malformed_body", e.Name)
	_, err = v.Check("dance", nil, "data")
	require.ErrorIs(t, err, loyalty.ErrUnknownAction)
}
