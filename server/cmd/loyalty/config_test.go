package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const someConfiguration = `
settings: {currency: HUF, time_zone: Europe/Budapest}
modules:
  incentivized_purchase: {config: {rate: 1.50, currency_rates: {HUF: 0.005}}}
  custom_entities: {enabled: true}
entities:
  custom-entities/attribute:
    vintage: {on: rewards/reward, name: vintage, type: date, tags: [api]}
  stores/store:
    "yes": {name: "on"}
    "2026": {name: "007"}
  rewards/reward:
    mug:
      title: {en: "Mug: the <good> one", hu: "Bögre 🙂"}
      type: physical
      points: 100
      cf_vintage: 2026-01-01
  coupons/pool:
    spring: {name: Spring, source: uploaded, coupon: {type: amount, value: 3.50, name: {en: Spring}}}
`

// TestConfigCommands: a configuration is brought about once, exported, and makes
// another database the same, as YAML and as JSON.
func TestConfigCommands(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}

	on := func(data string, args ...string) result {
		return inside(t, append(append([]string{"config"}, args...), "--data", filepath.Join(folder, data))...)
	}
	some := file("some.yaml", someConfiguration)
	r := on("first", "plan", some)
	require.Equal(t, 1, r.code, "there is no database: %s", r.errors)
	r = on("first", "apply", some)
	require.Equal(t, 0, r.code, r.errors)
	require.Contains(t, r.out, "create rewards/reward mug\n")
	require.Contains(t, r.out, `    currency: "EUR" -> "HUF"`+"\n", "%s", r.out)
	r = on("first", "apply", some)
	require.Equal(t, "differences: 0\n", r.out, r.errors)
	require.Equal(t, 0, on("first", "plan", some).code)

	for _, format := range []string{"yaml", "json"} {
		exported := on("first", "export", "--format", format)
		require.Equal(t, 0, exported.code, exported.errors)
		require.Equal(t, exported.out, on("first", "export", "--format", format).out, "the order is always the same")
		whole, other := file("whole."+format, exported.out), "second-"+format
		require.Equal(t, 0, on("first", "plan", whole, "--prune").code, "it is what it is")
		r = on(other, "apply", whole)
		require.Equal(t, 0, r.code, r.errors)
		require.Equal(t, exported.out, on(other, "export", "--format", format).out)

		r = on(other, "plan", file("less.yaml", "entities: {stores/store: {\"yes\": {name: Open}}}"), "--prune")
		require.Equal(t, 2, r.code, r.errors)
		require.Equal(t, "update stores/store yes\n    name: \"on\" -> \"Open\"\narchive stores/store 2026\n    name: \"007\" -> nothing\n", strings.Replace(r.out, "differences: 2\n", "", 1))
		require.Equal(t, exported.out, on(other, "export", "--format", format).out, "a plan changes nothing")
	}
}

func TestConfigFaults(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	good := filepath.Join(folder, "good.json")
	require.NoError(t, os.WriteFile(good, []byte(`{}`), 0o600))
	require.Equal(t, 0, inside(t, "config", "apply", good, "--data", data).code)
	for _, c := range []struct{ text, words string }{
		{"settings: {currency: HUF", "yaml"},
		{"- a\n- b", "configuration: "},
		{`{"settings":`, "yaml"},
		{"", "configuration: "},
		{`{"settings": {}, "entities": {"stores/store": {"a": {"name": "A"}, "a": {"name": "B"}}}}`, `"a" appears twice`},
		{"nonsense: 1", "configuration.nonsense: "},
		{"stores: 1\nstores: 2", "already"},
		{"modules: {teleport: {enabled: true}}", "configuration.modules.teleport: "},
		{"entities: {rewards/reward: {mug: {type: physical, points: x}, cup: {type: physical, points: 1}}}", `configuration.entities["rewards/reward"].cup.title: `},
		{"entities: {rewards/reward: {mug: {type: physical, points: x}, cup: {type: physical, points: 1}}}", `configuration.entities["rewards/reward"].mug.title: `},
	} {
		file := filepath.Join(folder, "bad")
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		for _, command := range []string{"plan", "apply"} {
			r := inside(t, "config", command, file, "--data", data)
			require.Equal(t, 1, r.code, "%s: %s", c.text, r.errors)
			require.Contains(t, r.errors, c.words, c.text)
			require.Equal(t, 1, strings.Count(r.errors, "\n"), r.errors)
			require.Empty(t, r.out)
		}
	}

	require.Equal(t, 1, inside(t, "config", "plan", filepath.Join(folder, "missing"), "--data", data).code)
	require.Equal(t, 2, inside(t, "config", "export", "--format", "xml", "--data", data).code)
	require.Equal(t, 2, inside(t, "config", "export", "--data", filepath.Join(folder, "nowhere")).code)
}
