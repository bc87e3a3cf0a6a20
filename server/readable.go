package server

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// readable undoes escapes in answers: encoding/json escapes &, < and > for pages that paste JSON into HTML, and so do
// the generated answers, whose links contain many. Published documents announce their length before they are written,
// and need no change.
func readable(c *gin.Context) { c.Writer = readableWriter{c.Writer} }

type readableWriter struct{ gin.ResponseWriter }

// Unwrap returns the connection's writer, for its deadlines.
func (w readableWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes a whole answer, or a part that was cut between characters, as an encoder does.
func (w readableWriter) Write(answer []byte) (int, error) {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		return w.ResponseWriter.Write(answer)
	}
	if _, err := w.ResponseWriter.Write(withoutHTML(answer)); err != nil {
		return 0, err
	}
	return len(answer), nil
}

// htmlEscapes are encoding/json's escapes of characters that need none.
var htmlEscapes = map[string]byte{"0026": '&', "003c": '<', "003e": '>'}

// withoutHTML resolves the escapes of JSON that only HTML needs. A backslash that is itself escaped begins none.
func withoutHTML(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u00`)) {
		return text
	}

	out := make([]byte, 0, len(text))
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return append(out, text...)
		}
		out, text = append(out, text[:at]...), text[at:]
		if len(text) >= 6 && text[1] == 'u' {
			if c, ok := htmlEscapes[string(text[2:6])]; ok {
				out, text = append(out, c), text[6:]
				continue
			}
		}
		out, text = append(out, text[:2]...), text[2:]
	}
}
