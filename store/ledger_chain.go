package store

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// chainPage is how many customers' journals one query reads and sorts.
const chainPage = 1000

// postingsOf writes the postings of a customer's event in the format of postingText.
func postingsOf(db *gorm.DB, customer, event string) string {
	lot, aggregate := `lower(hex(p.lot_id))`, `group_concat(t, '')`
	if db.Name() != "sqlite" {
		lot, aggregate = `replace(p.lot_id::text, '-', '')`, `string_agg(t, '' ORDER BY seq)`
	}
	return `(SELECT ` + aggregate + ` FROM (SELECT p.seq, p.seq || ':' || p.from_account || ':' || p.to_account || ':' || COALESCE(` + lot +
		`, '') || ':' || p.points || ';' AS t FROM postings p WHERE p.customer_id = ` + customer + ` AND p.event_id = ` + event + ` ORDER BY p.seq) q)`
}

// chainsMatch folds every customer's journal again, and compares the heads with those stored with the figures and
// with those of the last anchor.
func chainsMatch(db *gorm.DB, found func(LedgerFinding)) error {
	moved, err := movedLinks(db)
	if err != nil {
		return err
	}

	anchor, _, err := lastAnchor(db)
	if err != nil {
		return err
	}

	p := chainProof{db: db, moved: moved, anchored: headsOf(anchor.Number), found: found}
	var after UUID
	for {
		last, err := p.page(after)
		if err != nil {
			return err
		}
		if last == (UUID{}) {
			return anchorMatches(db, found)
		}
		after = last
	}
}

// movedLinks are the postings that name another customer's event. Only merges make them, so they fit into memory.
func movedLinks(db *gorm.DB) (map[UUID][]link, error) {
	rows, err := db.Raw(`SELECT m.customer_id, m.event_id, ` + postingsOf(db, "m.customer_id", "m.event_id") + `
FROM (SELECT DISTINCT p.customer_id, p.event_id FROM postings p JOIN customers c ON c.id = p.customer_id AND c.merged_into IS NOT NULL
	WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.customer_id = p.customer_id AND e.id = p.event_id)) m ORDER BY m.customer_id, m.event_id`).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	moved := map[UUID][]link{}
	for rows.Next() {
		var l link
		var text Text
		if err := rows.Scan(&l.customer, &l.event, &text); err != nil {
			return nil, err
		}
		l.postings = string(text)
		moved[l.customer] = append(moved[l.customer], l)
	}

	return moved, rows.Err()
}

// chainProof folds all chains, a page of customers at a time.
type chainProof struct {
	db       *gorm.DB
	moved    map[UUID][]link
	anchored string // the query for the heads of the last anchor
	found    func(LedgerFinding)
	now      folded
}

// folded is the chain of one customer, as far as it was folded.
type folded struct {
	customer               UUID
	stored, anchored, head []byte
	anchoredEvent          UUID
	metAnchor              bool
}

// page folds the next customers and returns the last of them; zero if there were none.
func (p *chainProof) page(after UUID) (last UUID, err error) {
	customers, args, err := nextChains(p.db, after)
	if err != nil {
		return last, err
	}

	rows, err := p.db.Raw(`SELECT b.customer_id, b.chain, a.event_id, a.head, e.id, e.recorded_at, e.at, e.exp_date, e.points, e.parent,
	e.action, e.transaction_id, e.data, e.personal, e.effects, e.sent_by, `+postingsOf(p.db, "e.customer_id", "e.id")+`
FROM (SELECT customer_id, chain, chain_from FROM balances `+customers+`) b
LEFT JOIN `+p.anchored+` a ON a.customer_id = b.customer_id
LEFT JOIN events e ON e.customer_id = b.customer_id AND b.chain IS NOT NULL AND (b.chain_from IS NULL OR e.id >= b.chain_from)
ORDER BY b.customer_id, e.id`, args...).Rows()
	if err != nil {
		return last, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	p.now = folded{}
	for rows.Next() {
		if err := p.row(rows); err != nil {
			return last, err
		}
		last = p.now.customer
	}

	p.close()
	return last, rows.Err()
}

// nextChains is the condition for the customers after a given one.
func nextChains(db *gorm.DB, after UUID) (where string, args []any, err error) {
	if db.Name() == "citus" {
		return nextOnMachines(db, after, chainPage)
	}
	if after != (UUID{}) {
		where, args = "WHERE customer_id > ? ", []any{after}
	}
	return where + "ORDER BY customer_id LIMIT ?", append(args, chainPage), nil
}

// row folds one event, or begins a customer without events.
func (p *chainProof) row(rows *sql.Rows) error {
	var f folded
	var l link
	var r eventLink
	var action, transaction, text, sender Text
	var data, effects Text
	if err := rows.Scan(&f.customer, &f.stored, &f.anchoredEvent, &f.anchored, &l.event, &r.recordedAt, &r.at, &r.expDate, &r.points, &r.parent,
		&action, &transaction, &data, &r.personal, &effects, &sender, &text); err != nil {
		return err
	}

	if f.customer != p.now.customer {
		p.close()
		p.now = f
	}

	if l.event == (UUID{}) {
		return nil
	}

	r.action, r.transaction, r.sentBy, r.data, r.effectText = string(action), string(transaction), string(sender), []byte(data), []byte(effects)
	l.customer, l.row, l.postings = f.customer, &r, string(text)
	p.fold(&l)
	return nil
}

func (p *chainProof) fold(l *link) {
	n := &p.now
	n.head = l.after(n.head)
	if n.anchored != nil && l.event == n.anchoredEvent {
		n.metAnchor = bytes.Equal(n.head, n.anchored)
	}
}

// close ends the current customer and reports mismatches.
func (p *chainProof) close() {
	n := &p.now
	if n.customer == (UUID{}) {
		return
	}

	if n.stored != nil {
		for _, l := range p.moved[n.customer] {
			p.fold(&l)
			n.metAnchor = n.metAnchor || bytes.Equal(n.head, n.anchored)
		}
	}

	if !bytes.Equal(n.head, n.stored) {
		p.found(LedgerFinding{Customer: loyalty.ID(n.customer), Detail: "the journal is not the one that was written: its hashes do not lead to the head"})
	}
	if n.anchored != nil && !n.metAnchor {
		p.found(LedgerFinding{Customer: loyalty.ID(n.customer), Detail: fmt.Sprintf("the journal does not lead to the anchored head of event %s", loyalty.ID(n.anchoredEvent))})
	}

	p.now = folded{}
}

// anchorMatches compares the anchored heads with the digest of the last anchor, which is in the log as well.
func anchorMatches(db *gorm.DB, found func(LedgerFinding)) error {
	last, ok, err := lastAnchor(db)
	if err != nil || !ok {
		return err
	}
	digest, customers, err := anchorDigest(db, last.Number)
	if err != nil {
		return err
	}
	if !bytes.Equal(digest, last.Digest) || customers != last.Customers {
		found(LedgerFinding{Row: fmt.Sprintf("anchor %d", last.Number),
			Detail: fmt.Sprintf("the anchored heads have the digest %s, and the anchor has %s", hex.EncodeToString(digest), hex.EncodeToString(last.Digest))})
	}
	return nil
}
