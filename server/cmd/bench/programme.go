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

// programmeText is the programme of a medium-sized business: twenty active campaigns over events, customers and
// purchases, two of them with limits per customer, some of which the workloads trigger; six challenges, counts and
// sums; and tiers by points. Each line is the kind of an entity and its fields, in a possible order of creation.
//
//go:embed programme.json
var programmeText []byte

var programme = readProgramme(programmeText)

// entity is one entity of a programme.
type entity struct {
	kind string // in its path, such as tiers/tier
	body json.RawMessage
}

func readProgramme(text []byte) (all []entity) {
	var lines [][2]json.RawMessage
	if err := json.Unmarshal(text, &lines); err != nil {
		panic(fmt.Sprintf("programme.json: %v", err)) // part of the program
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

// post sends a request that must succeed.
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
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000)) // as far as it can be read
		return fmt.Errorf("POST %s %.100s: %s: %s", path, body, answer.Status, text)
	}

	return nil
}
