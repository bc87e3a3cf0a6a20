package store

// portableTables are all tables of the schema, in the order in which an archive stores them and restore fills them: a
// table comes after those that it refers to. TestEveryTableIsPortable fails for a table that is missing here. Add
// each new table, and decide whether it belongs to the programme: then dump, restore and backups include it.
var portableTables = []portableTable{
	{name: "programme_version", seeded: true},
	{name: "master_check"},
	{name: "names_key"},
	{name: "settings"},
	{name: "modules"},
	{name: "entities"},
	{name: "access_keys"},
	{name: "key_secrets"},
	{name: "audit"},
	{name: "users"},
	{name: "sessions"},
	{name: "invitations"},
	{name: "challenges", stays: true},
	{name: "names"},
	{name: "customers"},
	{name: "customer_keys"},
	{name: "balances"},
	{name: "events"},
	{name: "postings"},
	{name: "lots"},
	{name: "transactions"},
	{name: "purchase_lines"},
	{name: "reservations"},
	{name: "progress"},
	{name: "claims"},
	{name: "coupons"},
	{name: "coupon_events"},
	{name: "tallies"},
	{name: "list_members"},
	{name: "campaign_figures"},
	{name: "campaign_customers"},
	{name: "bulk_operations"},
	{name: "bulk_items"},
	{name: "kept_codes"},
	{name: "imports"},
	{name: "uploads"},
	{name: "upload_parts"},
	{name: "answers"},
	{name: "taken_signatures"},
	{name: "failed_requests"},
	{name: "anchored"},
	{name: "anchors"},
	{name: "anchoring"},
	{name: "tail"},
	{name: "numbered"},
	{name: "tail_state", seeded: true},
	{name: "followers"},
	{name: "leaderboard"},
	{name: "rankings"},
	{name: "ranking_counts"},
	{name: "figures"},
	{name: "figure_refunds"},
	{name: "statistics"},
	{name: "webhooks"},
	{name: "webhook_secrets"},
	{name: "deliveries"},
	{name: "attempts"},
	{name: "replays"},
	{name: "notices"},
	{name: "leavers"},
	{name: "jobs"},
	{name: "nodes", stays: true},
	{name: "ledger_proofs", stays: true},
	{name: "merges", stays: true}, // only where tables are spread over machines: see store/citus
	{name: "emails", stays: true},
	{name: restoringTable, stays: true}, // only while a database is being restored
}

// portableTable is a table of the schema, and how archives treat it.
type portableTable struct {
	name string
	// seeded says that the migrations insert rows, which an archive's rows replace.
	seeded bool
	// stays says that its rows describe one database and its servers: they do not belong to the programme and are not
	// copied.
	stays bool
}

// restoringTable marks a database from the first restored row until the restore has proven all of it. It is not part
// of the schema: a restore creates and drops it. A program that is killed in between leaves a database that no server
// serves.
const restoringTable = "restoring"

const createRestoring = "CREATE TABLE IF NOT EXISTS " + restoringTable + " (id INTEGER PRIMARY KEY)"
