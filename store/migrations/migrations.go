// Package migrations holds the schema of both databases: two folders of SQL
// files with equal names, which end in the same tables and columns.
package migrations

import "embed"

// Files are the migrations, in the folders postgres and sqlite.
//
//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS
