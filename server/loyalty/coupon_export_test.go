package loyalty

import "testing"

// AllowFewCodes lets a test use a pattern whose codes run out.
func AllowFewCodes(t *testing.T) {
	was := leastCodes
	leastCodes = 1
	t.Cleanup(func() { leastCodes = was })
}
