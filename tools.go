//go:build tools

// Package tools pins the generator that `make generate` runs.
package tools

import _ "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
