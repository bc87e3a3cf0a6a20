package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
)

// canary is a text that names a person, and appears nowhere else.
type canary struct {
	place string // where it was sent, such as profile.email
	text  string
}

// cage makes canaries and finds them again in any form.
type cage struct {
	t   *testing.T
	all []canary
}

func newCage(t *testing.T) *cage { return &cage{t: t} }

// text makes a canary for a place: every text has letters of both cases, a quote
// and a letter beyond ASCII, so that no form of writing leaves it as it is.
func (c *cage) text(place string) string {
	return c.add(place, fmt.Sprintf(`Qz%dXkánary"Vw`, 1000+len(c.all)))
}

// name makes one that can be an id.
func (c *cage) name(place string) string {
	return c.add(place, fmt.Sprintf("Qz%dXkanaryVw", 1000+len(c.all)))
}

func (c *cage) email(place string) string {
	return c.add(place, fmt.Sprintf("Qz%dXkanary@Vw.test", 1000+len(c.all)))
}

func (c *cage) add(place, text string) string {
	c.all = append(c.all, canary{place, text})
	return text
}

// value makes one that the schema of an attribute takes.
func (c *cage) value(place string, s *openapi3.Schema) any {
	c.t.Helper()
	switch {
	case s.Format == "email":
		return c.email(place)
	case s.Format == "date", s.Format == "birth-date":
		n := len(c.all)
		return c.add(place, fmt.Sprintf("19%02d-0%d-1%d", 10+n/90, 1+n/10%9, n%10))
	case s.Format == "uri":
		return c.add(place, fmt.Sprintf("https://qz.test/Qz%dXkanary.png", 1000+len(c.all)))
	case s.Type.Is("array"):
		return []any{c.text(place)}
	case s.Type.Is("object"):
		return map[string]any{"crm": c.name(place)}
	case s.Type.Is("string"):
		return c.text(place)
	}

	c.t.Fatalf("%s: no canary for %v", place, s.Type)
	return nil
}

// namesNobody are the texts that can hold no words about a person: ids of things and of
// customers (who are forgotten in their own way), and a date that is written as text.
// An attribute stands here by its name, or with its action.
var namesNobody = strings.Fields(`transaction_id product_id code coupon_code coupons offer offers pool stores product challenge
	contest_id treasure_id item item_id review_id video_id event reward reward_id target opt_in.referrer checkout_update.auto_accept`)

// staysWithPurchase are the texts that describe a purchase or a coupon's worth.
// Transaction data stays after opt_out, as the specification says; currencies are
// counted by the databases. Their descriptions tell callers so.
var staysWithPurchase = strings.Fields(`checkout.channel checkout.currency checkout.country checkout.discount checkout.store
	checkout.purchase_date_timestamp checkout_update.channel checkout_update.currency checkout_update.country
	checkout_update.discount checkout_update.store checkout.items.product_name checkout.items.product_url
	checkout.items.product_category checkout_update.items.product_name checkout_update.items.product_url
	checkout_update.items.product_category coupon_create.currency`)

// dateFormats are the formats of texts that are nothing but a date.
var dateFormats = []string{"date", "date-time", "day-or-instant", "instant"}

// freeTexts lists the attributes of an action's data that a caller fills with words, those
// of its lines among them as items.name.
func freeTexts(action string, schema *openapi3.Schema) (all []string) {
	for _, attribute := range sorted(schema.Properties) {
		s := schema.Properties[attribute].Value
		if s.Type.Is("array") && s.Items.Value.Type.Is("object") {
			for _, of := range freeTexts(action+"."+attribute, s.Items.Value) {
				all = append(all, attribute+"."+of)
			}
			continue
		}
		if wordy(action+"."+attribute, s) {
			all = append(all, attribute)
		}
	}
	return all
}

// wordy says whether an attribute takes words about a person. What the document marks
// does; of the rest every text that is not excepted by its kind or above.
func wordy(place string, s *openapi3.Schema) bool {
	_, attribute, _ := strings.Cut(place, ".")
	switch {
	case s.Extensions["x-personal"] == true:
		return true
	case slices.Contains(namesNobody, place), slices.Contains(namesNobody, attribute), slices.Contains(namesNobody, strings.TrimPrefix(attribute, "items.")),
		slices.Contains(staysWithPurchase, place), attribute == "effective_timestamp":
		return false
	case s.Type.Is("integer"), s.Type.Is("number"), s.Type.Is("boolean"), len(s.Enum) > 0, slices.Contains(dateFormats, s.Format):
		return false
	}
	return true
}

// TestEveryTextIsPersonal: each text that a caller can fill with words is marked in the
// document, whatever action has it; what is excepted is there, and its description says
// that it stays.
func TestEveryTextIsPersonal(t *testing.T) {
	unused := map[string]bool{}
	for _, place := range slices.Concat(namesNobody, staysWithPurchase) {
		unused[place] = true
	}

	marked := 0
	var walk func(string, *openapi3.Schema)
	walk = func(at string, schema *openapi3.Schema) {
		for name, ref := range schema.Properties {
			s, place := ref.Value, at+"."+name
			delete(unused, name)
			delete(unused, place)
			if s.Type.Is("array") && s.Items.Value.Type.Is("object") {
				walk(place, s.Items.Value)
				continue
			}

			if slices.Contains(staysWithPurchase, place) {
				require.Contains(t, s.Description, "stays after `opt_out`", place)
			}

			personal := s.Extensions["x-personal"] == true
			require.Equal(t, wordy(place, s), personal, "%s takes words about a person", place)
			if personal {
				marked++
			}
		}
	}

	for action, schema := range actionSchemas(t) {
		walk(action, schema)
	}

	require.Empty(t, unused, "no action has these")
	require.Greater(t, marked, 40)
}

// fill puts a canary into every attribute of an event that takes words about a person,
// marked or not, and into those of the caller's own: what the contract has tomorrow is
// filled too.
func (c *cage) fill(event map[string]any, schema *openapi3.Schema) {
	c.t.Helper()
	name, data := event["action"].(string), event["data"].(map[string]any)
	lines, _ := data["items"].([]any)
	for _, attribute := range freeTexts(name, schema) {
		of, inLine := strings.CutPrefix(attribute, "items.")
		if !inLine {
			data[attribute] = c.value(name+"."+attribute, schema.Properties[attribute].Value)
			continue
		}
		for _, line := range lines {
			line.(map[string]any)[of] = c.value(name+"."+attribute, schema.Properties["items"].Value.Items.Value.Properties[of].Value)
		}
	}

	c.own(name, data, schema)
	for _, line := range lines {
		c.own(name+".items", line.(map[string]any), schema.Properties["items"].Value.Items.Value)
	}
}

// own adds undeclared attributes, which count as personal.
func (c *cage) own(place string, data map[string]any, schema *openapi3.Schema) {
	data["cf_note"] = c.text(place + ".cf_note")
	data["cf_Deep"] = map[string]any{"list": []any{c.text(place + ".cf_Deep")}}
	if schema.Extensions["x-extra"] == "any" {
		data["song_"+strings.ReplaceAll(place, ".", "_")] = c.text(place + ".song")
	}
}

// actionSchemas gives the schema of the data of every action that can be
// submitted.
func actionSchemas(t *testing.T) map[string]*openapi3.Schema {
	t.Helper()
	all := map[string]*openapi3.Schema{}
	for _, branch := range servertest.Documents()["events"].Components.Schemas["Event"].Value.OneOf {
		name := branch.Value.Properties["action"].Value.Enum[0].(string)
		all[name] = branch.Value.Properties["data"].Value
	}
	require.Len(t, all, len(eventExamples(t)))
	return all
}

// forms are the ways in which a text could be left behind.
func forms(text string) []string {
	lower := strings.ToLower(text)
	escaped := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return strings.Trim(string(raw), `"`)
	}

	all := []string{text, lower, escaped(text), escaped(lower), asciiOnly(text), asciiOnly(lower)}
	for _, s := range []string{text, lower} {
		sum := sha256.Sum256([]byte(s))
		all = append(all, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))),
			string(sum[:]), hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:]))
		for shift := range 3 { // inside a longer text it can stand at any of three places
			encoded := base64.StdEncoding.EncodeToString(append(make([]byte, shift), s...))
			inner := encoded[(shift*8+5)/6 : len(encoded)-4]
			all = append(all, inner, strings.NewReplacer("+", "-", "/", "_").Replace(inner))
		}
	}

	slices.Sort(all)
	return slices.Compact(all)
}

// asciiOnly escapes as JSON does for readers who know nothing else.
func asciiOnly(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r > 127:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// found tells which canaries stand in which texts: by place, where. There are thousands of forms
// and megabytes of text, so each text is read once, and a form is only compared where its first
// bytes stand.
func (c *cage) found(in map[string]string) map[string][]string {
	const key = 8
	type sought struct{ place, form string }
	begins := map[uint64][]sought{}
	var first [1 << 16]bool // whether a form begins with these two bytes
	for _, one := range c.all {
		for _, form := range forms(one.text) {
			require.GreaterOrEqual(c.t, len(form), key, form)
			begin := binary.LittleEndian.Uint64([]byte(form))
			begins[begin] = append(begins[begin], sought{one.place, form})
			first[uint16(begin)] = true
		}
	}

	seen := map[string][]string{}
	for where, text := range in {
		raw := []byte(text)
		for i := 0; i+key <= len(raw); i++ {
			begin := binary.LittleEndian.Uint64(raw[i:])
			if !first[uint16(begin)] {
				continue
			}
			for _, s := range begins[begin] {
				if strings.HasPrefix(text[i:], s.form) && !slices.Contains(seen[s.place], where) {
					seen[s.place] = append(seen[s.place], where)
				}
			}
		}
	}

	return seen
}

// none requires that no canary is found, but those of the given places.
func (c *cage) none(in map[string]string, but ...string) {
	c.t.Helper()
	require.NotEmpty(c.t, in)
	seen := c.found(in)
	maps.DeleteFunc(seen, func(place string, _ []string) bool { return slices.Contains(but, place) })
	require.Empty(c.t, seen, "these name a person still")
}

// TestCanaryForms: the search finds what it must, so that its silence means
// something.
func TestCanaryForms(t *testing.T) {
	c := newCage(t)
	text := c.text("here")
	sum := sha256.Sum256([]byte(text))
	raw, err := json.Marshal(map[string]string{"a": text})
	require.NoError(t, err)
	for name, kept := range map[string]string{
		"raw": "x" + text, "lower case": strings.ToLower(text), "JSON": string(raw), "ASCII": asciiOnly(text), "hex": hex.EncodeToString([]byte("abc" + text)),
		"hash": "x" + string(sum[:]), "hash in hex": hex.EncodeToString(sum[:]), "hash in base64": base64.StdEncoding.EncodeToString(sum[:]),
		"base64": base64.StdEncoding.EncodeToString([]byte(text)), "base64 inside": base64.URLEncoding.EncodeToString([]byte("ab" + text + "cd")),
		"base64 further": base64.RawStdEncoding.EncodeToString([]byte("a" + text + "?")),
	} {
		require.Contains(t, c.found(map[string]string{"there": kept}), "here", name)
	}

	require.Empty(t, c.found(map[string]string{"there": "Qz1XkánaryVw" + hex.EncodeToString([]byte("other"))}))
}
