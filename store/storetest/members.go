package storetest

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// Member is an active customer since an instant, with a name and nothing else.
func Member(name string, since time.Time) loyalty.Customer {
	return loyalty.Customer{
		ID: loyalty.NewID(since, loyalty.ID{}), Name: name, Status: loyalty.Active, CreatedAt: since, UpdatedAt: since,
		Key: make([]byte, loyalty.KeySize), Version: 1,
	}
}

// Enrol adds customers and their names to a batch.
func Enrol(w *loyalty.Writes, customers ...loyalty.Customer) {
	for _, c := range customers {
		w.NewCustomers = append(w.NewCustomers, c)
		w.Claims = append(w.Claims, loyalty.Claim{Name: customerName(c.Name), Owner: c.ID})
	}
}

// Put writes a batch that needs no load.
func Put(s *store.Store, now time.Time, w loyalty.Writes) error {
	return s.Within(context.Background(), loyalty.Needs{Now: now},
		func(*loyalty.Loaded) (*loyalty.Writes, error) { return &w, nil })
}
