package list

import (
	"net/url"
	"strings"

	"github.com/loyalty-platform/loyalty/server/contract"
)

// ParseQuery decodes a raw query, in wire order: + is a blank, ; is data, empty pairs are skipped. It fails with
// contract.ErrInvalidParameter for a value that is no text. Broken percent-escapes were refused before.
func ParseQuery(raw string) ([]Pair, error) {
	var pairs []Pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" || part == "=" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, errName := url.QueryUnescape(rawName)
		value, errValue := url.QueryUnescape(rawValue)
		if errName != nil || errValue != nil || !contract.IsText(name) || !contract.IsText(value) {
			return nil, contract.ErrInvalidParameter.With("parameter", rawName).With("reason", "encoding").At(rawName)
		}
		pairs = append(pairs, Pair{name, value})
	}

	return pairs, nil
}
