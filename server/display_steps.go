package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// stepTo is the next step of an entry: a request to a path below the customer, given in segments; nil if it would be
// refused.
func stepTo(r *engine.Run, refusal error, method string, segments ...string) *common.NextStep {
	if refusal != nil {
		return nil
	}
	return &common.NextStep{Method: method, URL: address(append([]string{"customers", r.Customer.Name}, segments...)...)}
}

// nextStep is stepTo with POST.
func nextStep(r *engine.Run, refusal error, segments ...string) *common.NextStep {
	return stepTo(r, refusal, http.MethodPost, segments...)
}

// address is a path made of segments. A plus sign is escaped as well, because some clients read it as a blank.
func address(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(s), "+", "%2B"))
	}
	return b.String()
}

// customAttributes returns the custom attributes of an entity as they are shown: those declared
// translatable in the language of the answer.
func customAttributes(language *tongue, p *programme.Programme, kind string, custom map[string]json.RawMessage) map[string]any {
	shown := make(map[string]any, len(custom))
	for name, value := range custom {
		shown[name] = value
	}
	for _, attribute := range p.Attributes[kind] {
		var texts map[string]string
		if raw, ok := custom[attribute.Property()]; ok && attribute.Translatable && json.Unmarshal(raw, &texts) == nil {
			shown[attribute.Property()] = language.text(texts)
		}
	}
	return shown
}
