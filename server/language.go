package server

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// wish is the choice of languages for a header and a programme. Most callers always send the same header, or none.
type wish struct {
	header    string
	programme *programme.Programme
	wanted    []string
	messages  string
}

// wished is the choice for a caller's header.
func (s *Server) wished(header string) *wish {
	in := s.programme()
	w := s.wish.Load()
	if w == nil || w.header != header || w.programme != in {
		w = s.wishOf(header, in)
		s.wish.Store(w)
	}
	return w
}

// wishOf chooses the languages of texts and of the platform's own messages, which do not exist in every language that
// the programme's texts may be in.
func (s *Server) wishOf(header string, in *programme.Programme) *wish {
	w := &wish{header: header, programme: in, messages: i18n.Default}
	w.wanted = s.catalogue.Preferences(header, in.Language.Enabled, in.Language.Default)
	shipped := s.catalogue.Languages()
	if i := slices.IndexFunc(w.wanted, func(l string) bool { return slices.Contains(shipped, l) }); i >= 0 {
		w.messages = w.wanted[i]
	}
	return w
}

// speak makes the answer name its languages. It runs before the signature is checked, so that a 401 names them too.
func speak(c *gin.Context) {
	r := api.RequestOf(c)
	c.Writer = spokenWriter{c.Writer, r.Language}
	r.Language.Name(c.Writer.Header())
}

// spokenWriter sets the language of an answer when it is known: all of the answer is rendered before its status is
// written.
type spokenWriter struct {
	gin.ResponseWriter
	in *api.Localizer
}

// Unwrap returns the connection's writer, for its deadlines.
func (w spokenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w spokenWriter) WriteHeader(status int) {
	w.in.Name(w.Header())
	w.ResponseWriter.WriteHeader(status)
}
