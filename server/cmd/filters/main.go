// Command filters writes the parameters of the filters of filters.yaml into the documents
// of a folder:
//
//	filters openapi
//	filters --check openapi    fails when a document is stale
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loyalty-platform/loyalty/openapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	check := len(args) > 0 && args[0] == "--check"
	if check {
		args = args[1:]
	}
	if len(args) != 1 {
		return errors.New("needs the folder of the documents")
	}
	all, err := openapi.LoadFilters(openapi.Reader())
	if err != nil {
		return err
	}
	for api, filters := range all {
		if err := write(filepath.Join(args[0], api+".yaml"), filters, check); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, filters openapi.Filters, check bool) error {
	there, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
	if err != nil {
		return err
	}
	text, err := filters.Expand(there)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case bytes.Equal(there, text):
		return nil
	case check:
		return fmt.Errorf("%s is stale: make filters", path)
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // it is published
}
