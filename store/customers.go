package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// customerStore reads customers and their points.
type customerStore struct{ *database }

// joinBalances joins customers with their figures.
const joinBalances = "JOIN balances ON balances.customer_id = customers.id"

// customerRead reads customers with their figures.
const customerRead = " FROM customers " + joinBalances

// selectCustomer reads customers by a condition. It is built once, not for every read.
var selectCustomer = "SELECT " + customerTable.names() + customerRead + " WHERE "

func customersWhere(text string, args ...any) sqlFragment {
	return sqlFragment{selectCustomer + text, args}
}

// holder is an expression for a customer's id: by id, or by the exact identifier, else by an external id in the form
// name:value. For a merged customer it is the id of the target.
func holder(id loyalty.ID, ref string) sqlFragment {
	if ref == "" {
		return sqlFragment{"?", []any{UUID(id)}}
	}
	if !strings.Contains(ref, ":") {
		return named(loyalty.NameCustomer, ref)
	}
	exact, external := named(loyalty.NameCustomer, ref), named(loyalty.NameExternal, loyalty.ExternalRef(ref))
	return sqlFragment{"COALESCE(" + exact.text + ", " + external.text + ")", append(exact.args, external.args...)}
}

// named is an expression for the id of the customer who owns what a name was claimed for now; blanks around the name
// are ignored. LIMIT tells PostgreSQL that a name has one owner: without it the planner ignores the key over two
// columns, expects several rows, and would plan each query anew.
func named(kind loyalty.NameKind, value string) sqlFragment {
	return sqlFragment{"{{SELECT COALESCE(c.merged_into, c.id) FROM customers c WHERE c.id = {{SELECT n.owner FROM names n WHERE n.kind = ? AND n.value = ? LIMIT 1}}}}", []any{kind, cleanText(strings.TrimSpace(value))}}
}

// mergedInto selects the customers who were merged into a customer; orMerged also matches them.
const (
	mergedInto = "SELECT id FROM customers WHERE merged_into = "
	orMerged   = " OR merged_into = "
	// orMergedAny is orMerged for a list of customers.
	orMergedAny = " OR merged_into IN "
)

// merged is the condition that a column names a customer who was merged into the holder: their rows keep their ids.
func merged(column string, of sqlFragment) sqlFragment {
	return sqlFragment{column + " IN [[" + mergedInto + of.text + "]]", of.args}
}

// theirs is the condition that a column holds the customer's id or that of one merged into them. Without a customer
// it is NULL on Citus, so negate it with IS NOT TRUE.
func theirs(column string, of sqlFragment) sqlFragment {
	return sqlFragment{column + " IN [[SELECT id FROM customers WHERE id = " + of.text + orMerged + of.text + "]]", slices.Concat(of.args, of.args)}
}

// customerOf reads the holder.
func customerOf(of sqlFragment, found **loyalty.Customer) question {
	return customerTable.only(customersWhere("customers.id = "+of.text, of.args...), found)
}

// Customer finds a customer by the exact identifier, else by an external id in the form name:value; for a merged
// customer it returns the target. It fails with loyalty.ErrCustomerNotFound.
func (s customerStore) Customer(ctx context.Context, ref string) (loyalty.Customer, error) {
	return s.customerOf(ctx, holder(loyalty.ID{}, ref))
}

// customerOf reads a customer, and runs other queries with it. It fails with loyalty.ErrCustomerNotFound.
func (s *database) customerOf(ctx context.Context, of sqlFragment, besides ...question) (loyalty.Customer, error) {
	var found *loyalty.Customer
	if err := s.asks(ctx, append(besides, customerOf(of, &found))...); err != nil {
		return loyalty.Customer{}, err
	}
	return known(found)
}

// known returns the customer that was read. It fails with loyalty.ErrCustomerNotFound.
func known(c *loyalty.Customer) (loyalty.Customer, error) {
	if c == nil {
		return loyalty.Customer{}, loyalty.ErrCustomerNotFound
	}
	return *c, nil
}

// Statement returns the current figures and open lots.
func (s customerStore) Statement(ctx context.Context, customer loyalty.ID, ref string) (loyalty.Statement, error) {
	var lots []points.Lot
	of := holder(customer, ref)
	c, err := s.customerOf(ctx, of, lotTable.rows(lotTable.where("customer_id = "+of.text+" AND open", of.args...), addLot(&lots)))
	return loyalty.Statement{Customer: c, Figures: c.Figures, Lots: lots}, err
}

// StatementAt returns figures and lots as of an instant. It folds them from the postings of the events recorded until
// then; points that live by activity expire by the last activity until then.
func (s customerStore) StatementAt(ctx context.Context, customer loyalty.ID, at time.Time) (loyalty.Statement, error) {
	var lots []points.Lot
	var postings []points.Posting
	var active time.Time
	id, until := UUID(customer), Millis(at)
	c, err := s.customerOf(ctx, holder(customer, ""), figuresAt(id, until, &postings), lotsAt(id, until, &lots), activityAt(id, until, &active))
	if c.LastActivityAt.After(at) && !active.IsZero() {
		c.LastActivityAt = active
	}
	return loyalty.Statement{Customer: c, Figures: points.Fold(postings), Lots: lots}, err
}

// activityAt finds the last event recorded until an instant that a caller sent for a customer: events that merely
// fall due have no sender. For a journal without senders it is the last event that follows from no other.
func activityAt(customer UUID, at Millis, active *time.Time) question {
	var sent, all Millis
	return sqlFragment{`SELECT MAX(CASE WHEN sent_by IS NOT NULL THEN recorded_at END), MAX(recorded_at)
FROM events WHERE customer_id = ? AND recorded_at <= ? AND parent IS NULL`, []any{customer, at}}.reads(func() bool {
		if *active = sent.Time(); active.IsZero() {
			*active = all.Time()
		}
		return true
	}, &sent, &all)
}

// usedLots is how many used-up lots are listed at most: a long-standing customer has very many.
const usedLots = 1000

// UsedLots returns used-up lots, the newest first.
func (s customerStore) UsedLots(ctx context.Context, customer loyalty.ID, at time.Time) (lots []points.Lot, err error) {
	asked := lotTable.rows(sqlFragment{`SELECT ` + lotTable.names() + ` FROM lots WHERE customer_id = ? AND NOT open
ORDER BY earned_at DESC, id DESC LIMIT ?`, []any{UUID(customer), usedLots}}, addLot(&lots))
	if !at.IsZero() {
		asked = lotsOf(UUID(customer), Millis(at), `= 0 ORDER BY lots.earned_at DESC, lots.id DESC LIMIT `+strconv.Itoa(usedLots), &lots)
	}
	return lots, s.asks(ctx, asked)
}

// recorded joins the postings of a customer with the events that made them.
const recorded = `FROM postings p JOIN events e ON e.customer_id = p.customer_id AND e.id = p.event_id
WHERE p.customer_id = ? AND e.recorded_at <= ?`

func figuresAt(customer UUID, at Millis, postings *[]points.Posting) question {
	return postingTable.some("from_account", "to_account", "points").rows(sqlFragment{`SELECT p.from_account, p.to_account, CAST(SUM(p.points) AS bigint) ` + recorded + `
GROUP BY p.from_account, p.to_account`, []any{customer, at}}, func(p *loyalty.CustomerPosting) bool {
		*postings = append(*postings, p.Posting)
		return false
	})
}

func lotsAt(customer UUID, at Millis, lots *[]points.Lot) question {
	return lotsOf(customer, at, "> 0", lots)
}

// lotsOf folds the lots whose remainder meets a condition.
func lotsOf(customer UUID, at Millis, left string, lots *[]points.Lot) question {
	columns := lotTable.of("lots", "remaining", "sums.remaining", "reserved", "sums.reserved", "spent", "sums.spent", "expired", "sums.expired")
	return lotTable.rows(sqlFragment{`SELECT ` + columns + `
FROM (SELECT p.lot_id, ` + balanceOf(points.Available, "remaining") + `, ` + balanceOf(points.Reserved, "reserved") + `,
	` + balanceOf(points.Spent, "spent") + `, ` + balanceOf(points.Expired, "expired") + ` ` + recorded + ` AND p.lot_id IS NOT NULL
	GROUP BY p.lot_id) AS sums JOIN lots ON lots.customer_id = ? AND lots.id = sums.lot_id
WHERE sums.remaining + sums.reserved ` + left, []any{customer, at, customer}}, addLot(lots))
}

// addLot collects lots.
func addLot(list *[]points.Lot) func(*loyalty.CustomerLot) bool {
	return func(l *loyalty.CustomerLot) bool {
		*list = append(*list, l.Lot)
		return false
	}
}
