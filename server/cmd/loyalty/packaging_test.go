package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/systemd"
)

// known says that the program has all settings that a text names.
func known(t *testing.T, text string) {
	t.Helper()
	names := regexp.MustCompile(`\bLOYALTY_[A-Z_]+`).FindAllString(text, -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		require.Contains(t, variables(newRoot()), name)
	}
}

// runs says that the program has a command, with its flags.
func runs(t *testing.T, args []string) {
	t.Helper()
	c, rest, err := newRoot().Find(args)
	require.NoError(t, err, "%v", args)
	require.NoError(t, c.ParseFlags(rest), "%v", args)
	require.Empty(t, c.Flags().Args(), "%v", args)
}

// pinned is an image with the version that it is of.
const pinned = `^[a-z./]+:v?\d+(\.\d+)*(@sha256:[0-9a-f]{64})?$`

// TestDockerfile: the image is the program alone, run by an unprivileged user, with existing commands and settings.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "Dockerfile"))
	require.NoError(t, err)
	known(t, string(text))
	_, last, two := strings.Cut(string(text), "\nFROM scratch\n")
	require.True(t, two, "the last stage is empty")
	require.Equal(t, 1, strings.Count(string(text), " AS build"))
	require.NotContains(t, last, "\nRUN ", "there is no shell")
	require.Regexp(t, `(?m)^USER [1-9]\d+:[1-9]\d+$`, last)
	line := func(name string) (args []string) {
		m := regexp.MustCompile(`(?m)^` + name + `(?: --\S+)* ?(?:CMD )?(\[.*\])$`).FindStringSubmatch(last)
		require.NotNil(t, m, name)
		require.NoError(t, json.Unmarshal([]byte(m[1]), &args))
		return args
	}

	require.Equal(t, []string{"loyalty"}, line("ENTRYPOINT"))
	runs(t, line("CMD"))
	check := line("HEALTHCHECK")
	require.Equal(t, []string{"loyalty", "healthcheck"}, check)
	for _, from := range regexp.MustCompile(`(?m)^FROM (?:--\S+ )?(\S+)`).FindAllStringSubmatch(string(text), -1) {
		if from[1] != "scratch" {
			require.Regexp(t, pinned, from[1], "an image is named by its version")
		}
	}

	runs(t, check[1:])
	module, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	require.Contains(t, string(text), "golang:"+version+" ")

	// the version that a build is told is the one that the program tells
	for _, name := range []string{"VERSION", "REVISION"} {
		require.Regexp(t, `(?m)^ARG .*\b`+name+`\b`, string(text))
		require.Regexp(t, `-X 'main\.built(Version|Revision)=\$`+name+`'`, string(text))
	}

	builtVersion, builtRevision = "v1.2.3", "0123456789abcdef"
	defer func() { builtVersion, builtRevision = "", "" }()
	require.Regexp(t, `^loyalty v1\.2\.3 0123456789ab go`, inside(t, "version").out)
	require.Equal(t, []string{"v1.2.3", "0123456789ab"}, []string{buildOf(build()).Version, buildOf(build()).Revision})
}

// TestCompose: every service of ours has commands and settings that there are, and every
// port is on this machine alone.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "compose.yaml"))
	require.NoError(t, err)
	known(t, string(text))
	var file struct {
		Services map[string]struct {
			Image       string                       `json:"image"`
			Command     []string                     `json:"command"`
			Ports       []string                     `json:"ports"`
			Profiles    []string                     `json:"profiles"`
			Environment map[string]string            `json:"environment"`
			ReadOnly    bool                         `json:"read_only"`
			User        string                       `json:"user"`
			Restart     string                       `json:"restart"`
			CapDrop     []string                     `json:"cap_drop"`
			SecurityOpt []string                     `json:"security_opt"`
			Networks    map[string]map[string]string `json:"networks"`
		} `json:"services"`
		Configs map[string]map[string]string `json:"configs"`
	}

	_, err = yaml.Unmarshal(text, &file, yaml.DecodeOpts{})
	require.NoError(t, err)
	profiles := []string{}
	for name, s := range file.Services {
		profiles = append(profiles, s.Profiles...)
		if s.Image == "loyalty" {
			require.True(t, s.ReadOnly, name)
			require.Equal(t, []string{"ALL"}, s.CapDrop, name)
			require.Equal(t, []string{"no-new-privileges:true"}, s.SecurityOpt, name)
			if s.User != "" { // what only writes a file into a new volume
				require.Equal(t, []string{"print", "no"}, []string{s.Command[0], s.Restart}, "%s: nothing that serves is root", name)
			}
			for variable := range s.Environment {
				require.Contains(t, variables(newRoot()), variable, name)
			}
			runs(t, append(slices.Clone(s.Command), []string{"serve"}[min(1, len(s.Command)):]...))
		}

		if s.Image != "loyalty" {
			require.Regexp(t, pinned, s.Image, "%s: an image is named by its version", name)
		}

		for _, p := range s.Ports {
			require.True(t, strings.HasPrefix(p, "127.0.0.1:"), "%s: %s", name, p)
		}
	}

	require.Contains(t, string(text), "names: [loyalty, loyalty-postgres]", "both servers are watched")
	slices.Sort(profiles)
	require.Equal(t, []string{"demo", "observe", "postgres"}, slices.Compact(profiles))
	require.Empty(t, file.Services["loyalty"].Profiles, "docker compose up starts it")

	// people reach the console over TLS alone, through the one address that is believed
	ours, console := file.Services["loyalty"], file.Services["console"]
	require.Empty(t, console.Profiles)
	require.Equal(t, ours.Environment["LOYALTY_TRUSTED_PROXIES"], console.Networks["default"]["ipv4_address"])
	require.Equal(t, "https://localhost:8443", ours.Environment["LOYALTY_CONSOLE_URL"])
	require.Equal(t, []string{"127.0.0.1:8443:8443"}, console.Ports)
	require.Contains(t, file.Configs["console"]["content"], "https://localhost:8443 {\n  tls internal\n  reverse_proxy loyalty:8082\n}")
	require.Equal(t, "0.0.0.0:8082", ours.Environment["LOYALTY_CONSOLE"])
	require.Equal(t, []string{"127.0.0.1:8080:8080"}, ours.Ports, "nobody else reaches the console's port")
	s, f := &settings{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	s.flags(f)
	require.NoError(t, s.read(f, func(name string) (string, bool) {
		value, given := ours.Environment[name]
		if name == "LOYALTY_LISTEN" {
			value, given = "0.0.0.0:8080", true // the image's
		}
		return value, given
	}))

	require.True(t, hasConsole(s))
}

// TestUnit: the unit has commands and settings that there are, and systemd has nothing against it.
func TestUnit(t *testing.T) {
	r := inside(t, "print", "systemd")
	require.Equal(t, 0, r.code, r.errors)
	require.Equal(t, strings.TrimSpace(string(systemd.Unit)), strings.TrimSpace(r.out))
	known(t, strings.ReplaceAll(r.out, "LOYALTY_NAME", ""))
	start := regexp.MustCompile(`(?m)^ExecStart=\S+ (.*)$`).FindStringSubmatch(r.out)
	runs(t, strings.Fields(start[1]))
	for _, line := range []string{"Type=notify", "WatchdogSec=", "StateDirectory=loyalty", "LoadCredential=master.key:", "NoNewPrivileges=yes", "StartLimitIntervalSec=0"} {
		require.Contains(t, r.out, "\n"+line)
	}

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("systemd is not here")
	}

	unit := filepath.Join(t.TempDir(), "loyalty.service")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(unit, bytes.ReplaceAll(systemd.Unit, []byte("/usr/bin/loyalty"), []byte(self)), 0o600))
	out, err := exec.Command(analyze, "verify", unit).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, strings.TrimSpace(string(out)))

	// the calls that the program makes and that sandboxes tend to refuse: a refused one ends the program, or fails
	allowed := allowedCalls(t, analyze, r.out)
	for _, call := range []string{"setpriority", "sync_file_range", "statfs", "flock", "fcntl", "execve", "wait4", "prlimit64"} {
		require.True(t, allowed[call], "the unit refuses %s", call)
	}

	require.False(t, allowed["mount"], "the filter filters")
	require.Contains(t, r.out, "\nSystemCallErrorNumber=EPERM\n", "a call that is refused is an error, not the end of the program")
}

// allowedCalls are the system calls that a unit's filters leave.
func allowedCalls(t *testing.T, analyze, unit string) map[string]bool {
	t.Helper()
	allowed := map[string]bool{}
	var set func(name string, allow bool)
	set = func(name string, allow bool) {
		if !strings.HasPrefix(name, "@") {
			allowed[name] = allow
			return
		}
		out, err := exec.Command(analyze, "syscall-filter", name).Output()
		require.NoError(t, err, name)
		for _, line := range strings.Split(string(out), "\n")[1:] {
			if inner := strings.TrimSpace(line); inner != "" && !strings.HasPrefix(inner, "#") {
				set(inner, allow)
			}
		}
	}

	for _, m := range regexp.MustCompile(`(?m)^SystemCallFilter=(~?)(.*)$`).FindAllStringSubmatch(unit, -1) {
		for _, name := range strings.Fields(m[2]) {
			set(name, m[1] == "")
		}
	}

	return allowed
}

// TestManual: every command and every setting is in the manual, and no line of it is a
// request that was not meant.
func TestManual(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loyalty.1")
	r := inside(t, "print", "man", "--output", file)
	require.Equal(t, 0, r.code, r.errors)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	plain := strings.ReplaceAll(string(text), `\-`, "-")
	for _, want := range []string{".SS loyalty serve", ".SS loyalty keys create", ".SS loyalty import apply", ".SS loyalty doctor", "--database-url", "LOYALTY_REDIS_URL"} {
		require.Contains(t, plain, want)
	}

	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, ".") {
			require.Regexp(t, `^\.(TH|SH|SS|TP|B|br|PP|nf|fi)\b`, line)
		}
	}
}

// TestCompletion: the shell learns the values of arguments.
func TestCompletion(t *testing.T) {
	for command, want := range map[string]string{"jobs run": "expiry", "openapi": "events", "export": "lots", "keys create --apis": "display", "export lots --format": "ndjson", "config export --format": "yaml", "users create --role": "editor", "import apply --dates": "dmy", "import check --encoding": "windows-1250", "sign": "GET"} {
		r := inside(t, append(append([]string{"__complete"}, strings.Fields(command)...), "")...)
		require.Equal(t, 0, r.code, r.errors)
		require.Contains(t, strings.Split(r.out, "\n"), want, command)
	}
	r := inside(t, "__complete", "keys", "create", "--apis", "events,display,c")
	require.Equal(t, 0, r.code, r.errors)
	require.Contains(t, strings.Split(r.out, "\n"), "events,display,customers", "the last of a list")
	require.NotContains(t, r.out, "events,display,events", "what is named already")
	require.NotContains(t, r.out, "display,levels", "what begins otherwise")
}
