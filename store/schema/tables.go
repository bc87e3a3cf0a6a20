package schema

import "slices"

// Table is a table of the schema, and how each part of the store treats it.
type Table struct {
	Name string
	// Room is the part that the table belongs to: a heading of the baselines.
	Room string
	// Rows says whether archives have the table's rows.
	Rows Rows
	// Sealed are the columns with values sealed under the master key, which a change of that key seals again. How each
	// value is bound to its row is in store/sealed.go. The change writes master_check and names_key itself.
	Sealed []string
	// Place says where the rows are on a database that Citus spreads over machines.
	Place Place
}

// Rows says what an archive does with the rows of a table.
type Rows int

// The kinds of rows.
const (
	Archived Rows = iota
	// Seeded rows are archived, and the baseline inserts some, which an archive's rows replace.
	Seeded
	// Local rows describe one database and its servers. They do not belong to the programme and are not archived.
	Local
)

// Place is where Citus stores the rows of a table. The zero Place is the coordinator.
type Place struct {
	// Key is the column whose hash chooses the machine; every unique key of the table contains it.
	Key string
	// Group is the table whose rows with the same key are on the same machine.
	Group string
	// Known tables without a key are on the coordinator, and known to Citus: it commits only known tables in two
	// phases. A table that is written together with rows on other machines must be known, because a crash between two
	// separate commits would keep one without the other. The others are small, or never written with other tables.
	Known bool
}

// The places that several tables have.
var (
	ofCustomer  = Place{Key: "customer_id", Group: "balances"}
	coordinator = Place{Known: true}
)

// Restoring marks a database from the first restored row until the restore has proven all of it. It is not part of the
// schema: a restore creates and drops it. A program that is killed in between leaves a database that no server serves.
const Restoring = "restoring"

// CreateRestoring creates the table Restoring.
const CreateRestoring = "CREATE TABLE IF NOT EXISTS " + Restoring + " (id INTEGER PRIMARY KEY)"

// Find returns a table of the list; nil: it is not there.
func Find(name string) *Table {
	i := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &Tables[i]
}

// Tables are all tables, in the order of the baselines. Archives store and fill them in this order: a table comes after
// those that it refers to. TestTables compares the list with the schemas of both databases.
var Tables = []Table{
	{Name: "programme_version", Room: "programme", Rows: Seeded},
	{Name: "master_check", Room: "programme"},
	{Name: "names_key", Room: "programme"},
	{Name: "settings", Room: "programme"},
	{Name: "modules", Room: "programme"},
	{Name: "entities", Room: "programme"},

	{Name: "access_keys", Room: "access"},
	{Name: "key_secrets", Room: "access", Sealed: []string{"sealed"}},
	{Name: "audit", Room: "access"},
	{Name: "users", Room: "access", Sealed: []string{"totp_sealed"}},
	{Name: "sessions", Room: "access"},
	{Name: "invitations", Room: "access"},
	{Name: "challenges", Room: "access", Rows: Local},

	// Names and answers are found by their own keys, before their customer is known.
	{Name: "names", Room: "customers", Place: Place{Key: "value"}},
	{Name: "customers", Room: "customers", Place: Place{Key: "id", Group: "balances"}},
	{Name: "balances", Room: "customers", Place: Place{Key: "customer_id"}},
	{Name: "customer_keys", Room: "customers", Sealed: []string{"sealed"}, Place: ofCustomer},
	{Name: "leavers", Room: "customers", Sealed: []string{"sealed"}, Place: coordinator},
	{Name: "list_members", Room: "customers", Place: ofCustomer},

	{Name: "events", Room: "journal", Place: ofCustomer},

	{Name: "postings", Room: "ledger", Place: ofCustomer},
	{Name: "lots", Room: "ledger", Place: ofCustomer},
	{Name: "transactions", Room: "ledger", Place: ofCustomer},
	{Name: "purchase_lines", Room: "ledger", Place: ofCustomer},
	{Name: "reservations", Room: "ledger", Place: ofCustomer},
	{Name: "anchored", Room: "ledger", Place: ofCustomer},
	{Name: "anchors", Room: "ledger"},
	{Name: "anchoring", Room: "ledger"},
	{Name: "ledger_proofs", Room: "ledger", Rows: Local},

	// Rows that customers share are on the coordinator. As reference tables, which are copied to each machine, they
	// would make every batch that counts or redeems wait for all others on all machines.
	{Name: "progress", Room: "rules", Place: ofCustomer},
	{Name: "claims", Room: "rules", Place: ofCustomer},
	{Name: "tallies", Room: "rules", Place: coordinator},
	{Name: "campaign_figures", Room: "rules", Place: coordinator},
	{Name: "campaign_customers", Room: "rules", Place: ofCustomer},

	{Name: "coupons", Room: "coupons", Place: coordinator},
	{Name: "coupon_events", Room: "coupons", Place: coordinator},

	{Name: "bulk_operations", Room: "bulk", Place: coordinator},
	{Name: "bulk_items", Room: "bulk", Place: coordinator},
	{Name: "kept_codes", Room: "bulk"},
	{Name: "imports", Room: "bulk"},
	{Name: "uploads", Room: "bulk"},
	{Name: "upload_parts", Room: "bulk", Sealed: []string{"sealed"}},

	{Name: "answers", Room: "requests", Sealed: []string{"body", "block"}, Place: Place{Key: "key"}},
	{Name: "taken_signatures", Room: "requests"},
	{Name: "failed_requests", Room: "requests"},

	{Name: "tail", Room: "followers", Place: coordinator},
	{Name: "numbered", Room: "followers", Place: ofCustomer},
	{Name: "tail_state", Room: "followers", Rows: Seeded, Place: coordinator},
	{Name: "followers", Room: "followers", Place: coordinator},
	{Name: "leaderboard", Room: "followers", Place: coordinator},
	{Name: "rankings", Room: "followers", Place: ofCustomer},
	{Name: "ranking_counts", Room: "followers", Place: coordinator},
	{Name: "statistics", Room: "followers"},
	{Name: "figures", Room: "followers"},
	{Name: "figure_refunds", Room: "followers"},

	{Name: "webhooks", Room: "webhooks", Sealed: []string{"headers"}},
	{Name: "webhook_secrets", Room: "webhooks", Sealed: []string{"sealed"}},
	{Name: "deliveries", Room: "webhooks", Sealed: []string{"subject"}},
	{Name: "attempts", Room: "webhooks", Sealed: []string{"answer"}},
	{Name: "replays", Room: "webhooks"},
	{Name: "notices", Room: "webhooks", Place: coordinator},

	{Name: "jobs", Room: "installation"},
	{Name: "nodes", Room: "installation", Rows: Local},
}
