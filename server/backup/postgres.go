package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/store"
)

// tools are PostgreSQL's own programs, of the server's version: a dump of another version may be incomplete, or
// unreadable for the server.
type tools struct{ folder string }

// toolFolders are the folders of PostgreSQL's packages.
var toolFolders = []string{"/usr/lib/postgresql/%d/bin", "/usr/pgsql-%d/bin", "/usr/local/opt/postgresql@%d/bin",
	"/opt/homebrew/opt/postgresql@%d/bin", "/usr/local/bin"}

var toolVersion = regexp.MustCompile(`\) (\d+)`)

// findTools looks in PATH, then in the packages' folders. Without a server any version is accepted for reading.
func findTools(ctx context.Context, db *store.Store) (tools, error) {
	wanted := 0
	if db != nil && !db.Embedded() {
		var err error
		if wanted, err = db.PostgresVersion(ctx); err != nil {
			return tools{}, err
		}
	}

	var folders []string
	if path, err := exec.LookPath("pg_dump"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}

	for _, f := range toolFolders {
		if strings.Contains(f, "%d") {
			f = fmt.Sprintf(f, wanted)
		}
		folders = append(folders, f)
	}

	var others []string
	for _, f := range folders {
		out, err := exec.CommandContext(ctx, filepath.Join(f, "pg_dump"), "--version").Output()
		if err != nil {
			continue
		}
		found := toolVersion.FindSubmatch(out)
		if found == nil {
			continue
		}
		if major, err := strconv.Atoi(string(found[1])); err == nil && (wanted == 0 || major == wanted) {
			return tools{f}, nil
		}
		others = append(others, string(found[1]))
	}

	if len(others) > 0 {
		return tools{}, fmt.Errorf("pg_dump of the server's version %d is needed, but only version %s is installed",
			wanted, strings.Join(others, ", "))
	}

	return tools{},
		fmt.Errorf("pg_dump and pg_restore of the server's version %d are needed: install postgresql-client-%d",
			wanted, wanted)
}

// run runs one of the programs. A database is named by its URL; the password is passed in the environment, where other
// users of the machine do not see it.
func (t tools) run(ctx context.Context, program, database string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(t.folder, program))
	// A restore has no acknowledged writes yet, so other writers need not wait for its flushes.
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c synchronous_commit=off")
	if database != "" {
		name, password, err := libpqURL(database)
		if err != nil {
			return err
		}
		cmd.Args = append(cmd.Args, "--no-password", "--dbname="+name)
		if password != "" {
			cmd.Env = append(cmd.Env, "PGPASSWORD="+password)
		}
	}

	cmd.Args = append(cmd.Args, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(said.String()))
	}

	return nil
}

// ownParameters are the parameters of a database URL that pgx knows and libpq does not.
var ownParameters = []string{
	"pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_lifetime_jitter",
	"pool_max_conn_idle_time",
	"pool_health_check_period", "default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity",
}

// libpqURL is the URL for PostgreSQL's programs, with the password separate.
func libpqURL(database string) (name, password string, err error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", "", errors.New("LOYALTY_DATABASE_URL is not a URL") // it may hold a password
	}

	if u.User != nil {
		password, _ = u.User.Password()
		u.User = url.User(u.User.Username())
	}

	q := u.Query()
	if p := q.Get("password"); p != "" {
		password = p
		q.Del("password")
	}

	for _, p := range ownParameters {
		q.Del(p)
	}

	u.RawQuery = q.Encode()
	return u.String(), password, nil
}

// otherDatabase is the URL of another database on the same server.
func otherDatabase(database, name string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", errors.New("LOYALTY_DATABASE_URL is not a URL")
	}
	u.Path = "/" + name
	q := u.Query()
	for _, p := range []string{"dbname", "database"} {
		q.Del(p)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
