package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/oasdiff/yaml"
)

// mapping is how another system's files are read, kept in a file beside them: what POST
// /admin/imports takes, as JSON or YAML, and the encoding.
type mapping struct {
	Label     string                       `json:"label"`
	Dates     string                       `json:"dates"`
	Decimal   string                       `json:"decimal"`
	Encoding  string                       `json:"encoding"`
	SameEmail bool                         `json:"allow_same_email"`
	Columns   map[string]map[string]string `json:"columns"`
}

// mapped adds to the options what --mapping and --map say. What a flag says goes before the
// file.
func (i *importFlags) mapped() error {
	if i.mapping != "" {
		m, err := readMapping(i.mapping)
		if err != nil {
			return coded{codeUsage, fmt.Errorf("--mapping: %w", err)}
		}
		o := &i.options
		for _, text := range []struct {
			flag *string
			file string
		}{{&o.Dates, m.Dates}, {&o.Decimal, m.Decimal}, {&o.Encoding, m.Encoding}} {
			if *text.flag == "" {
				*text.flag = text.file
			}
		}
		o.SameEmail, o.Columns = o.SameEmail || m.SameEmail, m.Columns
	}
	for _, text := range i.columns {
		if err := i.options.Map(text); err != nil {
			return coded{codeUsage, fmt.Errorf("--%w", err)}
		}
	}
	if err := i.options.CheckColumns(); err != nil {
		return coded{codeUsage, fmt.Errorf("--map: %w", told(err))}
	}
	return nil
}

func readMapping(path string) (m mapping, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return m, fmt.Errorf("%s: neither YAML nor JSON: %w", path, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
