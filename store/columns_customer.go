package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// accountTable is the part of a customer that seldom changes. The keys serve search and matching.
var accountTable = table[loyalty.Customer]{name: "customers", fields: []field[loyalty.Customer]{
	{"id", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.ID) }},
	{"name", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Name) }},
	{"status", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Status) }},
	{"created_at", "bigint", func(c *loyalty.Customer) any { return (*Millis)(&c.CreatedAt) }},
	{"updated_at", "bigint", func(c *loyalty.Customer) any { return (*Millis)(&c.UpdatedAt) }},
	{"merged_into", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.MergedInto) }},
	{"handler", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.Handler) }},
	{"email", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.Email) }},
	{"first_name", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.FirstName) }},
	{"last_name", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.LastName) }},
	{"language", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.Language) }},
	{"gender", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.Gender) }},
	{"currency", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.Currency) }},
	{"image_url", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.ImageURL) }},
	{"birth_date", "text", func(c *loyalty.Customer) any { return (*plain)(&c.Profile.BirthDate) }},
	{"labels", "text", func(c *loyalty.Customer) any { return listIn(&c.Profile.Labels) }},
	{"external_ids", "text", func(c *loyalty.Customer) any { return idsIn(&c.Profile.ExternalIDs) }},
	{"custom", "text", func(c *loyalty.Customer) any { return rawsIn(&c.Profile.Custom) }},
	{"referrer", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.Profile.Referrer) }},
}, derived: []field[loyalty.Customer]{
	{"handler_key", "text", func(c *loyalty.Customer) any { return foundBy(c, loyalty.NameKey(c.Profile.Handler)) }},
	{"email_key", "text", func(c *loyalty.Customer) any { return foundBy(c, loyalty.EmailKey(c.Profile.Email)) }},
	{"first_key", "text", func(c *loyalty.Customer) any { return foundBy(c, loyalty.NameKey(c.Profile.FirstName)) }},
	{"last_key", "text", func(c *loyalty.Customer) any { return foundBy(c, loyalty.NameKey(c.Profile.LastName)) }},
}}

// balanceTable is the part of a customer that changes often.
var balanceTable = table[loyalty.Customer]{name: "balances", fields: []field[loyalty.Customer]{
	{"customer_id", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.ID) }},
	{"version", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Version) }},
	{"score", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Score) }},
	{"spent", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Spent) }},
	{"reserved", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Reserved) }},
	{"expired", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Expired) }},
	{"pending", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Pending) }},
	{"debt", "bigint", func(c *loyalty.Customer) any { return (*number)(&c.Figures.Debt) }},
	{"last_event", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.LastEvent) }},
	{"due_at", "bigint", func(c *loyalty.Customer) any { return (*Millis)(&c.DueAt) }},
	{"last_activity_at", "bigint", func(c *loyalty.Customer) any { return (*Millis)(&c.LastActivityAt) }},
	{"chain", "bytea", func(c *loyalty.Customer) any { return (*blob)(&c.Chain.Head) }},
	{"chain_from", "uuid", func(c *loyalty.Customer) any { return (*UUID)(&c.Chain.From) }},
}}

// customerTable joins both for reads: customers JOIN balances. It leaves out the customer's key, which only batches
// open.
var customerTable = table[loyalty.Customer]{
	name:   "customers",
	fields: append(accountTable.qualified("customers"), balanceTable.without("customer_id").qualified("balances")...),
}

type changedCustomer = loyalty.Changed[loyalty.Customer]

func customerAfter(c *changedCustomer) *loyalty.Customer { return &c.After }

var (
	insertCustomers = accountTable.inserts()
	updateCustomers = guards(`UPDATE customers AS c SET `+accountTable.set("id")+` FROM v WHERE c.id = v.id AND c.status = v.was`, append(
		through(accountTable.all(), customerAfter),
		field[changedCustomer]{"was", "text", func(c *changedCustomer) any { return (*plain)(&c.Before.Status) }})...)

	insertBalances = balanceTable.inserts()
	// The guard compares the version and the chain's head with the loaded ones: rows in a process's cache may be of
	// commits that a promoted standby never received.
	updateBalances = guards(`UPDATE balances AS b SET version = v.version + 1, `+balanceTable.set("customer_id", "version")+
		` FROM v WHERE b.customer_id = v.customer_id AND b.version = v.version AND b.chain IS NOT DISTINCT FROM v.head`, append(
		through(balanceTable.without("version").fields, customerAfter),
		field[changedCustomer]{"version", "bigint", func(c *changedCustomer) any { return (*number)(&c.Before.Version) }},
		field[changedCustomer]{"head", "bytea", func(c *changedCustomer) any { return (*blob)(&c.Before.Chain.Head) }})...).orderedOnCitus()
)

// nameTable holds claimed names.
var nameTable = table[loyalty.Claim]{name: "names", fields: []field[loyalty.Claim]{
	{"kind", "smallint", func(c *loyalty.Claim) any { return wholeIn(&c.Kind) }},
	{"value", "text", func(c *loyalty.Claim) any { return (*plain)(&c.Value) }},
	{"owner", "uuid", func(c *loyalty.Claim) any { return (*UUID)(&c.Owner) }},
}}

var (
	insertNames = nameTable.inserts()
	deleteNames = guards(`DELETE FROM names WHERE (kind, value, owner) IN (SELECT kind, value, owner FROM v)`, nameTable.fields...)

	insertKeys = insertsInto("customer_keys",
		field[customerKeyRow]{"customer_id", "uuid", func(k *customerKeyRow) any { return &k.CustomerID }},
		field[customerKeyRow]{"sealed", "bytea", func(k *customerKeyRow) any { return (*blob)(&k.Sealed) }})
	// No guard: a customer without a key has nothing to destroy.
	deleteKeys = selects(`DELETE FROM customer_keys WHERE customer_id IN (SELECT customer_id FROM v)`,
		field[loyalty.ID]{"customer_id", "uuid", func(id *loyalty.ID) any { return (*UUID)(id) }})
)
