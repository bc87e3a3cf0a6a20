package console

import (
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"golang.org/x/oauth2"

	"github.com/loyalty-platform/loyalty/i18n"
)

// Failures of a sign-in by a provider, with details for the log only.
type (
	away     struct{ error }         // it cannot be reached
	distrust struct{ error }         // its answer is not valid
	saidNo   struct{ reason string } // it refused
)

func (e saidNo) Error() string { return "the provider says " + e.reason }

func asRefused(err error, into **oauth2.RetrieveError) bool {
	return errors.As(err, into) && (*into).Response != nil && (*into).Response.StatusCode < http.StatusInternalServerError
}

// outsideFailure turns such a failure into an answer.
func outsideFailure(err error) (refusal, bool) {
	var gone away
	var false_ distrust
	var no saidNo
	switch {
	case errors.As(err, &gone):
		return errOutsideAway, true
	case errors.As(err, &false_):
		return errOutsideToken, true
	case errors.As(err, &no):
		return errOutsideRefused, true
	}
	return refusal{}, false
}

// reasonOf is the provider's reason, limited to the values of the standard.
func reasonOf(err error) string {
	var no saidNo
	if !errors.As(err, &no) {
		return "syntax"
	}
	said := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' {
			return r
		}
		return -1
	}, no.reason)
	return said[:min(len(said), 64)]
}

//go:embed notice.html
var noticeText string

var noticePage = template.Must(template.New("notice").Parse(noticeText))

// notice is a page that works without a script: the end of a visit to the provider.
type notice struct {
	Title string // the name of its text
	Next  string // where the browser continues; empty: nowhere
	Code  int
	Tie   *tie // the question to answer; nil: none

	Language, Text, Message, Back, Base, Root string
}

// page answers a notice in the caller's language.
func (c *console) page(w http.ResponseWriter, r *http.Request, status int, n notice) {
	n.Language = c.language(r)
	say := func(name string) string {
		args := map[string]any{}
		if n.Tie != nil {
			args["login"] = n.Tie.Login
		}
		return c.Catalogue.Message(n.Language, name, args)
	}

	if n.Title == "" {
		n.Title = "console_outside_failed"
	}

	n.Text, n.Back, n.Base, n.Root = say(n.Title), say("console_outside_back"), c.files.base, root
	if n.Tie != nil {
		n.Tie.Yes = say("console_outside_link_yes")
	}

	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", n.Language)
	w.WriteHeader(status)
	if err := noticePage.Execute(w, n); err != nil {
		c.Logger.Warn("console", "error", err)
	}
}

func (c *console) language(r *http.Request) string {
	return c.Catalogue.Negotiate(strings.Join(r.Header["Accept-Language"], ","), c.Catalogue.Languages(), i18n.Default)
}

// outside is an endpoint on the way to the provider and back: a failure is a page for people.
func (c *console) outside(do func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := do(w, r)
		if err == nil {
			return
		}
		said, args, _ := c.refusalOf(err)
		if said.status != http.StatusInternalServerError {
			c.Logger.Warn("a sign-in by the provider failed", "code", said.code, "error", err)
		}
		n := notice{Message: c.Catalogue.Message(c.language(r), said.name, args), Code: said.code}
		c.page(w, r, said.status, n)
	})
}
