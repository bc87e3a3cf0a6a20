package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// sampleLanguage is a language of the portal's samples and how a program of it is made and
// run: of the client, and of all calls, each telling its number and its status.
type sampleLanguage struct {
	fence, file string
	runs        []string // the program that runs the file
	program     func(client string, calls []string) string
}

var sampleLanguages = []sampleLanguage{
	{"js", "all.mjs", []string{"node"}, func(client string, calls []string) string {
		return client + "\n" + each(calls, func(i int, call string) string { return fmt.Sprintf("{ %s\nconsole.log(%d, status); }\n", call, i) })
	}},
	{"python", "all.py", []string{"python3"}, func(client string, calls []string) string {
		return client + "\n" + each(calls, func(i int, call string) string { return fmt.Sprintf("%s\nprint(%d, status)\n", call, i) })
	}},
	{"php", "all.php", []string{"php"}, func(client string, calls []string) string {
		return client + "\n" + each(calls, func(i int, call string) string { return fmt.Sprintf("%s\necho \"%d $status\\n\";\n", call, i) })
	}},
	{"go", "main.go", []string{"go", "run"}, func(client string, calls []string) string {
		return strings.Replace(client, "import (", "import (\n\t\"fmt\"", 1) + "\nfunc main() {\n" + each(calls, func(i int, call string) string {
			return fmt.Sprintf("{ %s\nfmt.Println(%d, status, err, len(answer)) }\n", call, i)
		}) + "}\n"
	}},
	{"sh", "all.sh", []string{"sh"}, func(_ string, calls []string) string {
		return each(calls, func(i int, call string) string {
			return fmt.Sprintf("echo \"%d $( %s | head -n 1 | cut -d' ' -f2)\"\n", i, call)
		})
	}},
}

func each(calls []string, write func(int, string) string) string {
	var b strings.Builder
	for i, call := range calls {
		b.WriteString(write(i, call))
	}
	return b.String()
}

// portalPages reads every page of the portal that is made of the documents, as Markdown.
func portalPages(t *testing.T, address string) map[string]string {
	t.Helper()
	var rows [][3]string
	require.NoError(t, json.Unmarshal([]byte(unsigned(t, address+"/docs/search.json")), &rows))
	pages := map[string]string{}
	for _, row := range rows {
		pages[row[0]] = unsigned(t, address+row[0]+".md")
	}
	require.Greater(t, len(pages), 300)
	return pages
}

func unsigned(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url) //nolint:noctx,gosec // loopback
	require.NoError(t, err)
	defer answer.Body.Close() //nolint:errcheck // it was read to its end
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, url)
	return string(text)
}

var fenced = regexp.MustCompile("(?s)```(\\w+)\n(.*?)\n```")

// TestSamples runs every sample of every page of the portal in its language against the
// program: each is signed as it must be, and is a request that the contract has.
//
// Samples stand alone, so that most find the customer of the example forgotten or not
// there yet: refusals of the programme are as good as its consent.
func TestSamples(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.SQLiteForProgram(t))
	s := g.start(t)
	pages := portalPages(t, s.address)
	clients, calls := map[string]string{}, map[string][]string{}
	for _, found := range fenced.FindAllStringSubmatch(pages["/docs/signing"], -1) {
		clients[found[1]] = found[2]
	}

	for _, path := range slices.Sorted(maps.Keys(pages)) {
		_, samples, _ := strings.Cut(pages[path], "## Samples")
		for _, found := range fenced.FindAllStringSubmatch(samples, -1) {
			calls[found[1]] = append(calls[found[1]], found[2])
		}
	}

	makeEntities(t, newCaller(t, g.key), s.address, calls["js"])
	for _, l := range sampleLanguages {
		t.Run(l.fence, func(t *testing.T) {
			require.Greater(t, len(calls[l.fence]), 130)
			if _, err := exec.LookPath(l.runs[0]); err != nil {
				if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
					require.NoError(t, err, "%s is needed to run its samples", l.runs[0])
				}
				t.Skipf("SKIPPED: there is no %s to run its samples", l.runs[0])
			}

			mine := make([]string, len(calls[l.fence]))
			for i, call := range calls[l.fence] {
				mine[i] = regexp.MustCompile(`-0001\b`).ReplaceAllString(call, fmt.Sprintf("-%s-%d", l.fence, i))
			}

			dir := t.TempDir()
			require.NoError(t, os.Symlink(binary, filepath.Join(dir, "loyalty")))
			program := l.program(clients[l.fence], mine)
			require.NoError(t, os.WriteFile(filepath.Join(dir, l.file), []byte(program), 0o600))
			cmd := exec.CommandContext(t.Context(), l.runs[0], append(l.runs[1:], l.file)...) //nolint:gosec // of the table
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LOYALTY_URL="+s.address, "LOYALTY_KEY_ID="+g.key.KeyID, "LOYALTY_SECRET="+g.key.Secret, "LOYALTY_REGION=local",
				"PATH="+dir+":"+os.Getenv("PATH"))
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			require.NoError(t, err, "%s\n%s", out, said.Bytes())
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.Len(t, lines, len(mine), said.String())
			taken := 0
			for i, line := range lines {
				status, err := strconv.Atoi(strings.Fields(line + " 0")[1])
				require.NoError(t, err, line)
				require.Contains(t, []int{200, 201, 202, 404, 409, 422}, status, "%s\n%s\n%s", line, mine[i], said.Bytes())
				if status < 300 {
					taken++
				}
			}

			require.Greater(t, taken, len(mine)/4, "most samples were refused")
		})
	}
}

// makeEntities makes the entities of the samples, which need one another: as often as it
// takes.
func makeEntities(t *testing.T, c *caller, address string, calls []string) {
	t.Helper()
	entity, made := regexp.MustCompile(`(?s)send\('POST', '(/entities/[^/]+/[^/']+)', (.*), '`), 0
	for range 3 {
		for _, call := range calls {
			if found := entity.FindStringSubmatch(call); found != nil {
				if a := c.post(address, found[1], found[2], ""); a.status == http.StatusCreated {
					made++
				}
			}
		}
	}
	require.Greater(t, made, 10)
}

// TestPortalTries: what is sent by way of a page is answered as what is sent at once, and a
// wrong secret as everywhere.
func TestPortalTries(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.SQLiteForProgram(t))
	s := g.start(t)
	try := func(key signing.Credential, method, target, body string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, s.address+target, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		require.NoError(t, signing.Default("local").Sign(request, []byte(body), key, "content-type"))
		headers := [][2]string{}
		for name, values := range request.Header {
			headers = append(headers, [2]string{name, values[0]})
		}

		text, err := json.Marshal(map[string]any{"method": method, "target": target, "headers": headers, "body": body})
		require.NoError(t, err)
		answer, err := http.Post(s.address+"/docs/try", "application/json", bytes.NewReader(text)) //nolint:noctx,gosec // loopback
		require.NoError(t, err)
		defer answer.Body.Close() //nolint:errcheck // it was read to its end
		require.Equal(t, http.StatusOK, answer.StatusCode)
		var got struct {
			Status int
			Body   string
		}

		require.NoError(t, json.NewDecoder(answer.Body).Decode(&got))
		return got.Status, got.Body
	}

	status, body := try(g.key, http.MethodPost, "/events", `{"customer":"ada","action":"opt_in","data":{"email":"ada@example.com"}}`)
	require.Equal(t, http.StatusOK, status, body)
	status, tried := try(g.key, http.MethodGet, "/customers/ada", "")
	direct := newCaller(t, g.key).get(s.address + "/customers/ada")
	require.Equal(t, direct.status, status)
	require.Equal(t, string(direct.body), tried)
	status, body = try(signing.Credential{KeyID: g.key.KeyID, Secret: "wrong"}, http.MethodGet, "/customers/ada", "")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "101024")
}

// TestPortalIsASetting: elsewhere than on this machine pages are read and nothing is tried,
// and without a portal its paths are as unknown as any.
func TestPortalIsASetting(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		docs      string
		read, try int
	}{{"off", http.StatusUnauthorized, http.StatusUnauthorized}, {"read", http.StatusOK, http.StatusNotFound}, {"try", http.StatusOK, http.StatusBadRequest}} {
		g := newGround(t, storetest.SQLiteForProgram(t))
		g.env = append(g.env, "LOYALTY_DOCS="+row.docs)
		s := g.start(t)
		answer, err := http.Get(s.address + "/docs") //nolint:noctx // loopback
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, row.read, answer.StatusCode, row.docs)
		answer, err = http.Post(s.address+"/docs/try", "application/json", strings.NewReader("{}")) //nolint:noctx // loopback
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, row.try, answer.StatusCode, row.docs)
		require.Equal(t, 0, s.stop(terminate), s.log())
	}

	refused := command(t, t.TempDir(), []string{"LOYALTY_DOCS=maybe"}, "serve")
	require.Equal(t, codeUsage, refused.code)
	require.Contains(t, refused.errors, "LOYALTY_DOCS")
}
