package engine

import (
	"encoding/json"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Seal encrypts personal attributes for a row. It returns nothing for a customer whose key was
// destroyed.
func (r *Run) Seal(personal map[string]json.RawMessage, row loyalty.ID) ([]byte, error) {
	if len(personal) == 0 || r.Customer.Key == nil {
		return nil, nil
	}
	return loyalty.Seal(r.Customer.Key, row[:], loyalty.Object(personal))
}

// openPersonal decrypts personal attributes; fresh ones are returned as they are. It returns none if the customer's key
// was destroyed.
func openPersonal(
	r *Run, sealed []byte, row loyalty.ID, fresh map[string]json.RawMessage,
) (map[string]json.RawMessage, error) {
	if fresh != nil || sealed == nil || r.Customer.Key == nil {
		return fresh, nil
	}
	plain, err := loyalty.Open(r.Customer.Key, row[:], sealed)
	if err != nil {
		return nil, err
	}
	var personal map[string]json.RawMessage
	return personal, json.Unmarshal(plain, &personal)
}

// OpenBought is openPersonal for what is stored with a purchase. A purchase of a merged customer is sealed under that
// customer's key, or under that of an account merged into it before. The row does not say which, so each key is tried:
// a merge does not seal purchases anew, because there may be thousands.
func (r *Run) OpenBought(
	t *loyalty.Transaction, sealed []byte, row loyalty.ID, fresh map[string]json.RawMessage,
) (map[string]json.RawMessage, error) {
	if fresh != nil || sealed == nil {
		return fresh, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return nil, err
	}
	if r.Customer.Key == nil || t.Customer == r.Customer.ID {
		return openPersonal(r, sealed, row, nil)
	}
	if personal, err := loyalty.OpenAttributes(r.Customer.Key, sealed, row); err == nil {
		return personal, nil
	}

	key, err := keyOf(r, t.Customer)
	if err != nil {
		return nil, err
	}
	if personal, err := loyalty.OpenAttributes(key, sealed, row); err == nil {
		return personal, nil
	}
	if err := r.Require(everything); err != nil || r.account.loaded == nil {
		return nil, err
	}
	if err := requireParts(r, r.account.loaded.Sources); err != nil {
		return nil, err
	}

	for _, id := range r.account.loaded.Sources {
		if key, err = keyOf(r, id); err != nil {
			return nil, err
		}
		if personal, err := loyalty.OpenAttributes(key, sealed, row); err == nil {
			return personal, nil
		}
	}

	return nil, fmt.Errorf("no key opens what is personal of %s", row)
}

// requireParts makes sure that the accounts of all ids were loaded, by one need, because there may be any number of
// them.
func requireParts(r *Run, ids []loyalty.ID) error {
	var want []loyalty.CustomerNeeds
	for _, id := range ids {
		n := loyalty.CustomerNeeds{ID: id, Key: true}
		if a, ok := r.batch.accounts[id]; !r.batch.asked.people[personOf(&n)] || (ok && a.loaded != nil && !a.covers(&n)) {
			// all at once: one round trip, however many accounts were merged into this customer
			want = append(want, n)
		}
	}
	if want == nil {
		return nil
	}
	return &NeedMoreError{want[0], want[1:]}
}

// keyOf returns the key of a customer that was merged into this one; nil if it was destroyed.
func keyOf(r *Run, id loyalty.ID) ([]byte, error) {
	n := loyalty.CustomerNeeds{ID: id, Key: true}
	a, ok := r.batch.accounts[id]
	if !r.batch.asked.people[personOf(&n)] || (ok && a.loaded != nil && !a.covers(&n)) {
		return nil, &NeedMoreError{needs: n}
	}
	if !ok {
		return nil, nil
	}
	return a.customer.Key, nil
}

// reveal decrypts personal attributes of a row, which may belong to a customer that was merged into this one; none if
// that customer's key was destroyed.
func reveal(r *Run, owner loyalty.ID, sealed []byte, row loyalty.ID) (map[string]json.RawMessage, error) {
	if sealed == nil {
		return nil, nil
	}
	key, err := keyFor(r, owner)
	if err != nil || key == nil {
		return nil, err
	}
	plain, err := loyalty.Open(key, row[:], sealed)
	if err != nil {
		return nil, err
	}
	var personal map[string]json.RawMessage
	return personal, json.Unmarshal(plain, &personal)
}

// keyFor returns the key of a row's owner: this customer's, or that of a customer merged into it.
func keyFor(r *Run, owner loyalty.ID) ([]byte, error) {
	if owner != r.Customer.ID {
		return keyOf(r, owner)
	}
	err := r.Require(loyalty.CustomerNeeds{Key: true})
	return r.Customer.Key, err
}

// SealName seals the name of a coupon under this customer's key.
func SealName(r *Run, n loyalty.CouponName, coupon loyalty.ID) (loyalty.CouponName, error) {
	if len(n.Texts) == 0 {
		return loyalty.CouponName{}, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return loyalty.CouponName{}, err
	}
	if r.Customer.Key == nil {
		return loyalty.CouponName{}, nil
	}
	sealed, err := loyalty.Seal(r.Customer.Key, coupon[:], loyalty.JSON(n.Texts))
	return loyalty.CouponName{Sealed: sealed, Customer: r.Customer.ID}, err
}
