package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/doctor"
)

// TestDoctorCommand: the findings of a new installation, as text and as JSON, with the exit code of
// the worst.
func TestDoctorCommand(t *testing.T) {
	for _, name := range environment() { // the tests' own
		if strings.HasPrefix(name, "LOYALTY_") {
			t.Setenv(name, "")
		}
	}

	folder := t.TempDir()
	data := "--data=" + folder
	r := inside(t, "doctor", data)
	require.Equal(t, 3, r.code)
	require.Contains(t, r.out, "there is no database yet")
	require.NoFileExists(t, filepath.Join(folder, "master.key"), "it makes nothing")

	require.Equal(t, 0, inside(t, "migrate", "up", data).code)
	examined := func(code int, args ...string) map[string]doctor.Finding {
		t.Helper()
		r := inside(t, append([]string{"doctor", "--json", data}, args...)...)
		var all struct{ Findings []doctor.Finding }
		require.NoError(t, json.Unmarshal([]byte(r.out), &all), r.out)
		require.Equal(t, doctor.Exit(all.Findings), r.code, r.out)
		found := map[string]doctor.Finding{}
		for _, f := range all.Findings {
			found[f.Check] = f
		}
		all.Findings = slices.DeleteFunc(all.Findings, func(f doctor.Finding) bool { return f.Check == "disk" }) // it may be nearly full under the test
		require.Equal(t, code, doctor.Exit(all.Findings), r.out)
		return found
	}

	examined(0)
	t.Setenv("LOYALTY_LISTN", "x")
	require.Contains(t, examined(1)["settings"].Says, "LOYALTY_LISTN")
	require.Equal(t, doctor.Warning, examined(1, "--redis-url", "redis://127.0.0.1:1/0")["redis"].Severity)
	require.NoError(t, os.Chmod(filepath.Join(folder, "master.key"), 0o640))
	require.Equal(t, "chmod 600 "+filepath.Join(folder, "master.key"), examined(1)["secrets"].Do)
	require.Equal(t, doctor.Broken, examined(2, "--trusted-proxies", "0.0.0.0/0")["network"].Severity)
}
