package programme

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// SoldAt reports whether a store, by its id or name, is in a list; an empty list has every store.
func (p *Programme) SoldAt(stores []string, store string) bool {
	if len(stores) == 0 {
		return true
	}
	here := p.ShopID(store)
	return store != "" && slices.ContainsFunc(stores, func(id string) bool { return p.ShopID(id) == here })
}

// Shop is a place where customers buy (stores/store). A checkout names it by its id or its name.
type Shop struct {
	ID   string `json:"-"`
	Name string `json:"name"`
}

// Shops are the places of the programme (module stores).
var Shops = &EntityType[*Shop]{Type: "stores/store", Module: ModuleStores, Read: readShop}

func readShop(p *Programme, e loyalty.Entity) (*Shop, error) {
	s := &Shop{ID: e.ID}
	if err := Decode(e, s); err != nil {
		return nil, err
	}
	return s, nil
}

// ShopID returns the id of a shop from its id or its name; of several with one name, the first by id. An undeclared
// place is its own id.
func (p *Programme) ShopID(text string) string {
	if _, ok := Shops.Of(p)[text]; ok {
		return text
	}
	found := ""
	for id, s := range Shops.Of(p) {
		if strings.TrimSpace(s.Name) == strings.TrimSpace(text) && (found == "" || id < found) {
			found = id
		}
	}
	return cmp.Or(found, text)
}
