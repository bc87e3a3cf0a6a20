package storetest

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/loyalty-platform/loyalty/store/schema"
)

// laterMigrations are what made-up later releases do to the schema, by file. Their numbers are far behind those that
// the program has.
var laterMigrations = map[string]string{
	"90101_notes.sql": `-- +goose Up
-- cost: at once; reads and writes wait
ALTER TABLE tallies ADD COLUMN note text NOT NULL DEFAULT '';
-- cost: rewrites tallies
UPDATE tallies SET note = key;
-- +goose Down
ALTER TABLE tallies DROP COLUMN note;
`,
	"90102_audit_by_kind.sql": `-- +goose Up
-- cost: indexes audit; writes wait
CREATE INDEX audit_kind ON audit (actor_kind, at, id);
-- +goose Down
DROP INDEX audit_kind;
`,
	"90103_visits.sql": `-- +goose Up
-- cost: at once; reads and writes wait
ALTER TABLE balances ADD COLUMN visits bigint NOT NULL DEFAULT 0;
ALTER TABLE customers ADD COLUMN visited bigint;
-- cost: rewrites customers
UPDATE customers SET visited = (SELECT max(e.recorded_at) FROM events e WHERE e.customer_id = customers.id);
-- +goose Down
ALTER TABLE customers DROP COLUMN visited;
ALTER TABLE balances DROP COLUMN visits;
`,
}

// LaterProgram makes this process a later release for the rest of a test: its schema has made-up migrations behind
// those of the program.
func LaterProgram(t testing.TB) {
	was := schema.Files
	t.Cleanup(func() { schema.Files = was })
	BecomeLater()
}

// BecomeLater makes this process a later release until it ends.
func BecomeLater() {
	files := fstest.MapFS{}
	for _, dialect := range []string{"sqlite", "postgres"} {
		known, err := fs.Glob(schema.Files, dialect+"/*.sql")
		if err != nil {
			panic(err)
		}

		for _, name := range known {
			text, err := fs.ReadFile(schema.Files, name)
			if err != nil {
				panic(err)
			}
			files[name] = &fstest.MapFile{Data: text}
		}

		for name, text := range laterMigrations {
			if dialect == "sqlite" {
				text = strings.ReplaceAll(text, "bigint", "INTEGER")
			}
			files[dialect+"/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	schema.Files = files
}
