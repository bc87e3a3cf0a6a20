// Package pgserver prepares throw-away PostgreSQL servers from the installed programs. Tests and the bench run them,
// each with its own way to end them.
package pgserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// ErrMissing reports that no PostgreSQL is installed where Programs looks.
var ErrMissing = errors.New("no PostgreSQL: neither in PATH nor in /usr/lib/postgresql/*/bin")

// Programs returns the folder of the server's programs, of the newest installed version.
func Programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}

	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	newest, folder := -1.0, ""
	for _, path := range found {
		version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
		if err == nil && version > newest {
			newest, folder = version, filepath.Dir(path)
		}
	}

	if folder == "" {
		return "", ErrMissing
	}

	return folder, nil
}

// Initialise creates an empty server in the folder data below folder, whose user postgres needs no password, and adds
// settings to its own. options are further options of initdb. It returns the loopback port of the server.
func Initialise(programs, folder, settings string, options ...string) (port int, err error) {
	data := filepath.Join(folder, "data")
	cmd := exec.Command(filepath.Join(programs, "initdb"), append(options,
		"-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale")...)
	cmd.Dir = folder
	Unprivileged(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("initdb: %w: %s", err, out)
	}
	if port, err = FreePort(); err != nil { // after initdb, which takes a while
		return 0, err
	}
	return port, Configure(folder,
		"listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"+fmt.Sprintf("port = %d\n", port)+settings)
}

// Configure adds settings to those of the server in folder; the last one of a name holds.
func Configure(folder, settings string) error {
	f, err := os.OpenFile(filepath.Join(folder, "data", "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close())
}

// URL returns the address of a database of the server at the port.
func URL(port int, database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", port, database)
}

// FreePort returns a loopback port that is currently free. It is outside the range that systems assign to
// connections, as for port 0: one of the tests' many connections could take such a port before the server does.
func FreePort() (port int, err error) {
	for range 100 {
		var l net.Listener
		port = 15_000 + rand.IntN(17_000) //nolint:gosec // no secret
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}
