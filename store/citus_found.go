package store

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/citus"
)

// emailOf is a customer's e-mail.
type emailOf struct {
	customer loyalty.ID
	email    string
}

var (
	emailFields = []field[emailOf]{
		{"email", "text", func(e *emailOf) any { return (*plain)(&e.email) }},
		{"customer_id", "uuid", func(e *emailOf) any { return (*UUID)(&e.customer) }},
	}
	insertEmails = inserts(`INSERT INTO emails (email, customer_id) SELECT email, customer_id FROM v ON CONFLICT DO NOTHING`, emailFields...)
	deleteEmails = selects(`DELETE FROM emails WHERE (email, customer_id) IN (SELECT email, customer_id FROM v)`, emailFields...)
	insertMerges = inserts(`INSERT INTO merges (source, target) SELECT id, target FROM v
 ON CONFLICT (source) DO UPDATE SET target = excluded.target`, joinedFields...)

	// selectEmailed finds customers by e-mails; selectEmails reads their e-mails, statuses and times of creation.
	selectEmailed = selects(`SELECT e.customer_id FROM v JOIN emails e ON e.email = v.email`, keyEmail)
	selectEmails  = selects(`SELECT c.email_key, c.id, c.status, c.created_at FROM v JOIN customers c ON c.id = v.id
 WHERE c.status IN ('active', 'suspended', 'inactive') AND c.email_key IS NOT NULL`, keyID)
	// selectMerged finds the customers merged into customers.
	selectMerged = selects(`SELECT m.target, m.source FROM v JOIN merges m ON m.target = v.id`, keyID)
)

// foundByEmail is the e-mail by which a customer is found; empty: by none. It has the form of customers.email_key,
// which look-ups use and which the ledger's check compares.
func foundByEmail(c *loyalty.Customer) string {
	return string(foundBy(c, loyalty.EmailKey(c.Profile.Email)))
}

// findable adds the changes of the finder tables to a write.
func findable(list []calls, w *loyalty.Writes) []calls {
	var gone, come []emailOf
	for i := range w.Customers {
		before, after := &w.Customers[i].Before, &w.Customers[i].After
		was, is := foundByEmail(before), foundByEmail(after)
		if was == is {
			continue
		}
		if was != "" {
			gone = append(gone, emailOf{before.ID, was})
		}
		if is != "" {
			come = append(come, emailOf{before.ID, is})
		}
	}

	merged := changed(w.Customers, joins)
	for i := range w.NewCustomers {
		c := &w.NewCustomers[i]
		if is := foundByEmail(c); is != "" {
			come = append(come, emailOf{c.ID, is})
		}
		if c.MergedInto != (loyalty.ID{}) {
			merged = append(merged, changedCustomer{Before: *c, After: *c})
		}
	}

	list = write(list, deleteEmails, gone)
	list = write(list, insertEmails, come)
	return write(list, insertMerges, merged)
}

// fill also fills the finder tables, which archives do not contain.
func (e *citusEngine) fill(ctx context.Context, pour func(loading) error) error {
	return e.postgresEngine.fill(ctx, func(l loading) error {
		err := pour(l)
		for _, text := range citus.Fill() {
			if err == nil {
				err = l.exec(text)
			}
		}
		return err
	})
}

// renamed fails with a conflict if an e-mail is no longer the one of the customer that it was resolved to.
func (r *resolving) renamed() error {
	for _, named := range []map[string]loyalty.ID{r.l.out.Emails, r.l.out.Matches} {
		for email, id := range named {
			if l := r.l.out.Customers[id]; l != nil && loyalty.EmailKey(l.Customer.Profile.Email) != email {
				return errors.Join(loyalty.ErrBatchConflict, errors.New("an e-mail moved"))
			}
		}
	}
	return nil
}
