package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// The guards that make the journal and the audit trail append-only. A role that may change the schema can remove
// them, so the proof checks that they exist.
var (
	postgresGuards = []guard{
		{"events", "events_stay"}, {"events", "events_whole"}, {"postings", "postings_stay"}, {"postings", "postings_whole"},
		{"audit", "audit_stay"}, {"audit", "audit_whole"},
	}
	sqliteGuards = []guard{
		{"events", "events_update"}, {"events", "events_delete"}, {"postings", "postings_update"}, {"postings", "postings_delete"},
		{"audit", "audit_update"}, {"audit", "audit_delete"},
	}
)

// guard is a trigger of a table.
type guard struct{ table, trigger string }

// guardsStand finds guards that are missing, switched off, or do not refuse.
func guardsStand(db *gorm.DB, found func(LedgerFinding)) error {
	if db.Name() == "sqlite" {
		return sqliteGuardsStand(db, found)
	}
	return postgresGuardsStand(db, found)
}

func missing(table, trigger, why string) LedgerFinding {
	return LedgerFinding{Row: table, Detail: fmt.Sprintf("the guard %s %s", trigger, why)}
}

func sqliteGuardsStand(db *gorm.DB, found func(LedgerFinding)) error {
	var rows []struct{ TblName, Name, SQL string }
	if err := db.Raw(`SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'`).Scan(&rows).Error; err != nil {
		return err
	}

	refuses := map[guard]bool{}
	for _, r := range rows {
		refuses[guard{r.TblName, r.Name}] = strings.Contains(r.SQL, "SELECT RAISE(ABORT,") && !strings.Contains(strings.ToUpper(r.SQL), " WHEN ")
	}

	for _, g := range sqliteGuards {
		if refuse, ok := refuses[g]; !ok {
			found(missing(g.table, g.trigger, "is missing"))
		} else if !refuse {
			found(missing(g.table, g.trigger, "does not refuse"))
		}
	}

	return nil
}

// postgresGuardsStand also checks every partition of the journal, the functions that the triggers call, and whether
// sessions of this role fire them at all.
func postgresGuardsStand(db *gorm.DB, found func(LedgerFinding)) error {
	tables := map[string][]string{}
	for _, g := range postgresGuards {
		tables[g.table] = append(tables[g.table], g.trigger)
	}

	var partitions []string
	if err := db.Raw(`SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'events'::regclass`).Scan(&partitions).Error; err != nil {
		return err
	}

	for _, p := range partitions {
		tables[p] = tables["events"]
	}

	var rows []struct {
		Name, Guard, Enabled, Source string
		Conditional                  bool
	}

	err := db.Raw(`SELECT c.relname AS name, t.tgname AS guard, t.tgenabled AS enabled, p.prosrc AS source, t.tgqual IS NOT NULL AS conditional
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)`).Scan(&rows).Error
	if err != nil {
		return err
	}

	faults := map[guard]string{}
	for _, r := range rows {
		fault := ""
		switch {
		case r.Enabled != "O" && r.Enabled != "A":
			fault = "is switched off"
		case r.Conditional || !strings.Contains(r.Source, "RAISE EXCEPTION"):
			fault = "does not refuse"
		}
		faults[guard{r.Name, r.Guard}] = fault
	}

	for _, table := range slices.Sorted(maps.Keys(tables)) {
		for _, trigger := range tables[table] {
			if fault, ok := faults[guard{table, trigger}]; !ok {
				found(missing(table, trigger, "is missing"))
			} else if fault != "" {
				found(missing(table, trigger, fault))
			}
		}
	}

	return firesTriggers(db, found)
}

// firesTriggers finds sessions with the role of a replica, which fire no ordinary trigger.
func firesTriggers(db *gorm.DB, found func(LedgerFinding)) error {
	var role string
	if err := db.Raw(`SELECT current_setting('session_replication_role')`).Scan(&role).Error; err != nil {
		return err
	}
	if role == "replica" {
		found(LedgerFinding{Row: "session_replication_role", Detail: "sessions play a replica, so that no guard is asked"})
	}
	return nil
}
