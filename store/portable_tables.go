package store

// portableTables are all tables of the schema, in the order in which an archive has them and
// restore fills them: a table that refers to another one comes after it. TestEveryTableIsPortable
// fails for a table that is missing here, so that whoever adds one has to decide whether it belongs
// to the programme: then dump, restore and backups include it.
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
	{name: "counted", gone: true},
	{name: "merges", stays: true}, // only where tables are spread over machines: see store/citus
	{name: "emails", stays: true},
	{name: restoringTable, stays: true}, // only while a database is restored
}

// portableTable is one of them.
type portableTable struct {
	name string
	// seeded says that the migrations put rows into it, which an archive's rows replace.
	seeded bool
	// gone says that the newest schema no longer has it. Archives of older ones may.
	gone bool
	// stays says that its rows are about one database and its servers: they do not belong to the
	// programme and are not copied.
	stays bool
}

// restoringTable marks a database from the first row that a restore brings until the restore has
// proven all of it. It is no part of the schema: a restore makes the table and drops it, so that a
// program that is killed in between leaves a database that no server serves.
const restoringTable = "restoring"

const createRestoring = "CREATE TABLE IF NOT EXISTS " + restoringTable + " (id INTEGER PRIMARY KEY)"
