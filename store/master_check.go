package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ErrMasterKey says that the database was sealed with another master key. A node that continued would seal secrets
// and customers' keys that no other node can open.
var ErrMasterKey = errors.New("LOYALTY_MASTER_KEY is not the key that this database was sealed with")

// masterCheckRow is the value that tests whether the master key is the right one.
type masterCheckRow struct {
	ID     int `gorm:"primaryKey;autoIncrement:false"`
	Sealed []byte
}

func (masterCheckRow) TableName() string { return "master_check" }

// masterCheckText is the sealed text; it is no secret.
const masterCheckText = "loyalty"

func masterCheckID() []byte { return rowID("master_check", "1") }

// CheckMasterKey fails with ErrMasterKey if the database was sealed with another key, and loads the key for hashing
// names. A database without a check value gets one from the first node whose key opens a sealed value in it.
func (s upkeep) CheckMasterKey(ctx context.Context) error {
	db := s.write.WithContext(ctx)
	known, err := s.masterKnown(db)
	if err != nil || known {
		return err
	}
	if err := s.opensSomething(db); err != nil {
		return err
	}

	row := masterCheckRow{ID: 1, Sealed: s.sealer.seal(masterCheckID(), []byte(masterCheckText))}
	err = s.classify(db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
	if errors.Is(err, loyalty.ErrDatabaseAway) {
		return nil // no wrong value can be sealed while the database cannot be written
	}
	if err == nil { // another node may have been faster, with another key
		_, err = s.masterKnown(db)
	}

	return err
}

// masterKnown compares the key with the check value, if there is one.
func (s upkeep) masterKnown(db *gorm.DB) (bool, error) {
	var rows []masterCheckRow
	if err := db.Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return false, s.classify(err)
	}
	_, old, err := s.sealer.openBy(masterCheckID(), rows[0].Sealed)
	if err != nil {
		return false, ErrMasterKey
	}
	return true, s.loadNames(db, old)
}

// sealedSample is how many values of each kind are tried: one that opens is enough, and a few may have been damaged.
const sealedSample = 20

// opensSomething fails with ErrMasterKey if there are sealed values and none opens.
func (s upkeep) opensSomething(db *gorm.DB) error {
	var secrets []secretRow
	var keys []customerKeyRow
	err := errors.Join(db.Order("created_at DESC").Limit(sealedSample).Find(&secrets).Error, db.Limit(sealedSample).Find(&keys).Error)
	if err != nil {
		return fmt.Errorf("looking for what is sealed: %w", s.classify(err))
	}

	for _, r := range secrets {
		if _, err := s.sealer.open(secretID(r.KeyID, r.ID), r.Sealed); err == nil {
			return nil
		}
	}

	for _, r := range keys {
		if _, err := s.sealer.open(rowID("customer_keys", string(r.CustomerID[:])), r.Sealed); err == nil {
			return nil
		}
	}

	if len(secrets)+len(keys) > 0 {
		return ErrMasterKey
	}

	return nil
}

// MasterKeyFingerprint is the fingerprint of the key that the store seals with. While the master key is being
// changed, the old one's follows after a plus: both are needed.
func (s upkeep) MasterKeyFingerprint() string {
	if s.sealer.names.old.Load() {
		return strings.Join(s.sealer.prints, "+")
	}
	return s.sealer.prints[0]
}

// namesKeyRow is the key for hashing names, once the master key was changed.
type namesKeyRow struct {
	ID     int `gorm:"primaryKey;autoIncrement:false"`
	Sealed []byte
}

func (namesKeyRow) TableName() string { return "names_key" }

func namesKeyID() []byte { return rowID("names_key", "1") }

// loadNames loads the key for hashing names: the one stored by a change of the master key, else the one derived from
// the key that the database was sealed with.
func (s upkeep) loadNames(db *gorm.DB, old bool) error {
	s.sealer.names.old.Store(old)
	var rows []namesKeyRow
	if err := db.Limit(1).Find(&rows).Error; err != nil {
		return s.classify(err)
	}

	if len(rows) == 0 {
		if old {
			s.sealer.names.now.Store(&s.sealer.names.derived[1])
		}
		return nil
	}

	key, err := s.sealer.open(namesKeyID(), rows[0].Sealed)
	if err != nil {
		return ErrMasterKey
	}

	s.sealer.names.now.Store(&key)
	return nil
}

// KnowsMasterKeys reports whether the store has the master keys of a fingerprint.
func (s upkeep) KnowsMasterKeys(fingerprint string) bool {
	for part := range strings.SplitSeq(fingerprint, "+") {
		if !slices.Contains(s.sealer.prints, part) {
			return false
		}
	}
	return true
}
