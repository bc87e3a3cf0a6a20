// Package i18n holds the texts that the service shows and chooses the language to show them in.
//
// A text is found by its name: the name of the failure or label it belongs to, which is the same in every language.
// Every language is one flat JSON file under locales. A test keeps them complete.
package i18n

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Default is the language whose text is shown where the chosen language has none.
const Default = "en"

//go:embed locales/*.json
var locales embed.FS

// Catalogue holds the texts of every shipped language. It never changes after
// Load and may be used by any number of goroutines.
type Catalogue struct {
	languages []string
	messages  map[string]map[string]message // language, then name
}

// Load reads the embedded texts. It fails only when a locale file itself is broken; the error names the file and the
// text.
func Load() (*Catalogue, error) { return load(locales) }

func load(files fs.FS) (*Catalogue, error) {
	names, err := fs.Glob(files, "locales/*.json")
	if err != nil {
		return nil, err
	}

	c := &Catalogue{messages: make(map[string]map[string]message, len(names))}
	for _, name := range names {
		lang := strings.TrimSuffix(path.Base(name), ".json")
		if c.messages[lang], err = readLocale(files, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}

	if c.messages[Default] == nil {
		return nil, fmt.Errorf("locales/%s.json is missing", Default)
	}

	c.languages = slices.Sorted(maps.Keys(c.messages))
	return c, nil
}

func readLocale(files fs.FS, name string) (map[string]message, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}

	texts, err := flatTexts(data)
	if err != nil {
		return nil, err
	}

	messages := make(map[string]message, len(texts))
	for _, t := range texts {
		if _, twice := messages[t.name]; twice {
			return nil, fmt.Errorf("%s: named twice", t.name)
		}
		if messages[t.name], err = parseMessage(t.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}

	return messages, nil
}

type namedText struct{ name, text string }

var errNotFlat = errors.New("not one flat object of texts")

// flatTexts reads name by name, because unmarshalling into a map would silently keep the last of two equal names.
func flatTexts(data []byte) ([]namedText, error) {
	if !json.Valid(data) {
		return nil, errors.New("not valid JSON")
	}

	d := json.NewDecoder(strings.NewReader(string(data)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotFlat
	}

	var texts []namedText
	for d.More() {
		name, _ := d.Token()
		value, _ := d.Token()
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("%v: %w", name, errNotFlat)
		}
		texts = append(texts, namedText{name.(string), text})
	}

	return texts, nil
}

// Languages lists the shipped languages, ISO 639-1 codes in alphabetical order.
func (c *Catalogue) Languages() []string { return slices.Clone(c.languages) }

// Message writes the named text in a language, with args in its placeholders. A language that is not shipped gets the
// Default one. A name without a text gives the name itself and a placeholder without a value stays visible: a gap
// shows, but never breaks an answer.
//
// Values are printed plainly: numbers as decimals without grouping or exponent, instants as RFC 3339 in UTC with
// milliseconds, durations as whole seconds rounded up, lists joined by commas. Texts lose control characters and are
// cut at 200 characters (lists at 1000). Nothing is escaped for HTML.
func (c *Catalogue) Message(lang, name string, args map[string]any) string {
	texts, ok := c.messages[lang]
	if !ok {
		texts = c.messages[baseLanguage(lang)]
	}
	m, ok := texts[name]
	if !ok {
		if m, ok = c.messages[Default][name]; !ok {
			return name
		}
	}
	return m.write(args)
}

// Text chooses from a stored translatable text {"en": ..., "hu": ...}: the requested language, else the fallback,
// else Default, else the first non-empty text in alphabetical order. A three-letter or regional code (hun, hu-HU)
// finds its two-letter text. Without any text it gives "".
func (c *Catalogue) Text(texts map[string]string, lang, fallback string) string {
	for _, want := range []string{lang, fallback, Default} {
		if t := texts[want]; t != "" {
			return t
		}
		if t := texts[baseLanguage(want)]; t != "" {
			return t
		}
	}

	for _, have := range slices.Sorted(maps.Keys(texts)) {
		if texts[have] != "" {
			return texts[have]
		}
	}

	return ""
}

// baseLanguage gives the ISO 639-1 code of a language code in any of its forms: hu-HU, hun and HU are hu, fra and fre
// are fr, iw is he. A text that is not a language code gives "".
func baseLanguage(code string) string {
	if len(code) < 2 || len(code) > 35 { // the longest tag RFC 5646 asks to support
		return ""
	}
	tag, err := language.Parse(code)
	if err != nil || tag == language.Und {
		return ""
	}
	base, _ := tag.Base()
	return base.String()
}
