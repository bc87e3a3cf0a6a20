package challenge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// ChallengeList lists the challenges in display order: by end, those without an end last, then by id.
func ChallengeList(p *programme.Programme) []*Challenge {
	return slices.SortedFunc(maps.Values(Challenges.Of(p)), func(a, b *Challenge) int {
		switch {
		case a.EndsAt.IsZero() && !b.EndsAt.IsZero():
			return 1
		case b.EndsAt.IsZero() && !a.EndsAt.IsZero():
			return -1
		}
		return cmp.Or(a.EndsAt.Compare(b.EndsAt.Time), cmp.Compare(a.ID, b.ID))
	})
}
