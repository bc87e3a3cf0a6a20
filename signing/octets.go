package signing

import (
	"encoding/binary"
	"slices"
)

// Octet classes, one bit each, so that scanning a header or a target costs one table look-up per octet.
const (
	unreserved uint16 = 1 << iota // RFC 3986: stays as it is when URI-encoded
	literal                       // ! and *, which some clients do not encode
	headerName                    // a token in lower case
	token                         // a token
	keyChar                       // an access key id
	scopeChar                     // a credential scope: printable, no comma
	algChar                       // an algorithm's name
	digit                         // 0 to 9
	lowerHex                      // a hex digit in lower case
	visible                       // allowed in a request target on the wire
	ascii                         // allowed in a host
	pathChar                      // unreserved or a slash
)

var class = func() (t [256]uint16) {
	set := func(octets string, bits uint16) {
		for i := range len(octets) {
			t[octets[i]] |= bits
		}
	}

	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	set(lower+upper+digits+"-_.~", unreserved|pathChar)
	set("/", pathChar)
	set("!*", literal)
	set(lower+digits+"!#$%&'*+-.^_`|~", headerName|token)
	set(upper, token)
	set(lower+upper+digits+"-_", keyChar)
	set(lower+upper+digits+"-", algChar)
	set(digits, digit|lowerHex)
	set("abcdef", lowerHex)
	for c := 0x20; c < 0x7f; c++ {
		t[c] |= scopeChar | visible | ascii
	}

	for c := 0x80; c <= 0xff; c++ {
		t[c] |= visible
	}

	t[','] &^= scopeChar
	t[' '] &^= visible | ascii
	return t
}()

// all tells whether every octet of s is of the class.
func all(s string, of uint16) bool {
	for i := range len(s) {
		of &= class[s[i]]
	}
	return of != 0
}

// Hex is written and read eight digits at a time, one digit in each octet of a word.
const (
	ones    = 0x0101010101010101
	zeros   = ones * '0'
	nibbles = ones * 15
)

// hexOf turns eight values below 16 into digits. Values above 9 are shifted by 'a'-'9'-1.
func hexOf(values uint64) uint64 {
	return values + zeros + (values+6*ones)>>4&ones*('a'-'9'-1)
}

// hexTo turns eight lower-case digits into their values. wrong has a bit set in each octet that is not such a digit:
// its value is not below 16, or is not written as that octet.
func hexTo(digits uint64) (values, wrong uint64) {
	values = digits&nibbles + digits>>6&ones*9
	return values, values&^nibbles | hexOf(values&nibbles) ^ digits
}

// appendHex appends a hash in lower-case hex.
func appendHex(dst []byte, hash *[32]byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 2*len(hash))[:n+2*len(hash)]
	out := (*[64]byte)(dst[n:])
	for i := 0; i < len(hash); i += 4 {
		word := uint64(binary.LittleEndian.Uint32(hash[i : i+4]))
		word = (word | word<<16) & 0x0000ffff0000ffff
		word = (word | word<<8) & 0x00ff00ff00ff00ff // an octet in each pair
		binary.LittleEndian.PutUint64(out[2*i:2*i+8], hexOf((word>>4|word<<8)&nibbles))
	}
	return dst
}

// unhex gives the value of a hex digit of either case, or false.
func unhex(c byte) (byte, bool) {
	switch {
	case class[c]&digit != 0:
		return c - '0', true
	case c|0x20-'a' <= 5:
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// decode appends s with its percent triplets resolved; plus is what a plus sign stands for. The triplets of s must be
// whole, as checkTarget ensures.
func decode(dst []byte, s string, plus byte) []byte {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '%':
			hi, _ := unhex(s[i+1])
			lo, _ := unhex(s[i+2])
			dst = append(dst, hi<<4|lo)
			i += 2
		case '+':
			dst = append(dst, plus)
		default:
			dst = append(dst, s[i])
		}
	}

	return dst
}

// encode appends s URI-encoded: octets of the classes in keep as they are, all others as %XY in upper case.
func encode(dst, s []byte, keep uint16) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range s {
		if class[c]&keep != 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}
