package i18n

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// typography has the rules of each language: what must not stand in a text, and what to write instead.
var typography = map[string][]struct {
	wrong *regexp.Regexp
	write string
}{
	"en": {
		{regexp.MustCompile(`[’‘]`), "a straight apostrophe ', as the documents have"},
		{regexp.MustCompile(`"`), "“ and ” around what is quoted"},
	},
	"es": {
		{regexp.MustCompile(`["'“”]|«\s|\s»`), "« and » without blanks around what is quoted"},
		{regexp.MustCompile(`^[^¿]*\pL\?`), "¿ before the question"},
		{regexp.MustCompile(`^[^¡]*\pL!`), "¡ before the exclamation"},
	},
	"fr": {
		{regexp.MustCompile(`'`), "the apostrophe ’ (U+2019)"},
		{regexp.MustCompile(`["“”]`), "« and » around what is quoted"},
		{regexp.MustCompile(`[\pL\d})»]([;?]|!(?:[^=]|$))|[ \x{a0}]([;?]|!(?:[^=]|$))`),
			"a narrow no-break space (U+202F) before ; ! and ?"},
		{regexp.MustCompile(`[\pL\d})»]:(?:\s|$)|[ \x{202f}][:%]`), "a no-break space (U+00A0) before : and %"},
		{regexp.MustCompile(`«(?:[^\x{a0}]|$)|(?:[^\x{a0}]|^)»`), "no-break spaces (U+00A0) inside « and »"},
	},
	"hu": {
		{regexp.MustCompile(`["'“«»]`), "„ and ” around what is quoted, and no apostrophe"},
	},
}

// TestTypography holds the texts of the API and of the console to one way of writing quotes, apostrophes and the
// spaces before signs.
func TestTypography(t *testing.T) {
	for language, rules := range typography {
		for _, folder := range []string{"locales", "../server/console/app/words", "../server/console/app/words/help"} {
			for name, text := range textsOf(t, filepath.Join(folder, language+".json")) {
				for _, r := range rules {
					require.Empty(t, r.wrong.FindString(text), "%s/%s.json, %s: write %s\n%s", folder, language, name, r.write, text)
				}
			}
		}
	}
}

// textsOf reads a file of texts by name, also those that are one text for each number.
func textsOf(t *testing.T, file string) map[string]string {
	t.Helper()

	written, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil // the console's help is in English where the documents are
	}
	require.NoError(t, err)

	var read map[string]any
	require.NoError(t, json.Unmarshal(written, &read))

	texts := map[string]string{}
	for name, value := range read {
		switch v := value.(type) {
		case string:
			texts[name] = v
		case map[string]any:
			for number, text := range v {
				texts[name+"."+number] = text.(string)
			}
		}
	}
	return texts
}
