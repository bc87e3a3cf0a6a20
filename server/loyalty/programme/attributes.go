package programme

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Filterable returns the attributes by which lists of a type can be filtered, such as
// rewards/reward or core/customer. With custom_entities off there are none.
func (p *Programme) Filterable(kind string) []*loyalty.CustomAttribute {
	return p.attributesOf(kind, (*loyalty.CustomAttribute).Filterable)
}

// Searchable returns the attributes of a type that the search of its list covers. With custom_entities off there are
// none.
func (p *Programme) Searchable(kind string) []*loyalty.CustomAttribute {
	return p.attributesOf(kind,
		func(a *loyalty.CustomAttribute) bool { return slices.Contains(a.Tags, loyalty.TagSearchable) })
}

func (p *Programme) attributesOf(
	kind string, wanted func(*loyalty.CustomAttribute) bool,
) (list []*loyalty.CustomAttribute) {
	if !p.On[ModuleCustomEntities] {
		return nil
	}
	for _, a := range p.Attributes[kind] {
		if wanted(a) {
			list = append(list, a)
		}
	}
	return list
}
