package action_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// TestValuesOfTemplates: no percentage is above 100, and none of any type is worth
// nothing but free shipping, wherever coupons are made from.
func TestValuesOfTemplates(t *testing.T) {
	made := map[string]func(coupon string) ([3]string, string){
		"reward": func(coupon string) ([3]string, string) {
			return [3]string{"rewards/reward", "r", `{"title":{"en":"R"},"type":"coupon","coupon":` + coupon + `}`}, "coupon.value"
		},
		"uploaded pool": func(coupon string) ([3]string, string) {
			return [3]string{"coupons/pool", "p", `{"name":"P","source":"uploaded","coupon":` + coupon + `}`}, "coupon.value"
		},
		"generated pool": func(coupon string) ([3]string, string) {
			return [3]string{"coupons/pool", "p", `{"name":"P","source":"generated","pattern":"********","coupon":` + coupon + `}`}, "coupon.value"
		},
		"campaign": func(coupon string) ([3]string, string) {
			return loyaltytest.AnyCampaign("c", `"trigger":"visit","effects":[{"type":"coupon","coupon":`+coupon+`}]`), "effects[0].coupon.value"
		},
	}

	for name, entity := range made {
		for coupon, good := range map[string]bool{
			`{"type":"percentage","value":150}`:      false,
			`{"type":"percentage","value":100.0001}`: false,
			`{"type":"percentage","value":100}`:      true,
			`{"type":"percentage","value":0}`:        false,
			`{"type":"percentage"}`:                  false,
			`{"type":"amount","value":150}`:          true,
			`{"type":"gift_card","value":150}`:       true,
			`{"type":"free_shipping"}`:               true,
		} {
			e, field := entity(coupon)
			_, err := loyaltytest.CompileWith(modules{"automation": `{}`}, things{e})
			if good {
				require.NoError(t, err, "%s %s", name, coupon)
				continue
			}
			var fault *loyalty.Error
			require.ErrorAs(t, err, &fault, "%s %s", name, coupon)
			require.Equal(t, loyalty.Invalid, fault.Kind)
			require.Equal(t, field, fault.Details[0].Field, "%s %s", name, coupon)
		}
	}
}
