package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// customerStore reads customers and what they have.
type customerStore struct{ *database }

// joinBalances brings in the hot part of customers.
const joinBalances = "JOIN balances ON balances.customer_id = customers.id"

func customers(db *gorm.DB) *gorm.DB {
	return db.Table("customers").Select(customerTable.names()).Joins(joinBalances)
}

// maxMerges bounds how many merges are followed from one customer.
const maxMerges = 16

// Customer finds by the exact identifier, else by an external id written
// name:value; a merged customer is answered with the one it became part of.
// It fails with loyalty.ErrCustomerNotFound.
func (s customerStore) Customer(ctx context.Context, ref string) (loyalty.Customer, error) {
	var found loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) error {
		owner, err := s.owner(db, cleanText(ref))
		if err != nil {
			return err
		}
		found, err = survivor(db, owner)
		return err
	})
	return found, err
}

func (s customerStore) owner(db *gorm.DB, ref string) (UUID, error) {
	names := db.Where("kind = ? AND value = ?", loyalty.NameCustomer, ref)
	if strings.Contains(ref, ":") {
		names = names.Or("kind = ? AND value = ?", loyalty.NameExternal, ref)
	}
	name, err := nameTable.first(names.Order("kind"))
	if err != nil {
		return UUID{}, err
	}
	if name == nil {
		return UUID{}, loyalty.ErrCustomerNotFound
	}
	return UUID(name.Owner), nil
}

func customerByID(db *gorm.DB, id UUID) (loyalty.Customer, error) {
	c, err := customerTable.first(customers(db).Where("customers.id = ?", id))
	if err != nil {
		return loyalty.Customer{}, err
	}
	if c == nil {
		return loyalty.Customer{}, loyalty.ErrCustomerNotFound
	}
	return *c, nil
}

// Statement gives the figures and open lots now, lots in spending order.
func (s customerStore) Statement(ctx context.Context, customer loyalty.ID) (loyalty.Statement, error) {
	return s.statement(ctx, customer, func(db *gorm.DB, c loyalty.Customer) (st loyalty.Statement, err error) {
		err = lotTable.each(db.Where("customer_id = ? AND open", UUID(customer)), addLot(&st.Lots))
		st.Figures = c.Figures
		return st, err
	})
}

// StatementAt gives them as they were recorded at an instant: figures and lots
// are folded from the postings of the events recorded until then.
func (s customerStore) StatementAt(ctx context.Context, customer loyalty.ID, at time.Time) (loyalty.Statement, error) {
	return s.statement(ctx, customer, func(db *gorm.DB, _ loyalty.Customer) (st loyalty.Statement, err error) {
		if st.Figures, err = figuresAt(db, UUID(customer), Millis(at)); err != nil {
			return st, err
		}
		st.Lots, err = lotsAt(db, UUID(customer), Millis(at))
		return st, err
	})
}

func (s customerStore) statement(ctx context.Context, id loyalty.ID, read func(*gorm.DB, loyalty.Customer) (loyalty.Statement, error)) (loyalty.Statement, error) {
	var st loyalty.Statement
	err := s.consistent(ctx, func(db *gorm.DB) error {
		c, err := customerByID(db, UUID(id))
		if err != nil {
			return err
		}
		if st, err = read(db, c); err != nil {
			return err
		}
		slices.SortFunc(st.Lots, func(x, y points.Lot) int { return points.SpendingOrder(&x, &y, c.LastActivityAt) })
		return nil
	})
	return st, err
}

// recorded joins the postings of a customer with the events that made them.
const recorded = `FROM postings p JOIN events e ON e.customer_id = p.customer_id AND e.id = p.event_id
WHERE p.customer_id = ? AND e.recorded_at <= ?`

func figuresAt(db *gorm.DB, customer UUID, at Millis) (points.Figures, error) {
	var postings []points.Posting
	err := postingTable.some("from_account", "to_account", "points").each(db.Raw(`SELECT p.from_account, p.to_account, CAST(SUM(p.points) AS bigint) `+recorded+`
GROUP BY p.from_account, p.to_account`, customer, at), func(p *loyalty.CustomerPosting) bool {
		postings = append(postings, p.Posting)
		return false
	})
	return points.Fold(postings), err
}

func lotsAt(db *gorm.DB, customer UUID, at Millis) (lots []points.Lot, err error) {
	columns := lotTable.of("lots", "remaining", "sums.remaining", "reserved", "sums.reserved", "spent", "sums.spent", "expired", "sums.expired")
	err = lotTable.each(db.Raw(`SELECT `+columns+`
FROM (SELECT p.lot_id, `+balanceOf(points.Available, "remaining")+`, `+balanceOf(points.Reserved, "reserved")+`,
	`+balanceOf(points.Spent, "spent")+`, `+balanceOf(points.Expired, "expired")+` `+recorded+` AND p.lot_id IS NOT NULL
	GROUP BY p.lot_id) AS sums JOIN lots ON lots.customer_id = ? AND lots.id = sums.lot_id
WHERE sums.remaining + sums.reserved > 0`, customer, at, customer), addLot(&lots))
	return lots, err
}

// addLot collects lots.
func addLot(list *[]points.Lot) func(*loyalty.CustomerLot) bool {
	return func(l *loyalty.CustomerLot) bool {
		*list = append(*list, l.Lot)
		return false
	}
}

// survivor reads a customer; of a merged one the one they became part of.
func survivor(db *gorm.DB, id UUID) (found loyalty.Customer, err error) {
	for range maxMerges {
		if found, err = customerByID(db, id); err != nil || found.Status != loyalty.Merged {
			return found, err
		}
		id = UUID(found.MergedInto)
	}
	return found, loyalty.ErrCustomerNotFound
}

// accounts lists customers and those who were merged into them: their rows stay under
// the ids they had.
func accounts(db *gorm.DB, customers ...loyalty.ID) ([]UUID, error) {
	owners := make([]UUID, len(customers))
	for i, id := range customers {
		owners[i] = UUID(id)
	}
	var sources []UUID
	err := among(db.Table("customers"), "merged_into", owners).Pluck("id", &sources).Error
	return append(owners, sources...), err
}
