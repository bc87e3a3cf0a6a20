package list

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// numberCursor is the version byte of a cursor that holds the number of an entry.
const numberCursor = 0x20

// NumberCursor is the position behind an entry of a list whose entries have numbers. It is bound to list, which
// identifies the list and its filters.
func NumberCursor(list string, number int64) string {
	b := append(make([]byte, 0, 17), numberCursor)
	b = binary.BigEndian.AppendUint64(b, uint64(number)) //nolint:gosec // never negative
	bound := sha256.Sum256([]byte(list))
	return base64.RawURLEncoding.EncodeToString(append(b, bound[:8]...))
}

// ParseNumberCursor reads a cursor that NumberCursor made for the same list.
func ParseNumberCursor(list, text string) (number int64, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 17 {
		return 0, false
	}
	number = int64(binary.BigEndian.Uint64(b[1:])) //nolint:gosec // what is no number of ours is not made again
	return number, number >= 0 && NumberCursor(list, number) == text
}
