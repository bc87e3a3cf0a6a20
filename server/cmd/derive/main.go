// Command derive writes the files that are derived from the documents:
//
//	derive documents gen/documents            the contract as the running server reads it
//	derive filters openapi                    the parameters of filters.yaml, into the documents
//	derive collections openapi/collections    the request collection of every API
//
// With --check before the folder it writes nothing and fails if a file is stale.
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
		fmt.Fprintln(os.Stderr, "derive:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	check := len(args) == 3 && args[1] == "--check"
	if len(args) != 2 && !check {
		return errors.New("needs documents, filters or collections, and a folder")
	}

	folder := folder{path: args[len(args)-1], check: check}
	switch args[0] {
	case "documents":
		return folder.each(openapi.Files(), ".json", openapi.Compact)
	case "collections":
		return folder.each(openapi.Names(), ".json", openapi.MakeCollection)
	case "filters":
		return folder.filters()
	}

	return fmt.Errorf("there is nothing called %s to derive", args[0])
}

// folder is where files are written, or compared with their expected content.
type folder struct {
	path  string
	check bool
}

func (f folder) each(names []string, suffix string, derive func(name string) ([]byte, error)) error {
	for _, name := range names {
		text, err := derive(name)
		if err != nil {
			return err
		}
		if err := f.write(name+suffix, text); err != nil {
			return err
		}
	}
	return nil
}

// filters writes the filters into the documents themselves.
func (f folder) filters() error {
	all, err := openapi.LoadFilters(openapi.Reader())
	if err != nil {
		return err
	}

	for api, filters := range all {
		there, err := os.ReadFile(filepath.Join(f.path, api+".yaml"))
		if err != nil {
			return err
		}
		text, err := filters.Expand(there)
		if err != nil {
			return fmt.Errorf("%s: %w", api, err)
		}
		if err := f.write(api+".yaml", text); err != nil {
			return err
		}
	}

	return nil
}

// write leaves a file with the expected content alone.
func (f folder) write(name string, text []byte) error {
	path := filepath.Join(f.path, name)
	there, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(there, text):
		return nil
	case f.check:
		return fmt.Errorf("%s is stale: make generate collections", path)
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // it is published
}
