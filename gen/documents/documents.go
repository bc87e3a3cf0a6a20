// Package documents has the contract as the running server reads it: the documents of
// package openapi as JSON, without the prose and the examples, which judge no request.
// make generate writes the files. They are read four times as fast, and the server reads
// them whenever it starts.
package documents

import "embed"

// FS holds the files: common.json, and one for each API, such as display.json.
//
//go:embed *.json
var FS embed.FS
