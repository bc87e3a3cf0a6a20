package histories_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// goldenJournals are databases, row by row as their SQLite files had them, each named by the last migration that it
// knew: every kind of effect, and what was stored because of it. What is stored is never changed, so whatever becomes
// of the code, it has to read these bytes and find in them what is stored beside them. Where effects get a new member,
// a journal comes to the list; none is taken off or recorded anew.
var goldenJournals = []string{"testdata/journal-00100.jsonl"}

// newestJournal is the one that today's code writes.
func newestJournal() string { return goldenJournals[len(goldenJournals)-1] }

// goldenTables are the tables that a rebuild and the proof of the ledger look into.
var goldenTables = []string{
	"customers", "balances", "names", "customer_keys", "events", "postings", "lots", "transactions", "reservations", "progress", "claims", "coupons", "coupon_events",
	"tallies", "campaign_figures", "campaign_customers",
}

// goldenTable is one table in the file: a line with its columns, then a line for each row.
type goldenTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	rows    [][]any
}

// blobOf reads a byte string, which stands in the file as a list of its hexadecimal digits.
func blobOf(value any) (string, bool) {
	list, is := value.([]any)
	if !is {
		return "", false
	}
	return list[0].(string), true
}

// readGolden reads a file.
func readGolden(t *testing.T, journal string) (tables []*goldenTable) {
	t.Helper()
	text, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.Less(t, len(text), 350_000, "a reader still finds their way in it")
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if lines.Bytes()[0] == '{' {
			next := &goldenTable{}
			require.NoError(t, d.Decode(next))
			tables = append(tables, next)
			continue
		}
		var row []any
		require.NoError(t, d.Decode(&row))
		last := tables[len(tables)-1]
		last.rows = append(last.rows, row)
	}

	require.NoError(t, lines.Err())
	return tables
}

// goldenColumn gives a column of a table, of all journals.
func goldenColumn(t *testing.T, table, column string) (values []any) {
	t.Helper()
	for _, journal := range goldenJournals {
		for _, g := range readGolden(t, journal) {
			if i := slices.Index(g.Columns, column); g.Table == table && i >= 0 {
				for _, row := range g.rows {
					values = append(values, row[i])
				}
			}
		}
	}
	require.NotEmpty(t, values)
	return values
}

// TestGoldenJournalIsFolded puts the rows into an empty database, folds the journal and
// compares, and proves the ledger over them, the chain of hashes included.
func TestGoldenJournalIsFolded(t *testing.T) {
	t.Parallel()

	for _, journal := range goldenJournals {
		storetest.EachURL(t, func(t *testing.T, url string) {
			db, raw := storetest.Open(t, url), storetest.Raw(t, url)
			events := 0
			for _, g := range readGolden(t, journal) {
				insert(t, raw, strings.HasPrefix(url, "postgres"), g)
				if g.Table == "events" {
					events = len(g.rows)
				}
			}
			found, done := loyaltytest.Rebuilt(t, db)
			require.Empty(t, found, journal)
			require.Equal(t, done.Of, done.Events)
			require.EqualValues(t, events, done.Events)
			loyaltytest.Proven(t, db)
		})
	}
}

// TestGoldenJournalIsMigrated brings the databases as they were up to this program's schema: their
// ledgers hold, the chains of hashes included, and go on with events that name their sender.
func TestGoldenJournalIsMigrated(t *testing.T) {
	t.Parallel()
	for _, journal := range goldenJournals {
		schema, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(journal, "testdata/journal-"), ".jsonl"), 10, 64)
		require.NoError(t, err)
		for _, d := range storetest.All {
			t.Run(d.Name, func(t *testing.T) {
				url := d.Empty(t)
				db, raw := storetest.Open(t, url), storetest.Raw(t, url)
				require.NoError(t, db.Fill(t.Context(), schema, time.Time{}, func(*store.Filling) error { return nil }))
				for _, g := range readGolden(t, journal) {
					insert(t, raw, d.Name == "postgres", g)
				}

				require.NoError(t, db.Migrate(t.Context()))
				loyaltytest.Proven(t, db)
				var name string
				require.NoError(t, raw.QueryRow("SELECT name FROM customers WHERE status = 'active' ORDER BY name LIMIT 1").Scan(&name))
				s := newShop(t, url, nil)
				s.Wait(2 * 365 * 24 * time.Hour)
				sub := loyaltytest.Event(name, "visit", `{"url":"https://shop.test/"}`)
				sub.Sender = "LKTILL"
				_, err := s.Submit(t.Context(), sub)
				require.NoError(t, err)
				var sent, others int
				require.NoError(t, raw.QueryRow("SELECT count(sent_by), count(*) - count(sent_by) FROM events").Scan(&sent, &others))
				require.Positive(t, sent)
				require.Positive(t, others)
				loyaltytest.Proven(t, db)
			})
		}
	}
}

// insert puts rows into a table, each value as the database keeps it.
func insert(t *testing.T, raw *sql.DB, postgres bool, g *goldenTable) {
	t.Helper()
	places := slices.Repeat([]string{"?"}, len(g.Columns))
	for i, column := range g.Columns {
		if postgres {
			var kind string
			err := raw.QueryRow("SELECT data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2", g.Table, column).Scan(&kind)
			require.NoError(t, err, "%s.%s", g.Table, column)
			places[i] = fmt.Sprintf("CAST($%d::text AS %s)", i+1, kind)
		}
	}

	tx, err := raw.Begin()
	require.NoError(t, err)
	for _, row := range g.rows {
		args := make([]any, len(row))
		for i, value := range row {
			if args[i] = stored(t, value); postgres {
				args[i] = storedText(value, strings.HasSuffix(places[i], "bytea)"))
			}
		}
		_, err := tx.Exec("INSERT INTO "+g.Table+" ("+strings.Join(g.Columns, ", ")+") VALUES ("+strings.Join(places, ", ")+")", args...)
		require.NoError(t, err, "%s: %v", g.Table, row)
	}

	require.NoError(t, tx.Commit())
}

// stored is a value of the file as SQLite keeps it.
func stored(t *testing.T, value any) any {
	if digits, is := blobOf(value); is {
		bytes, err := hex.DecodeString(digits)
		require.NoError(t, err)
		return bytes
	}
	if n, is := value.(json.Number); is {
		whole, err := n.Int64()
		require.NoError(t, err)
		return whole
	}
	return value
}

// storedText is it as a text that PostgreSQL casts.
func storedText(value any, bytea bool) any {
	digits, is := blobOf(value)
	switch {
	case is && bytea:
		return `\x` + digits
	case is:
		return digits
	case value == nil:
		return nil
	}
	return fmt.Sprint(value)
}

// TestGoldenEffectsKeepTheirBytes: what is read of an effect, or of a purchase's detail,
// is written as it was.
func TestGoldenEffectsKeepTheirBytes(t *testing.T) {
	keepsBytes[loyalty.Effects](t, "events", "effects")
	keepsBytes[loyalty.TransactionDetail](t, "transactions", "detail")
	keepsBytes[[]loyalty.CouponUse](t, "coupons", "uses")
	keepsBytes[[]points.Portion](t, "claims", "burn")
}

func keepsBytes[T any](t *testing.T, table, column string) {
	t.Helper()
	n := 0
	for _, value := range goldenColumn(t, table, column) {
		text, there := value.(string)
		if !there {
			continue
		}
		var read T
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		again, err := json.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, text, string(again))
		n++
	}

	require.Positive(t, n, "%s.%s", table, column)
}

// TestGoldenEffectsHaveEverything: each member that an effect can have is somewhere in the
// journal, so that none can change unseen.
func TestGoldenEffectsHaveEverything(t *testing.T) {
	used := map[string]bool{}
	for _, value := range goldenColumn(t, "events", "effects") {
		if text, there := value.(string); there {
			var effects loyalty.Effects
			require.NoError(t, json.Unmarshal([]byte(text), &effects))
			members(reflect.ValueOf(effects), used)
		}
	}

	var missing []string
	for name, is := range used {
		if !is {
			missing = append(missing, name)
		}
	}

	slices.Sort(missing)
	require.Empty(t, missing, "of %d members", len(used))
	require.Greater(t, len(used), 100)
}

// members notes which members of what an effect holds are used.
func members(v reflect.Value, used map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			members(v.Elem(), used)
		}

	case reflect.Slice:
		for i := range v.Len() {
			members(v.Index(i), used)
		}

	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			if name := fmt.Sprint(v.Type(), ".", f.Name); !used[name] {
				used[name] = !v.Field(i).IsZero()
			}
			members(v.Field(i), used)
		}
	}
}

// TestGoldenJournalIsWrittenAgain plays the same history, and holds that it leaves the same
// effects, byte by byte, but for what is drawn by chance: the ends of ids, generated codes,
// what is sealed. With LOYALTY_RECORD_JOURNAL it becomes the newest golden journal.
func TestGoldenJournalIsWrittenAgain(t *testing.T) {
	c := newTown(t, storetest.SQLite(t), 1, 20, false)
	c.codesInto("storied", 1)
	c.remembered()
	if os.Getenv("LOYALTY_RECORD_JOURNAL") != "" {
		found, _ := loyaltytest.Rebuilt(t, c.DB)
		require.Empty(t, found)
		loyaltytest.Proven(t, c.DB)
		record(t, c.Raw)
	}

	var wanted []string
	for _, g := range readGolden(t, newestJournal()) {
		if g.Table == "events" {
			wanted = plainEffects(g)
		}
	}

	got := plainEffects(dump(t, c.Raw, "events"))
	require.Equal(t, len(wanted), len(got), "events")
	for i := range wanted {
		require.Equal(t, wanted[i], got[i], "event %d", i)
	}
}

// remembered is the history of the golden journal: one submission at a time, so that it is
// the same each time.
func (c *town) remembered() {
	c.seasoned(0)
	for _, step := range goldenStory {
		if step[0] == "" {
			season, err := strconv.Atoi(step[1])
			require.NoError(c.T, err)
			c.seasoned(season)
			continue
		}
		sub := loyaltytest.Event(step[0], step[1], step[2])
		sub.Operation, sub.Guest = townOperations[step[1]], strings.HasPrefix(step[0], "guest")
		o, err := c.Submit(ctx, sub)
		require.NoError(c.T, err, "%v %+v", step, err)
		c.learn(sub, o)
		c.Wait(time.Minute)
	}

	c.seasoned(0)
	for i := range 210 {
		sub := c.draw()
		if o, err := c.Submit(ctx, sub); err != nil {
			c.refuse(sub, err)
		} else {
			c.learn(sub, o)
		}
		c.Wait(time.Duration(1+c.dice.IntN(5000)) * time.Second)
		switch i % 50 {
		case 24:
			require.NoError(c.T, c.SettleDue(ctx))
		case 49:
			c.seasoned(1 + i/50)
		}
	}

	c.Wait(72 * time.Hour)
	require.NoError(c.T, c.SettleDue(ctx))
	c.Must("storied-1", "point_add", `{"points":5}`)
	c.Must("storied-1", "reserve_points", `{"transaction_id":"S-9","points":2}`)
}

// goldenStory is what chance seldom brings: customer, action, attributes. A line without a customer is a change of the
// season.
var goldenStory = [][3]string{
	{"storied-1", "opt_in", `{"email":"s1@shop.test","first_name":"Ada"}`},
	{"storied-2", "opt_in", `{"email":"s2@shop.test","referrer":"storied-1"}`},
	{"storied-1", "coupon_create", `{"code":"MADE","type":"gift_card","value":30,"name":"For Ada","currency":"EUR","stores":"buda","product":"p-1,p-2","cost":2.5,"expdate":"2126-06-30"}`},
	{"storied-1", "coupon_redeem", `{"code":"MADE","amount":4,"cost":1.25}`},
	{"storied-2", "point_add", `{"points":50}`},
	{"storied-1", "checkout", `{"transaction_id":"S-1","total":20,"email":"s1@shop.test","note":"ring twice","offers":["coffee"],` + goldenItems + `}`},
	{"storied-1", "checkout_accept", `{"transaction_id":"S-1","email":"s1@shop.test","note":"ring once"}`},
	{"storied-1", "partial_refund", `{"transaction_id":"S-1","amount":3}`},
	{"", "2", ""},
	{"guest-0", "checkout", `{"transaction_id":"S-2","total":200,` + goldenItems + `}`},
	{"storied-2", "checkout_claim", `{"transaction_id":"S-2"}`},
	{"storied-2", "checkout", `{"transaction_id":"S-3","total":60,"offers":["coffee","coffee","coffee","coffee","coffee"],` + goldenItems + `}`},
	{"storied-2", "refund_item", `{"transaction_id":"S-3","product_id":"p-1","quantity":1}`},
	{"storied-1", "checkout", `{"transaction_id":"S-4","total":170,"coupons":["MADE"],"store":"buda",` + goldenItems + `}`},
	{"storied-1", "refund", `{"transaction_id":"S-4"}`},
	{"storied-2", "checkout", `{"transaction_id":"S-7","total":31,"points_burned":9,` + goldenItems + `}`},
	{"storied-2", "refund_item", `{"transaction_id":"S-7","product_id":"p-1","quantity":1}`},
	{"storied-2", "reward_claim", `{"reward":"bonus"}`},
	{"storied-3", "opt_in", `{"email":"s3@shop.test"}`},
	{"storied-3", "checkout", `{"transaction_id":"S-8","total":12}`},
	{"storied-2", "merge", `{"source":"storied-3"}`},
	{"storied-4", "opt_in", `{"email":"s4@shop.test","referrer":"storied-1"}`},
	{"storied-4", "coupon_create", `{"code":"CARD4","type":"gift_card","value":20}`},
	{"storied-4", "checkout", `{"transaction_id":"S-9","total":77,"coupons":["CARD4"],` + goldenItems + `}`},
	{"storied-4", "coupon_redeem", `{"code":"storied-00000"}`},
	{"storied-4", "partial_refund", `{"transaction_id":"S-9","amount":7}`},
	{"storied-4", "refund", `{"transaction_id":"S-9"}`},
	{"", "1", ""},
	{"storied-1", "checkout", `{"transaction_id":"S-5","total":40,` + goldenItems + `}`},
	{"storied-1", "pending_expired", `{"points":3}`},
	{"", "4", ""},
	{"storied-1", "point_add", `{"points":5}`},
	{"storied-1", "reward_claim", `{"reward":"named"}`},
	{"storied-1", "reserve_points", `{"transaction_id":"S-6","points":2}`},
}

const goldenCoupon = `{"type":"coupon","coupon":{"type":"amount","value":2}}`

const goldenItems = `"items":[{"product_id":"p-1","product_name":"Beans","product_url":"https://shop.test/p","quantity":2,"subtotal":12,"note":"ground"},
	{"product_id":"p-2","product_name":"Cups","product_url":"https://shop.test/p","quantity":1,"subtotal":6}]`

// seasoned is a season of the golden journal. Its wheel has one option, so that it is no
// matter of chance.
func (c *town) seasoned(i int) {
	golden := slices.DeleteFunc(slices.Clone(townThings), func(e [3]string) bool { return e[0] == "prize-wheels/wheel" })
	golden = append(golden, things{
		{"prize-wheels/wheel", "daily", `{"name":{"en":"Wheel"},"points":2,"limit":{"count":3,"period":"day"},"options":[{"type":"points","label":{"en":"7"},"weight":1,"points":7}]}`},
		{"challenges/challenge", "first", `{"title":{"en":"First"},"criteria":[{"action":"checkout","threshold":1}],"points":3,"max_completions":9,"window_days":3}`},
		{"challenges/challenge", "chain", `{"title":{"en":"Chain"},"criteria":[{"action":"challenge","threshold":2}],"points":2,"max_completions":9}`},
		loyaltytest.AnyCampaign("cheer", `"trigger":"challenge","condition":"event.data.challenge == \"first\"","effects":[{"type":"points","points":1}]`),
		loyaltytest.AnyCampaign("cheered", `"trigger":"challenge","condition":"event.data.challenge == \"first\"","limit":{"total":1},"effects":[`+goldenCoupon+`]`),
		{"coupons/pool", "storied", `{"name":"Storied","source":"uploaded","coupon":{"type":"amount","value":3}}`},
		loyaltytest.AnyCampaign("undone", `"trigger":"checkout","condition":"event.data.total == 77","effects":[{"type":"coupon","pool":"storied"},{"type":"label","label":"storied"}]`),
		loyaltytest.AnyCampaign("lines", `"trigger":"checkout_item","condition":"event.data.total == 77 && item.quantity > 1","limit":{"per_customer":2,"total":9},"effects":[`+goldenCoupon+`]`),
		loyaltytest.AnyCampaign("cards", `"trigger":"coupon_redeem","condition":"event.data.code == \"CARD4\"","effects":[{"type":"points","points":2}]`),
		loyaltytest.AnyCampaign("thanks", `"trigger":"referral_bonus","condition":"event.data.points == 20","effects":[`+goldenCoupon+`]`),
		{"rewards/reward", "named", `{"title":{"en":"Named"},"type":"coupon","points":1,"coupon":{"type":"percentage","value":5,"name":{"en":"Five off","hu":"Ot le"},"valid_days":9}}`},
	}...)

	m := modules{"friend_referral": `{"referrer_points":20,"friend_points":5}`, "incentivized_purchase": `{"invalid_codes":"record"}`}
	for _, name := range []string{"contests", "custom_events", "customer_id_validation", "customer_login", "prize_wheels", "profiling", "quizzes", "visual_search"} {
		m[name] = "{}"
	}

	maps.Copy(m, append(townSeasons, modules{"points_economy": `{"expiry":{"policy":"last_activity","months":6}}`})[i%(len(townSeasons)+1)])
	c.Make(m, golden)
}

// dump reads a table as it is stored.
func dump(t *testing.T, raw *sql.DB, table string) *goldenTable {
	t.Helper()
	g := &goldenTable{Table: table}
	var columns string // without generated ones, which the database makes of the others
	require.NoError(t, raw.QueryRow("SELECT group_concat(name) FROM pragma_table_info(?)", table).Scan(&columns))
	g.Columns = strings.Split(columns, ",")
	rows, err := raw.Query("SELECT " + columns + " FROM " + table)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		row := make([]any, len(g.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		require.NoError(t, rows.Scan(into...))
		for i := range row {
			if bytes, is := row[i].([]byte); is {
				row[i] = []any{hex.EncodeToString(bytes)}
			}
		}
		g.rows = append(g.rows, row)
	}

	require.NoError(t, rows.Err())
	return g
}

// record writes the file.
func record(t *testing.T, raw *sql.DB) {
	t.Helper()
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	for _, table := range goldenTables {
		g := dump(t, raw, table)
		require.NoError(t, to.Encode(g))
		for _, row := range g.rows {
			require.NoError(t, to.Encode(row))
		}
	}
	require.NoError(t, os.WriteFile(newestJournal(), text.Bytes(), 0o600))
}

// chances are what differs each time: the last 64 bits of an id, codes, what is sealed.
var chances = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}`), "$1"},
	{regexp.MustCompile(`"(code|coupon)":"(CARD-)?[A-Z0-9]{8,}"`), `"$1":"$2"`},
	{regexp.MustCompile(`"(sealed|personal)":"[^"]*"`), `"$1":""`},
}

// plainEffects are the effects of events in the order in which they were recorded.
func plainEffects(events *goldenTable) (all []string) {
	place := func(column string) int { return slices.Index(events.Columns, column) }
	for _, row := range events.rows {
		id, _ := blobOf(row[place("id")])
		text, _ := row[place("effects")].(string)
		for _, c := range chances {
			text = c.form.ReplaceAllString(text, c.as)
		}
		all = append(all, fmt.Sprint(row[place("recorded_at")], " ", id[:16], " ", row[place("action")], " ", text))
	}
	slices.Sort(all)
	return all
}
