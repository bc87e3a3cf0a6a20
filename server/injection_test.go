package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// hostile are texts that mean something where they are pasted into a statement:
// ends of quotes, second statements, unions, comments, wildcards, placeholders and
// operators of both databases.
var hostile = []string{
	`'`, `''`, `"`, "`", `\`, `\'`, `'--`, `' OR '1'='1`, `' OR 1=1--`, `" OR ""="`, `') OR ('1'='1`, `1 OR 1=1`, `1' OR '1' = '1' /*`,
	`'; DROP TABLE customers;--`, `'; DELETE FROM lots;--`, `1; UPDATE balances SET score = 999999;--`, `'); DELETE FROM names;--`,
	`x'; TRUNCATE customers CASCADE;--`, `' UNION SELECT secret FROM key_secrets--`, `' UNION ALL SELECT NULL,NULL,NULL--`,
	`-1 UNION SELECT 1,2,3`, `' AND 1=(SELECT COUNT(*) FROM customers)--`, `'||(SELECT id FROM customers LIMIT 1)||'`,
	`(SELECT CASE WHEN 1=1 THEN 1 ELSE 1/0 END)`, `1/0`, `' AND 1=CAST('a' AS int)--`, `'::int`, `1::text`, `$1`, `$$x$$`, `?`, `:name`, `@p1`, `{}`,
	`%`, `_`, `%%%`, `m%`, `member_1001`, `[a-z]*`, `*`, `.*`, `\%`, `/* x */`, `-- x`, `# x`, `;`, `NULL`, `null`, `true`, `DEFAULT`, `CURRENT_USER`,
	`version()`, `pg_read_file('PG_VERSION')`, `load_extension('x')`, `customers.id`, `score desc`, `id; SELECT 1`, `(id)`, `customer_id)) OR ((1=1`, `0x27`, `%27%20OR%201=1`,
}

// neutral is a text that nothing is called and that means nothing anywhere.
const neutral = "zz-nothing-9"

// TestInjection puts hostile texts in every place of a path and every parameter of
// every operation that reads, on both databases: none is a fault of ours, none finds
// more than a text that nothing is called, and nothing is written. Then things are
// called by them: they are found by exactly their names.
//
// spec: service.json
func TestInjection(t *testing.T) {
	each, every := 1, 2 // one text for every second place: in full all of them for each
	if honest() > 6 {
		each, every = len(hostile), 1
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWitness(openOn(t, url, patient), 1)
		w.inhabit()
		before, sent := rowsOf(t, url), 0
		for i := range w.all {
			if o := &w.all[i]; o.reads() {
				sent += w.injects(o, each, every, sent)
			}
		}
		require.Equal(t, before, rowsOf(t, url), "reads write nothing")
		w.called()
		t.Logf("figures: S7: %d hostile requests", sent)
	})
}

// injects tries the places of one operation, each with so many of the texts, the
// first of them being the from-th; only every so many-th place.
func (w *witness) injects(o *offered, each, every, from int) (sent int) {
	places := 0
	try := func(place string, request func(text string) (target, body string)) {
		if places++; places > 1 && places%every != 0 {
			return
		}

		target, body := request(neutral)
		plain := w.call(o, w.key, target, body)
		for range each {
			text := hostile[(from+sent)%len(hostile)]
			sent++
			target, body := request(text)
			a := w.call(o, w.key, target, body)
			if a.status < 300 {
				assert.Equal(w.t, plain.status, a.status, "%s, %s %q: %s", o.OperationID, place, text, a.body)
				assert.LessOrEqual(w.t, found(w.t, a), found(w.t, plain), "%s, %s %q: %s", o.OperationID, place, text, a.body)
			}
		}
	}

	for _, name := range inPath.FindAllString(o.path, -1) {
		try(name, func(text string) (string, string) {
			_, body := w.plainly(o, "")
			own := strings.Replace(o.path, name, url.PathEscape(text), 1)
			return inPath.ReplaceAllString(own, "member-1001"), body
		})
	}

	for _, p := range o.declared() {
		if slices.Contains([]string{"limit", "offset"}, p.Name) { // numbers: TestContractHonesty
			continue
		}
		try(p.Name, func(text string) (string, string) {
			target, body := w.plainly(o, "")
			if own, ok := ownPath[o.OperationID+" "+p.Name]; ok {
				target = own
			}
			return target + "?" + url.QueryEscape(p.Name) + "=" + url.QueryEscape(text), body
		})
	}

	return sent
}

// found is how many things an answer lists; one for a single thing.
func found(t *testing.T, a answer) int {
	t.Helper()
	if a.status >= 300 {
		return 0
	}
	if list, ok := a.json(t)["data"].([]any); ok {
		return len(list)
	}
	return 1
}

// called gives hostile names to things and finds each by its own, alone.
func (w *witness) called() {
	w.t.Helper()
	for i, text := range hostile {
		name := fmt.Sprintf("%s %d", text, i)
		w.does("/events", marshal(w.t, map[string]any{"customer": name, "action": "opt_in", "data": map[string]any{"email": fmt.Sprintf("h%d@shop.test", i), "handler": name}}))
		w.does("/events", marshal(w.t, map[string]any{"customer": name, "action": "coupon_create", "data": map[string]any{"code": "C" + name, "value": 1, "name": text}}))
		a := w.sees("/customers/" + url.PathEscape(name))
		require.Equal(w.t, name, data(w.t, a)["id"])
		require.Equal(w.t, []string{name}, column(w.t, w.get("/customers?handler="+url.QueryEscape(name)), "id"), text)
		require.Equal(w.t, []string{"C" + name}, column(w.t, w.get("/coupons?code="+url.QueryEscape("C"+name)), "code"), text)
		require.Equal(w.t, 1, found(w.t, w.signed(w.key, w.request(http.MethodGet, "/customers/"+url.PathEscape(name)+"/coupons", ""))), text)
	}

	var walked []string
	ids, _ := w.walked("/customers?limit=7")
	for _, id := range ids {
		if strings.Contains(id, " ") {
			walked = append(walked, id)
		}
	}

	require.Len(w.t, walked, len(hostile))
}

// rowsOf counts the rows of every table that reads must leave alone.
func rowsOf(t *testing.T, url string) map[string]int {
	t.Helper()
	db, rows := storetest.Raw(t, url), map[string]int{}
	for _, table := range []string{"customers", "names", "balances", "lots", "postings", "events", "transactions", "coupons", "entities", "claims", "progress", "tallies", "access_keys", "settings", "modules"} {
		var n int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+table).Scan(&n), table)
		rows[table] = n
	}
	return rows
}
