package server_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
)

// Every document has the same coupon: what is not taken over from the one that is rendered
// first is named here.
func TestDocumentsHaveTheSameCoupon(t *testing.T) {
	own := map[reflect.Type]string{reflect.TypeFor[coupon.CouponRecord](): "Events", reflect.TypeFor[loyaltyread.HeldCoupon](): "ExpirationDate"}
	for document, its := range own {
		for i := range document.NumField() {
			f := document.Field(i)
			same, known := reflect.TypeFor[common.Coupon]().FieldByName(f.Name)
			require.True(t, f.Name == its || known && same.Type == f.Type, "%s.%s", document, f.Name)
		}
	}
}
