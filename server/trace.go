package server

import (
	"net/http"
	"strings"
)

// traceOf reads the caller's place in a trace (W3C Trace Context, traceparent): the ids of the trace and of the
// caller's span, in hexadecimal digits. It accepts only valid values, so that a caller's text never gets into the log.
func traceOf(h http.Header) (trace, span string, ok bool) {
	sent := h["Traceparent"]
	if len(sent) != 1 {
		return "", "", false
	}

	text := sent[0]
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return "", "", false
	}

	version, trace, span, flags := text[:2], text[3:35], text[36:52], text[53:55]
	later := len(text) > 55 && text[55] == '-' && version != "00" // a later version may have more fields
	if version == "ff" || len(text) != 55 && !later || !isHex(version) || !isHex(trace) || !isHex(span) || !isHex(flags) {
		return "", "", false
	}
	if strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
		return "", "", false
	}

	return trace, span, true
}

// isHex accepts only lower case, as the recommendation demands.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
