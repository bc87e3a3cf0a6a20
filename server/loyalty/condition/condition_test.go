package condition_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// purchase is a checkout on Sunday 1 March 2026, 10:30 in Budapest.
func purchase(t testing.TB) *condition.Facts {
	t.Helper()
	budapest, err := time.LoadLocation("Europe/Budapest")
	require.NoError(t, err)
	f := &condition.Facts{
		Location: budapest,
		Event: condition.Event{
			Action: "checkout", Timestamp: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), Points: 120,
			Data: map[string]any{
				"channel": "web", "gift": true, "count": 3.0, "big": json.RawMessage(`9007199254740993`),
				"address": json.RawMessage(`{"city":"Pécs","zip":7621}`), "codes": []any{"A1", "B2"}, "empty": "",
				"mixed": []any{"x", 5.0}, "null": nil, "delivery": "2026-03-04", "gift wrap": "red", "size": "42",
				"code": " X", "coupons": []any{"C"}, "bad": json.RawMessage(`{`), "sizes": []any{38.0, 39.5}, "ratio": json.Number("0.25"),
			},
		},
		Customer: condition.Customer{
			ID: "member-1001", Status: "active", Profile: texts{"email": "member-1001@shop.test", "language": "hun", "currency": "HUF", "birth_date": "1990-03-01"},
			Labels: []string{"vip", "newsletter"}, Lists: []string{"spring"}, Tiers: map[string]string{"main": "gold"},
			ExternalIDs: map[string][]string{"crm": {"000417"}, "card": {"4711", "4712", "b-4713"}},
			Score:       1250, Spent: 300, Reserved: 1, Expired: 2, Pending: 4, Spendable: 950, Debt: 0,
			CreatedAt: time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
			Custom: map[string]any{"cf_shoe_size": 38.0, "cf_newsletter": json.RawMessage(`true`)},
		},
		Transaction: &condition.Transaction{
			ID: "order-1", Status: "accepted", Currency: "HUF", Country: "HU", Channel: "web", Store: "pecs",
			Total: 99.99, OriginalTotal: 120, Refunded: 20.01, Earned: 99, Burned: 30,
			CheckoutDate: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
			Data:         map[string]any{"coupon": "SPRING"},
			Items: []condition.Item{
				{ProductID: "SKU-1", ProductName: "Trail shoe", ProductCategory: "shoes", Quantity: 1, Subtotal: 60, Price: 60, Data: map[string]any{"size": 42.0}},
				{ProductID: "SKU-2", ProductName: "Sock", ProductCategory: "socks", Quantity: 3, Subtotal: 39.99, Price: 15, Discount: 5.01},
			},
		},
	}

	f.Item = &f.Transaction.Items[1]
	return f
}

// texts are those of a profile.
type texts map[string]string

func (t texts) Text(name string) string { return t[name] }

// TestHolds is the language: what a programme manager may write, and what it
// says of the purchase above.
func TestHolds(t *testing.T) {
	f := purchase(t)
	for source, want := range map[string]bool{
		// the examples of the documentation
		`transaction.total >= 100`:                                                          false,
		`transaction.channel == "web" and customer.score > 1000`:                            true,
		`event.weekday in ["sat", "sun"] and event.hour in 9..17`:                           true,
		`"vip" in customer.labels or customer.tiers["main"] == "gold"`:                      true,
		`"spring" in customer.lists and len(customer.lists) == 1`:                           true,
		`any(transaction.items, .product_category == "shoes")`:                              true,
		`sum(filter(transaction.items, .product_category == "shoes"), .subtotal) > 50`:      true,
		`customer.birthday == event.month_day`:                                              true,
		`customer.birth_month == event.month and customer.age >= 18`:                        true,
		`now - customer.created_at < days(30)`:                                              true,
		`event.day >= "2026-03-01" and event.day <= "2026-03-31"`:                           true,
		`customer.email endsWith "@shop.test" and customer.cf_newsletter == true`:           true,
		`item.product_id in ["SKU-1", "SKU-2"] and item.quantity >= 3`:                      true,
		`event.data.address.city == "Pécs" && event.data["gift wrap"] == "red"`:             true,
		`event.data.codes[0] == "A1" and event.data.codes[-1] == nil`:                       true,
		`(transaction.channel ?? "none") != "web"`:                                          false,
		`10 < transaction.total <= 100`:                                                     true,
		`event.data.delivery == "2026-03-04" and date(event.data.delivery) > now + days(2)`: true,

		// every field
		`event.action == "checkout" and event.points == 120 and event.timestamp == now`:                                  true,
		`event.day == "2026-03-01" and event.year == 2026 and event.month == 3 and event.hour == 10`:                     true,
		`customer.id == "member-1001" and customer.status == "active" and customer.language == "hun"`:                    true,
		`customer.currency == "HUF" and customer.birth_date == "1990-03-01" and customer.age == 36`:                      true,
		`customer.external_ids["crm"] == "000417" and customer.external_ids.crm startsWith "0004"`:                       true,
		`customer.external_ids.card == "4712" and customer.external_ids.card == "4711"`:                                  true,
		`customer.external_ids.card == "4710" or "4710" == customer.external_ids.card`:                                   false,
		`customer.external_ids.card != "4712"`:                                                                           false,
		`customer.external_ids.card != "4710" and not (customer.external_ids.card == "4710")`:                            true,
		`customer.external_ids.card in ["1", "b-4713"]`:                                                                  true,
		`customer.external_ids.card not in ["1", "4712"]`:                                                                false,
		`customer.external_ids.card not in ["1", "2"]`:                                                                   true,
		`customer.external_ids.card matches "^b-" and customer.external_ids.card contains "12"`:                          true,
		`customer.external_ids.card endsWith "14"`:                                                                       false,
		`upper(customer.external_ids.card) == "B-4713" and len(customer.external_ids["card"]) == 6`:                      true,
		`(customer.external_ids.none ?? customer.external_ids.card) == "4712"`:                                           true,
		`customer.external_ids.card == customer.external_ids.crm`:                                                        false,
		`customer.external_ids.card == customer.external_ids.card`:                                                       true,
		`any(["9", "4712"], # == customer.external_ids.card) and none(["9"], # == customer.external_ids.card)`:           true,
		`"card" in customer.external_ids and customer.external_ids.card != nil and customer.external_ids.none == nil`:    true,
		`(customer.score > 1 ? customer.external_ids : customer.tiers).card == "4711"`:                                   true,
		`number(customer.external_ids.crm) in 417..417`:                                                                  true,
		`customer.score - customer.spent == customer.spendable and customer.debt == 0`:                                   true,
		`customer.reserved + customer.expired + customer.pending == 7`:                                                   true,
		`customer.updated_at > customer.created_at and customer.updated_at <= now`:                                       true,
		`customer.handler == nil and customer.first_name == nil and customer.last_name == ""`:                            true,
		`customer.gender == nil and customer.image_url == nil and customer.referrer == nil`:                              true,
		`customer.cf_shoe_size == 38 and customer.cf_other == nil`:                                                       true,
		`transaction.id == "order-1" and transaction.status == "accepted" and transaction.store == "pecs"`:               true,
		`transaction.currency == customer.currency and transaction.country == "HU"`:                                      true,
		`transaction.original_total - transaction.refunded == transaction.total`:                                         true,
		`transaction.earned == 99 and transaction.burned == 30 and transaction.checkout_date == now`:                     true,
		`transaction.data.coupon == "SPRING" and transaction.items[0].product_name == "Trail shoe"`:                      true,
		`item.product_name == "Sock" and item.product_category == "socks" and item.price == 15`:                          true,
		`item.subtotal == item.price * item.quantity - item.discount and item.data.size == nil`:                          true,
		`any(transaction.items, .data.size == 42 and .price == .subtotal and .discount == 0 and .product_id == "SKU-1")`: true,

		// blanks around ids and codes are no part of them
		`customer.id == " member-1001\u2003" and customer.lists[0] == "spring " and " spring" in customer.lists`:    true,
		`any(customer.lists, # == " spring") and count(filter(customer.lists, # != "x"), # in ["spring "]) == 1`:    true,
		`customer.tiers[" main "] == "gold " and " main" in customer.tiers and "\u00a0gold" != customer.tiers.main`: false,
		`customer.external_ids["crm "] == " 000417" and (customer.referrer ?? "none") == " none"`:                   true,
		`transaction.id in [" order-1"] and transaction.store == " pecs" and item.product_id >= " SKU-2"`:           true,
		`any(transaction.items, .product_id == " SKU-1\t") and transaction.items[0].product_id != " SKU-1"`:         false,
		`event.data.code == "X" and event.data["coupons"][0] == " C" and " C " in event.data.coupons`:               true,
		`event.data.code startsWith "X" and " x" != event.data.channel and customer.referrer == "  "`:               true,
		`customer.id != "  " and " web" == event.data.channel`:                                                      false,

		// operators
		`true`: true, `false`: false, `not false`: true, `!(1 == 2)`: true, `event.data.gift`: true, `not event.data.gift`: false,
		`1 == 1.0 and -1 < +1 and 0x10 == 16 and 1_000 == 1000`:                                              true,
		`0.7 + 0.1 == 0.8 and 0.1 + 0.2 <= 0.3 and 1 / 3 == 0.333333`:                                        true,
		`7 % 3 == 1 and 7 / 2 == 3.5 and 6 / 2 == 3 and 2 * 2.5 == 5 and 7 % -1 == 0`:                        true,
		`event.data.big == 9007199254740993 and event.data.big != 9007199254740992`:                          true,
		`event.data.ratio * 4 == 1 and event.data.count + 1 == 4`:                                            true,
		`"a" < "b" and "a" != "A" and lower("A") == "a"`:                                                     true,
		`"vip" not in customer.labels`:                                                                       false,
		`"gift" in event.data and "lift" not in event.data and "main" in customer.tiers`:                     true,
		`"x" in event.data.mixed and 5 in event.data.mixed and 6 not in event.data.mixed`:                    true,
		`transaction.total in 99..100 and 100 in 99..100 and 98.9 not in 99..100`:                            true,
		`-1 in [-1, 2.5] and 1 not in [] and true in [true]`:                                                 true,
		`customer.email matches "^member-[0-9]+@" and "x" not matches "y"`:                                   true,
		`customer.email contains "1001" and customer.email not contains "admin"`:                             true,
		`-days(1) < hours(1) and days(1) == hours(24) and hours(1) - minutes(30) == minutes(30)`:             true,
		`days(1) + date("2026-03-01") == date("2026-03-02") and now - hours(1) < now`:                        true,
		`(event.data.gift ? 1 : 2) == 1 and (event.data.lift ? 1 : 2) == 2`:                                  true,
		`if event.data.gift { customer.score > 1 } else { false }`:                                           true,
		`event?.data?.address?.city == "Pécs" and event.data.address.zip == 7621`:                            true,
		`customer.labels | any(# startsWith "vi")`:                                                           true,
		"customer.score > 1 // points\nand /* and */ customer.spent > 1":                                     true,
		`customer.email == 'member-1001@shop.test'`:                                                          true,
		`(event.data.lift ?? event.data.gift) and (nil ?? 1) == 1 and (customer.score > 1 ? nil : 3) == nil`: true,

		// functions
		`all(transaction.items, .quantity > 0) and none(transaction.items, .quantity > 3)`:                        true,
		`one(transaction.items, .quantity == 3) and not one(transaction.items, .quantity > 0)`:                    true,
		`count(transaction.items, .price > 20) == 1 and count(transaction.items) == 2`:                            true,
		`sum(transaction.items, .quantity) == 4 and sum(event.data.sizes) == 77.5`:                                true,
		`sum(transaction.items, .data.size) == 42`:                                                                true,
		`any(transaction.items, any(customer.labels, # == "vip") and .quantity == 3)`:                             true,
		`any(event.data.codes, # matches "^B") and len(event.data.codes) == 2 and len("Pécs") == 4`:               true,
		`len(customer.labels) == 2 and len(filter(customer.labels, # != "vip")) == 1`:                             true,
		`abs(-2.5) == 2.5 and abs(-3) == 3 and floor(-0.5) == -1 and ceil(1.2) == 2 and round(2.5) == 3`:          true,
		`min(1, 2.5) == 1 and max(1, 2.5) == 2.5 and max(customer.score, 3) == 1250`:                              true,
		`trim(" a ") == "a" and upper("a") == "A" and number(event.data.size) == 42 and number(7) == 7`:           true,
		`date("2026-03-01") == date("2026-02-28T23:00:00Z") and date("2026-03-01T01:00:00") > date("2026-03-01")`: true,
		`all([], true) and none(filter(customer.labels, false), true) and not any([], true)`:                      true,

		// what is absent
		`event.data.lift == nil and event.data.null == nil and event.data.lift.deep[2] == nil`: true,
		`event.data.lift != nil`: false, `event.data.lift == ""`: true, `event.data.empty == "" and event.data.empty != nil`: true,
		`"" == customer.handler and nil == customer.handler`: true, `customer.email != ""`: true, `event.data.count == ""`: false,
		`event.data.lift == "web"`: false, `event.data.lift != "web"`: false, `not (event.data.lift == "web")`: false,
		`event.data.lift > 1`: false, `event.data.lift <= 1`: false, `not event.data.lift`: false, `event.data.lift`: false,
		`event.data.lift in ["a"]`: false, `event.data.lift not in ["a"]`: false, `"a" not in event.data.lift`: false,
		`event.data.lift in 1..2`: false, `event.data.lift not contains "a"`: false, `event.data.lift not matches "a"`: false,
		`event.data.lift + 1 != 2`: false, `lower(event.data.lift) != "a"`: false, `len(event.data.lift) == 0`: false, `-event.data.lift != 1`: false,
		`any(event.data.lift, true)`: false, `none(event.data.lift, true)`: false, `count(event.data.lift, true) == 0`: false,
		`sum(event.data.lift) == 0`: false, `len(filter(event.data.lift, true)) == 0`: false,
		`event.data.lift == 1 or true`: true, `true or event.data.lift == 1`: true, `event.data.lift == 1 or false`: false,
		`not (event.data.lift == 1 and false)`: true, `not (false and event.data.lift == 1)`: true, `not (event.data.lift == 1 and true)`: false,
		`not (true and event.data.lift == 1)`: false, `not (event.data.lift == 1 or false)`: false,
		`(event.data.lift ?? "web") == "web" and (event.data.lift ?? 0) == 0`: true,
		`none(transaction.items, .data.size == 43)`:                           true, `count(transaction.items, .data.size != 43) == 1`: true,
		`customer.tiers["other"] == nil and customer.tiers["other"] != "gold"`: false, `customer.tiers.other == nil`: true,
		`transaction != nil and item != nil`: true,
	} {
		t.Run(source, func(t *testing.T) {
			c, err := condition.Compile(source)
			require.NoError(t, err)
			require.Equal(t, source, c.String())
			holds, err := c.Holds(f)
			require.NoError(t, err)
			require.Equal(t, want, holds)
		})
	}
}

func TestNoPurchase(t *testing.T) {
	f := purchase(t)
	f.Transaction, f.Item, f.Location = nil, nil, nil
	for source, want := range map[string]bool{
		`transaction == nil and item == nil`:             true,
		`transaction != nil`:                             false,
		`transaction.total > 0`:                          false,
		`transaction.total <= 0`:                         false,
		`transaction.channel != "web"`:                   false,
		`not (transaction.total > 0)`:                    false,
		`any(transaction.items, true)`:                   false,
		`none(transaction.items, true)`:                  false,
		`len(transaction.items) == 0`:                    false,
		`transaction.items[0].price > 0`:                 false,
		`item.quantity < 5`:                              false,
		`item.data.size == nil`:                          true,
		`transaction.total > 0 or customer.score > 1000`: true,
		`transaction == nil or transaction.total > 0`:    true,
		`event.hour == 9`:                                true, // UTC
	} {
		c, err := condition.Compile(source)
		require.NoError(t, err, source)
		holds, err := c.Holds(f)
		require.NoError(t, err, source)
		require.Equal(t, want, holds, source)
	}

	holds, err := mustCompile(t, `customer.score == 0 and event.data.x == nil`).Holds(nil)
	require.NoError(t, err)
	require.True(t, holds, "no facts are empty facts")
}

// TestRefused is what Compile does not accept, where, and why.
func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		// not a truth
		`customer.score`:          `line 1, column 10: customer.score is a number where true or false is expected`,
		`"yes"`:                   `line 1, column 1: "yes" is text where true or false is expected`,
		`nil`:                     `nil is absent where true or false is expected`,
		`transaction`:             `transaction is a record where true or false is expected`,
		`customer.labels`:         `is a list where true or false`,
		`1 and true`:              `column 1: 1 is a number where true or false`,
		`customer.score or true`:  `is a number where true or false`,
		`not customer.score == 1`: `column 14: customer.score is a number where true or false`,
		`any(customer.labels, #)`: `# is text where true or false`,

		// unknown names
		`event.actoin == "x"`:                 `line 1, column 7: event has no field actoin; it has action, data, day, hour, month, month_day, points, timestamp, weekday, year`,
		"true and\n  customr.score > 1":       `line 2, column 3: there is no customr; there are event, customer, transaction, item and now`,
		`customer.points > 1`:                 `customer has no field points`,
		`item.sku == "x"`:                     `item has no field sku; it has data, discount, price, product_category, product_id, product_name, quantity, subtotal`,
		`any(transaction.items, .sku == "x")`: `a line has no field sku`,
		`customer == nil`:                     `customer needs a field: age,`,
		`transaction["totl"] > 1`:             `transaction has no field totl`,
		`event.weekday == "monday"`:           `event.weekday is never "monday"; it is one of sun, mon, tue, wed, thu, fri, sat`,
		`"Mon" != event.weekday`:              `event.weekday is never "Mon"`,
		`event.weekday in ["mon", "tues"]`:    `event.weekday is never "tues"`,
		`# == 1`:                              `unexpected token`,
		`any(customer.labels, #index == 1)`:   `#index is not part of the language`,

		// wrong kinds
		`customer.score == "x"`:              `customer.score is a number and "x" is text: they cannot be compared`,
		`"x" < customer.score`:               `they cannot be compared`,
		`customer.created_at > "2026-01-01"`: `an instant is written date("2026-03-01")`,
		`customer.labels == ["vip"]`:         `customer.labels is a list and cannot be compared`,
		`event.data == "x"`:                  `event.data is an object and cannot be compared`,
		`transaction == 1`:                   `transaction is a record and cannot be compared`,
		`true < false`:                       `true is true or false and has no order`,
		`customer.score > nil`:               `nil is absent and has no order`,
		`customer.score in ["a"]`:            `customer.score is a number and ["a"] holds text`,
		`"a" in "abc"`:                       `a part of a text is found by contains`,
		`1 in customer.tiers`:                `an object is asked for a name`,
		`1 in nil`:                           `nil is absent and holds nothing`,
		`1 in customer.score`:                `holds nothing`,
		`nil in customer.labels`:             `nil is absent and cannot be looked for`,
		`"SKU-1" in transaction.items`:       `ask with any(transaction.items, ...)`,
		`customer.labels contains "vip"`:     `customer.labels is a list; ask whether something is in it`,
		`customer.score contains "1"`:        `customer.score is a number where text is expected`,
		`"1" contains 1`:                     `1 is a number where text is expected`,
		`customer.email + "x" == "y"`:        `texts cannot be added`,
		`now + 1 > now`:                      `now is an instant where a number is expected`,
		`now + now > now`:                    `now is an instant where a number`,
		`days("1") > days(2)`:                `"1" is text where a number is expected`,
		`-"1" == 1`:                          `"1" is text where a number is expected`,
		`customer.score.x == 1`:              `customer.score is a number and has no parts`,
		`customer.labels["x"] == "y"`:        `cannot be looked up by text`,
		`customer.tiers[0] == "y"`:           `cannot be looked up by a number`,
		`event.data[true] == "y"`:            `cannot be looked up by true or false`,
		`(customer.score ?? "x") == 1`:       `they cannot stand for each other`,
		`(true ? 1 : "x") == 1`:              `they cannot stand for each other`,
		`(1 ? true : false)`:                 `1 is a number where true or false`,
		`[1, "a"] == nil`:                    `a list holds values of one kind, not a number and text`,
		`1 in [customer.score]`:              `a list holds values that are written out, not customer.score`,
		`1 in [[1]]`:                         `a list holds values that are written out`,
		`any(customer.score, true)`:          `customer.score is a number where a list is expected`,
		`sum(transaction.items) > 1`:         `# is a line item where a number is expected`,
		`sum(customer.labels, #) > 1`:        `# is text where a number is expected`,
		`len(customer.score) > 1`:            `has no length`,
		`event.hour in "a".."b"`:             `"a" is text where a number`,

		// functions
		`date("2026-02-30") < now`:                `is neither a day like 2026-03-01 nor an instant`,
		`date(1) < now`:                           `1 is a number where text is expected`,
		`number(true) == 1`:                       `true is true or false where text is expected`,
		`min(1) == 1`:                             `min takes 2, not 1`,
		`len() == 1`:                              `len takes 1, not 0`,
		`foo(1)`:                                  `there is no function foo; there are all, any, count, filter, len, none, one, sum, abs,`,
		`customer.email matches customer.id`:      `a pattern is written out as text`,
		`customer.email matches "("`:              `the pattern cannot be read`,
		`customer.email matches "a{1000}a{1000}"`: `the pattern repeats too much`,
		`customer.email matches "` + strings.Repeat("a", 201) + `"`: `the pattern is longer than 200 bytes`,

		// what Expr has and this language has not
		`1..3 == nil`:                   `a range stands to the right of in`,
		`let a = 1; a == 1`:             `is not part of the language`,
		`true; true`:                    `is not part of the language`,
		`{"a": 1} == nil`:               `is not part of the language`,
		`2 ** 3 == 8`:                   `** is not part of the language`,
		`customer.labels[0:1] == nil`:   `is not part of the language`,
		`customer.email.lower() == nil`: `is not part of the language`,
		`b"x" == nil`:                   `is not part of the language`,
		`$env == nil`:                   `there is no $env`,
		`now() > now`:                   `there is no function now`,
		`repeat("a", 9) == "a"`:         `there is no function repeat`,
		`reduce([1], # + #acc, 0) == 1`: `there is no function reduce`,
		`map([1], #) == nil`:            `there is no function map`,
		`toJSON(1) == "1"`:              `there is no function toJSON`,
		`get(event.data, "x") == 1`:     `there is no function get`,
		`duration("1h") == hours(1)`:    `there is no function duration`,

		// syntax and size
		`1 +`:                              `line 1, column 3: unexpected token EOF`,
		`customer.score > 1 )`:             `unexpected token Bracket(")")`,
		`"open`:                            `line 1, column`,
		"customer.email == \"\xff\"":       `not UTF-8 text`,
		`true` + strings.Repeat(" ", 2000): `line 1, column 1: longer than 2000 bytes`,
		`1 in [` + strings.Repeat("1,", 600) + `1]`: `more than 500 names, values and operators`,
		"\"é\" == \"é\" and\n\"é\" == x":            `line 2, column 8: there is no x`,
	} {
		t.Run(source, func(t *testing.T) {
			c, err := condition.Compile(source)
			require.Nil(t, c)
			var refused *condition.Error
			require.ErrorAs(t, err, &refused)
			require.Contains(t, err.Error(), want)
			require.NotEmpty(t, refused.Reason)
			require.Positive(t, refused.Line)
			require.Positive(t, refused.Column)
		})
	}
}

// TestFailures is what only the data can tell: the condition does not hold, the
// error says why, and shows nothing of the data.
func TestFailures(t *testing.T) {
	f := purchase(t)

	for source, want := range map[string]string{
		`event.data.size > 2`:                       `event.data.size is text and 2 is a number: they cannot be compared`,
		`event.data.size != 42`:                     `event.data.size is text and 42 is a number: they cannot be compared`,
		`event.data.size == 42 or true`:             `they cannot be compared`,
		`event.data.codes == "A1"`:                  `event.data.codes is a list and "A1" is text`,
		`event.data.gift < event.data.gift`:         `they cannot be compared`,
		`event.data.channel`:                        `event.data.channel is text where true or false is expected`,
		`not event.data.count`:                      `event.data.count is a number where true or false is expected`,
		`event.data.channel + 1 > 1`:                `event.data.channel is text where a number is expected`,
		`event.data.channel.deep == 1`:              `event.data.channel is text and cannot be looked up by text`,
		`event.data.codes["x"] == 1`:                `event.data.codes is a list and cannot be looked up by text`,
		`event.data.count contains "3"`:             `event.data.count is a number where text is expected`,
		`event.data.count matches "3"`:              `event.data.count is a number where text is expected`,
		`event.data.count in ["3", "4"]`:            `event.data.count is a number and ["3", "4"] holds none`,
		`"x" in event.data.channel`:                 `it cannot be looked for there`,
		`event.data.codes in [1]`:                   `it cannot be looked for there`,
		`any(event.data.channel, true)`:             `event.data.channel is text where a list is expected`,
		`any(event.data.codes, .sku == 1)`:          `# is text and cannot be looked up by text`,
		`sum(event.data.codes) > 1`:                 `# is text where a number is expected`,
		`len(event.data.gift) > 1`:                  `event.data.gift is true or false and has no length`,
		`event.data.bad == 1`:                       `event.data.bad is of unknown kind`,
		`date(event.data.channel) > now`:            `neither a day like`,
		`number(event.data.channel) > 1`:            `number: the value is no number`,
		`number(event.data.gift) > 1`:               `number: the value is no number`,
		`customer.score / 0 > 1`:                    `customer.score / 0 has no result`,
		`customer.score % 0 > 1`:                    `has no result`,
		`2.5 % 2 == 1`:                              `has no result`,
		`event.data.big * event.data.big > 1`:       `has no result`,
		`9223372036854775807 + customer.score > 1`:  `has no result`,
		`-9223372036854775807 - customer.score < 1`: `has no result`,
		`days(1e300) > days(1)`:                     `the duration is too long`,
	} {
		t.Run(source, func(t *testing.T) {
			holds, err := mustCompile(t, source).Holds(f)
			require.ErrorContains(t, err, want)
			require.False(t, holds)
			require.NotContains(t, err.Error(), `"web"`, "an error shows kinds, never data")
		})
	}
}

// TestDataKinds is every form in which an attribute may come.
func TestDataKinds(t *testing.T) {
	f := &condition.Facts{Event: condition.Event{Data: map[string]any{
		"int": 7, "int64": int64(7), "float": 7.5, "number": json.Number("9007199254740993"), "raw": json.RawMessage(`[1,"é",null,{"a":[true]}]`),
		"time": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "texts": []string{"a"}, "object": map[string]string{"a": "b"},
		"overflow": json.Number("1e999"), "foreign": struct{}{}, "zero": time.Time{},
	}}}

	for _, source := range []string{
		`event.data.int == 7 and event.data.int64 == 7 and event.data.float == 7.5`, `event.data.number == 9007199254740993`,
		`event.data.raw[0] == 1 and event.data.raw[1] == "é" and event.data.raw[2] == nil and event.data.raw[3].a[0]`,
		`event.data.time == date("2026-03-01") and event.data.zero == nil`, `"a" in event.data.texts and event.data.texts[0] == "a"`,
		`event.data.object.a == "b" and "a" in event.data.object`, `event.data.foreign != nil and event.data.overflow != nil`,
		`customer.birth_month == nil and customer.birthday == nil and customer.age == nil and customer.created_at == nil`,
		`abs(-9007199254740993) == event.data.number and floor(event.data.number) == event.data.number and abs(-0.5) == 0.5`,
	} {
		holds, err := mustCompile(t, source).Holds(f)
		require.NoError(t, err, source)
		require.True(t, holds, source)
	}

	for _, source := range []string{`event.data.foreign == 1`, `event.data.overflow > 1`} {
		_, err := mustCompile(t, source).Holds(f)
		require.ErrorContains(t, err, "of unknown kind", source)
	}
}

func TestBirthday(t *testing.T) {
	c := mustCompile(t, `customer.birthday == event.month_day`)
	adult := mustCompile(t, `customer.age >= 18`)

	for _, day := range []struct {
		born, at        string
		birthday, adult bool
	}{
		{"2008-02-29", "2026-02-27T12:00:00Z", false, false},
		{"2008-02-29", "2026-02-28T12:00:00Z", true, true}, // no 29 February in 2026
		{"2008-02-29", "2028-02-28T12:00:00Z", false, true},
		{"2008-02-29", "2028-02-29T12:00:00Z", true, true},
		{"2008-05-17", "2026-05-16T22:30:00Z", true, true}, // 17 May in Budapest
		{"2008-05-17", "2026-05-16T21:30:00Z", false, false},
		{"", "2026-05-17T12:00:00Z", false, false},
		{"17 May", "2026-05-17T12:00:00Z", false, false},
	} {
		f := purchase(t)
		at, err := time.Parse(time.RFC3339, day.at)
		require.NoError(t, err)
		f.Event.Timestamp, f.Customer.Profile = at, texts{"birth_date": day.born}
		holds, err := c.Holds(f)
		require.NoError(t, err)
		require.Equal(t, day.birthday, holds, "%v", day)
		holds, err = adult.Holds(f)
		require.NoError(t, err)
		require.Equal(t, day.adult, holds, "%v", day)
	}
}

func TestEmptyAndUses(t *testing.T) {
	for _, source := range []string{"", " \n\t"} {
		c, err := condition.Compile(source)
		require.NoError(t, err)
		require.Nil(t, c)
		holds, err := c.Holds(nil)
		require.NoError(t, err)
		require.True(t, holds)
		require.Empty(t, c.String())
		require.False(t, c.Uses("event"))
	}

	uses := func(source string) (all []string) {
		c := mustCompile(t, source)
		for _, name := range []string{"event", "customer", "transaction", "item", "customer.tiers", "customer.cf_x", "event.timestamp", "transaction.items"} {
			if c.Uses(name) {
				all = append(all, name)
			}
		}
		return all
	}

	require.Equal(t, []string{"customer", "customer.tiers"}, uses(`customer.tiers["main"] == "gold"`))
	require.Equal(t, []string{"event", "event.timestamp"}, uses(`now > date("2026-03-01")`))
	require.Equal(t, []string{"transaction", "transaction.items"}, uses(`any(transaction.items, .quantity > 1)`), "a line in a list is not the line that is meant")
	require.Equal(t, []string{"transaction", "item"}, uses(`transaction == nil or item.quantity > 1`))
	require.Equal(t, []string{"customer", "customer.cf_x"}, uses(`customer.cf_x == 1`))
	require.Empty(t, uses(`true`))
}

// TestConcurrent runs one condition over several facts at once; the race
// detector watches.
func TestConcurrent(t *testing.T) {
	c := mustCompile(t, `any(transaction.items, .quantity in [3, 4]) and event.weekday == "sun" and customer.email matches "1001"`)
	var group sync.WaitGroup
	for range 8 {
		f := purchase(t)
		group.Go(func() {
			for range 200 {
				holds, err := c.Holds(f)
				if err != nil || !holds {
					t.Error(errors.Join(err, errors.New("does not hold")))
					return
				}
			}
		})
	}

	group.Wait()
}

func mustCompile(t testing.TB, source string) *condition.Condition {
	t.Helper()
	c, err := condition.Compile(source)
	require.NoError(t, err, source)
	return c
}

// TestProbes: what is compared as a whole is no probe; what is looked into, or put in order, is one.
func TestGuarded(t *testing.T) {
	for source, want := range map[string][]string{
		`customer.email == "a@shop.test" or customer.email != "b@shop.test"`:                                 {"customer.email"},
		`customer.email in ["a@shop.test", "b@shop.test"] and customer.handler != nil`:                       {"customer.email", "customer.handler"},
		`"vip" in customer.labels and customer.birthday == event.month_day`:                                  {"customer.birthday", "customer.labels"},
		`customer.birth_month == event.month and customer.cf_size == 38`:                                     {"customer.birth_month", "customer.cf_size"},
		`customer.external_ids["crm"] == "417" or "erp" in customer.external_ids`:                            {"customer.external_ids"},
		`customer.language startsWith "h" and customer.score > 10 and customer.tiers["main"] startsWith "g"`: nil,
		`event.data.review == "good" and transaction.data.cf_gift == true`:                                   {"event.data.review", "transaction.data.cf_gift"},
		`event.data.tags[0] == "a" and event.data.address.city == "Pécs"`:                                    {"event.data.address", "event.data.tags"},
		`transaction.total > 10 and any(transaction.items, .product_name contains "x")`:                      nil,
		`customer.email startsWith "a"`:                                                                      {"customer.email"},
		`customer.age in 18..30`:                                                                             {"customer.age"},
		`(customer.birth_date ?? "") == "1990-05-17" and customer.cf_size - 1 == 37`:                         {"customer.birth_date", "customer.cf_size"},
		`any(customer.labels, # startsWith "v") and len(customer.external_ids["crm"]) > 3`:                   {"customer.external_ids", "customer.labels"},
		`event.data.review contains "bad" and transaction.data["cf_gift for"] != nil`:                        {"event.data.review", "transaction.data.cf_gift for"},
		`event.data[event.data.name] == "x"`:                                                                 {"event.data", "event.data.name"},
		`event.data == nil`:                                                                                  {"event.data"},
		`any(transaction.items, .data.cf_text startsWith "A") or item.data.cf_text > "B"`:                    {"item.data.cf_text"},
		`any(event.data.friends, # == "b") and event.data.address.zip >= "7"`:                                {"event.data.address", "event.data.friends"},
	} {
		c, err := condition.Compile(source)
		require.NoError(t, err, source)
		require.Equal(t, want, c.Guarded(), source)
	}

	require.Empty(t, (*condition.Condition)(nil).Guarded())
}
