package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/signing"
)

// inside runs a command in this process.
func inside(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, &out, &errs)
	return result{code, out.String(), errs.String()}
}

// What sign prints is a request that the verifier accepts.
func TestSignPrintsHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body")
	require.NoError(t, os.WriteFile(file, []byte("a=b+c"), 0o600))
	credential := []string{"--key-id", "LKTEST", "--secret", "s3cret", "--region", "eu"}
	verifier, err := signing.NewVerifier(signing.Default("eu"))
	require.NoError(t, err)
	for _, c := range []struct {
		args        []string
		target      string
		body        string
		contentType string
	}{
		{[]string{"GET", "http://api.test:81/customers?limit.eq=5&limit=10"}, "/customers?limit.eq=5&limit=10", "", ""},
		{[]string{"post", "https://api.test/events", "--data", `{"a":1}`, "--header", "Idempotency-Key: k 1"}, "/events", `{"a":1}`, "application/json"},
		{[]string{"POST", "http://api.test/events", "--form", "--data", "@" + file}, "/events", "a=b+c", "application/x-www-form-urlencoded"},
	} {
		r := inside(t, append(append([]string{"sign"}, c.args...), credential...)...)
		require.Equal(t, 0, r.code, r.errors)
		header := http.Header{}
		for line := range strings.Lines(r.out) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			require.True(t, ok, line)
			header.Add(name, value)
		}

		require.Equal(t, c.contentType, header.Get("Content-Type"))
		verified, err := verifier.Verify(signing.Incoming{
			Method: strings.ToUpper(c.args[0]), Target: c.target, Header: header, Host: header.Get("Host"), ContentLength: int64(len(c.body)), Body: []byte(c.body),
		}, func(string) ([]string, bool) { return []string{"s3cret"}, true })
		require.NoError(t, err)
		require.Equal(t, "LKTEST", verified.KeyID)
	}
}

func TestSignFaults(t *testing.T) {
	key := []string{"--key-id", "LKTEST", "--secret", "s3cret"}
	for _, c := range []struct {
		args  []string
		words string
	}{
		{[]string{"GET", "http://api.test/"}, "LOYALTY_KEY_ID: is missing"},
		{[]string{"GET", "http://api.test/", "--key-id", "x"}, "LOYALTY_SECRET: is missing"},
		{append([]string{"GET", "/customers"}, key...), "URL: "},
		{append([]string{"GET", "ftp://api.test/"}, key...), "URL: "},
		{append([]string{"POST", "http://api.test/", "--data", "@missing.json"}, key...), "--data: "},
		{append([]string{"POST", "http://api.test/", "--header", "X"}, key...), "--header: "},
		{append([]string{"POST", "http://api.test/", "--header", "date: now"}, key...), "--header: Date is set by signing"},
		{[]string{"GET"}, "accepts 2 arg(s)"},
	} {
		r := inside(t, append([]string{"sign"}, c.args...)...)
		require.Equal(t, 2, r.code, c.args)
		require.True(t, strings.HasPrefix(r.errors, "loyalty: "+c.words), r.errors)
		require.Equal(t, 1, strings.Count(r.errors, "\n"))
	}

	refused := inside(t, append([]string{"sign", "GET", "http://127.0.0.1:1/", "--send"}, key...)...)
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.errors, "connection refused")
}

func TestSignReadsTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("s3cret\n"), 0o600))
	t.Setenv("LOYALTY_KEY_ID", "LKTEST")
	t.Setenv("LOYALTY_SECRET_FILE", file)
	t.Setenv("LOYALTY_REGION", "eu")
	r := inside(t, "sign", "GET", "http://api.test/")
	require.Equal(t, 0, r.code, r.errors)
	require.Regexp(t, `Credential=LKTEST/\d{8}/eu/api/service_request`, r.out)
	require.NotContains(t, r.out, "s3cret")
}

func TestOpenAPICommand(t *testing.T) {
	for _, api := range openapi.Names() {
		yaml := inside(t, "openapi", api)
		require.Equal(t, 0, yaml.code)
		require.Contains(t, yaml.out, "openapi: 3.0.3")
		require.NotContains(t, yaml.out, "common.yaml", "complete in one file")
		json := inside(t, "openapi", api, "--json")
		require.True(t, strings.HasPrefix(json.out, "{\n"), json.out)
	}
	r := inside(t, "openapi", "refunds")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.errors, strings.Join(openapi.Names(), ", "))
}

func TestVersionNeedsNoSettings(t *testing.T) {
	t.Setenv("LOYALTY_LISTEN", "nonsense")
	r := inside(t, "version")
	require.Equal(t, 0, r.code)
	require.Regexp(t, `^loyalty \S+.* go\S+ \w+/\w+\n$`, r.out)
}

func TestSettingsOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte(" sqlite:x.db\n"), 0o600))
	env := map[string]string{
		"LOYALTY_LISTEN": "127.0.0.1:1", "LOYALTY_REGION": "eu", "LOYALTY_DATABASE_URL_FILE": file, "LOYALTY_PUBLIC_HOSTS": "a.test,b.test",
		"LOYALTY_REPLAY_GUARD": "true", "LOYALTY_DATA": "", "LOYALTY_HELP": "true",
	}

	var s settings
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.flags(f)
	require.NoError(t, f.Parse([]string{"--listen", "127.0.0.1:2"}))
	require.NoError(t, s.read(f, func(name string) (string, bool) { v, ok := env[name]; return v, ok }))
	require.Equal(t, "127.0.0.1:2", s.listen, "the flag wins")
	require.Equal(t, "eu", s.region)
	require.Equal(t, "sqlite:x.db", s.databaseURL)
	require.Equal(t, []string{"a.test", "b.test"}, s.publicHosts)
	require.True(t, s.replayGuard)
	require.Equal(t, "./data", s.data, "an empty variable is not set")
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"": "''", "plain/path-1.x": "plain/path-1.x", "two words": "'two words'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "{\"a\":1}": "'{\"a\":1}'", "~": "'~'",
	} {
		require.Equal(t, want, quote(text))
	}
}

// TestMisspeltCommands: a command that there is not is no success, and what is missing is named
// with the way the command is called.
func TestMisspeltCommands(t *testing.T) {
	for args, words := range map[string]string{
		"backup crate":  `unknown command "crate" for "loyalty backup"; the commands are: create, list, verify`,
		"migrate p":     `unknown command "p" for "loyalty migrate"; the commands are:`,
		"print grafan":  `unknown command "grafan" for "loyalty print"; the commands are:`,
		"keys rotat":    `unknown command "rotat" for "loyalty keys"; the commands are:`,
		"dump":          `accepts 1 arg(s), received 0; usage: loyalty dump FILE`,
		"export":        `accepts 1 arg(s), received 0; usage: loyalty export TABLE`,
		"backup verify": `accepts 1 arg(s), received 0; usage: loyalty backup verify FILE`,
	} {
		r := inside(t, strings.Fields(args)...)
		require.Equal(t, codeUsage, r.code, args)
		require.Contains(t, r.errors, "loyalty: "+words, args)
		require.Equal(t, 1, strings.Count(r.errors, "\n"), r.errors)
	}

	help := inside(t, "backup")
	require.Equal(t, 0, help.code, help.errors)
	require.Contains(t, help.out, "Available Commands:")
}
