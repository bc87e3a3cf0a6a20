package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TransactionHolder finds whose purchase a transaction is: of a merged customer,
// the one they became part of. It fails with loyalty.ErrTransactionNotFound.
func (s purchaseStore) TransactionHolder(ctx context.Context, transaction string) (loyalty.Customer, error) {
	var holder loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) error {
		name, err := nameTable.first(db.Where("kind = ? AND value = ?", loyalty.NameTransaction, storable(transaction)))
		if err == nil && name == nil {
			err = loyalty.ErrTransactionNotFound
		}
		if err != nil {
			return err
		}
		holder, err = survivor(db, UUID(name.Owner))
		return err
	})
	return holder, err
}
