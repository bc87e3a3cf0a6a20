package engine

import (
	"encoding/json"
	"maps"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Parts are attributes as they are stored: plain ones, which stay readable for ever, and personal ones, which are
// sealed under the customer's key. All attempts of a batch share both maps, so they must not be changed.
type Parts struct{ Plain, Personal map[string]json.RawMessage }

// stored is a submission's data, split into its parts once, before any transaction.
type stored struct {
	own      Parts                      // all but the lists of objects
	lists    map[string][]Parts         // such as items
	plain    json.RawMessage            // as the event's row shows it
	personal map[string]json.RawMessage // as the event's row seals it; nil: nothing
}

// store splits the data of a submission into parts. data holds the attributes of raw by name.
func store(s *loyalty.Shape, raw json.RawMessage, data map[string]json.RawMessage) (stored, error) {
	var out stored
	own := data
	for name, attribute := range s.Attributes {
		if attribute.Items == nil || data[name] == nil {
			continue
		}
		list, err := each(attribute.Items, data[name])
		if err != nil {
			return out, err
		}
		if out.lists == nil {
			out.lists, own = map[string][]Parts{}, maps.Clone(data)
		}
		out.lists[name] = list
		delete(own, name)
	}

	out.own = partsOf(s, own)
	out.seal(raw, data)
	return out, nil
}

// seal renders the event's row. Without personal attributes, it is the data as it was sent.
func (out *stored) seal(raw json.RawMessage, data map[string]json.RawMessage) {
	out.plain = raw
	if out.own.Personal == nil && out.lists == nil {
		return
	}

	personal, plain := out.own.Personal, out.own.Plain
	if out.lists != nil {
		personal, plain = maps.Clone(personal), maps.Clone(plain)
	}

	for name, list := range out.lists {
		plain[name] = data[name]
		shown, sealed := make([]map[string]json.RawMessage, len(list)), make([]map[string]json.RawMessage, len(list))
		found := false
		for i, item := range list {
			shown[i], sealed[i] = item.Plain, item.Personal
			found = found || item.Personal != nil
		}
		if found {
			plain[name] = loyalty.JSON(shown)
			personal = PutAttribute(personal, name, loyalty.JSON(sealed))
		}
	}

	if out.personal = personal; personal != nil {
		out.plain = loyalty.Object(plain)
	}
}

// each splits the elements of a list of objects.
func each(s *loyalty.Shape, raw json.RawMessage) ([]Parts, error) {
	list, err := loyalty.Elements(raw)
	if err != nil {
		return nil, loyalty.DecodeError(err)
	}
	parts := make([]Parts, len(list))
	for i, item := range list {
		parts[i] = partsOf(s, item)
	}
	return parts, nil
}

// partsOf separates attributes by whether the contract declares them as personal. Undeclared ones count as personal,
// because nothing is known about them.
func partsOf(s *loyalty.Shape, data map[string]json.RawMessage) Parts {
	p := Parts{Plain: data}
	for name, value := range data {
		if declared, ok := s.Attributes[name]; ok && !declared.Personal {
			continue
		}
		p.Personal = PutAttribute(p.Personal, name, value)
	}

	if p.Personal == nil {
		return p
	}

	p.Plain = make(map[string]json.RawMessage, len(data)-len(p.Personal))
	for name, value := range data {
		if _, personal := p.Personal[name]; !personal {
			p.Plain[name] = value
		}
	}

	return p
}

// PutAttribute sets an attribute, and makes the map if it is nil.
func PutAttribute(m map[string]json.RawMessage, name string, value json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	m[name] = value
	return m
}
