package loyalty

import (
	"encoding/json"
)

// CouponName is what a coupon is called. A name of the programme's own is Texts. One
// that a caller gave with coupon_create may tell of the person it was given to: it is
// sealed under that customer's key, wherever the coupon goes, and unreadable once they
// leave.
type CouponName struct {
	Texts    map[string]string // by language
	Sealed   []byte            // Texts as JSON, bound to the coupon's id; nil: nothing is sealed
	Customer ID                // under whose key
}

// sealedName is a sealed name in JSON, where no language is called that.
type sealedName struct {
	Sealed   []byte `json:"sealed"`
	Customer ID     `json:"customer"`
}

// IsZero says that there is no name.
func (n CouponName) IsZero() bool { return len(n.Texts) == 0 && n.Sealed == nil }

// MarshalJSON writes the texts by language, or what is sealed instead of them.
func (n CouponName) MarshalJSON() ([]byte, error) {
	if n.Sealed != nil {
		return json.Marshal(sealedName{n.Sealed, n.Customer})
	}
	return json.Marshal(n.Texts)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *CouponName) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	*n = CouponName{}
	if members["sealed"] == nil {
		return json.Unmarshal(text, &n.Texts)
	}
	var s sealedName
	err := json.Unmarshal(text, &s)
	n.Sealed, n.Customer = s.Sealed, s.Customer
	return err
}

// Open makes a sealed name readable. Without the key (nil: it was destroyed) there is
// no name.
func (n CouponName) Open(key []byte, coupon ID) (CouponName, error) {
	if n.Sealed == nil {
		return n, nil
	}
	var opened CouponName
	if key == nil {
		return opened, nil
	}
	plain, err := Open(key, coupon[:], n.Sealed)
	if err != nil {
		return opened, err
	}
	return opened, json.Unmarshal(plain, &opened.Texts)
}
