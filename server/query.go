package server

import (
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
)

// readQuery parses the query once, by the rules of the signature: + is a blank, ; is data, empty pairs are skipped.
// Only parameters of the operation are allowed, each once unless it is a list: a misspelt filter must not return
// everything, and the order of equal names is not signed.
func (s *Server) readQuery(c *gin.Context) {
	r := api.RequestOf(c)
	if r.Operation == nil || c.Request.URL.RawQuery == "" && !c.Request.URL.ForceQuery {
		return
	}

	pairs, err := list.ParseQuery(c.Request.URL.RawQuery)
	if err == nil {
		err = knownParameters(r.Operation, pairs, list.CustomFields(s.programme(), customType(c, r.Operation)))
	}

	if err != nil {
		s.fail(c, err)
		return
	}

	r.Query = pairs
	// net/url drops a pair with a semicolon; the generated binder uses it.
	c.Request.URL.RawQuery = strings.ReplaceAll(c.Request.URL.RawQuery, ";", "%3B")
}

// decodePath decodes the values of the path once. gin would read a plus as a blank, which it is only in a query. Broken
// percent-escapes were refused before. Blanks around an id do not belong to it: they are removed here for all
// operations.
func decodePath(c *gin.Context) {
	raw := c.Request.URL.RawPath != "" // otherwise they are decoded already
	for i := range c.Params {
		value := c.Params[i].Value
		if text, err := url.PathUnescape(value); raw && err == nil {
			value = text
		}
		bare := strings.TrimSpace(value)
		if bare != value && (bare == "" || bare == "-") {
			api.RequestOf(c).Nowhere = true
		}
		c.Params[i].Value = bare
	}
}

// knownParameters refuses a parameter that the operation lacks, and a second value of a parameter that takes one. custom are the
// programme's declared attributes, which are filters as well.
func knownParameters(o *api.Operation, pairs []list.Pair, custom map[string]list.Field) error {
	for i, p := range pairs {
		repeatable, ok := o.Parameters[p.Name]
		if !ok {
			attribute, operator := list.SplitOperator(p.Name)
			field, declared := custom[attribute]
			ok = declared && field.Takes(operator)
		}

		if !ok && o.Bracketed.Owns(p.Name) {
			repeatable, ok = o.Bracketed.Repeats(p.Name), true // its grammar decides
		}
		if !ok {
			return api.ErrUnknownParameter.With("parameter", p.Name).At(p.Name)
		}
		if repeatable {
			continue
		}

		for _, earlier := range pairs[:i] {
			if earlier.Name == p.Name {
				return contract.ErrInvalidParameter.With("parameter", p.Name).With("reason", "repeated").At(p.Name)
			}
		}
	}

	return nil
}

// customType is the type whose declared attributes are filters of an operation: its x-custom, such as rewards/reward,
// in which {module} stands for the parameter of the path. It is empty if there are no such filters.
func customType(c *gin.Context, o *api.Operation) string {
	kind := o.Custom
	for _, p := range c.Params {
		kind = strings.ReplaceAll(kind, "{"+p.Key+"}", p.Value)
	}
	return kind
}
