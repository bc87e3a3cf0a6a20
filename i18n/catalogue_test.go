package i18n

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

func TestLocalesAreComplete(t *testing.T) {
	c := mustLoad(t)
	require.Equal(t, []string{"en", "es", "fr", "hu"}, c.Languages())
	for _, lang := range c.Languages() {
		require.Empty(t, mismatches(c.messages[Default], c.messages[lang]), lang)
	}
}

// mismatches says where a locale differs from the model in names or placeholders.
func mismatches(model, other map[string]message) []string {
	var found []string
	for name, m := range model {
		o, ok := other[name]
		switch {
		case !ok:
			found = append(found, "lacks "+name)
		case !slices.Equal(placeholdersOf(m), placeholdersOf(o)):
			found = append(found, "placeholders of "+name)
		}
	}

	for name := range other {
		if _, ok := model[name]; !ok {
			found = append(found, "extra "+name)
		}
	}

	slices.Sort(found)
	return found
}

func placeholdersOf(m message) []string {
	return slices.Compact(slices.Sorted(slices.Values(m.placeholders)))
}

func TestMismatchesSeesEveryKind(t *testing.T) {
	c, err := load(fstest.MapFS{
		"locales/en.json": file(`{"a": "{x} {y}", "b": "b", "c": "c"}`),
		"locales/hu.json": file(`{"a": "{y}", "b": "b", "d": "d"}`),
		"locales/fr.json": file(`{"a": "{y} {x} {x}", "b": "b", "c": "c"}`),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"extra d", "lacks c", "placeholders of a"}, mismatches(c.messages["en"], c.messages["hu"]))
	require.Empty(t, mismatches(c.messages["en"], c.messages["fr"]), "order and repetition are the translator's choice")
}

// TestTextsAreTranslated finds texts that were copied and never translated.
func TestTextsAreTranslated(t *testing.T) {
	c := mustLoad(t)
	for _, lang := range c.Languages() {
		for name, m := range c.messages[lang] {
			text := m.write(nil)
			require.True(t, norm.NFC.IsNormalString(text), "%s %s", lang, name)
			require.Equal(t, strings.TrimSpace(text), text, "%s %s", lang, name)
			if lang != Default && name != "ERR_TX_ALREADY_EXISTS" {
				require.NotEqual(t, c.messages[Default][name].write(nil), text, "%s %s", lang, name)
			}
		}
	}
}

func TestLocaleFilesAreSorted(t *testing.T) {
	for _, lang := range mustLoad(t).Languages() {
		data, err := locales.ReadFile("locales/" + lang + ".json")
		require.NoError(t, err)
		texts, err := flatTexts(data)
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(texts, func(a, b namedText) int { return strings.Compare(a.name, b.name) }), lang)
	}
}

func TestLoadNamesWhatIsBroken(t *testing.T) {
	good := `{"a": "text"}`

	for name, tc := range map[string]struct{ en, hu, want string }{
		"no default":          {"", good, "locales/en.json is missing"},
		"not JSON":            {good, `{"a": `, "locales/hu.json: not valid JSON"},
		"two values":          {good, good + good, "locales/hu.json: not valid JSON"},
		"no object":           {good, `["a"]`, "locales/hu.json: not one flat object of texts"},
		"nested":              {good, `{"a": {"b": "c"}}`, "locales/hu.json: a: not one flat object of texts"},
		"number":              {good, `{"a": 1}`, "locales/hu.json: a: not one flat object of texts"},
		"twice":               {good, `{"a": "x", "a": "y"}`, "locales/hu.json: a: named twice"},
		"empty text":          {good, `{"a": " "}`, "locales/hu.json: a: the text is empty"},
		"open brace":          {good, `{"a": "x {y"}`, "locales/hu.json: a: " + errPlaceholder.Error()},
		"close brace":         {good, `{"a": "x y}"}`, "locales/hu.json: a: " + errPlaceholder.Error()},
		"empty placeholder":   {good, `{"a": "{}"}`, "locales/hu.json: a: " + errPlaceholder.Error()},
		"foreign placeholder": {good, `{"a": "{{.X}}"}`, "locales/hu.json: a: " + errPlaceholder.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"locales/hu.json": file(tc.hu)}
			if tc.en != "" {
				files["locales/en.json"] = file(tc.en)
			}
			_, err := load(files)
			require.EqualError(t, err, tc.want)
		})
	}
}

func TestText(t *testing.T) {
	c := mustLoad(t)
	texts := map[string]string{"en": "Free coffee", "hu": "Ingyenkávé", "fr": "", "de": "Gratiskaffee"}

	for name, tc := range map[string]struct {
		texts          map[string]string
		lang, fallback string
		want           string
	}{
		"the language":          {texts, "hu", "en", "Ingyenkávé"},
		"three letters":         {texts, "hun", "en", "Ingyenkávé"},
		"region":                {texts, "hu-HU", "en", "Ingyenkávé"},
		"exact before the base": {map[string]string{"pt-BR": "br", "pt": "pt"}, "pt-BR", "en", "br"},
		"empty counts as none":  {texts, "fr", "de", "Gratiskaffee"},
		"then the default":      {texts, "es", "it", "Free coffee"},
		"then the first":        {map[string]string{"pl": "", "sk": "káva", "ro": "cafea"}, "es", "hu", "cafea"},
		"no language":           {texts, "", "", "Free coffee"},
		"nonsense":              {texts, "\x00{}", "??", "Free coffee"},
		"no texts":              {nil, "hu", "en", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, c.Text(tc.texts, tc.lang, tc.fallback))
		})
	}
}

func TestLanguagesIsACopy(t *testing.T) {
	c := mustLoad(t)
	c.Languages()[0] = "xx"
	require.Equal(t, "en", c.Languages()[0])
}

func mustLoad(t testing.TB) *Catalogue {
	t.Helper()
	c, err := Load()
	require.NoError(t, err)
	return c
}

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func namesOf(c *Catalogue) []string { return slices.Sorted(maps.Keys(c.messages[Default])) }
