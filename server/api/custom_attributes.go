package api

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// CustomAttributes returns the custom attributes of an entity as they are shown: those declared
// translatable in the language of the answer.
func CustomAttributes(
	language *Localizer, p *programme.Programme, kind string, custom map[string]json.RawMessage,
) map[string]any {
	shown := make(map[string]any, len(custom))
	for name, value := range custom {
		shown[name] = value
	}
	for _, attribute := range p.Attributes[kind] {
		var texts map[string]string
		if raw, ok := custom[attribute.Property()]; ok && attribute.Translatable && json.Unmarshal(raw, &texts) == nil {
			shown[attribute.Property()] = language.Text(texts)
		}
	}
	return shown
}
