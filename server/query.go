package server

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
)

// pair is a query parameter as it was sent, decoded.
type pair struct{ name, value string }

// readQuery takes the query apart once, by the rules the signature knows: + is
// a blank, ; is data, empty pairs are nothing. Only parameters of the operation
// may be there, each once unless it is a list: a misspelt filter must not
// return everything, and the order of equal names is not signed.
func (s *Server) readQuery(c *gin.Context) {
	r := requestOf(c)
	if r.operation == nil || c.Request.URL.RawQuery == "" && !c.Request.URL.ForceQuery {
		return
	}
	pairs, err := parseQuery(c.Request.URL.RawQuery)
	if err == nil {
		err = r.operation.known(pairs, customFields(s.programme(), r.operation.customType(c)))
	}
	if err != nil {
		s.fail(c, err)
		return
	}
	r.query = pairs
	// net/url drops a pair that holds a semicolon; the generated binder uses it.
	c.Request.URL.RawQuery = strings.ReplaceAll(c.Request.URL.RawQuery, ";", "%3B")
}

// decodePath decodes the values of the path once. gin would read a plus as a blank,
// which it is in a query only. Broken triplets were refused with the target.
func (s *Server) decodePath(c *gin.Context) {
	if c.Request.URL.RawPath == "" {
		return // they are decoded already
	}
	for i := range c.Params {
		if value, err := url.PathUnescape(c.Params[i].Value); err == nil {
			c.Params[i].Value = value
		}
	}
}

// parseQuery decodes a raw query. Broken triplets were refused with the target;
// it fails on what is no text.
func parseQuery(raw string) ([]pair, error) {
	var pairs []pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" || part == "=" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, errName := url.QueryUnescape(rawName)
		value, errValue := url.QueryUnescape(rawValue)
		if errName != nil || errValue != nil || !isText(name) || !isText(value) {
			return nil, contract.ErrInvalidParameter.With("parameter", rawName).With("reason", "encoding").At(rawName)
		}
		pairs = append(pairs, pair{name, value})
	}
	return pairs, nil
}

// isText says whether a database could take it as text.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// known refuses a parameter that the operation does not have, and a second
// value of one that takes one. custom are the attributes that the programme
// declares, by which it can be filtered too.
func (o *operation) known(pairs []pair, custom map[string]field) error {
	for i, p := range pairs {
		list, ok := o.parameters[p.name]
		if !ok {
			attribute, _ := splitOperator(p.name)
			_, ok = custom[attribute]
		}
		if !ok && o.bracketed.owns(p.name) {
			list, ok = o.bracketed.repeats(p.name), true // its grammar judges it
		}
		if !ok {
			return errUnknownParameter.With("parameter", p.name).At(p.name)
		}
		if list {
			continue
		}
		for _, earlier := range pairs[:i] {
			if earlier.name == p.name {
				return contract.ErrInvalidParameter.With("parameter", p.name).With("reason", "repeated").At(p.name)
			}
		}
	}
	return nil
}
