package job

import (
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
)

// AllowFewCodes lets a test use a pattern whose codes run out.
func AllowFewCodes(t *testing.T) {
	was := coupon.LeastCodes
	coupon.LeastCodes = 1
	t.Cleanup(func() { coupon.LeastCodes = was })
}
