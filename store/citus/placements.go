// Package citus knows the placement of each table when the extension Citus spreads a PostgreSQL database over
// machines, and spreads an empty database.
package citus

import "github.com/loyalty-platform/loyalty/store/schema"

// placement is where the rows of a table are stored.
type placement struct {
	table string
	schema.Place
	// plain tables are not known to Citus.
	plain bool
}

// placements are the places of all tables, in the order in which they are spread: a table that names a group comes
// first.
var placements = func() []placement {
	var heads, others []placement
	for i := range schema.Tables {
		t := &schema.Tables[i]
		p := placement{table: t.Name, Place: t.Place, plain: t.Place == schema.Place{}}
		if t.Place.Key != "" && t.Place.Group == "" {
			heads = append(heads, p)
		} else {
			others = append(others, p)
		}
	}
	return append(heads, others...)
}()

// finders are tables that only a spread database has. They replace queries that would go to every machine: which
// customers were merged into a customer, copied to each machine, and which customer has an e-mail.
var finders = []struct {
	placement
	make, fill string // fill creates the rows of existing customers
	stray      string // deletes rows without a matching customer
}{
	{
		placement{table: "merges"}, `CREATE TABLE IF NOT EXISTS merges (source uuid PRIMARY KEY, target uuid NOT NULL);
CREATE INDEX IF NOT EXISTS merges_target ON merges (target, source)`,
		`INSERT INTO merges (source, target) SELECT id, merged_into FROM customers WHERE merged_into IS NOT NULL ON CONFLICT DO NOTHING`,
		`DELETE FROM merges WHERE (source, target) NOT IN (SELECT id, merged_into FROM customers WHERE merged_into IS NOT NULL OFFSET 0)`,
	},
	{
		placement{table: "emails", Place: schema.Place{Key: "email"}},
		`CREATE TABLE IF NOT EXISTS emails (email text COLLATE "C", customer_id uuid, PRIMARY KEY (email, customer_id));
ALTER TABLE emails ALTER email SET STATISTICS 0`,
		`INSERT INTO emails (email, customer_id) SELECT email_key, id FROM customers WHERE email_key IS NOT NULL ON CONFLICT DO NOTHING`,
		`DELETE FROM emails WHERE (email, customer_id) NOT IN (SELECT email_key, id FROM customers WHERE email_key IS NOT NULL OFFSET 0)`,
	},
}

// Finders lists the names of the finder tables.
func Finders() (list []string) {
	for _, f := range finders {
		list = append(list, f.table)
	}
	return list
}

// Fill lists the statements that fill the finder tables.
func Fill() (list []string) {
	for _, f := range finders {
		list = append(list, f.fill)
	}
	return list
}

// Key is the column whose hash chooses the machine of a table's rows; empty: the table is on the coordinator. known
// says that Citus knows the table, so that writes to it commit together with rows on other machines.
func Key(table string) (key string, known bool) {
	for _, p := range placements {
		if p.table == table {
			return p.Key, !p.plain
		}
	}
	for _, f := range finders {
		if f.table == table {
			return f.Key, true
		}
	}
	return "", false
}
