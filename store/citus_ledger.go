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

// apart rewrites a query of the proof for machines that do not hold the rows of all its tables together. A table of
// another group is read first, whole, and sent to each machine; OFFSET 0 makes Citus do so.
func apart(query string) string {
	// a merge's giver is not found by a key of the receiver
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

// groupOf names the group of tables whose rows are together on a machine; empty: the table is on the coordinator, or
// is no table.
func groupOf(table string) string {
	key, _ := citus.Key(table)
	if key != "" && key == customerKeyOn(table) {
		return "customers"
	}
	return key
}

// nextOnMachines limits a query to the next customers by naming the last of them: Citus would read a query with a
// LIMIT first, and then join it with the rows of all customers.
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

// findersAgree compares the finder tables with the customers. No finding quotes an e-mail.
func findersAgree(db *gorm.DB, found func(LedgerFinding)) error {
	if db.Name() != "citus" {
		return nil
	}

	for _, q := range []ledgerQuery{
		{fault: "a customer who is not found by their e-mail", sql: `SELECT c.id, NULL, NULL FROM customers c
LEFT JOIN (SELECT email, customer_id FROM emails OFFSET 0) e ON e.email = c.email_key AND e.customer_id = c.id WHERE c.email_key IS NOT NULL AND e.email IS NULL`},
		{fault: "an e-mail that finds a customer who does not have it", sql: `SELECT e.customer_id, NULL, NULL FROM emails e
LEFT JOIN (SELECT id, email_key FROM customers WHERE email_key IS NOT NULL OFFSET 0) c ON c.id = e.customer_id AND c.email_key = e.email WHERE c.id IS NULL`},
		{fault: "a merged customer who is not found with the survivor", sql: `SELECT c.id, NULL, NULL FROM customers c
LEFT JOIN merges m ON m.source = c.id AND m.target = c.merged_into WHERE c.merged_into IS NOT NULL AND m.source IS NULL`},
		{fault: "a merge that no customer has", sql: `SELECT m.source, NULL, NULL FROM merges m
LEFT JOIN (SELECT id, merged_into FROM customers WHERE merged_into IS NOT NULL OFFSET 0) c ON c.id = m.source AND c.merged_into = m.target WHERE c.id IS NULL`},
	} {
		if err := q.run(db, found); err != nil {
			return err
		}
	}

	return nil
}
