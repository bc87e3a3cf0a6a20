package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// published fetches a document as any client can, unsigned.
func (h *house) published(path string) []byte {
	h.t.Helper()
	resp, err := http.Get(h.url + path) //nolint:noctx,gosec // loopback
	require.NoError(h.t, err)
	defer resp.Body.Close() //nolint:errcheck // read to the end
	text, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	require.Equal(h.t, http.StatusOK, resp.StatusCode, path)
	return text
}

// toolRun runs a program and gives what it printed as its result: what it says of
// its work (a download, a deprecated package) comes on the other stream.
func toolRun(t *testing.T, folder string, environment []string, program string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...) //nolint:gosec // of make tools
	c.Dir, c.Env = folder, append(os.Environ(), environment...)
	var said bytes.Buffer
	c.Stderr = &said
	output, err := c.Output()
	require.NoError(t, err, "%s %s\n%s\n%s", program, strings.Join(args, " "), output, said.Bytes())
	return string(output)
}

// TestToolRun: what a program says of its work is no part of its result.
func TestToolRun(t *testing.T) {
	require.Equal(t, "result\n", toolRun(t, t.TempDir(), []string{"WHAT=result"}, "sh", "-c", `echo "go: downloading x" >&2; echo "$WHAT"; echo done >&2`))
}

// asClient is what a generated client is told of the server.
func (h *house) asClient() []string {
	return []string{"HOST=" + strings.TrimPrefix(h.url, "http://"), "KEY_ID=" + h.key.KeyID, "SECRET=" + h.key.Secret, "REGION=" + region}
}

// TestGoClients generates a client for every API from the published documents,
// compiles them all, and makes one signed round trip with each.
//
// spec: service.published, version.documents
func TestGoClients(t *testing.T) {
	t.Parallel()
	w := newWitness(open(t, patient), 1)
	w.inhabit()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	folder, place := t.TempDir(), filepath.Join(root, "server", "testdata", "clients", "generated")
	overlay := map[string]string{}
	keep := func(name string, text []byte) string {
		file := filepath.Join(folder, strings.ReplaceAll(name, "/", "_"))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		overlay[filepath.Join(place, name)] = file
		return file
	}

	config := keep("config.yaml", []byte("generate: {client: true, models: true}\noutput-options: {skip-prune: true, name-normalizer: ToCamelCaseWithInitialisms}\ncompatibility: {always-prefix-enum-values: true}\n"))
	generator := filepath.Join(folder, "oapi-codegen")
	toolRun(t, root, nil, "go", "build", "-ldflags=-s -w", "-o", generator, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen")
	for _, api := range openapi.Names() {
		document, name := keep(api+".json", w.published("/openapi/"+api+".json")), strings.ReplaceAll(api, "-", "")
		code := toolRun(t, root, nil, generator, "-config", config, "-package", name, document)
		keep(name+"/client.go", []byte(code))
	}

	source, err := os.ReadFile("testdata/clients/client.go.txt")
	require.NoError(t, err)
	const imports = "github.com/loyalty-platform/loyalty/server/testdata/clients/generated"
	keep("main.go", []byte(strings.ReplaceAll(string(source), "{{root}}", imports)))
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	program := filepath.Join(folder, "client")
	// What is compiled is sent a request each: it need not be fast.
	toolRun(t, root, nil, "go", "build", "-ldflags=-s -w", "-gcflags="+imports+"/...=-N -l", "-overlay", keep("overlay.json", text), "-o", program, imports)
	said := strings.Split(strings.TrimSpace(toolRun(t, root, w.asClient(), program)), "\n")
	require.Len(t, said, len(openapi.Names()), said)
	for _, line := range said {
		require.Contains(t, line, " 200 ", line)
		require.NotContains(t, line, "false", line)
	}
}

// TestTypeScriptClients has openapi-typescript make types of the published
// documents, compiles a client against them under --strict, and runs it: one
// signed round trip with each API.
func TestTypeScriptClients(t *testing.T) {
	t.Parallel()
	generator, compiler := tool(t, "openapi-typescript"), tool(t, "tsc")
	w := newWitness(open(t, patient), 1)
	w.inhabit()
	folder := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	apis := "apis:\n"
	for _, api := range openapi.Names() {
		put(api+".json", string(w.published("/openapi/"+api+".json")))
		apis += "  " + api + "@v1: {root: ./" + api + ".json, x-openapi-ts: {output: ./" + api + ".d.ts}}\n"
	}

	put("redocly.yaml", apis)
	toolRun(t, folder, []string{"REDOCLY_TELEMETRY=off"}, generator, "--redocly", "redocly.yaml")
	source, err := os.ReadFile("testdata/clients/client.ts")
	require.NoError(t, err)
	put("client.ts", string(source))
	put("tsconfig.json", `{"compilerOptions": {"strict": true, "target": "es2022", "module": "commonjs", "types": []}, "files": ["client.ts"]}`)
	toolRun(t, folder, nil, compiler)
	said := strings.Split(strings.TrimSpace(toolRun(t, folder, w.asClient(), tool(t, "node"), "client.js")), "\n")
	require.Len(t, said, len(openapi.Names()), said)
	for i, line := range said {
		require.NotContains(t, line, "false", "%d: %s", i, line)
	}
}
