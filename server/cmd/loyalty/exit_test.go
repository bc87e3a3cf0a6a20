package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExitCodesWithoutADatabase: a command whose help gives 2 a meaning of its own never ends with it
// where it could not do its work; every other one ends with 2.
func TestExitCodesWithoutADatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "programme.yaml")
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	gone := []string{"LOYALTY_DATABASE_URL=sqlite:" + filepath.Join(dir, "none", "none.db"), "LOYALTY_MASTER_KEY=0000000000000000000000000000000000000000000000000000000000000000"}
	wrong := []string{"LOYALTY_DATABASE_URL=nonsense://x"}
	for _, c := range []struct {
		args         []string
		code, unread int // without a database, and with a setting that cannot be read
	}{
		{[]string{"migrate", "plan"}, codeFailed, codeFailed},
		{[]string{"config", "plan", file}, codeFailed, codeFailed},
		{[]string{"doctor"}, codeUnchecked, codeUnchecked},
		{[]string{"ledger", "verify"}, codeUnchecked, codeUsage},
		{[]string{"rebuild", "--verify"}, codeUnchecked, codeUsage},
		{[]string{"migrate", "status"}, codeUsage, codeUsage},
		{[]string{"keys", "list"}, codeUsage, codeUsage},
		{[]string{"config", "export"}, codeUsage, codeUsage},
		{[]string{"export", "customers"}, codeUsage, codeUsage},
	} {
		r := command(t, dir, gone, c.args...)
		require.Equal(t, c.code, r.code, "%v without a database: %s%s", c.args, r.out, r.errors)
		r = command(t, dir, wrong, c.args...)
		require.Equal(t, c.unread, r.code, "%v with a wrong setting: %s%s", c.args, r.out, r.errors)
	}

	for args, code := range map[string]int{"migrate plan": codeFailed, "config plan": codeFailed, "doctor": codeUnchecked, "migrate status": codeUsage} {
		r := command(t, dir, gone, append(strings.Fields(args), "--no-such-flag")...)
		require.Equal(t, code, r.code, "%s: %s", args, r.errors)
	}
}
