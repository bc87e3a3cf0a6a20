package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Localizer is the choice of languages for an answer, and notes the languages that were used: a text may lack the most
// wanted one. Answers are rendered in several goroutines.
type Localizer struct {
	Catalogue *i18n.Catalogue
	Wanted    []string // the programme's languages, the best first; its default is the last
	Messages  string   // of the platform's own texts

	mu     sync.Mutex
	spoken []string
}

// Message renders one of the platform's own texts.
func (t *Localizer) Message(name string, args map[string]any) string {
	t.Speak(t.Messages)
	return t.Catalogue.Message(t.Messages, name, args)
}

// Text returns a translatable text in the most wanted language that it has, or else in the programme's own.
func (t *Localizer) Text(texts map[string]string) string {
	text, in := loyalty.Texts(texts).Choose(t.Wanted...)
	t.Speak(in)
	return text
}

// label is the name of an action in an answer. For an action that the programme declares it is the declared name.
func (t *Localizer) label(action string) string {
	if text := t.OwnLabel(action); text != nil {
		return *text
	}
	return action
}

// OwnLabel is the platform's text for an action; nil for an action that the programme declares, which has no text for
// customers.
func (t *Localizer) OwnLabel(action string) *string {
	key := "action." + action
	if label := t.Message(key, nil); label != key {
		return &label
	}
	return nil
}

// Speak notes the language of a text that is shown.
func (t *Localizer) Speak(language string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if language != "" && !slices.Contains(t.spoken, language) {
		t.spoken = append(t.spoken, language)
	}
}

// Forget drops the noted languages, for texts that are not sent.
func (t *Localizer) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spoken = nil
}

// Texts names the languages of the texts so far, for a repetition of the answer; empty if there were none.
func (t *Localizer) Texts() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.spoken, ", ")
}

// Repeat notes the languages of a stored answer's texts.
func (t *Localizer) Repeat(a *loyalty.Answer) {
	for language := range strings.SplitSeq(a.Language, ", ") {
		t.Speak(language)
	}
}

// language is the value of Content-Language: the languages of the texts in the answer, most wanted first; without
// texts, the most wanted language.
func (t *Localizer) language() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.spoken) == 0 {
		return t.Wanted[0]
	}
	place := func(language string) int {
		if i := slices.Index(t.Wanted, language); i >= 0 {
			return i
		}
		return len(t.Wanted)
	}
	slices.SortStableFunc(t.spoken, func(a, b string) int { return place(a) - place(b) })
	return strings.Join(t.spoken, ", ")
}

// Name sets the header with the languages of an answer.
func (t *Localizer) Name(h http.Header) { h["Content-Language"] = []string{t.language()} }
