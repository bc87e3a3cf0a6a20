package deliver

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// traceOf is the place of an attempt in a trace (W3C Trace Context). Every attempt to tell an
// event, of whichever webhook, is a span of one trace, whose id is the event's without its
// hyphens: who has one finds the other.
func traceOf(id string) string {
	var span [8]byte
	_, _ = rand.Read(span[:]) // never fails
	return "00-" + strings.ReplaceAll(id, "-", "") + "-" + hex.EncodeToString(span[:]) + "-01"
}
