package main

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScaleOptions(t *testing.T) {
	o, err := scaleFlags(nil)
	require.NoError(t, err)
	require.NoError(t, o.validate(), "what the documentation of the command says")
	require.Equal(t, []int{10_000, 10_000_000, 1_000_000, 2_000_000, 200_000}, []int{o.base, o.events, o.customers, o.sqliteEvents, o.sqliteCustomers})

	for reason, args := range map[string]string{
		"-reps":                   "-reps 0",
		"-seconds":                "-seconds 0",
		"-base must":              "-base 999",
		"-events must be twice":   "-events 10 -customers 6",
		"-sqlite-events must":     "-sqlite-events 10 -sqlite-customers 6",
		"nothing to measure":      "-events 0 -sqlite-events 0",
		"-sqlite-events must be ": "-sqlite-customers 0",
	} {
		o, err := scaleFlags(strings.Fields(args))
		require.NoError(t, err)
		require.ErrorContains(t, o.validate(), reason)
	}
}

func TestParseFree(t *testing.T) {
	const head = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n"
	free, ok := parseFree(head + "/dev/vda        263174212 35651584  60000000      38% /\n")
	require.True(t, ok)
	require.EqualValues(t, 60000000*1024, free)
	for _, out := range []string{"", head, head + "/dev/vda\n", head + "a b c d e f\n"} {
		_, ok := parseFree(out)
		require.False(t, ok, out)
	}
	require.NoError(t, enoughSpace(t.TempDir(), 1, false))
	require.ErrorContains(t, enoughSpace(t.TempDir(), 1e18, true), "-dir")
}

func TestWithQuery(t *testing.T) {
	for target, want := range map[string]string{
		"/customers":                           "/customers?limit=10",
		"/customers?status=active&limit=100":   "/customers?limit=10&status=active",
		"https://shop.test/v1/customers?a=%26": "/v1/customers?a=%26&limit=10",
	} {
		got, err := withLimit(target, "10")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	require.Equal(t, "a", middleOf([]string{"a", "b"}))
	require.Equal(t, "b", middleOf([]string{"a", "b", "c"}))
	require.Equal(t, "b", middleOf([]string{"a", "b", "c", "d"}))
	require.Empty(t, middleOf([]string{"a"}), "it may lead to a short page")
	require.Empty(t, middleOf(nil))
}

// Every customer joins first and once, no event uses another customer's purchase or coupon, and no two purchases or
// codes are equal.
func TestCrowd(t *testing.T) {
	names, unique := map[string]bool{}, map[string]bool{}
	for worker := range 3 {
		own := map[string]bool{}
		c := crowd{first: 1 + worker, step: 3, size: 40, dice: rand.New(rand.NewPCG(1, uint64(worker)))}
		for n := range 2000 {
			s := c.next()
			if n < 40 {
				require.Equal(t, "opt_in", s.Action)
				require.False(t, names[s.Customer])
				names[s.Customer], own[s.Customer] = true, true
				continue
			}

			require.True(t, own[s.Customer])
			var data struct {
				TransactionID string `json:"transaction_id"`
				Code          string `json:"code"`
			}

			require.NoError(t, json.Unmarshal(s.Data, &data))
			if id := data.TransactionID + data.Code; id != "" {
				require.False(t, unique[id], id)
				unique[id] = true
			}
		}
	}

	require.Len(t, names, 120)
	require.True(t, names["1"] && names["120"])
}

// A small run shows that everything works on both databases: what is filled in passes
// both proofs, and every list has its row.
func TestScale(t *testing.T) {
	everyRow(t)
	needsPostgres(t)
	o, err := scaleFlags(strings.Fields("-base 1000 -events 3000 -customers 300 -sqlite-events 3000 -sqlite-customers 300 -reps 1 -seconds 0.1 -wait 0s"))
	require.NoError(t, err)
	o.dir, o.binary = small(t).dir, built(t)
	var out strings.Builder
	require.NoError(t, scale(t.Context(), o, &out, t.Output()))
	for _, title := range append([]string{
		"PostgreSQL: inserts", "SQLite: inserts", "point_add, 16 connections", "loyalty ledger verify", "loyalty rebuild", "on disk for each event",
		"/customers/-/events" + deepSuffix, "/customers/{customer}/coupons" + deepSuffix, "/v1/customers/{customer}/transactions" + deepSuffix, "machine was",
	}, scaleLists...) {
		require.Contains(t, out.String(), title)
	}

	require.NotContains(t, out.String(), "FAILED")
	requireGone(t, o.options)
}

func TestScalePrint(t *testing.T) {
	r := scaleReport{
		database: "PostgreSQL", failed: map[string]string{"/coupons": "many: status 503"}, sites: []*site{{size: 10_000}, {size: 10_000_000}},
		figures: map[string][2]float64{titleMemory: {100, 130}, titleVerify: {20, 30}},
		results: results{
			"insert few": {{rate: 1000}, {rate: 2000}}, "insert many": {{rate: 900}, {rate: 1000}},
			"/customers few": {{p50: 1}, {p50: 2}}, "/customers many": {{p50: 1.25}, {p50: 2.5}},
		},
	}

	var out strings.Builder
	require.NoError(t, r.print(&out, true))
	rows := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		cells := strings.FieldsFunc(strings.ReplaceAll(strings.TrimSpace(line), "  ", "\t"), func(c rune) bool { return c == '\t' })
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) > 0 {
			rows[cells[0]] = cells[1:]
		}
	}

	require.Equal(t, []string{"1500", "950", "0.70 [0.60-0.80]", "-+-+-, -+-+-", "≥ 0.7", "≥ 0.7", "goal"}, rows["point_add, 16 connections, events/s"])
	require.Equal(t, []string{"1.50", "1.88", "1.25 [1.25-1.25]", "-+-+-, -+-+-", "≤ 1.5", "≤ 1.2", "closed"}, rows["GET /customers"])
	require.Equal(t, []string{"FAILED", "many: status 503"}, rows["GET /coupons"])
	require.Equal(t, []string{"100", "130", "1.30", "≤ 1.5", "≤ 1.2", "closed"}, rows[titleMemory])
	require.Equal(t, []string{"20", "30", "1.50", "-", "-", "-"}, rows[titleVerify])
	require.NotContains(t, rows, "GET /v1/customers", "what was not measured has no row")
}

// The clock of a filled database goes through a year and ends now.
func TestFillerClock(t *testing.T) {
	f := filler{events: 100, now: time.Now()}
	require.Equal(t, f.now.Add(-fillSpan), f.clock())
	f.recorded.Store(50)
	require.WithinDuration(t, f.now.Add(-fillSpan/2), f.clock(), time.Second)
	f.recorded.Store(120)
	require.Equal(t, f.now, f.clock())
}
