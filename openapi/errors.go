package openapi

import (
	"fmt"
	"io/fs"

	"github.com/oasdiff/yaml"
)

// Error is a refusal of the platform: one row of errors.yaml.
type Error struct {
	Name   string `json:"name"` // of its message; several names may share a code
	Code   int    `json:"code"`
	Status int    `json:"status"` // HTTP status
	When   string `json:"when"`
	Do     string `json:"do"` // what the caller should do
}

// Errors lists every error of the platform. It fails when errors.yaml cannot be read.
func Errors() ([]Error, error) {
	text, err := fs.ReadFile(FS, "errors.yaml")
	if err != nil {
		return nil, err
	}
	var table struct {
		Errors []Error `json:"errors"`
	}
	if _, err := yaml.Unmarshal(text, &table, yaml.DecodeOpts{}); err != nil {
		return nil, fmt.Errorf("openapi: errors.yaml: %w", err)
	}
	return table.Errors, nil
}
