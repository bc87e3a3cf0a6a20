//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/cmd/loyalty/demo"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestDemo fills both databases with the same seed, which decides everything, proves them, and
// is refused there from then on.
func TestDemo(t *testing.T) {
	size := []string{"demo", "--customers", strconv.Itoa(full(t, 30, 1000)), "--events", strconv.Itoa(full(t, 400, 20_000))}
	var drawn []string
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		r := command(t, g.dir, g.env, size...)
		require.Equal(t, 0, r.code, r.errors)
		require.Contains(t, r.out, "The ledger held: all ")
		require.Equal(t, 10, strings.Count(r.errors, " %: "), r.errors)
		t.Log(r.out)
		drawn = append(drawn, figuresOf(r.out))

		// Members are as old as their joining: cohorts are by the month of it.
		r = command(t, g.dir, g.env, "export", "customers", "--format", "ndjson")
		require.Equal(t, 0, r.code, r.errors)
		months := map[string]bool{}
		for _, found := range regexp.MustCompile(`"created_at":"(\d{4}-\d\d)`).FindAllStringSubmatch(r.out, -1) {
			months[found[1]] = true
		}

		require.Greater(t, len(months), 6, months)

		r = command(t, g.dir, g.env, "rebuild", "--verify")
		require.Equal(t, 0, r.code, r.out+r.errors)
		r = command(t, g.dir, g.env, size...)
		require.Equal(t, 2, r.code)
		require.Regexp(t, `^loyalty: LOYALTY_DATABASE_URL: already has \d+ customers and \d+ entities: the demo needs an empty database\n$`, r.errors)
	})

	require.Len(t, drawn, 2)
	require.Equal(t, drawn[0], drawn[1])
	for _, action := range demoActions {
		require.Regexp(t, `(?m)^  `+action+` +\d+$`, drawn[0])
	}
}

// TestDemoIsRefusedBesideAProgramme: entities are a programme too, before the first customer comes.
func TestDemoIsRefusedBesideAProgramme(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "own.yaml")
	require.NoError(t, os.WriteFile(file, []byte("entities: {stores/store: {own: {name: Own}}}\n"), 0o600))
	require.Equal(t, 0, inside(t, "config", "apply", file, "--data", data).code)
	r := inside(t, "demo", "--data", data)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.errors, "already has 0 customers and 1 entities: the demo needs an empty database")
}

// demoActions are submitted whatever the seed brings.
var demoActions = []string{"opt_in", "checkout", "visit", "review_submit", "prize_wheel_spin", "quiz_answer", "profile_answer", "coupon_redeem", "opt_out"}

// figuresOf gives what a demo reports, but for the time that it took.
func figuresOf(out string) string {
	figures, _, _ := strings.Cut(out, "\nNext:")
	return regexp.MustCompile(`, in [\d.]+m?s\n`).ReplaceAllString(figures, "\n")
}

// TestDemoProgramme holds the programme against the schemas that callers are held to.
func TestDemoProgramme(t *testing.T) {
	p, err := demo.Read(time.Now())
	require.NoError(t, err)
	document, err := json.Marshal(p)
	require.NoError(t, err)
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		file := filepath.Join(g.dir, "programme.json")
		require.NoError(t, os.WriteFile(file, document, 0o600))
		r := command(t, g.dir, g.env, "config", "apply", file)
		require.Equal(t, 0, r.code, r.out+r.errors)
	})
}

// TestDemoTexts finds every text for customers, and each in all languages.
func TestDemoTexts(t *testing.T) {
	p, err := demo.Read(time.Now())
	require.NoError(t, err)
	texts := 0
	var look func(where string, v any)
	look = func(where string, v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				look(where, one)
			}

		case map[string]any:
			if _, translated := v["en"]; translated {
				texts++
				require.Len(t, v, len(loyalty.Languages), where)
				for _, language := range loyalty.Languages {
					require.NotEmpty(t, v[language], "%s: %s", where, language)
				}
				return
			}
			for name, one := range v {
				look(where+"."+name, one)
			}
		}
	}

	for kind, all := range p.Entities {
		for id, fields := range all {
			var v map[string]any
			require.NoError(t, json.Unmarshal(fields, &v))
			look(kind+"/"+id, v)
			for _, name := range []string{"title", "description", "question", "cf_badge"} {
				require.NotEqual(t, "string", kindOf(v[name]), "%s/%s: %s is in one language", kind, id, name)
			}
		}
	}

	require.Greater(t, texts, 60)
}

func kindOf(v any) string {
	if _, isText := v.(string); isText {
		return "string"
	}
	return ""
}

// TestDemoFlags refuses what makes no demo, before it touches anything.
func TestDemoFlags(t *testing.T) {
	for args, says := range map[string]string{
		"--customers=9":               "--customers: 9 is not between 10 and 9999",
		"--customers=100 --events=99": "--events: 99 is not between 500 (5 for each customer) and 1048576",
	} {
		dir := t.TempDir()
		r := command(t, dir, nil, append([]string{"demo"}, strings.Fields(args)...)...)
		require.Equal(t, 2, r.code, args)
		require.Equal(t, "loyalty: "+says+"\n", r.errors)
		require.NoDirExists(t, filepath.Join(dir, "data"))
	}
}
