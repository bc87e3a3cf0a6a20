// Command documents writes the contract as the running server reads it into a folder:
//
//	documents gen/documents
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loyalty-platform/loyalty/openapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "documents:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("needs the folder to write to")
	}
	for _, name := range openapi.Files() {
		text, err := openapi.Compact(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], name+".json"), text, 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
	}
	return nil
}
