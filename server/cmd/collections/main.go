// Command collections writes the request collection of every API into a folder:
//
//	collections openapi/collections
//	collections --check openapi/collections    fails when one is stale
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
		fmt.Fprintln(os.Stderr, "collections:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	check := len(args) > 0 && args[0] == "--check"
	if check {
		args = args[1:]
	}
	if len(args) != 1 {
		return errors.New("needs the folder of the collections")
	}
	for _, api := range openapi.Names() {
		text, err := openapi.MakeCollection(api)
		if err != nil {
			return err
		}
		path := filepath.Join(args[0], api+".json")
		if !check {
			err = os.WriteFile(path, text, 0o644) //nolint:gosec // it is published
		} else if there, _ := os.ReadFile(path); !bytes.Equal(there, text) { //nolint:gosec // as above
			err = fmt.Errorf("%s is stale: make collections", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
