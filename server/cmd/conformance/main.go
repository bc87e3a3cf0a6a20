// Command conformance writes openapi/CONFORMANCE.md: each sentence of the specification that can be observed over HTTP,
// and the tests that check it. Run it in the repository's root:
//
//	conformance            writes the page
//	conformance --check    fails when the page is stale
//
// The sentences are in openapi/specification.tsv. A test names the sentences that it checks in a comment of its own
// (the ids, or a prefix and .* for all ids that begin with it):
//
//	// spec: checkout.duplicate, error.*
//
// and a scenario in its property "spec". A tag without a sentence is an error.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	sentencesFile = "openapi/specification.tsv"
	pageFile      = "openapi/CONFORMANCE.md"
	scenarios     = "server/loyalty/action/testdata"
)

func main() {
	if err := run(".", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(root string, args []string) error {
	check := len(args) == 1 && args[0] == "--check"
	if len(args) > 0 && !check {
		return errors.New("takes --check or nothing")
	}

	text, err := os.ReadFile(filepath.Join(root, sentencesFile)) //nolint:gosec // part of the repository
	if err != nil {
		return err
	}

	all, err := readSentences(string(text))
	if err != nil {
		return err
	}

	tags, err := findTags(root)
	if err != nil {
		return err
	}
	if err := all.assign(tags); err != nil {
		return err
	}

	page, path := all.page(), filepath.Join(root, pageFile)
	if !check {
		return os.WriteFile(path, page, 0o644) //nolint:gosec // it is published
	}
	if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, page) { //nolint:gosec // as above
		return fmt.Errorf("%s is stale: make conformance", pageFile)
	}

	return nil
}
