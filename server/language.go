package server

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/i18n"
)

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

// speak has the answer name its languages, before the signature is checked, so that a 401 names
// them too.
func speak(c *gin.Context) {
	r := requestOf(c)
	c.Writer = spokenWriter{c.Writer, r.language}
	r.language.name(c.Writer.Header())
}

// spokenWriter names the language of an answer when it is known: all of it is
// rendered before its status is written.
type spokenWriter struct {
	gin.ResponseWriter
	in *tongue
}

// Unwrap returns the connection's writer, for its deadlines.
func (w spokenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w spokenWriter) WriteHeader(status int) {
	w.in.name(w.Header())
	w.ResponseWriter.WriteHeader(status)
}
