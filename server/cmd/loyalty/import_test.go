package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/importer"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// written writes the files of an import and gives the flags that name them.
func written(t *testing.T, files map[string]string) (flags []string) {
	t.Helper()
	dir := t.TempDir()
	for kind, text := range files {
		path := filepath.Join(dir, kind+".csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		flags = append(flags, "--"+kind, path)
	}
	return flags
}

// migrated gives the settings of a database with a configuration.
func migrated(t *testing.T, url, configuration string) []string {
	t.Helper()
	s := []string{"--database-url", url, "--master-key", hex.EncodeToString(storetest.MasterKey[:]), "--data", t.TempDir()}
	r := inside(t, append([]string{"migrate", "up"}, s...)...)
	require.Equal(t, 0, r.code, r.errors)
	file := filepath.Join(t.TempDir(), "programme.json")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))
	r = inside(t, append([]string{"config", "apply", file}, s...)...)
	require.Equal(t, 0, r.code, r.errors)
	return s
}

const importProgramme = `{"settings":{"time_zone":"Europe/Budapest"},"modules":{"tiers":{"enabled":true},"coupons":{"enabled":true},"checkout_accept":{"enabled":false}},"entities":{
 "core/customer-list":{"vip":{"name":"VIP"}},
 "tiers/structure":{"club":{"name":"Club","base":"points"}},"tiers/tier":{"silver":{"structure":"club","name":{"en":"Silver"},"threshold":1000}},
 "automation/campaign":{"welcome":{"name":"Welcome","trigger":"profile","status":"active","effects":[{"type":"points","points":50}]},
  "double":{"name":"Double","trigger":"checkout","status":"active","effects":[{"type":"points","points":7}]}}}}`

// TestImport takes a Hungarian spreadsheet over: every lot with its own dates, once, and
// nothing is given for it.
func TestImport(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := migrated(t, url, importProgramme)
		far := time.Now().Year() + 2
		files := written(t, map[string]string{
			"members": "\ufeffcustomer;email;first_name;enrolled_at;birth_date;external_ids.crm;labels\r\n" +
				"007;a@shop.test;\u00a0Ágnes ;01.03.2020;31.12.1990;000417;vip|news\r\n7;b@shop.test;Béla;2021-05-06;;;\r\n",
			"lots":      fmt.Sprintf("customer;points;earned_at;expires_at\n007;1\u00a0500;28.02.2024;31.12.%d\n007;2.000,00;01.03.2024;\n7;300;2024.03.05.;%d-06-30\n", far, far),
			"purchases": "customer;transaction_id;total;currency;made_at\n007;T-001;1.234,50;HUF;2024-01-02 10:30\n",
			"tiers":     fmt.Sprintf("customer;tier;since;expires_at\n7;silver;01.02.2023;31.12.%d\n", far),
			"coupons":   "customer;code;value;type\n7;WELCOME-1;12,5;percentage\n",
			"lists":     "customer;list\n007;vip\n",
		})

		do := func(command string, more ...string) result {
			return inside(t, append(append(append([]string{"import", command}, files...), s...), more...)...)
		}
		r := do("check")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.errors, "--dates")
		require.Contains(t, r.errors, "--decimal")
		how := []string{"--dates", "dmy", "--decimal", ","}
		r = do("check", how...)
		require.Equal(t, 0, r.code, r.errors)
		require.Contains(t, r.out, "9 rows can be taken over; 1 warnings")
		r = do("plan", append(how, "--json")...)
		require.Equal(t, 0, r.code, r.errors)
		var plan importer.Plan
		require.NoError(t, json.Unmarshal([]byte(r.out), &plan))
		require.Equal(t, importer.Plan{
			Rows: map[string]int64{"members": 2, "lots": 3, "purchases": 1, "tiers": 1, "coupons": 1, "lists": 1}, New: 2, Points: 3800, Warnings: 1,
			Expiring: map[string]int64{fmt.Sprint(far, "-12"): 1500, importer.Never: 2000, fmt.Sprint(far, "-06"): 300}, Bought: map[string]string{"HUF": "1234.5"},
		}, plan)

		require.Equal(t, 1, do("reconcile", how...).code, "nothing was taken over yet")

		for range 2 { // the second time it is the same import
			r = do("apply", how...)
			require.Equal(t, 0, r.code, r.errors)
			require.Contains(t, r.out, "9 rows done, 0 of them refused")
		}

		r = do("reconcile", append(how, "--json")...)
		require.Equal(t, 0, r.code, r.errors)
		var a importer.Account
		require.NoError(t, json.Unmarshal([]byte(r.out), &a))
		require.True(t, a.Exact())
		require.Equal(t, importer.Sums{Lots: 3, Points: 3800}, a.Lots)

		raw := storetest.Raw(t, url)
		value := func(query string) (text string) {
			require.NoError(t, raw.QueryRow(query).Scan(&text), query)
			return text
		}

		zone, err := time.LoadLocation("Europe/Budapest")
		require.NoError(t, err)
		require.Equal(t, "3", value("SELECT COUNT(*) FROM lots"), "no campaign gave anything")
		require.Equal(t, "3800", value("SELECT SUM(score) FROM balances"))
		require.Equal(t, fmt.Sprint(time.Date(2024, 2, 28, 0, 0, 0, 0, zone).UnixMilli()), value("SELECT earned_at FROM lots WHERE points = 1500"))
		require.Equal(t, fmt.Sprint(time.Date(far+1, 1, 1, 0, 0, 0, 0, zone).UnixMilli()-1), value("SELECT expires_at FROM lots WHERE points = 1500"))
		require.Equal(t, "Ágnes", value("SELECT first_name FROM customers WHERE name = '007'"))
		require.Equal(t, fmt.Sprint(time.Date(2020, 3, 1, 0, 0, 0, 0, zone).UnixMilli()), value("SELECT created_at FROM customers WHERE name = '007'"))
		require.Equal(t, "12345000", value("SELECT total FROM transactions"))
		require.Equal(t, "accepted", value("SELECT state FROM transactions"))
		require.Equal(t, "WELCOME-1", value("SELECT code FROM coupons"))
		require.Equal(t, "1", value("SELECT COUNT(*) FROM list_members"))
		require.Equal(t, "2", value("SELECT COUNT(*) FROM progress WHERE data LIKE '%silver%'"), "one by hand, one by the points")
		require.Contains(t, value("SELECT data FROM progress WHERE data LIKE '%manual%'"), `"since":"2023-01-31T23:00:00Z"`)
		require.Equal(t, "0", value("SELECT COUNT(*) FROM bulk_items WHERE data IS NOT NULL"), "what is personal is gone when it is done")
		for _, proof := range [][]string{{"ledger", "verify"}, {"rebuild", "--verify"}} {
			r = inside(t, append(proof, s...)...)
			require.Equal(t, 0, r.code, r.out)
		}
	})
}

// TestImportFaults: what would be guessed elsewhere is named here, with its line.
func TestImportMapping(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := migrated(t, url, importProgramme)
		files := written(t, map[string]string{
			"members": "Source Id;E-mail address;a=b;Notes\n007;a@shop.test;Ágnes;=1+1\n",
			"lots":    "Source Id;Balance;Since\n007;1.500;28.02.2024\n",
		})

		map1 := filepath.Join(t.TempDir(), "old.yaml")
		require.NoError(t, os.WriteFile(map1, []byte("dates: dmy\ndecimal: ','\ncolumns:\n  members: {Source Id: customer, E-mail address: handler}\n  lots: {Source id: customer, Balance: points, Since: earned_at}\n"), 0o600))
		do := func(command string, more ...string) result {
			return inside(t, append(append(append([]string{"import", command}, files...), s...), more...)...)
		}
		how := []string{"--mapping", map1, "--map", "members:E-mail address=email", "--map", "members:a=b=first_name", "--map", "members:Notes="}
		r := do("check", how[:4]...)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.errors, "Unknown columns, by their place: 3, 4.")
		r = do("plan", append(how, "--json")...)
		require.Equal(t, 0, r.code, r.errors)
		require.Contains(t, strings.ReplaceAll(r.out, " ", ""), `"points":1500`)
		r = do("apply", how...)
		require.Equal(t, 0, r.code, r.errors)
		r = do("reconcile", how...)
		require.Equal(t, 0, r.code, r.errors)
		for _, wrong := range [][]string{{"--map", "members"}, {"--map", "members:=email"}, {"--map", "members:Email=colour"}, {"--map", "people:Email=email"}, {"--mapping", "nosuch.yaml"}, {"--mapping", files[1]}} {
			r := do("check", wrong...)
			require.Equal(t, codeUsage, r.code, "%v %s", wrong, r.errors)
			require.Contains(t, r.errors, wrong[0])
		}
	})
}

func TestImportFaults(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := migrated(t, url, importProgramme)
		for _, c := range []struct {
			kind, text string
			args       []string
			want       string
		}{
			{"members", "customer;email\n1,23E+12;x@shop.test\n", nil, `members line 2 customer "1,23E+12"`},
			{"members", "customer,email\n1.2E+5,x@shop.test\n", nil, "its last digits are lost"},
			{"members", "customer,email\na,X@shop.test\nb,x@SHOP.test\n", nil, `members line 3 email "x@SHOP.test": Line 2 already has this e-mail address`},
			{"members", "customer\na\na\n", nil, "Line 2 already has this"},
			{"members", "customer,colour\na,red\n", nil, "Unknown columns, by their place: 2."},
			{"members", "email\nx@shop.test\n", nil, "customer: The column is missing"},
			{"members", "customer,email\na\n", nil, "has 1 cells, but the first line names 2 columns"},
			{"members", "customer,first_name\na,\xc1gnes\n", nil, "not UTF-8"},
			{"members", "customer,email\na,nobody\n", nil, "This cannot be taken over: Property email"},
			{"members", "customer,enrolled_at\na,2099-01-01\n", nil, "in the future"},
			{"members", "", nil, "The file is empty"},
			{"members", "customer\n\"a\n", nil, "not CSV from here on"},
			{"lots", "customer,points,earned_at\nnobody,5,2024-01-01\n", nil, "not a member"},
			{"lots", "customer;points;earned_at\nx;1,5;2024-01-01\n", nil, "--decimal"},
			{"lots", "customer;points;earned_at\nx;1,5;2024-01-01\n", []string{"--decimal", ","}, "A whole number above zero"},
			{"lots", "customer,points,earned_at\nx,-5,2024-01-01\n", nil, "A whole number above zero"},
			{"lots", "customer,points,earned_at\nx,5,03/04/2024\n", nil, "--dates"},
			{"lots", "customer,points,earned_at\nx,5,31/04/2024\n", []string{"--dates", "dmy"}, "does not exist in the calendar"},
			{"lots", "customer,points,earned_at,expires_at\nx,5,2020-01-01,2021-01-01\n", nil, "have expired"},
			{"tiers", "customer,tier\nx,gold\n", nil, "There is no such tier"},
			{"lists", "customer,list\nx,nosuch\n", nil, "There is no such customer list"},
			{"coupons", "customer,code,value\nx,A,1\nx,A,1\n", nil, `"A": Line 2 already has this`},
		} {
			file := filepath.Join(t.TempDir(), "errors.csv")
			args := append(append([]string{"import", "apply", "--errors", file}, written(t, map[string]string{c.kind: c.text})...), s...)
			r := inside(t, append(args, c.args...)...)
			require.Equal(t, 1, r.code, c.text)
			require.Contains(t, r.errors, c.want, c.text)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(text), "file,line,column,value,message\n"+c.kind+","), string(text))
		}

		// what is wrong with a whole column is said three times and counted
		long := "customer;points;earned_at\n" + strings.Repeat("x;5;03.04.2024\n", 40)
		args := append(append([]string{"import", "check"}, written(t, map[string]string{"lots": long, "lists": "customer,list\nx,nosuch\n"})...), s...)
		r := inside(t, args...)
		require.Equal(t, 1, r.code)
		require.Equal(t, 4, strings.Count(r.errors, "Say whether the day or the month comes first"), r.errors)
		for _, want := range []string{"lots earned_at: 37 more: Say whether", "There is no such customer list", "--errors FILE writes all of them"} {
			require.Contains(t, r.errors, want)
		}

		raw := storetest.Raw(t, url)
		var rows int
		require.NoError(t, raw.QueryRow("SELECT (SELECT COUNT(*) FROM customers) + (SELECT COUNT(*) FROM bulk_items) + (SELECT COUNT(*) FROM imports)").Scan(&rows))
		require.Zero(t, rows, "nothing was written")
		r = inside(t, append([]string{"import", "check"}, s...)...)
		require.Equal(t, 2, r.code)
		r = inside(t, append(append([]string{"import", "check", "--dates", "ymd"}, written(t, map[string]string{"members": "customer\na\n"})...), s...)...)
		require.Equal(t, 2, r.code)
		require.Contains(t, r.errors, "--dates")
	})
}
