package store

import (
	"context"

	"github.com/pressly/goose/v3"
)

// Condition is what an operator should know of the database.
type Condition struct {
	Product  string // SQLite or PostgreSQL
	Version  string
	Encoding string // of texts; UTF8 is right
	Months   int    // months of the journal created beyond the current one; -1: the current one is missing
	Whole    bool   // the journal is not divided by months
	Bytes    int64  // the size of the database
}

// Condition reads the condition of the database.
func (s upkeep) Condition(ctx context.Context) (c Condition, err error) {
	db := s.read.WithContext(ctx)
	if s.dialect() != goose.DialectPostgres {
		c.Product, c.Whole = "SQLite", true
		var pages, size int64
		for query, into := range map[string]any{
			"SELECT sqlite_version()": &c.Version, "PRAGMA encoding": &c.Encoding, "PRAGMA page_count": &pages, "PRAGMA page_size": &size,
		} {
			if err := db.Raw(query).Row().Scan(into); err != nil {
				return c, s.classify(err)
			}
		}

		if c.Encoding == "UTF-8" {
			c.Encoding = "UTF8"
		}

		c.Bytes = pages * size
		return c, nil
	}

	c.Product, c.Months = "PostgreSQL", -1
	err = db.Raw("SELECT current_setting('server_version'), current_setting('server_encoding'), pg_database_size(current_database())").Row().Scan(&c.Version, &c.Encoding, &c.Bytes)
	for now := s.now().UTC(); err == nil && c.Months < monthsAhead; c.Months++ {
		var there bool
		err = db.Raw("SELECT to_regclass(?) IS NOT NULL", monthOf(now, c.Months+1).table).Row().Scan(&there)
		if !there {
			break
		}
	}

	return c, s.classify(err)
}

// OldestPostgres is the oldest PostgreSQL that is tested, and MonthsAhead how many months of the journal are created
// in advance.
const (
	OldestPostgres = 15
	MonthsAhead    = monthsAhead
)
