package server

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// tongue is the choice of languages for an answer, and notes the languages that were used: a text may lack the most
// wanted one. Answers are rendered in several goroutines.
type tongue struct {
	catalogue *i18n.Catalogue
	wanted    []string // the programme's languages, the best first; its default is the last
	messages  string   // of the platform's own texts

	mu     sync.Mutex
	spoken []string
}

// message renders one of the platform's own texts.
func (t *tongue) message(name string, args map[string]any) string {
	t.speak(t.messages)
	return t.catalogue.Message(t.messages, name, args)
}

// text returns a translatable text in the most wanted language that it has, or else in the programme's own.
func (t *tongue) text(texts map[string]string) string {
	text, in := loyalty.Texts(texts).Choose(t.wanted...)
	t.speak(in)
	return text
}

// label is the name of an action in an answer. For an action that the programme declares it is the declared name.
func (t *tongue) label(action string) string {
	if text := t.ownLabel(action); text != nil {
		return *text
	}
	return action
}

// ownLabel is the platform's text for an action; nil for an action that the programme declares, which has no text for
// customers.
func (t *tongue) ownLabel(action string) *string {
	key := "action." + action
	if label := t.message(key, nil); label != key {
		return &label
	}
	return nil
}

// speak notes the language of a text that is shown.
func (t *tongue) speak(language string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if language != "" && !slices.Contains(t.spoken, language) {
		t.spoken = append(t.spoken, language)
	}
}

// forget drops the noted languages, for texts that are not sent.
func (t *tongue) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spoken = nil
}

// texts names the languages of the texts so far, for a repetition of the answer; empty if there were none.
func (t *tongue) texts() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.spoken, ", ")
}

// repeat notes the languages of a stored answer's texts.
func (t *tongue) repeat(a *loyalty.Answer) {
	for language := range strings.SplitSeq(a.Language, ", ") {
		t.speak(language)
	}
}

// language is the value of Content-Language: the languages of the texts in the answer, most wanted first; without
// texts, the most wanted language.
func (t *tongue) language() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.spoken) == 0 {
		return t.wanted[0]
	}
	place := func(language string) int {
		if i := slices.Index(t.wanted, language); i >= 0 {
			return i
		}
		return len(t.wanted)
	}
	slices.SortStableFunc(t.spoken, func(a, b string) int { return place(a) - place(b) })
	return strings.Join(t.spoken, ", ")
}

// name sets the header with the languages of an answer.
func (t *tongue) name(h http.Header) { h["Content-Language"] = []string{t.language()} }
