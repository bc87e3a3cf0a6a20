package loyalty

// Shop is a place where customers buy (stores/store). A checkout names it by its
// id or its name.
type Shop struct {
	ID   string `json:"-"`
	Name string `json:"name"`
}

func readShop(p *Programme, e Entity) error {
	s := &Shop{ID: e.ID}
	if err := decodeEntity(e, s); err != nil {
		return err
	}
	p.Shops[s.ID] = s
	return nil
}

// ShopID gives the id of a shop from its id or its name; a place nobody declared
// is its own id.
func (p *Programme) ShopID(text string) string {
	if _, ok := p.Shops[text]; ok {
		return text
	}
	for id, s := range p.Shops {
		if s.Name == text {
			return id
		}
	}
	return text
}
