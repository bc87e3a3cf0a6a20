package server

import (
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/i18n"
)

// tongue is how a caller is spoken to, and notes which languages were spoken: a
// text may lack the one that is wanted most. Answers are worded in several
// goroutines.
type tongue struct {
	catalogue *i18n.Catalogue
	wanted    []string // of the programme's languages, the best first; its default is the last
	messages  string   // of the platform's own texts

	mu     sync.Mutex
	spoken []string
}

// tongueOf reads what a caller wants. The platform's own messages do not exist in
// every language that the programme's texts may be in.
func (s *Server) tongueOf(header string) *tongue {
	choice := s.programme().Language
	t := &tongue{catalogue: s.catalogue, wanted: s.catalogue.Preferences(header, choice.Enabled, choice.Default), messages: i18n.Default}
	shipped := s.catalogue.Languages()
	if i := slices.IndexFunc(t.wanted, func(l string) bool { return slices.Contains(shipped, l) }); i >= 0 {
		t.messages = t.wanted[i]
	}
	return t
}

// message words one of the platform's own texts.
func (t *tongue) message(name string, args map[string]any) string {
	t.speak(t.messages)
	return t.catalogue.Message(t.messages, name, args)
}

// speak notes the language of a text that is shown.
func (t *tongue) speak(language string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if language != "" && !slices.Contains(t.spoken, language) {
		t.spoken = append(t.spoken, language)
	}
}

// forget drops what was noted: the texts are not sent.
func (t *tongue) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spoken = nil
}

// language is what Content-Language says: the languages of the texts in the answer,
// the most wanted first; the one most wanted where it has no texts.
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

// speak chooses the languages of the answer, before the signature is checked, so
// that a 401 speaks them too.
func (s *Server) speak(c *gin.Context) {
	r := requestOf(c)
	r.language = s.tongueOf(strings.Join(c.Request.Header["Accept-Language"], ","))
	c.Writer = spokenWriter{c.Writer, r.language}
	c.Writer.Header().Set("Content-Language", r.language.language())
}

// spokenWriter names the language of an answer when it is known: all of it is
// worded before its status is written.
type spokenWriter struct {
	gin.ResponseWriter
	in *tongue
}

func (w spokenWriter) WriteHeader(status int) {
	w.Header().Set("Content-Language", w.in.language())
	w.ResponseWriter.WriteHeader(status)
}
