package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

var shownSecret = regexp.MustCompile(`key id +(\S+)\n +secret +(\S+)\n`)

// firstKey is the key that a first start showed.
func firstKey(t *testing.T, out string) signing.Credential {
	t.Helper()
	found := shownSecret.FindStringSubmatch(out)
	require.NotNil(t, found, out)
	return signing.Credential{KeyID: found[1], Secret: found[2]}
}

// lines waits until the server has said everything a first start says.
func (s *serving) commands() []string {
	s.t.Helper()
	var found []string
	require.Eventually(s.t, func() bool {
		found = regexp.MustCompile(`(?m)^LOYALTY_KEY_ID=.* sign POST .*$`).FindAllString(s.said(), -1)
		return len(found) == 2
	}, patience, time.Millisecond, s.said())
	return found
}

// TestStartUnderAManager: a log in JSON is collected and kept by others, standard output with it. No
// start puts a key's secret or a link into it; what to run is told instead, in lines of the log.
func TestStartUnderAManager(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, []string{"LOYALTY_LOG=json"})
	for _, run := range []string{"loyalty keys create", "loyalty users create --role owner NAME"} {
		require.Eventually(t, func() bool { return strings.Contains(s.log(), run) }, patience, time.Millisecond)
	}

	require.Equal(t, 0, s.stop(interrupt), s.log())
	require.Empty(t, s.said(), "everything is in the log")
	for line := range strings.Lines(s.log()) {
		require.True(t, json.Valid([]byte(line)), line)
	}

	require.NotRegexp(t, `secret|#enter/`, s.log())
	require.NotContains(t, command(t, dir, nil, "keys", "list").out, "first key")

	s = serve(t, dir, nil)
	require.Len(t, s.commands(), 2)
	require.Equal(t, 0, s.stop(interrupt), s.log())
	require.Contains(t, command(t, dir, nil, "keys", "list").out, "first key", "who starts it at a terminal gets one")
}

func TestFirstStart(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	s := serve(t, dir, nil)
	var answer string
	for _, line := range s.commands() {
		shell := exec.Command("sh", "-c", line)
		shell.Dir, shell.Env = elsewhere, clean()
		var said bytes.Buffer
		shell.Stderr = &said
		out, err := shell.Output()
		require.NoError(t, err, "%s\n%s\n%s", line, out, said.Bytes())
		answer = string(out)
	}

	require.True(t, strings.HasPrefix(answer, "HTTP/1.1 200 OK\n"), answer)
	require.Contains(t, answer, "X-Request-Id: ")
	require.Contains(t, answer, "\n    \"score\": 99,\n", "a purchase earns points, in pretty JSON")
	key := firstKey(t, s.said())

	info, err := os.Stat(filepath.Join(dir, "data"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(filepath.Join(dir, "data", "master.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.Equal(t, 0, s.stop(interrupt), s.log())
	require.NotContains(t, s.log(), key.Secret)
	require.Contains(t, s.log(), "msg=stopped")

	second := serve(t, dir, nil)
	require.Equal(t, http.StatusOK, second.status(key, "GET", "/customers/member-1", ""), "the key is still good")
	require.Equal(t, 0, second.stop(terminate), second.log())
	require.NotContains(t, second.said()+second.log(), "secret", "a second start shows no secret")
	list := command(t, dir, nil, "keys", "list")
	require.Equal(t, 0, list.code)
	require.Contains(t, list.out, key.KeyID)
	require.NotContains(t, list.out, "never", "the last use was recorded when the server stopped")
	require.NotContains(t, list.out, key.Secret)

	verified := command(t, dir, nil, "ledger", "verify")
	require.Equal(t, 0, verified.code, verified.out)
	require.Len(t, regexp.MustCompile(`(?m)^I\d +held `).FindAllString(verified.out, -1), 8, verified.out)
}

func TestWrongSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	good := strings.Repeat("ab", 32)

	for _, c := range []struct {
		names string
		env   []string
		args  []string
	}{
		{"LOYALTY_LISTEN", []string{"LOYALTY_LISTEN=8080"}, nil},
		{"LOYALTY_LISTEN", []string{"LOYALTY_LISTEN=127.0.0.1:http"}, nil},
		{"LOYALTY_LISTEN", nil, []string{"--listen", "127.0.0.1:70000"}},
		{"LOYALTY_LISTEN", []string{"LOYALTY_LISTEN=192.0.2.1:8080"}, nil}, // not an address of this machine
		{"LOYALTY_DATABASE_URL", []string{"LOYALTY_DATABASE_URL=mysql://root:hidden@db/x"}, nil},
		{"LOYALTY_DATABASE_URL", []string{"LOYALTY_DATABASE_URL=loyalty.db"}, nil},
		{"LOYALTY_DATABASE_URL", []string{"LOYALTY_DATABASE_URL=sqlite:" + filepath.Join(dir, "missing", "x.db")}, nil},
		{"LOYALTY_DATABASE_URL", []string{"LOYALTY_DATABASE_URL=postgres://u:hidden@127.0.0.1:1/x?connect_timeout=2", "LOYALTY_MASTER_KEY=" + good}, nil},
		{"LOYALTY_DATABASE_URL", []string{"LOYALTY_DATABASE_URL=postgres://u:hidden@127.0.0.1:port/x", "LOYALTY_MASTER_KEY=" + good}, nil},
		{"LOYALTY_DATA", []string{"LOYALTY_DATA=" + filepath.Join(file, "data")}, nil},
		{"LOYALTY_DATA", []string{"LOYALTY_DATA=" + file}, nil},
		{"LOYALTY_REGION", []string{"LOYALTY_REGION=a/b"}, nil},
		{"LOYALTY_MASTER_KEY", []string{"LOYALTY_MASTER_KEY=hidden"}, nil},
		{"LOYALTY_MASTER_KEY", nil, []string{"--master-key", good + "00"}},
		{"LOYALTY_MASTER_KEY", []string{"LOYALTY_MASTER_KEY=" + good, "LOYALTY_MASTER_KEY_FILE=" + file}, nil},
		{"LOYALTY_MASTER_KEY", []string{"LOYALTY_MASTER_KEY_FILE=" + file}, nil},
		{"LOYALTY_MASTER_KEY_FILE", []string{"LOYALTY_MASTER_KEY_FILE=" + filepath.Join(dir, "missing")}, nil},
		{"LOYALTY_MASTER_KEY", []string{"LOYALTY_DATABASE_URL=postgres://127.0.0.1:1/x"}, nil}, // PostgreSQL needs one
		{"LOYALTY_REDIS_URL", []string{"LOYALTY_REDIS_URL=http://:hidden@127.0.0.1"}, nil},
		{"LOYALTY_LOG", []string{"LOYALTY_LOG=xml"}, nil},
		{"LOYALTY_POOL_BATCHES", []string{"LOYALTY_POOL_BATCHES=-1"}, nil},
		{"LOYALTY_POOL_READS", []string{"LOYALTY_POOL_READS=many"}, nil},
		{"LOYALTY_REPLICA_URL", []string{"LOYALTY_REPLICA_URL=postgres://u:hidden@127.0.0.1:1/x"}, nil}, // a file has none
		{"LOYALTY_REPLICA_URL", []string{"LOYALTY_DATABASE_URL=postgres://127.0.0.1:1/x", "LOYALTY_REPLICA_URL=mysql://u:hidden@db/x"}, nil},
		{"LOYALTY_REPLICA_LAG", []string{"LOYALTY_REPLICA_LAG=1ms"}, nil},
		{"LOYALTY_REPLICA_LAG", []string{"LOYALTY_REPLICA_LAG=5"}, nil},
		{"LOYALTY_LOG", []string{"LOYALTY_LOG=json,loud"}, nil},
		{"LOYALTY_SIGNING_DEBUG", []string{"LOYALTY_SIGNING_DEBUG=true", "LOYALTY_LISTEN=0.0.0.0:0"}, nil},
		{"LOYALTY_SIGNING_DEBUG", []string{"LOYALTY_SIGNING_DEBUG=perhaps"}, nil},
		{"LOYALTY_SIGNING_DEBUG", []string{"LOYALTY_SIGNING_DEBUG=true", "LOYALTY_TRUSTED_PROXIES=127.0.0.1"}, nil},
		{"LOYALTY_BODY_MEMORY", []string{"LOYALTY_BODY_MEMORY=1"}, nil},
		{"LOYALTY_TRUSTED_PROXIES", []string{"LOYALTY_TRUSTED_PROXIES=10.0.0.0/8,proxy"}, nil},
		{"unknown flag: --port", nil, []string{"--port", "1"}},
		{"unknown command", nil, []string{"run"}},
	} {
		t.Run(fmt.Sprint(c.names, c.env, c.args), func(t *testing.T) {
			work := t.TempDir()
			env := append([]string{"LOYALTY_LISTEN=127.0.0.1:0"}, c.env...)
			r := command(t, work, env, c.args...)
			require.Equal(t, 2, r.code, r.errors)
			line, rest, _ := strings.Cut(r.errors, "\n")
			for rest != "" && strings.Contains(line, "level=INFO") { // the log may have begun
				line, rest, _ = strings.Cut(rest, "\n")
			}
			require.Empty(t, rest, "one line")
			require.True(t, strings.HasPrefix(line, "loyalty: "+c.names), line)
			require.NotContains(t, line, "hidden", "an address or key is not repeated")
			require.Empty(t, r.out)
		})
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	dir := t.TempDir()
	r := command(t, dir, nil, "--listen", l.Addr().String())
	require.Equal(t, 2, r.code)
	require.Regexp(t, `^loyalty: LOYALTY_LISTEN: listen tcp 127\.0\.0\.1:\d+: bind: address already in use\n$`, r.errors)
	require.NoDirExists(t, filepath.Join(dir, "data"), "nothing was touched")
}

// A new master key beside an old database, or another one, would make every
// secret unreadable: the start says so instead.
func TestMasterKeyOfAnotherDatabase(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, command(t, dir, nil, "keys", "create").code)
	other := command(t, dir, []string{"LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}, "--listen", "127.0.0.1:0")
	require.Equal(t, 2, other.code)
	require.Contains(t, other.errors, "LOYALTY_MASTER_KEY is not the key")

	require.NoError(t, os.Remove(filepath.Join(dir, "data", "master.key")))
	r := command(t, dir, nil, "--listen", "127.0.0.1:0")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.errors, "loyalty: LOYALTY_MASTER_KEY: data/master.key is missing")
	require.NoFileExists(t, filepath.Join(dir, "data", "master.key"))
}

func TestKeysBesideTheServer(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	made := command(t, dir, nil, "keys", "create", "--json", "--label", "till", "--apis", "customers", "--read-only", "--rate-limit", "5000")
	require.Equal(t, 0, made.code, made.errors)
	var key struct {
		KeyID  string `json:"key_id"`
		Secret string `json:"secret"`
		Region string `json:"region"`
	}

	require.NoError(t, json.Unmarshal([]byte(made.out), &key))
	require.Equal(t, "local", key.Region)
	old := signing.Credential{KeyID: key.KeyID, Secret: key.Secret}
	becomes := func(c signing.Credential, status int) {
		t.Helper()
		require.Eventually(t, func() bool { return s.status(c, "GET", "/customers", "") == status }, patience, 20*time.Millisecond)
	}

	becomes(old, http.StatusOK)
	require.Equal(t, http.StatusForbidden, s.status(old, "GET", "/admin/keys", ""))

	rotated := command(t, dir, nil, "keys", "rotate", key.KeyID, "--json", "--overlap", "1h")
	require.Equal(t, 0, rotated.code, rotated.errors)
	require.NoError(t, json.Unmarshal([]byte(rotated.out), &key))
	becomes(signing.Credential{KeyID: key.KeyID, Secret: key.Secret}, http.StatusOK)
	require.Equal(t, http.StatusOK, s.status(old, "GET", "/customers", ""), "the old secret is good during the overlap")

	require.Equal(t, 0, command(t, dir, nil, "keys", "revoke", key.KeyID).code)
	becomes(old, http.StatusUnauthorized)
	list := command(t, dir, nil, "keys", "list").out
	require.Regexp(t, key.KeyID+` +revoked .* till +customers +read +all +5000 `, list)
	require.Equal(t, 0, s.stop(terminate))

	for args, words := range map[string]string{
		"keys rotate " + key.KeyID:                     "loyalty: The access key has been revoked\n",
		"keys revoke LKNOBODY":                         "loyalty: Access key not found: LKNOBODY\n",
		"keys create --apis refunds":                   "loyalty: apis[0]: Property apis[0] must be one of: " + strings.Join(openapi.Names(), ", ") + "\n",
		"keys create --addresses localhost":            "loyalty: addresses[0]: Property addresses[0] is not in the format IP, CIDR\n",
		"keys create --rate-limit -1":                  "loyalty: rate_limit: Property rate_limit is too small (minimum: 0)\n",
		"keys create --expires-at 2001-01-01":          "loyalty: expires_at: Property expires_at is invalid: past\n",
		"keys rotate " + key.KeyID + " --overlap 999h": "loyalty: overlap_seconds: Property overlap_seconds is too large (maximum: 2592000)\n",
	} {
		r := command(t, dir, nil, strings.Fields(args)...)
		require.Equal(t, 1, r.code, args)
		require.Equal(t, words, r.errors, args)
	}

	require.Equal(t, 2, command(t, dir, nil, "keys", "create", "--expires-at", "soon").code)
	missing := command(t, t.TempDir(), nil, "keys", "list")
	require.Equal(t, 2, missing.code)
	require.Contains(t, missing.errors, "LOYALTY_DATA: ")
}

// A request under way is answered after the signal; no new one is let in.
func TestDrain(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	key := firstKey(t, s.commandsSaid())
	body := `{"customer":"ada","action":"opt_in","data":{"email":"ada@example.com"}}`
	r := s.signed(key, "POST", "/events", body)
	host := strings.TrimPrefix(s.address, "http://")
	conn, err := net.Dial("tcp", host)
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /events HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n", host, len(body))
	require.NoError(t, r.Header.Write(conn))
	fmt.Fprintf(conn, "\r\n")
	answers := bufio.NewReader(conn)
	line, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line, "the server is waiting for the body")
	_, err = answers.ReadString('\n')
	require.NoError(t, err)

	require.NoError(t, s.cmd.Process.Signal(terminate))
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", host)
		if err == nil {
			c.Close()
		}
		return err != nil
	}, patience, time.Millisecond, "the listener closes")

	fmt.Fprint(conn, body)
	answer, err := http.ReadResponse(answers, r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 0, s.wait(), s.log())

	again := serve(t, dir, nil)
	require.Equal(t, http.StatusOK, again.status(key, "GET", "/customers/ada", ""), "what was answered is kept")
	require.Equal(t, 0, again.stop(terminate))
}

func (s *serving) commandsSaid() string {
	s.commands()
	return s.said()
}

func TestPostgres(t *testing.T) {
	url := storetest.EmptyPostgres(t)
	dir := t.TempDir()
	env := []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}
	refused := command(t, dir, env, "--no-migrate", "--listen", "127.0.0.1:0")
	require.Equal(t, 2, refused.code)
	require.Contains(t, refused.errors, "loyalty migrate up")
	status := command(t, dir, env, "migrate", "status")
	require.Equal(t, 0, status.code, status.errors)
	require.Contains(t, status.out, "pending")

	s := serve(t, dir, env)
	require.Eventually(t, func() bool { return strings.Contains(s.said(), "loyalty keys create") }, patience, time.Millisecond)
	require.NotContains(t, s.said(), "secret")
	made := command(t, dir, env, "keys", "create")
	require.Equal(t, 0, made.code, made.errors)
	key := firstKey(t, strings.ReplaceAll(made.out, "\nsecret", "\n secret"))
	require.Eventually(t, func() bool { return s.status(key, "GET", "/customers", "") == http.StatusOK }, patience, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, s.status(key, "POST", "/events", `{"customer":"ada","action":"opt_in","data":{"email":"a@example.com"}}`))
	require.Equal(t, 0, command(t, dir, env, "ledger", "verify").code)
	require.Equal(t, 0, s.stop(terminate), s.log())
	require.NoDirExists(t, filepath.Join(dir, "data"))

	status = command(t, dir, env, "migrate", "status")
	require.NotContains(t, status.out, "pending")
	require.Equal(t, 0, command(t, dir, env, "migrate", "up").code)
}

func TestLedgerVerifyTellsWhatIsBroken(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	key := firstKey(t, s.commandsSaid())
	require.Equal(t, http.StatusOK, s.status(key, "POST", "/events", `{"customer":"ada","action":"opt_in","data":{"email":"a@example.com"}}`))
	require.Equal(t, http.StatusOK, s.status(key, "POST", "/events", `{"customer":"ada","action":"point_add","data":{"points":5}}`))
	db, err := sql.Open("sqlite", filepath.Join(dir, "data", "loyalty.db")+"?_pragma=busy_timeout(5000)") // the jobs write too
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`UPDATE balances SET score = 6`)
	require.NoError(t, err)
	r := command(t, dir, nil, "ledger", "verify")
	require.Equal(t, 1, r.code)
	require.Regexp(t, `(?m)^I1 +broken .*\n    customer [0-9a-f-]{36} \(ada\): figures and postings differ; score is 6, should be 5$`, r.out)
	require.Equal(t, "loyalty: 2 invariants of the ledger are broken\n", r.errors)

	_, err = db.Exec(`UPDATE balances SET score = 5; DROP TABLE answers`)
	require.NoError(t, err)
	r = command(t, dir, nil, "ledger", "verify")
	require.Equal(t, 3, r.code, "what cannot be checked is no success")
	require.Contains(t, r.out, "I6  could not check")
	require.Equal(t, 0, s.stop(terminate))

	require.Equal(t, 3, command(t, t.TempDir(), nil, "ledger", "verify").code)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600))
	require.Equal(t, 3, command(t, dir, []string{"LOYALTY_DATABASE_URL=sqlite:text.db"}, "ledger", "verify").code)
}

// TestMisspeltSettingIsTold: a misspelt setting is reported; otherwise its default would go unnoticed.
func TestMisspeltSettingIsTold(t *testing.T) {
	s := serve(t, t.TempDir(), []string{"LOYALTY_LISTENING=127.0.0.1:1", "LOYALTY_BACKUP_KEEP=9"})
	becomesReady(t, s, &caller{})
	require.Contains(t, s.log(), "variable=LOYALTY_LISTENING")
	require.Equal(t, 1, strings.Count(s.log(), "is not a setting and was ignored"), s.log())
	require.Equal(t, 0, s.stop(terminate), s.log())
}
