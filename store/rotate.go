package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// Resealed counts the values that a change of the master key found: those it sealed again, those sealed under the new
// key already, and, by table, those that neither key opens.
type Resealed struct {
	Anew, Already int64
	Lost          map[string]int64
}

// ErrNoOldKey says that there is no old key to change from.
var ErrNoOldKey = errors.New("LOYALTY_MASTER_KEY_OLD is not set: give the old master key there, and the new one in LOYALTY_MASTER_KEY")

// resealPage is how many values one transaction reseals, which bounds the wait of writers.
const resealPage = 500

// resealLarge is resealPage for values that may be large.
const resealLarge = 8

// resealRounds is the number of rounds after which a server must still be using the old key.
const resealRounds = 10

// ErrOldKeyInUse says that values are still being sealed under the old key.
var ErrOldKeyInUse = errors.New("a server goes on sealing under the old master key: start every server with the new one in LOYALTY_MASTER_KEY and the old one in LOYALTY_MASTER_KEY_OLD, then run this again")

// ReSeal seals all values of the old master key again under the new one. Meanwhile both keys open values, on every
// node that has both. It can be interrupted anywhere and continues with the remaining values. The database demands
// the new key only when no value is left. told is called with the number of processed values and the total.
func (s upkeep) ReSeal(ctx context.Context, told func(done, of int64)) (r Resealed, err error) {
	if s.sealer.old == nil {
		return r, ErrNoOldKey
	}
	if err := s.CheckMasterKey(ctx); err != nil { // this also loads the key for hashing names, which stays
		return r, err
	}

	of := int64(0)
	for _, c := range sealedColumns {
		var n int64
		if err := s.read.WithContext(ctx).Raw("SELECT count(*) FROM " + c.table + " WHERE " + c.rows()).Scan(&n).Error; err != nil {
			return r, s.classify(err)
		}
		of += n
	}

	done := int64(0)
	for rounds, again := 0, true; again; rounds++ { // until a whole round finds no value of the old key
		if rounds == resealRounds {
			return r, ErrOldKeyInUse
		}

		round := Resealed{Lost: map[string]int64{}}
		for _, c := range sealedColumns {
			err := s.reseal(ctx, c, &round, func(n int) {
				if done += int64(n); told != nil {
					told(min(done, of), of)
				}
			})
			if err != nil {
				return r, fmt.Errorf("%s.%s: %w", c.table, c.column, s.classify(err))
			}
		}

		if r.Lost == nil {
			r.Already = round.Already
		}

		r.Anew, r.Lost = r.Anew+round.Anew, round.Lost
		again = round.Anew > 0
	}

	err = s.classify(s.write.WithContext(ctx).Transaction(s.askForNewKey))
	if err == nil {
		s.sealer.names.old.Store(false)
	}

	return r, err
}

// rows is the condition of the rows that have a value.
func (c sealedColumn) rows() string {
	if c.where != "" {
		return c.where
	}
	return c.column + " IS NOT NULL"
}

// sealedRow is a row with a sealed value.
type sealedRow struct {
	key    []any
	sealed blob
}

// reseal processes a column page by page, in the order of the key.
func (s upkeep) reseal(ctx context.Context, c sealedColumn, r *Resealed, looked func(int)) error {
	var last []any

	for {
		page, err := s.sealedPage(ctx, c, last)
		if err != nil || len(page) == 0 {
			return err
		}
		if changes := s.anew(c, page, r); len(changes) > 0 {
			if err := s.replace(ctx, c, changes, r); err != nil {
				return err
			}
		}
		looked(len(page))
		last = page[len(page)-1].key
	}
}

// sealedPage reads the rows after a given one.
func (s upkeep) sealedPage(ctx context.Context, c sealedColumn, after []any) (page []sealedRow, err error) {
	names := make([]string, len(c.key))
	for i, k := range c.key {
		names[i] = k.name
	}

	key, text := strings.Join(names, ", "), ""
	if after != nil {
		text = " AND (" + key + ") > (" + strings.Repeat("?, ", len(c.key)-1) + "?)"
	}

	limit := resealPage
	if c.large {
		limit = resealLarge
	}

	rows, err := s.read.WithContext(ctx).Raw(fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s%s ORDER BY %s LIMIT %d", key, c.column, c.table, c.rows(), text, key, limit), after...).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		row := sealedRow{key: make([]any, len(c.key))}
		for i, k := range c.key {
			row.key[i] = k.into()
		}
		if err := rows.Scan(append(row.key[:len(row.key):len(row.key)], &row.sealed)...); err != nil {
			return nil, err
		}
		page = append(page, row)
	}

	return page, rows.Err()
}

// change is a value to be replaced by another.
type change struct {
	key         []any
	before, now blob
}

// anew seals the values that the old key opens under the new one.
func (s upkeep) anew(c sealedColumn, page []sealedRow, r *Resealed) (changes []change) {
	for _, row := range page {
		bound := c.bound(row.key)
		plain, old, err := s.sealer.openBy(bound, row.sealed)
		switch {
		case err != nil:
			r.Lost[c.table]++
		case old:
			changes = append(changes, change{row.key, row.sealed, s.sealer.seal(bound, plain)})
		default:
			r.Already++
		}
	}
	return changes
}

// replace writes the changes, each only where the value is still the one that was read: a value that was deleted
// meanwhile, such as the key of a customer who opted out, stays deleted.
func (s upkeep) replace(ctx context.Context, c sealedColumn, changes []change, r *Resealed) error {
	text := "UPDATE " + c.table + " SET " + c.column + " = ? WHERE " + c.column + " = ?"
	for _, k := range c.key {
		text += " AND " + k.name + " = ?"
	}

	anew := int64(0)
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		anew = 0
		for _, ch := range changes {
			done := db.Exec(text, append([]any{ch.now, ch.before}, ch.key...)...)
			if done.Error != nil {
				return done.Error
			}
			anew += done.RowsAffected
		}
		return nil
	})
	if err == nil {
		r.Anew += anew
		s.passes(ValuesSealed)
	}

	return err
}

// askForNewKey makes the database demand the new key. The key for hashing names stays the same.
func (s upkeep) askForNewKey(db *gorm.DB) error {
	names := *s.sealer.names.now.Load()
	if err := upsert(db).Create(&namesKeyRow{ID: 1, Sealed: s.sealer.seal(namesKeyID(), names)}).Error; err != nil {
		return err
	}
	return upsert(db).Create(&masterCheckRow{ID: 1, Sealed: s.sealer.seal(masterCheckID(), []byte(masterCheckText))}).Error
}
