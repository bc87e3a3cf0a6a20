// Package schema holds the schema of both databases: a baseline for each, and the migrations that come after it. Equal
// names in the two folders end in the same tables and columns.
package schema

import (
	"embed"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Baseline is the number of the first migration. Databases and archives with smaller numbers were made before release
// 1.0, and no program opens them.
const Baseline = 100

//go:embed postgres/*.sql sqlite/*.sql
var embedded embed.FS

// Files are the migrations, in the folders postgres and sqlite. Tests add made-up ones to be a later program.
var Files fs.FS = embedded

// Version is the number that a file's name begins with; 0: none.
func Version(name string) int64 {
	number, _, _ := strings.Cut(path.Base(name), "_")
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return v
}
