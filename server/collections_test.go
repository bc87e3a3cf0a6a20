package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// tool finds a program that `make tools` installs. Where it is not there the test is
// left out loudly, or fails with LOYALTY_REQUIRE_TOOLS=1.
func tool(t *testing.T, name string) string {
	t.Helper()
	if path, err := filepath.Abs(filepath.Join("..", ".bin", name)); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}

	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
		require.NoError(t, err, "%s is needed: make tools", name)
	}

	t.Skipf("SKIPPED: there is no %s; make tools installs it", name)
	return ""
}

// newmanReport is what newman says of a run.
type newmanReport struct {
	Run struct {
		Stats struct {
			Requests struct{ Total, Failed int }
		}
		Failures []struct {
			Error  struct{ Message string }
			Source struct{ Name string }
		}
		Executions []struct {
			Item struct {
				Name    string
				Request struct {
					Method string
					URL    struct{ Path []string }
				}
			}
			Response struct{ Code int }
		}
	}
}

// TestCollections runs every request of the twelve collections, like a user who imported them and set four variables,
// against a server that has what they name. All are signed by the collection's own script; none may fail, and every GET
// must find what it asks for.
//
// spec: service.published
func TestCollections(t *testing.T) {
	t.Parallel()
	newman := tool(t, "newman")
	w := newWitness(open(t, patient), 1)
	w.inhabit()
	apis := openapi.Names()
	slices.SortStableFunc(apis, func(a, b string) int { return oneIf(a == "events") - oneIf(b == "events") }) // the last of its examples opts out
	reports := w.newman(newman, apis)

	for _, api := range apis {
		report := reports[api]
		assert.Zero(t, report.Run.Stats.Requests.Failed, api)
		assert.NotZero(t, report.Run.Stats.Requests.Total, api)
		for _, f := range report.Run.Failures {
			assert.Fail(t, "a request failed", "%s: %s: %s", api, f.Source.Name, f.Error.Message)
		}
		for _, e := range report.Run.Executions {
			made := slices.ContainsFunc(e.Item.Request.URL.Path, madeUp.MatchString)
			if e.Item.Request.Method == http.MethodGet && !made {
				assert.Equal(t, http.StatusOK, e.Response.Code, "%s: %s", api, e.Item.Name)
			}
		}
	}
}

// madeUp is an id that the platform gives out: the collections' own ones do not exist.
var madeUp = regexp.MustCompile(`^(0197b3a2-.*|LK[A-Z0-9]{14})$`)

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// newman runs the collections one after the other, and gives what it says of each.
func (w *witness) newman(program string, apis []string) map[string]newmanReport {
	w.t.Helper()
	folder := w.t.TempDir()
	program, err := filepath.EvalSymlinks(program) // newman/bin/newman.js
	require.NoError(w.t, err)
	variables, err := json.Marshal(map[string]string{"base_url": w.url, "key_id": w.key.KeyID, "secret": w.key.Secret, "region": region})
	require.NoError(w.t, err)
	args := []string{"testdata/collections.cjs", filepath.Dir(filepath.Dir(program)), string(variables)}
	for _, api := range apis {
		text, err := openapi.Collection(api)
		require.NoError(w.t, err)
		file := filepath.Join(folder, api+".json")
		require.NoError(w.t, os.WriteFile(file, text, 0o600))
		args = append(args, file, filepath.Join(folder, api+".report.json"))
	}

	output, err := exec.CommandContext(w.t.Context(), tool(w.t, "node"), args...).CombinedOutput() //nolint:gosec // of make tools
	require.NoError(w.t, err, "%s", output)
	reports := map[string]newmanReport{}
	for _, api := range apis {
		text, err := os.ReadFile(filepath.Join(folder, api+".report.json")) //nolint:gosec // written just now
		require.NoError(w.t, err)
		var report newmanReport
		require.NoError(w.t, json.Unmarshal(text, &report))
		reports[api] = report
	}

	return reports
}

// TestCollectionsInBruno: the script of a collection signs in Bruno as it does in Postman, a body as well as a query, and
// the octets that are sent are those that were signed.
func TestCollectionsInBruno(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	text, err := openapi.Collection("events")
	require.NoError(t, err)
	var collection struct {
		Event []struct{ Script struct{ Exec []string } }
	}
	require.NoError(t, json.Unmarshal(text, &collection))
	variables := map[string]string{"base_url": "http://" + h.request(http.MethodGet, "/", "").Host, "key_id": h.key.KeyID, "secret": h.key.Secret, "region": region, "who": "ada"}
	for _, c := range []struct{ method, target, body, once string }{
		{http.MethodGet, "/customers?search=a%20b&limit=1", "", ""},
		{http.MethodPost, "/events", "{\n  \"customer\": \"{{who}}\", \"action\": \"visit\",\n \"data\": {\"url\": \"https://shop.test/árak\"}\n}", ""},
		{http.MethodPost, "/events", `{"customer":"{{who}}","action":"point_add","data":{"points":1}}`, "{{who}}-1"},
	} {
		sent := map[string]any{"method": c.method, "url": "{{base_url}}" + c.target, "headers": map[string]string{}}
		if c.body != "" {
			headers := map[string]string{"Content-Type": "application/json"}
			if c.once != "" {
				headers["idempotency-key"] = c.once
			}
			sent["headers"], sent["body"] = headers, c.body
		}

		output, err := exec.CommandContext(t.Context(), tool(t, "node"), "testdata/bruno.cjs", strings.Join(collection.Event[0].Script.Exec, "\n"), marshal(t, sent), marshal(t, variables)).CombinedOutput() //nolint:gosec // of this folder
		require.NoError(t, err, "%s", output)
		var out struct {
			Headers map[string]string
			Body    string
		}

		require.NoError(t, json.Unmarshal(output, &out), "%s", output)
		require.NotContains(t, out.Body, "{{", "variables are filled in before a body is signed")
		r := h.request(c.method, c.target, out.Body)
		for name, value := range out.Headers {
			r.Header.Set(name, strings.ReplaceAll(value, "{{who}}", "ada"))
		}

		require.Equal(t, c.once != "", strings.Contains(out.Headers["Authorization"], "idempotency-key"), "signed where it is sent")
		a := h.send(r)
		require.Equal(t, http.StatusOK, a.status, "%s %s: %s", c.method, c.target, a.body)
	}
}
