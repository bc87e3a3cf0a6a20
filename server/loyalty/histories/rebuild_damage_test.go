package histories_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// tale is a town with one short history of everything that a rebuild has to know
// of, and the names by which its rows are told.
type tale struct {
	*town
	ids map[string]loyalty.ID
}

// newTale tells the history. It ends with nothing due.
func newTale(t *testing.T, url string) *tale {
	c := &tale{newTown(t, url, 1, 20, false), map[string]loyalty.ID{}}
	c.Raw.SetMaxOpenConns(1)
	const items = `"items":[{"product_id":"p-2","product_name":"Beans","product_url":"https://shop.test/p","quantity":2,"subtotal":40},
		{"product_id":"p-3","product_name":"Cups","product_url":"https://shop.test/p","quantity":1,"subtotal":15}]`
	for i := range 5 {
		name := fmt.Sprint("member-", 1001+i)
		c.tell("joined", name, "opt_in", `{"email":"`+name+`@shop.test"}`)
	}

	c.tell("gift", "member-1001", "point_add", `{"points":100}`)
	c.tell("late", "member-1001", "point_add", `{"points":11,"effective_timestamp":"2026-02-25T10:00:00Z"}`)
	c.tell("bought", "member-1001", "checkout", `{"transaction_id":"T-1","total":55,"points_burned":10,`+items+`}`)
	c.tell("accepted", "member-1001", "checkout_accept", `{"transaction_id":"T-1"}`)
	c.tell("returned", "member-1001", "refund_item", `{"transaction_id":"T-1","product_id":"p-2","quantity":1}`)
	c.tell("reserved", "member-1001", "reserve_points", `{"transaction_id":"R-1","points":5}`)
	c.tell("card", "member-1001", "coupon_create", `{"code":"CARD","type":"gift_card","value":20}`)
	c.tell("used", "member-1001", "coupon_redeem", `{"code":"CARD","amount":5}`)
	c.tell("five", "member-1001", "reward_claim", `{"reward":"five"}`)
	c.tell("visit", "member-1001", "visit", `{"url":"https://shop.test/"}`)
	c.tell("gold", "member-1001", "tier_change", `{"tier":"gold"}`)

	c.tell("guest", "guest-1", "checkout", `{"transaction_id":"T-2","total":30,`+items+`}`)
	c.tell("claimed", "member-1002", "checkout_claim", `{"transaction_id":"T-2"}`)
	c.tell("thirty", "member-1003", "point_add", `{"points":30}`)
	c.tell("spent", "member-1003", "point_spend", `{"points":5}`)
	c.tell("pending", "member-1003", "checkout", `{"transaction_id":"T-3","total":20}`)
	c.tell("merged", "member-1002", "merge", `{"source":"member-1003"}`)
	c.tell("forgotten", "member-1005", "point_add", `{"points":7}`)
	c.tell("left", "member-1005", "opt_out", `{}`)
	c.season(1)
	c.tell("held", "member-1004", "point_add", `{"points":9}`)
	require.NoError(t, c.SettleDue(ctx))
	return c
}

// tell plays one event, and keeps its id and those of what follows from it.
func (c *tale) tell(key, customer, action, data string) {
	c.T.Helper()
	o, err := c.Submit(ctx, loyalty.Submission{
		Customer: customer, Action: action, Data: json.RawMessage(data), Operation: townOperations[action], Guest: strings.HasPrefix(customer, "guest"),
	})
	require.NoError(c.T, err, "%s %s", customer, action)
	c.ids[customer] = o.Customer.ID
	for i, e := range o.Events {
		name := key
		if i > 0 {
			name = fmt.Sprint(key, ".", i)
		}
		c.ids[name] = e.ID
	}

	c.Wait(time.Minute)
}

// sql writes an id in the place of its name in braces, as the database does.
func (c *tale) sql(text string) string {
	postgres := c.postgres()
	for name, id := range c.ids {
		written := "X'" + hex.EncodeToString(id[:]) + "'"
		if postgres {
			written = "'" + id.String() + "'::uuid"
		}
		text = strings.ReplaceAll(text, "{"+name+"}", written)
	}
	return text
}

func (c *tale) postgres() bool {
	var version string
	return c.Raw.QueryRow("SELECT sqlite_version()").Scan(&version) != nil
}

func (c *tale) exec(statement string) {
	c.T.Helper()
	_, err := c.Raw.Exec(c.sql(statement))
	require.NoError(c.T, err, c.sql(statement))
}

// told words differences, with names in the place of ids.
func (c *tale) told(found []rebuild.Difference) string {
	var lines []string
	for _, d := range found {
		line := fmt.Sprintf("%s: %s: %s: %s, not %s", d.Customer, d.What, d.Field, d.Journal, d.Stored)
		for name, id := range c.ids {
			line = strings.ReplaceAll(line, id.String(), name)
		}
		lines = append(lines, strings.ReplaceAll(line, loyalty.ID{}.String(), "nobody"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// damage is one row being wrong: the table, the row, the change (SET …, or
// nothing for a row that is gone), and what is found.
type damage struct{ table, row, change, found string }

func TestRebuildFindsEveryDamage(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := newTale(t, url)
		found, done := loyaltytest.Rebuilt(t, c.DB)
		require.Empty(t, c.told(found))
		require.Equal(t, done.Of, done.Events)
		require.Equal(t, int64(6), done.Customers)
		loyaltytest.Proven(t, c.DB)
		for _, d := range damages {
			t.Run(d.table+" "+d.change+" "+d.row, func(t *testing.T) { c.suffers(t, d) })
		}

		for _, d := range intruders {
			t.Run("more "+d.table, func(t *testing.T) {
				c.exec("INSERT INTO " + d.table + " SELECT " + d.change)
				defer c.exec("DELETE FROM " + strings.Fields(d.table)[0] + " WHERE " + d.row)
				found, _ := loyaltytest.Rebuilt(t, c.DB)
				require.Equal(t, d.found, c.told(found))
			})
		}

		found, _ = loyaltytest.Rebuilt(t, c.DB)
		require.Empty(t, c.told(found), "all damage is undone")
	})
}

// suffers does the damage, rebuilds, and undoes it.
func (c *tale) suffers(t *testing.T, d damage) {
	where := " WHERE " + d.row // which the change leaves true
	columns := c.columns(d.table)
	c.exec("CREATE TABLE saved AS SELECT " + columns + " FROM " + d.table + where)
	defer func() {
		c.exec("DELETE FROM " + d.table + where)
		c.exec("INSERT INTO " + d.table + " (" + columns + ") SELECT * FROM saved")
		c.exec("DROP TABLE saved")
	}()

	var n int
	require.NoError(t, c.Raw.QueryRow("SELECT count(*) FROM saved").Scan(&n))
	require.Equal(t, 1, n, "it is one row")
	if d.change != "" {
		c.exec("CREATE TABLE changed AS SELECT * FROM saved")
		c.exec("UPDATE changed SET " + d.change)
	}

	c.exec("DELETE FROM " + d.table + where)
	if d.change != "" { // a row of another customer may belong to another machine
		c.exec("INSERT INTO " + d.table + " (" + columns + ") SELECT * FROM changed")
		c.exec("DROP TABLE changed")
	}

	found, _ := loyaltytest.Rebuilt(t, c.DB)
	require.Equal(t, d.found, c.told(found))
}

// columns lists those of a table that are written, not made by the database.
func (c *tale) columns(table string) string {
	query := "SELECT name FROM pragma_table_xinfo('" + table + "') WHERE hidden = 0"
	if c.postgres() {
		query = "SELECT column_name FROM information_schema.columns WHERE table_name = '" + table + "' AND is_generated = 'NEVER' ORDER BY ordinal_position"
	}

	rows, err := c.Raw.Query(query)
	require.NoError(c.T, err)
	defer func() { require.NoError(c.T, rows.Close()) }()
	var names []string
	for rows.Next() {
		var name string
		require.NoError(c.T, rows.Scan(&name))
		names = append(names, name)
	}

	require.NoError(c.T, rows.Err())
	return strings.Join(names, ", ")
}

// The rows that are damaged.
const (
	hers    = "customer_id = {member-1001}"
	herLot  = hers + " AND id = {gift}"
	theirs  = "customer_id = {member-1002} AND id = {thirty}" // that came with a merge
	herBuy  = "transaction_id = 'T-1'"
	club    = hers + " AND kind = 1 AND key = 'club'"
	waiting = "customer_id = {member-1004} AND kind = 11"
	card    = "code = 'CARD'"
	five    = "code = 'spring-00000'"
	unused  = "code = 'spring-00009'"
)

var damages = []damage{
	{"balances", hers, "score = score + 1", "member-1001: balance: score: 146, not 147"},
	{"balances", hers, "spent = spent - 1", "member-1001: balance: spent: 17, not 16"},
	{"balances", hers, "reserved = 0", "member-1001: balance: reserved: 5, not 0"},
	{"balances", hers, "expired = 3", "member-1001: balance: expired: 0, not 3"},
	{"balances", "customer_id = {member-1002}", "pending = 0", "member-1002: balance: pending: 55, not 0"},
	{"balances", hers, "debt = 8", "member-1001: balance: debt: 0, not 8"},
	{"balances", hers, "last_event = {five}", "member-1001: balance: last_event: gold, not five"},
	{"balances", hers, "", "member-1001: balance: exists: true, not false"},
	{"balances", "customer_id = {member-1003}", "score = 30", "member-1003: balance: score: 0, not 30"},

	{"lots", herLot, "remaining = remaining - 1", "member-1001: lot gift: remaining: 89, not 88"},
	{"lots", herLot, "points = 90", "member-1001: lot gift: points: 100, not 90"},
	{"lots", herLot, "reserved = 0, spent = spent + 1", "member-1001: lot gift: reserved: 1, not 0\nmember-1001: lot gift: spent: 10, not 11"},
	{"lots", herLot, "expired = 1", "member-1001: lot gift: expired: 0, not 1"},
	{"lots", herLot, "earned_at = earned_at + 1", "member-1001: lot gift: earned_at: 2026-03-01T09:35:00Z, not 2026-03-01T09:35:00.001Z"},
	{"lots", herLot, "expires_at = NULL", "member-1001: lot gift: expires_at: 2026-03-21T09:35:00Z, not never"},
	{"lots", herLot, "idle_days = 3", "member-1001: lot gift: idle: {0 0}, not {0 3}"},
	{"lots", herLot, "transaction_id = 'T-1'", "member-1001: lot gift: transaction: , not T-1"},
	{"lots", hers + " AND id = {late}", "earned_at = earned_at + 500000000", "member-1001: lot late: earned_at: 2026-02-25T10:00:00Z, not 2026-03-03T04:53:20Z"},
	{"lots", hers + " AND id = {accepted.2}", "transaction_id = NULL", "member-1001: lot accepted.2: transaction: T-1, not "},
	{"lots", herLot, "origin = 2", "member-1001: lot gift: origin: correction, not campaign"},
	{"lots", hers + " AND id = {accepted.2}", "origin = 7", "member-1001: lot accepted.2: origin: purchase, not correction"},
	{"lots", theirs, "origin = 8", "member-1002: lot thirty: origin: correction, not import"},
	{"lots", herLot, "", "member-1001: lot gift: exists: true, not false"},
	{"lots", theirs, "remaining = 30, spent = 0", "member-1002: lot thirty: remaining: 25, not 30\nmember-1002: lot thirty: spent: 5, not 0"},
	{"lots", theirs, "expires_at = expires_at + 1000", "member-1002: lot thirty: expires_at: 2026-03-21T09:48:00Z, not 2026-03-21T09:48:01Z"},
	{"lots", "customer_id = {member-1003}", "remaining = 25", "member-1003: lot thirty: remaining: 0, not 25"},

	{"transactions", herBuy, "state = 'refunded'", "member-1001: transaction T-1: state: accepted, not refunded"},
	{"transactions", herBuy, "earned = 55", "member-1001: transaction T-1: earned: 35, not 55"},
	{"transactions", herBuy, "original_earned = 35", "member-1001: transaction T-1: original_earned: 55, not 35"},
	{"transactions", herBuy, "burned = 10", "member-1001: transaction T-1: burned: 7, not 10"},
	{"transactions", herBuy, "original_burned = 7", "member-1001: transaction T-1: original_burned: 10, not 7"},
	{"transactions", herBuy, "refunded = 0", "member-1001: transaction T-1: refunded: 200000, not 0"},
	{"transactions", herBuy, "total = original_total", "member-1001: transaction T-1: total: 350000, not 550000"},
	{"transactions", herBuy, "original_total = 350000", "member-1001: transaction T-1: original_total: 550000, not 350000"},
	{"transactions", herBuy, "auto_accept = NULL", "member-1001: transaction T-1: auto_accept: 2026-03-03T09:37:00Z, not never"},
	{"transactions", "transaction_id = 'T-3'", "auto_reject = (1 = 1)", "member-1003: transaction T-3: auto_reject: false, not true"},
	{"transactions", herBuy, "checkout = {gift}", "member-1001: transaction T-1: checkout: bought, not gift"},
	{"transactions", herBuy, "updated_at = created_at", "member-1001: transaction T-1: updated_at: 2026-03-01T09:39:00Z, not 2026-03-01T09:37:00Z"},
	{"transactions", herBuy, "checkout_date = updated_at", "member-1001: transaction T-1: checkout_date: 2026-03-01T09:37:00Z, not 2026-03-01T09:39:00Z"},
	{"transactions", herBuy, `detail = replace(detail, '"returned":1', '"returned":2')`,
		`member-1001: transaction T-1: items[0]: {"event":"accepted.2","points":40,"returned":1,"taken_back":20}, not {"event":"accepted.2","points":40,"returned":2,"taken_back":20}`},
	{"transactions", herBuy, `detail = replace(detail, '"points":15', '"points":16')`,
		`member-1001: transaction T-1: items[1]: {"event":"accepted.3","points":15}, not {"event":"accepted.3","points":16}`},
	{"transactions", herBuy, `detail = replace(detail, '"burn"', '"burnt"')`, "member-1001: transaction T-1: burn: late: 7, not "},
	{"transactions", herBuy, "", "member-1001: transaction T-1: exists: true, not false"},
	{"transactions", "transaction_id = 'T-2'", "earned = 54", "member-1002: transaction T-2: earned: 55, not 54"},
	{"transactions", "transaction_id = 'T-2'", "checkout = {claimed}", "member-1002: transaction T-2: checkout: guest, not claimed"},
	{"transactions", "transaction_id = 'T-2'", "customer_id = {guest-1}",
		"guest-1: transaction T-2: exists: false, not true\nmember-1002: transaction T-2: exists: true, not false"},
	{"transactions", "transaction_id = 'T-3'", "state = 'rejected'", "member-1003: transaction T-3: state: pending, not rejected"},
	{"transactions", "transaction_id = 'T-3'", "customer_id = {member-1002}", "member-1002: transaction T-3: customer: member-1003, not member-1002"},

	{"progress", hers + " AND kind = 2 AND key = 'visits'", "data = '{}'",
		`member-1001: progress 2 visits: data: {"of":"cad0b8537622","completions":0,"criteria":[1],"started":"2026-03-01T09:44:00Z"}, not {}`},
	{"progress", club, "due_at = NULL", "member-1001: progress 1 club: due_at: 2026-03-02T00:00:00Z, not never"},
	{"progress", club, "", "member-1001: progress 1 club: exists: true, not false"},
	{"progress", waiting, "due_at = due_at + 60000", "member-1004: progress 11 held: due_at: 2026-03-04T09:54:00Z, not 2026-03-04T09:55:00Z"},
	{"progress", waiting, "", "member-1004: progress 11 held: exists: true, not false"},

	{"claims", hers, "state = 'revoked'", "member-1001: claim five: state: claimed, not revoked"},
	{"claims", hers, "points = 11", "member-1001: claim five: points: 10, not 11"},
	{"claims", hers, "award = 10", "member-1001: claim five: award: 0, not 10"},
	{"claims", hers, "reward = 'mug'", "member-1001: claim five: reward: five, not mug"},
	{"claims", hers, "coupon = 'CARD'", "member-1001: claim five: coupon: spring-00000, not CARD"},
	{"claims", hers, "burn = NULL", "member-1001: claim five: burn: gift: 10, not "},
	{"claims", hers, "claimed_at = claimed_at + 5", "member-1001: claim five: claimed_at: 2026-03-01T09:43:00Z, not 2026-03-01T09:43:00.005Z"},
	{"claims", hers, "updated_at = updated_at + 5", "member-1001: claim five: updated_at: 2026-03-01T09:43:00Z, not 2026-03-01T09:43:00.005Z"},
	{"claims", "reward = 'five'", "", "member-1001: claim five: exists: true, not false"},

	{"coupons", card, "state = 'redeemed'", "member-1001: coupon CARD: state: partially_redeemed, not redeemed"},
	{"coupons", card, "balance = 200000", "member-1001: coupon CARD: balance: 150000, not 200000"},
	{"coupons", card, "value = 210000", "member-1001: coupon CARD: value: 200000, not 210000"},
	{"coupons", card, "customer_id = {member-1002}", "member-1002: coupon CARD: customer: member-1001, not member-1002"},
	{"coupons", card, "version = 1", "member-1001: coupon CARD: version: 2, not 1"},
	{"coupons", card, "redeemed_at = NULL", "member-1001: coupon CARD: redeemed_at: 2026-03-01T09:42:00Z, not never"},
	{"coupons", card, "uses = NULL", `member-1001: coupon CARD: uses: [{"event":"used","at":"2026-03-01T09:42:00Z","amount":5,"before":"claimed"}], not null`},
	{"coupons", card, "stores = '[\"buda\"]'", `member-1001: coupon CARD: stores: null, not ["buda"]`},
	{"coupons", card, "", "member-1001: coupon CARD: exists: true, not false"},
	{"coupons", five, "expires_at = NULL", "member-1001: coupon spring-00000: expires_at: 2026-03-31T09:43:00Z, not never"},
	{"coupons", five, "reward = NULL", "member-1001: coupon spring-00000: reward: five, not "},
	{"coupons", unused, "state = 'unassigned'", "nobody: coupon spring-00009: state: created, not unassigned"},
	{"coupons", unused, "customer_id = {member-1001}, version = 1",
		"member-1001: coupon spring-00009: customer: nobody, not member-1001\nmember-1001: coupon spring-00009: version: 0, not 1"},

	{"tallies", "key = 'reward/five'", "count = 2", "nobody: count reward/five: count: 1, not 2"},
	{"tallies", "key = 'reward/five'", "", "nobody: count reward/five: count: 1, not 0"},

	{"customers", "id = {member-1001}", "status = 'suspended'", "member-1001: customer: status: active, not suspended"},
	{"customers", "id = {member-1005}", "status = 'active'", "member-1005: customer: status: opted_out, not active"},
	{"customers", "id = {member-1003}", "status = 'active', merged_into = NULL",
		"member-1003: customer: merged_into: member-1002, not nobody\nmember-1003: customer: status: merged, not active"},
	{"customers", "id = {member-1001}", "referrer = {member-1002}", "member-1001: customer: referrer: nobody, not member-1002"},
	{"customers", "id = {member-1001}", "", "member-1001: customer: exists: true, not false"},
	{"customers", "id = {member-1003}", "", "member-1003: customer: exists: true, not false"},
}

// intruders are rows that no event tells of: what is inserted, and how it is told
// from the others.
var intruders = []damage{
	{"lots", "points = 77", "customer_id, {used}, 77, 77, 0, 0, 0, earned_at, expires_at, 0, 0, open, NULL, origin FROM lots WHERE " + herLot,
		"member-1001: lot used: exists: false, not true"},
	{"transactions", "transaction_id = 'T-9'", `{member-1004}, 'T-9', state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total,
		refunded, original_earned, earned, original_burned, burned, NULL, 0 FROM transactions WHERE ` + herBuy, "member-1004: transaction T-9: exists: false, not true"},
	{"progress", "key = 'diamond'", "customer_id, kind, 'diamond', data, NULL FROM progress WHERE " + club, "member-1001: progress 1 diamond: exists: false, not true"},
	{"claims", "id = {visit}", "customer_id, {visit}, reward, state, points, award, coupon, claimed_at, updated_at, burn FROM claims", "member-1001: claim visit: exists: false, not true"},
	{"coupons", "code = 'FORGED'", `{visit}, 'FORGED', state, customer_id, type, value, balance, currency, name, pool, reward, cost, stores, products, created_at, claimed_at,
		redeemed_at, expires_at, version, uses, given, voided FROM coupons WHERE ` + card, "member-1001: coupon FORGED: exists: false, not true"},
	{"tallies", "key = 'offer/coffee'", "'offer/coffee', 4", "nobody: count offer/coffee: count: 0, not 4"},
	{"customers (id, name, status, created_at, updated_at)", "name = 'nobody knows'", "{visit}, 'nobody knows', 'active', 0, 0", "visit: customer: exists: false, not true"},
	{"balances", "score = 5000", "{visit}, 1, 5000, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL FROM tallies", "visit: balance: exists: false, not true"},
}

// The journal itself cannot be changed: the database refuses.
func TestRebuildRestsOnTheJournal(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := newTale(t, url)
		for _, statement := range []string{
			"UPDATE events SET effects = NULL", "DELETE FROM events", "UPDATE postings SET points = 1", "DELETE FROM postings WHERE customer_id = {member-1001}",
		} {
			_, err := c.Raw.Exec(c.sql(statement))
			require.ErrorContains(t, err, "append-only", statement)
		}
	})
}
