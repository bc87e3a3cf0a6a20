package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// load resolves names to ids, and ids to rows. Rows are located by the hash of their key, so a statement that joined
// a name with its customer would ask every machine. The names are read again after the rows; a name that moved in
// between is a conflict.
func (e *citusEngine) load(ctx context.Context, c *pgxpool.Conn, l *loader) error {
	begun := l.needs.Due > 0
	if begun {
		if err := e.takeDue(ctx, c, l); err != nil {
			return err
		}
	}

	r := resolving{l: l, owners: map[loyalty.Name]loyalty.ID{}}
	if err := r.ask(ctx, c); err != nil {
		return err
	}

	r.rename()
	q := l.plan()
	if l.needs.Locked && !begun {
		begun = true
		if err := e.lock(ctx, c, &r, q); err != nil {
			return err
		}
	}

	l.sources = map[loyalty.ID][]loyalty.ID{}
	if err := r.findSources(ctx, c, slices.Concat(q.claims[byID], q.codes[byID], q.past[byID], q.everything[byID])); err != nil {
		return err
	}

	list := l.callsOf(r.byOwner(q))
	if err := spreadSnapshot(ctx, c, begun, list, r.again()); err != nil {
		return err
	}
	if err := cmp.Or(r.moved, r.renamed()); err != nil {
		return err
	}

	l.share()
	if err := r.settle(ctx, c, begun); err != nil {
		return err
	}

	return nil
}

// spreadSnapshot reads in the transaction that has begun, or else from one snapshot of each machine, which is
// consistent because a customer is on one machine. behind is read last.
func spreadSnapshot(ctx context.Context, c *pgxpool.Conn, begun bool, list, behind []calls) error {
	if begun || len(list) == 1 && len(behind) == 0 {
		return spreadSend(ctx, c, "", slices.Concat(list, behind), "")
	}
	if len(list) == 0 {
		return spreadSend(ctx, c, "", behind, "")
	}
	return spreadSend(ctx, c, snapshotBegin, list, "COMMIT", behind...)
}

// spreadSend sends the calls in one round trip, between two other commands if given.
func spreadSend(ctx context.Context, c *pgxpool.Conn, before string, list []calls, after string, behind ...calls) error {
	if len(list) == 0 {
		return nil
	}
	b := queued(list, before, after, calls.spreadOut)
	for _, call := range behind {
		call.spreadOut(b)
	}
	return exchangeBatch(ctx, c, b)
}

// resolving finds the owners of the names in needs.
type resolving struct {
	l      *loader
	names  []rowKey
	owners map[loyalty.Name]loyalty.ID
	moved  error
}

// emailed is a customer who may be meant by an e-mail.
type emailed struct {
	email, status string
	at            int64
	id            loyalty.ID
}

// ask reads names and e-mails.
func (r *resolving) ask(ctx context.Context, c *pgxpool.Conn) error {
	var emails []rowKey
	known := set[loyalty.Name]{}
	add := func(name loyalty.Name) {
		if name != (loyalty.Name{}) && known.add(name) {
			r.names = append(r.names, rowKey{customerKey: customerKey{Name: name}})
		}
	}

	for i := range r.l.needs.Customers {
		n := &r.l.needs.Customers[i]
		if w, p, named := customerKeyOf(n); named && w == byName {
			add(p.Name)
		}

		for _, email := range []string{n.Email, n.Match} {
			if email != "" {
				emails = append(emails, rowKey{customerKey: customerKey{email: email}})
			}
		}

		for _, tx := range n.Transactions {
			add(loyalty.Name{Kind: loyalty.NameTransaction, Value: tx})
		}

		for _, code := range n.Coupons {
			add(loyalty.CodeName(code))
		}

		for _, name := range n.Names {
			add(name)
		}
	}

	var list []calls
	if len(r.names) > 0 {
		var claim loyalty.Claim
		list = read(list, selectNames, r.names, nameTable.into(&claim), func() error {
			r.owners[claim.Name] = claim.Owner
			return nil
		})
	}

	var have []rowKey
	if len(emails) > 0 {
		var id loyalty.ID
		list = read(list, selectEmailed, emails, []any{(*UUID)(&id)}, func() error {
			have = append(have, rowKey{customerKey: customerKey{id: id}})
			return nil
		})
	}

	if err := spreadSend(ctx, c, "", list, ""); err != nil || len(have) == 0 {
		return err
	}

	var m emailed
	var found []emailed
	err := spreadSend(ctx, c, "", read(nil, selectEmails, have, []any{(*plain)(&m.email), (*UUID)(&m.id), (*plain)(&m.status), (*number)(&m.at)}, func() error {
		found = append(found, m)
		return nil
	}), "")

	r.meant(found)
	return err
}

// meant chooses the customer that an e-mail means: the one created first. A match prefers customers who are not
// inactive.
func (r *resolving) meant(found []emailed) {
	slices.SortFunc(found, func(a, b emailed) int { return cmp.Or(cmp.Compare(a.at, b.at), loyalty.CompareID(a.id, b.id)) })
	inactive, best := map[string]loyalty.ID{}, map[string]loyalty.ID{}
	for _, m := range found {
		if _, known := inactive[m.email]; !known && m.status == string(loyalty.Inactive) {
			inactive[m.email] = m.id
		}
		if _, known := best[m.email]; !known && m.status != string(loyalty.Inactive) {
			best[m.email] = m.id
		}
	}

	for i := range r.l.needs.Customers {
		n := &r.l.needs.Customers[i]
		if id, known := inactive[n.Email]; known && n.Email != "" {
			r.l.out.Emails[n.Email] = id
		}
		if n.Match == "" {
			continue
		}

		id, known := best[n.Match]
		if !known {
			id, known = inactive[n.Match]
		}
		if known {
			r.l.out.Matches[n.Match] = id
		}
	}
}

// rename names the customers of the needs by their ids. Customers who do not exist are left out.
func (r *resolving) rename() {
	all := slices.Clone(r.l.needs.Customers)
	for i := range all {
		n := &all[i]
		switch w, p, named := customerKeyOf(n); {
		case named && w == byName:
			if n.ID = r.owners[p.Name]; n.ID != (loyalty.ID{}) {
				r.l.out.Names[p.Name] = n.ID
			}
		case named && w == byMatch:
			n.ID = r.l.out.Matches[n.Match]
		}

		n.Ref, n.Match = loyalty.Name{}, ""
		if id := r.l.out.Emails[n.Email]; n.Email != "" && id != (loyalty.ID{}) {
			all = append(all, loyalty.CustomerNeeds{ID: id, Key: n.Key})
		}

		all[i].Email = ""
	}

	r.l.needs.Customers = all
	for _, a := range r.names {
		if k := a.Kind; k != loyalty.NameTransaction && k != loyalty.NameCoupon && r.owners[a.Name] != (loyalty.ID{}) {
			r.l.out.Names[a.Name] = r.owners[a.Name]
		}
	}
}

// byOwner names purchases and coupons by their owner and their own key.
func (r *resolving) byOwner(q *loadPlan) *loadPlan {
	owned := func(rows []rowKey) (list []rowKey) {
		for _, a := range rows {
			if id := r.owners[a.Name]; id != (loyalty.ID{}) {
				list = append(list, rowKey{customerKey: customerKey{id: id}, tx: a.Value})
			}
		}
		return list
	}
	q.transactions, q.coupons, q.names = owned(q.transactions), owned(q.coupons), nil
	return q
}

// again is the call that reads the names again after the rows.
func (r *resolving) again() []calls {
	var claim loyalty.Claim
	var known []rowKey
	for _, a := range r.names {
		if _, there := r.owners[a.Name]; there {
			known = append(known, a)
		}
	}

	if len(known) == 0 {
		return nil
	}

	still := 0
	r.moved = fmt.Errorf("%w: a name moved", loyalty.ErrBatchConflict)
	return read(nil, selectNames, known, nameTable.into(&claim), func() error {
		if r.owners[claim.Name] == claim.Owner {
			still++
		}
		if still == len(known) {
			r.moved = nil
		}
		return nil
	})
}

// findSources reads the customers merged into others.
func (r *resolving) findSources(ctx context.Context, c *pgxpool.Conn, rows []rowKey) error {
	if len(rows) == 0 {
		return nil
	}
	var into, source loyalty.ID
	return spreadSend(ctx, c, "", read(nil, selectMerged, rows, []any{(*UUID)(&into), (*UUID)(&source)}, func() error {
		if !slices.Contains(r.l.sources[into], source) {
			r.l.sources[into] = append(r.l.sources[into], source)
		}
		return nil
	}), "")
}

// selectHolders reads the customers who own a merged customer's data now.
var selectHolders = selects(`SELECT c.id, c.merged_into FROM v JOIN customers c ON c.id = v.id AND c.merged_into IS NOT NULL`, keyID)

// settle reads the holders of the coupons that were found, and what the due ones among them need.
func (r *resolving) settle(ctx context.Context, c *pgxpool.Conn, begun bool) error {
	l := r.l
	var held, due []rowKey
	seen := set[loyalty.ID]{}
	for _, k := range l.out.Coupons {
		if k.Customer != (loyalty.ID{}) && seen.add(k.Customer) {
			held = append(held, rowKey{customerKey: customerKey{id: k.Customer}})
		}
	}

	for id, loading := range l.out.Customers {
		if at := loading.Customer.DueAt; !at.IsZero() && !at.After(l.needs.Now) {
			due = append(due, rowKey{customerKey: customerKey{id: id}})
		}
	}

	if err := r.findSources(ctx, c, due); err != nil {
		return err
	}

	var list []calls
	if len(held) > 0 {
		var id, into loyalty.ID
		list = read(list, selectHolders, held, []any{(*UUID)(&id), (*UUID)(&into)}, func() error {
			for coupon, k := range l.out.Coupons {
				if k.Customer == id {
					k.Customer = into
					l.out.Coupons[coupon] = k
				}
			}
			return nil
		})
	}

	return spreadSnapshot(ctx, c, begun, append(list, l.due()...), nil)
}
