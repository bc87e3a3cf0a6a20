package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/oasdiff/yaml"
)

// mapping is how to read another system's files, stored in a file beside them: the body of POST /admin/imports as JSON
// or YAML, and the encoding.
type mapping struct {
	Label     string                       `json:"label"`
	Dates     string                       `json:"dates"`
	Decimal   string                       `json:"decimal"`
	Encoding  string                       `json:"encoding"`
	SameEmail bool                         `json:"allow_same_email"`
	Columns   map[string]map[string]string `json:"columns"`
}

// ReadMapping adds a mapping file to the options. Options that are set already win.
func (o *Options) ReadMapping(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return fmt.Errorf("%s: neither YAML nor JSON: %w", path, err)
	}

	var m mapping
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&m); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	for _, text := range []struct {
		set  *string
		file string
	}{{&o.Dates, m.Dates}, {&o.Decimal, m.Decimal}, {&o.Encoding, m.Encoding}} {
		if *text.set == "" {
			*text.set = text.file
		}
	}

	o.SameEmail, o.Columns = o.SameEmail || m.SameEmail, m.Columns
	return nil
}
