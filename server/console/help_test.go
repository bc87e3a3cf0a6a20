package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

var (
	list     = regexp.MustCompile(`(?m)^- `)
	sentence = regexp.MustCompile(`\.\s`)
)

// firstSentence is the first sentence of a description, as form/schema.js has it.
func firstSentence(text string) string {
	text = list.Split(text, 2)[0]
	if at := sentence.FindStringIndex(text); at != nil {
		text = text[:at[0]+1]
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
}

// helps collects what forms say of the fields of a schema, as form/form.js draws them, and what words these need: field.NAME and
// choice.VALUE.
type helps struct{ said, worded map[string]bool }

func (h helps) say(text string) {
	if s := firstSentence(text); s != "" {
		h.said[s] = true
	}
}

func (h helps) fields(doc *openapi3.T, s *openapi3.Schema, within int) {
	if within == 0 { // a schema that has itself within it
		return
	}

	for _, part := range s.AllOf {
		h.fields(doc, part.Value, within-1)
	}

	if s.Discriminator != nil {
		h.worded["field."+s.Discriminator.PropertyName] = true
		for value, to := range s.Discriminator.Mapping {
			h.worded["choice."+value] = true
			chosen := doc.Components.Schemas[strings.TrimPrefix(to.Ref, "#/components/schemas/")].Value
			h.say(property(chosen, s.Discriminator.PropertyName).Description)
			h.fields(doc, chosen, within-1)
		}
		return
	}

	for name, p := range s.Properties {
		if p.Value.ReadOnly {
			continue
		}
		h.worded["field."+name] = true
		for _, value := range p.Value.Enum {
			h.worded[fmt.Sprint("choice.", value)] = true
		}
		h.say(p.Value.Description)
		h.within(doc, p.Value, within-1)
	}
}

func (h helps) within(doc *openapi3.T, s *openapi3.Schema, within int) {
	h.fields(doc, s, within)
	if s.Items != nil {
		h.fields(doc, s.Items.Value, within)
	}
}

// property is one of a schema or of its parts.
func property(s *openapi3.Schema, name string) *openapi3.Schema {
	if p := s.Properties[name]; p != nil {
		return p.Value
	}
	for _, part := range s.AllOf {
		if found := property(part.Value, name); found != nil {
			return found
		}
	}
	return nil
}

// TestFieldHelp: whatever a form says of a field stands in every language, and nothing besides: who changes a sentence of a
// document has to translate it. So do the names of fields, and what can be chosen.
func TestFieldHelp(t *testing.T) {
	forms := helps{map[string]bool{}, map[string]bool{}}
	said := forms.said
	const deep = 8
	load := func(api string) *openapi3.T {
		doc, err := openapi.Load(api)
		require.NoError(t, err)
		return doc
	}

	body := func(doc *openapi3.T, path string) *openapi3.Schema {
		return doc.Paths.Find(path).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
	}
	entities := load("entities")
	kinds, _ := json.Marshal(entities.Extensions["x-entities"])
	var of map[string]string
	require.NoError(t, json.Unmarshal(kinds, &of))
	require.Greater(t, len(of), 15)
	english := words(t, "en")
	for kind, name := range of {
		schema := entities.Components.Schemas[name].Value
		forms.fields(entities, schema, deep)
		if english["about."+kind] == nil {
			forms.say(schema.Description)
		}
	}

	events := load("events")
	mapping := body(events, "/events").Discriminator.Mapping
	require.Greater(t, len(mapping), 40)
	for _, to := range mapping {
		action := events.Components.Schemas[strings.TrimPrefix(to.Ref, "#/components/schemas/")].Value
		if data := property(action, "data"); data != nil {
			forms.fields(events, data, deep)
		}
	}

	administration := load("administration")
	forms.fields(administration, body(administration, "/admin/settings"), deep)
	for name, s := range administration.Components.Schemas {
		if strings.HasSuffix(name, "Config") {
			forms.fields(administration, s.Value, deep)
		}
	}

	require.Greater(t, len(said), 200)
	for _, word := range slices.Sorted(maps.Keys(forms.worded)) {
		assert.Contains(t, english, word)
	}

	for _, language := range []string{"es", "fr", "hu"} {
		text, err := app.ReadFile("app/words/help/" + language + ".json")
		require.NoError(t, err)
		var all map[string]string
		require.NoError(t, json.Unmarshal(text, &all))
		for _, s := range slices.Sorted(maps.Keys(said)) {
			if all[s] == "" || all[s] == s {
				t.Errorf("%s has no word for %q", language, s)
			}
		}
		for _, s := range slices.Sorted(maps.Keys(all)) {
			assert.True(t, said[s], "%s: no form says %q", language, s)
		}
	}
}

// auditActions are what the audit trail says was done, as the code that writes it names them.
func auditActions(t *testing.T) []string {
	t.Helper()
	written := regexp.MustCompile(`"((?:entity|module|settings|user|key|webhook|import|export|session|personal|master_key|coupon_pool|job)\.[a-z_]+)"`)
	kinds := regexp.MustCompile(`(?m)^(?:const|)\s*Bulk\w+ += "(\w+)"`) // those of states have a type between
	found := map[string]bool{"entity.restore": true}                    // of a plan of the configuration, which puts its name together
	for _, room := range []string{"admin", "job", "campaign", "."} {
		files, err := filepath.Glob("../loyalty/" + room + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range kinds.FindAllStringSubmatch(string(text), -1) {
				found["bulk."+m[1]] = true
			}
			if room != "." { // what is told to webhooks has names of the same form
				for _, m := range written.FindAllStringSubmatch(string(text), -1) {
					found[m[1]] = true
				}
			}
		}
	}

	return slices.Sorted(maps.Keys(found))
}

// TestAuditWords: whatever the audit trail can say was done has its words.
func TestAuditWords(t *testing.T) {
	var worded []string
	for name := range words(t, "en") {
		if action, of := strings.CutPrefix(name, "did."); of {
			worded = append(worded, action)
		}
	}
	slices.Sort(worded)
	all := auditActions(t)
	require.Greater(t, len(all), 40)
	require.Equal(t, all, worded)
}

// TestCheckWords: each check of an examination has its name in words.
func TestCheckWords(t *testing.T) {
	text, err := os.ReadFile("../doctor/doctor.go")
	require.NoError(t, err)
	_, all, found := strings.Cut(string(text), "var checks = ")
	require.True(t, found)
	var names, worded []string
	for _, m := range regexp.MustCompile(`\{"([a-z -]+)", \w+\}`).FindAllStringSubmatch(all, -1) {
		names = append(names, m[1])
	}

	require.Greater(t, len(names), 15)
	for name := range words(t, "en") {
		if check, of := strings.CutPrefix(name, "check."); of {
			worded = append(worded, check)
		}
	}

	require.ElementsMatch(t, names, worded)
}
