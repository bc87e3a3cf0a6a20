package export

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customers are all customers who were ever in the programme. A customer who left has a row without personal data.
var customers = table[loyalty.Customer]{
	read: loyalty.ExportReader.ExportCustomers,
	who:  func(c *loyalty.Customer) []loyalty.ID { return []loyalty.ID{c.ID} },
	list: append([]column[loyalty.Customer]{
		{Column{"key", false, "names the row; send it as after to go on behind it"},
			func(_ *beside, c *loyalty.Customer) value { return idValue(c.ID) }},
		{Column{"customer_id", false, "their internal id, which they keep for good"},
			func(_ *beside, c *loyalty.Customer) value { return idValue(c.ID) }},
		{Column{"status", false, "inactive, active, suspended, opted_out or merged"},
			func(_ *beside, c *loyalty.Customer) value { return plainValue(string(c.Status)) }},
		{Column{"created_at", false, "when they were created: what from and to mean"},
			func(_ *beside, c *loyalty.Customer) value { return instantValue(c.CreatedAt) }},
		{Column{"changed_at", false, "when anything of them changed last"},
			func(_ *beside, c *loyalty.Customer) value { return instantValue(c.ChangedAt()) }},
		{Column{"last_activity_at", false, "when they did something last"},
			func(_ *beside, c *loyalty.Customer) value { return instantValue(c.LastActivityAt) }},
		{Column{"merged_into", false, "the customer they became part of"},
			func(_ *beside, c *loyalty.Customer) value { return idValue(c.MergedInto) }},
		{Column{"referrer_id", false, "the customer who brought them"},
			func(_ *beside, c *loyalty.Customer) value { return idValue(c.Profile.Referrer) }},
		{Column{"score", false, "points ever earned"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Score) }},
		{Column{"spent", false, "points spent"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Spent) }},
		{Column{"reserved", false, "points held for purchases under way"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Reserved) }},
		{Column{"expired", false, "points that expired"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Expired) }},
		{Column{"pending", false, "points of purchases that are not accepted yet"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Pending) }},
		{Column{"spendable", false, "points that can be spent; below zero they are owed"},
			func(_ *beside, c *loyalty.Customer) value { return wholeValue(c.Figures.Spendable()) }},
		{Column{"customer", true, "the caller's id"}, func(b *beside, c *loyalty.Customer) value { return named(b, c.ID) }},
	}, append(profileTexts(),
		profile("labels", "labels, as a JSON list", func(p *loyalty.Profile) value { return documentValue(p.Labels) }),
		profile("external_ids", "ids in other systems, as a JSON object",
			func(p *loyalty.Profile) value { return documentValue(p.ExternalIDs) }),
		profile("custom", "attributes of the programme's own, as a JSON object",
			func(p *loyalty.Profile) value { return documentValue(p.Custom) }),
	)...),
}

// named is the customer's current name; a customer who left has none.
func named(b *beside, id loyalty.ID) value { return textValue(b.names[id]) }

// profileTexts are the columns of a profile that hold one text.
func profileTexts() (list []column[loyalty.Customer]) {
	for _, f := range loyalty.ProfileTexts {
		list = append(list, profile(f.Name, "of the profile", func(p *loyalty.Profile) value { return textValue(*f.Of(p)) }))
	}
	return list
}

// profile is a column of the profile; it is empty for customers who left.
func profile(name, meaning string, get func(*loyalty.Profile) value) column[loyalty.Customer] {
	return column[loyalty.Customer]{Column{name, true, meaning}, func(_ *beside, c *loyalty.Customer) value {
		if c.Status == loyalty.OptedOut {
			return value{}
		}
		return get(&c.Profile)
	}}
}
