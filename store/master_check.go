package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ErrMasterKey says that the database was sealed with another master key. A node that
// went on would seal secrets and customers' keys that no other node opens.
var ErrMasterKey = errors.New("LOYALTY_MASTER_KEY is not the key that this database was sealed with")

// masterCheckRow is the one value that tells whether the master key is the right one.
type masterCheckRow struct {
	ID     int `gorm:"primaryKey;autoIncrement:false"`
	Sealed []byte
}

func (masterCheckRow) TableName() string { return "master_check" }

// masterCheckText is what is sealed; it is no secret.
const masterCheckText = "loyalty"

func masterCheckID() []byte { return rowID("master_check", "1") }

// CheckMasterKey fails with ErrMasterKey where the database was sealed with another
// key. A database without a check value, which older programs left, gets one from
// the first node whose key opens what is sealed in it.
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
		return nil // it cannot be written now, so that nothing wrong can be sealed either
	}
	if err == nil { // another node may have been faster, with another key
		_, err = s.masterKnown(db)
	}
	return err
}

// masterKnown holds the key against the check value, where there is one.
func (s upkeep) masterKnown(db *gorm.DB) (bool, error) {
	var rows []masterCheckRow
	if err := db.Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return false, s.classify(err)
	}
	if _, err := s.sealer.open(masterCheckID(), rows[0].Sealed); err != nil {
		return false, ErrMasterKey
	}
	return true, nil
}

// sealedSample is how many values of each kind are tried: one that opens is enough,
// and a few may have been damaged.
const sealedSample = 20

// opensSomething fails with ErrMasterKey where values are sealed and none opens.
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

// MasterKeyFingerprint is that of the key that the store seals with.
func (s upkeep) MasterKeyFingerprint() string { return s.sealer.print }
