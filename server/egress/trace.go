package egress

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// traceOf is the place of an attempt in a trace (W3C Trace Context). All attempts to deliver an event, to any webhook,
// are spans of one trace, whose id is the event's without hyphens, so that either can be found from the other.
func traceOf(id string) string {
	var span [8]byte
	_, _ = rand.Read(span[:]) // never fails
	return "00-" + strings.ReplaceAll(id, "-", "") + "-" + hex.EncodeToString(span[:]) + "-01"
}
