package signing

import (
	"encoding/binary"
	"strings"
)

// maxAuthorization is the greatest length of the Authorization header in octets.
const maxAuthorization = 4 << 10

// maxKeyID is the greatest length of an access key id.
const maxKeyID = 128

// authorization is the header of step 4 in parts. All strings share the header's memory.
type authorization struct {
	algorithm, keyID, day, scope, signedHeaders, signature string
}

// parseAuthorization reads the exact form of step 4; only the blank after a comma may be absent. Algorithm, scope and
// the signature's length are judged later, so that each has its own error. A signature of the right length is decoded
// into want. wrong says what is wrong, or is "".
func parseAuthorization(s string, want *[32]byte) (a authorization, wrong string) {
	var credential string
	var ok bool
	if a.algorithm, s, ok = strings.Cut(s, " "); !ok || a.algorithm == "" || !all(a.algorithm, algChar) {
		return a, "must begin with the algorithm and one blank"
	}
	if credential, s, ok = part(s, "Credential="); !ok {
		return a, "Credential= must follow the algorithm, and a comma must follow it"
	}
	if a.signedHeaders, s, ok = part(s, "SignedHeaders="); !ok {
		return a, "SignedHeaders= must follow Credential, and a comma must follow it"
	}
	if a.signature, ok = strings.CutPrefix(s, "Signature="); !ok || !decodeLower(want, a.signature) {
		return a, "Signature= and lower-case hex digits must follow SignedHeaders and end the header"
	}

	return a, a.readCredential(credential)
}

// part cuts "name" + value + "," and one optional blank from s.
func part(s, name string) (value, rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, name); !ok {
		return "", "", false
	}
	if value, rest, ok = strings.Cut(s, ","); !ok {
		return "", "", false
	}
	return value, strings.TrimPrefix(rest, " "), true
}

// readCredential splits <key id>/<YYYYMMDD>/<scope>.
func (a *authorization) readCredential(s string) (wrong string) {
	var rest string
	a.keyID, rest, _ = strings.Cut(s, "/")
	a.day, a.scope, _ = strings.Cut(rest, "/")
	switch {
	case a.keyID == "" || len(a.keyID) > maxKeyID || !all(a.keyID, keyChar):
		return "the key id in Credential must be 1 to 128 letters, digits, hyphens and underscores"
	case len(a.day) != 8 || !all(a.day, digit):
		return "the day in Credential must be YYYYMMDD"
	case a.scope == "" || !all(a.scope, scopeChar):
		return "the scope in Credential is missing or not printable"
	}
	return ""
}

// decodeLower reads lower-case hex into dst if s has exactly its length, and tells whether all of s is lower-case
// hex.
func decodeLower(dst *[32]byte, s string) bool {
	if len(s) != 2*len(dst) {
		return all(s, lowerHex)
	}
	var bad uint64
	for i := 0; i < len(dst); i += 4 {
		values, wrong := hexTo(binary.LittleEndian.Uint64([]byte(s[2*i : 2*i+8])))
		bad |= wrong
		word := (values<<4 | values>>8) & 0x00ff00ff00ff00ff
		word = (word | word>>8) & 0x0000ffff0000ffff
		binary.LittleEndian.PutUint32(dst[i:i+4], uint32(word|word>>16))
	}
	return bad == 0
}
