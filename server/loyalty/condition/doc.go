// Package condition is the language in which a programme says when something
// counts: the condition of a campaign, of a segment, of a challenge's criterion.
// A condition is read and checked when it is saved, so a misspelt name or a
// number compared with a word is refused then instead of being noticed at the till.
//
// # Writing a condition
//
// A condition is true or false of one event:
//
//	transaction.total >= 100
//	transaction.channel == "web" and customer.score > 1000
//	event.weekday in ["sat", "sun"] and event.hour in 9..17
//	"vip" in customer.labels or customer.tiers["main"] == "gold"
//	any(transaction.items, .product_category == "shoes")
//	sum(filter(transaction.items, .product_category == "shoes"), .subtotal) > 50
//	customer.birthday == event.month_day
//	customer.birth_month == event.month and customer.age >= 18
//	now - customer.created_at < days(30)
//	event.day >= "2026-03-01" and event.day <= "2026-03-31"
//	customer.email endsWith "@shop.test" and customer.cf_newsletter == true
//	item.product_id in ["SKU-1", "SKU-2"] and item.quantity >= 3
//
// The syntax is that of the Expr language; only what is named here is part
// of it. An empty condition always holds. A condition has at most [MaxBytes]
// bytes and [maxNodes] names, values and operators.
//
// # What a condition sees
//
//   - event: action, points, timestamp, data.<attribute> as it was submitted; and
//     of its timestamp in the programme's time zone weekday ("mon" to "sun"), hour
//     (0 to 23), day ("2026-03-01"), month_day ("03-01"), month (1 to 12), year.
//   - customer, as the Customers API names it: id, status, every text of the profile
//     (such as email, and birth_date: "1990-05-17"), referrer, labels, external_ids,
//     created_at, updated_at, the points score, spent, reserved, expired, pending,
//     spendable, debt, and every cf_ attribute; and tiers["<structure>"] (the id of
//     the tier), lists (the ids
//     of the customer lists they are on), birthday
//     ("05-17", in the event's year: 29 February is the 28th in other years),
//     birth_month, age (in years, on the event's day).
//   - transaction, where the event belongs to a purchase: id, status, currency,
//     country, channel, store, total, total_in_base, original_total, refunded, earned, burned,
//     checkout_date, items, data.<attribute>.
//   - item, where one line is asked about, and every element of
//     transaction.items: product_id, product_name, product_category, quantity,
//     subtotal, price, discount, data.<attribute>.
//   - now is event.timestamp. There is no other clock, so the result for an event is
//     the same at any time.
//
// A customer may have several ids under one name of another system. A comparison with
// customer.external_ids.card then holds if it holds for one of them; != and not in
// hold if they hold for all.
//
// Attributes inside attributes are reached by further dots, attributes with unusual
// names by brackets, elements of a list by their index from 0:
// event.data.address.city, event.data["gift wrap"], event.data.codes[0].
// A field of customer, transaction or a line that is empty is absent.
//
// # Operators
//
//   - and, or, not (also &&, ||, !). not binds to the next operand only: write
//     not (a == b).
//   - == and != of two numbers, texts, instants, durations or truths; < <= > >= of
//     all but truths, texts by their bytes. 10 < transaction.total <= 20 works.
//   - in: a literal list, such as ["a", "b"], a list of the facts,
//     a range of numbers a..b that includes both ends,
//     or a name in an object: "gift" in event.data. not in is its opposite.
//   - Blanks around a literal id or code that is compared with a fact are ignored, in
//     these operators and in brackets: item.product_id == " SKU-1" finds SKU-1.
//   - contains, startsWith, endsWith for texts; case counts, and lower(x) ignores it.
//     matches "^AB[0-9]+$" is a literal regular expression (RE2) of at most 200 bytes.
//   - + - * / % for numbers. A result that has a fraction is rounded to six digits,
//     so 0.7 + 0.1 is 0.8. Instants differ by a duration, and a duration can be added
//     to or taken from an instant.
//   - x ?? y is y if x is absent; a ? b : c is b or c. Put x ?? y in parentheses.
//
// # Functions
//
//   - any, all, none, one (list, test) are truths, count(list, test) a number,
//     filter(list, test) a list, sum(list, number) and sum(list) a number, in which
//     # is the element and .name its field.
//   - len(list or text), abs, floor, ceil, round (number), min, max (two numbers),
//     lower, upper, trim (text), number (a text that is one).
//   - date("2026-03-01") is the beginning of that day in the programme's time zone,
//     date("2026-03-01T08:00:00Z") an instant. days(n), hours(n) and minutes(n) are
//     durations; a day is 24 hours.
//
// # What is absent
//
// A fact can be absent: an attribute that was not sent, a field that is not set,
// the transaction of an event without a purchase. Then:
//
//   - x == nil is true and x != nil false. x == "" is true too: it asks whether x is
//     absent or empty.
//   - Every other comparison with it, every calculation and every function of it is
//     absent as well: neither true nor false. The same goes for not, and for an and or
//     an or that the other side does not decide.
//   - A condition whose result is absent does not hold. So transaction.channel != "web"
//     does not hold without a transaction, and neither does
//     not (transaction.channel == "web"). To count absent as different, write
//     (transaction.channel ?? "none") != "web".
//   - Elements for which a test is absent do not satisfy it; sum leaves absent
//     elements out. all of an empty list is true, as is none.
//
// # What goes wrong
//
// Only cf_ attributes and the data of events, purchases and lines have a kind that
// is not known beforehand. If a value has another kind than a comparison, calculation
// or function needs ("3" > 2), the condition does not hold and an error says what was
// found. The same goes for a division by zero, a number that is too large, and a
// condition that takes too many steps ([ErrBudget]).
//
// # Money
//
// Amounts are decimal numbers of the currency's unit. They are floats here: a
// condition decides with them and never books them.
package condition
