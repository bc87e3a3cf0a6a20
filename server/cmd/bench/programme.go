package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// programmeText is a programme as a business of some size has it: twenty active
// campaigns over events, customers and purchases, two of them limited per
// customer, of which the workloads set some off and leave most alone; six
// challenges, counts and sums; and tiers by points. Each line is the kind of an
// entity and what creates it, in an order in which they can be created.
//
//go:embed programme.json
var programmeText []byte

var programme = readProgramme(programmeText)

// entity is one thing that a programme is made of.
type entity struct {
	kind string // as its path names it, such as tiers/tier
	body json.RawMessage
}

func readProgramme(text []byte) (all []entity) {
	var lines [][2]json.RawMessage
	if err := json.Unmarshal(text, &lines); err != nil {
		panic(fmt.Sprintf("programme.json: %v", err)) // it is part of the program
	}
	for _, line := range lines {
		e := entity{body: line[1]}
		if err := json.Unmarshal(line[0], &e.kind); err != nil {
			panic(fmt.Sprintf("programme.json: %v", err))
		}
		all = append(all, e)
	}
	return all
}

// create makes an entity through the server's own API.
func (a access) create(ctx context.Context, e entity) error {
	return a.post(ctx, "/entities/"+e.kind, e.body)
}

// post sends what must succeed.
func (a access) post(ctx context.Context, path string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if err := a.scheme.Sign(r, body, a.keys[0]); err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000)) // what there is of it
		return fmt.Errorf("POST %s %.100s: %s: %s", path, body, answer.Status, text)
	}
	return nil
}
