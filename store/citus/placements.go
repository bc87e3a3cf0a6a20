// Package citus knows the placement of each table when the extension Citus spreads a PostgreSQL database over
// machines, and spreads an empty database.
package citus

import "slices"

// A placement says where the rows of a table are stored.
type placement struct {
	table string
	// key is the column whose hash chooses the machine; every unique key of the table contains it. A table without a
	// key stays whole, on the coordinator.
	key string
	// group is the table whose rows with the same key are on the same machine.
	group string
	// plain tables are not known to Citus. A table that is written together with rows on other machines must be
	// known: Citus commits only known tables in two phases, and a crash between two separate commits would keep one
	// without the other.
	plain bool
}

// placements lists all tables of the schema in the order in which they are spread: the table that names a group comes
// first. A new table needs a line here, or TestEveryTableHasAPlace fails.
var placements = slices.Concat(
	[]placement{{table: "balances", key: customer}, {table: "customers", key: "id", group: "balances"}},
	ofCustomers("customer_keys", "events", "postings", "lots", "transactions", "purchase_lines", "reservations",
		"progress", "claims", "list_members",
		"campaign_customers", "rankings", "numbered", "anchored"),
	// Names and answers are found by their own keys, before their customer is known.
	[]placement{{table: "names", key: "value"}, {table: "answers", key: "key"}},
	// Rows that customers share. As reference tables, which are copied to each machine, they would make every batch
	// that counts or redeems wait for all others on all machines.
	managed("coupons", "coupon_events", "tallies", "campaign_figures", "bulk_operations", "bulk_items",
		"ranking_counts", "leaderboard",
		"tail", "tail_state", "followers", "notices", "leavers"),
	// Small, or never written together with other tables.
	plain("access_keys", "key_secrets", "modules", "settings", "entities", "audit", "programme_version",
		"jobs", "failed_requests",
		"taken_signatures", "master_check", "names_key", "kept_codes", "anchors", "anchoring", "users", "sessions",
		"invitations", "challenges", "figures", "figure_refunds",
		"statistics", "imports", "uploads", "upload_parts", "webhooks", "webhook_secrets", "deliveries", "attempts",
		"replays", "nodes", "ledger_proofs"),
)

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
		placement{table: "emails", key: "email"},
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

const customer = "customer_id"

func ofCustomers(tables ...string) []placement {
	return each(tables, func(t string) placement { return placement{table: t, key: customer, group: "balances"} })
}

func managed(tables ...string) []placement {
	return each(tables, func(t string) placement { return placement{table: t} })
}

func plain(tables ...string) []placement {
	return each(tables, func(t string) placement { return placement{table: t, plain: true} })
}

func each(tables []string, of func(string) placement) []placement {
	list := make([]placement, len(tables))
	for i, t := range tables {
		list[i] = of(t)
	}
	return list
}

// Key is the column whose hash chooses the machine of a table's rows; empty: the table is on the coordinator. known
// says that Citus knows the table, so that writes to it commit together with rows on other machines.
func Key(table string) (key string, known bool) {
	for _, p := range placements {
		if p.table == table {
			return p.key, !p.plain
		}
	}
	for _, f := range finders {
		if f.table == table {
			return f.key, true
		}
	}
	return "", false
}
