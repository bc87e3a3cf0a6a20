package store

import (
	"cmp"
	"regexp"
	"strings"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/store/citus"
)

var (
	baseTable    = regexp.MustCompile(`(?s)^(?:WITH .*?\)\s+)?SELECT .*? FROM (\w+) `)
	joinedTables = regexp.MustCompile(`JOIN (\w+) (\w+) ON`)
)

// apart writes a query of the proof for machines that do not have the rows of all its tables
// together: what is joined from another group of tables is read first, whole, and goes to
// each machine. OFFSET 0 is what tells Citus to do so.
func apart(query string) string {
	// who gave in a merge is found by no key of theirs
	query = strings.NewReplacer(transfers+") t", transfers+" OFFSET 0) t").Replace(query)
	query = strings.ReplaceAll(query, "JOIN customers s ON", "JOIN (SELECT id, merged_into FROM customers WHERE merged_into IS NOT NULL OFFSET 0) s ON")
	m := baseTable.FindStringSubmatch(query)
	if m == nil {
		return query
	}
	base := groupOf(m[1])
	return replaceAll(joinedTables, query, func(m []string) string {
		if group := groupOf(m[1]); group == "" || group == base {
			return m[0]
		}
		return "JOIN (SELECT * FROM " + m[1] + " OFFSET 0) " + m[2] + " ON"
	})
}

// groupOf names the group of tables whose rows are together on a machine; empty: the table is on the
// coordinator, or no table.
func groupOf(table string) string {
	key, _ := citus.Key(table)
	if key != "" && key == customerKeyOn(table) {
		return "customers"
	}
	return key
}

// nextOnMachines says which customers come after one by the last of them: what has a LIMIT would be read
// first, and then everything that is joined with it, of everybody.
func nextOnMachines(db *gorm.DB, after UUID, limit int) (where string, args []any, err error) {
	after = cmp.Or(after, firstID)
	var ids []UUID
	err = db.Table("balances").Where("customer_id > ?", after).Order("customer_id").Limit(limit).Pluck("customer_id", &ids).Error
	last := lastID
	if len(ids) == limit {
		last = ids[limit-1]
	}
	return "WHERE customer_id > ? AND customer_id <= ?", []any{after, last}, err
}
