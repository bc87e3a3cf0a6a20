package signing

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// param is one query parameter, decoded and encoded. blank marks an empty one between two ampersands: some clients
// sign it as "=", some drop it, and no handler may give it a meaning.
type param struct {
	name, value       []byte
	encName, encValue []byte
	blank             bool
	at                int // its index in the query as sent
}

// orders are the orders in which clients sort parameters. They differ in how equal names are sorted, and when one
// name continues another with an octet below "=", as in limit and limit.eq. The order of equal names has no meaning
// to a handler.
var orders = [...]func(a, b param) int{byName, byPair, byEncodedName, byPairDecoded, byNameAsSent}

// byName is the specification's order: names by code point before encoding (UTF-8 sorts alike), equal names by value.
func byName(a, b param) int {
	if c := bytes.Compare(a.name, b.name); c != 0 {
		return c
	}
	return bytes.Compare(a.encValue, b.encValue)
}

// byNameAsSent is the other reading of the specification, which sorts names and does not mention values: equal names
// stay in the order of the request, as a stable sort by name leaves them. Some clients sign a repeated filter
// (action=visit&action=checkout) this way.
func byNameAsSent(a, b param) int {
	if c := bytes.Compare(a.name, b.name); c != 0 {
		return c
	}
	return a.at - b.at
}

// byPair is the order of the Escher libraries: whole encoded name=value strings.
func byPair(a, b param) int {
	if c := compareWithEquals(a.encName, b.encName); c != 0 {
		return c
	}
	return bytes.Compare(a.encValue, b.encValue)
}

// byEncodedName is the order of the cloud providers' protocol.
func byEncodedName(a, b param) int {
	if c := bytes.Compare(a.encName, b.encName); c != 0 {
		return c
	}
	return bytes.Compare(a.encValue, b.encValue)
}

// byPairDecoded is the order of the JavaScript library: by pair, but the values of one name decoded, by UTF-16 unit.
func byPairDecoded(a, b param) int {
	if c := compareWithEquals(a.encName, b.encName); c != 0 {
		return c
	}
	return compareUTF16(a.value, b.value)
}

// compareWithEquals compares a+"=" with b+"=". Encoded names have no equals sign in them.
func compareWithEquals(a, b []byte) int {
	n := min(len(a), len(b))
	switch c := bytes.Compare(a[:n], b[:n]); {
	case c != 0 || len(a) == len(b):
		return c
	case len(a) < len(b):
		return int('=') - int(b[n])
	default:
		return int(a[n]) - int('=')
	}
}

// compareUTF16 compares UTF-8 texts as JavaScript does: characters beyond U+FFFF sort below U+E000.
func compareUTF16(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		ra, na := utf8.DecodeRune(a)
		rb, nb := utf8.DecodeRune(b)
		if ra != rb && (ra > 0xFFFF) != (rb > 0xFFFF) {
			return utf16Lead(ra) - utf16Lead(rb)
		}
		if ra != rb {
			return int(ra) - int(rb)
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

func utf16Lead(r rune) int {
	if r > 0xFFFF {
		return 0xD800
	}
	return int(r)
}

// readParams fills w.params from the raw query, each parameter decoded once. A semicolon and a second equals sign are
// data.
func (w *work) readParams() {
	w.params, w.arena = w.params[:0], w.arena[:0]
	if !w.hasQuery {
		return
	}
	for rest, more := w.query, true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		name, value, _ := strings.Cut(pair, "=")
		w.params = append(w.params,
			param{name: w.hold(decode, name), value: w.hold(decode, value), blank: pair == "", at: len(w.params)})
	}
}

// hold appends to the arena and gives the appended part. The slice stays valid when the arena grows.
func (w *work) hold(read func([]byte, string, byte) []byte, s string) []byte {
	start := len(w.arena)
	w.arena = read(w.arena, s, ' ')
	return w.arena[start:len(w.arena):len(w.arena)]
}

// encodeParams sets the encoded names and values; keep are the classes of octets that stay as they are.
func (w *work) encodeParams(keep uint16) {
	for i := range w.params {
		p := &w.params[i]
		start := len(w.arena)
		w.arena = encode(w.arena, p.name, keep)
		middle := len(w.arena)
		w.arena = encode(w.arena, p.value, keep)
		end := len(w.arena)
		p.encName, p.encValue = w.arena[start:middle:middle], w.arena[middle:end:end]
	}
}

// appendQuery sorts the parameters and appends the canonical query string.
func (w *work) appendQuery(dst []byte, order func(a, b param) int, blanks bool) []byte {
	slices.SortFunc(w.params, order)
	first := true
	for i := range w.params {
		p := &w.params[i]
		if p.blank && !blanks {
			continue
		}
		if !first {
			dst = append(dst, '&')
		}
		dst = append(append(append(dst, p.encName...), '='), p.encValue...)
		first = false
	}

	return dst
}

// textQuery appends the query string in the specification's form, which is tried first.
func (w *work) textQuery(dst []byte) []byte {
	if !w.hasQuery {
		return dst
	}
	w.readParams()
	w.encodeParams(unreserved)
	return w.appendQuery(dst, byName, false)
}

// queries gives the accepted spellings of the query without duplicates, the specification's form first.
func (w *work) queries(legacyPlus bool) []string {
	w.readParams()
	list := w.appendQueries(nil)
	if legacyPlus {
		for i := range w.params {
			w.params[i].name = bytes.ReplaceAll(w.params[i].name, []byte("+"), []byte(" "))
			w.params[i].value = bytes.ReplaceAll(w.params[i].value, []byte("+"), []byte(" "))
		}
		list = w.appendQueries(list)
	}
	return list
}

// appendQueries adds orders x {encoded, literal} x {without, with blank pairs}. It skips combinations that cannot
// differ.
func (w *work) appendQueries(list []string) []string {
	keeps, blanks := []uint16{unreserved}, []bool{false}
	for _, p := range w.params {
		if bytes.ContainsAny(p.name, "!*") || bytes.ContainsAny(p.value, "!*") {
			keeps = []uint16{unreserved, unreserved | literal}
		}
		if p.blank {
			blanks = []bool{false, true}
		}
	}

	for _, blank := range blanks {
		for _, keep := range keeps {
			w.encodeParams(keep)
			for _, order := range orders {
				list = appendNew(list, string(w.appendQuery(nil, order, blank)))
			}
		}
	}

	return list
}
