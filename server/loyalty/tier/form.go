package tier

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Form identifies the part of a structure's definition that decides tiers: a change of names, for example, changes no
// customer's tier.
func (s *Structure) Form() string {
	thresholds := make(map[string]string, len(s.Tiers))
	for _, t := range s.Tiers {
		thresholds[t.ID] = t.Threshold.String()
	}
	parts := []any{s.Base, s.Window, s.Downgrade, s.GraceDays, thresholds}
	if s.Base == BaseSpend {
		parts = append(parts, s.exchange.Form())
	}
	sum := sha256.Sum256(loyalty.JSON(parts))
	return hex.EncodeToString(sum[:])
}
