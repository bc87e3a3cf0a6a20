package challenge

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Ending is a challenge that a customer has begun and can complete until an instant.
type Ending struct {
	Challenge string
	At        time.Time
}

// Endings lists the begun challenges that end after an instant, in the order of their ids. of reads the stored state of
// a challenge.
func Endings(
	p *programme.Programme, now time.Time, of func(challenge string) json.RawMessage,
) (list []Ending, err error) {
	all := Challenges.Of(p)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		c := all[id]
		data := of(id)
		if c.EndsAt.IsZero() || !c.EndsAt.After(now) || data == nil {
			continue
		}

		var st ChallengeState
		if err := json.Unmarshal(data, &st); err != nil {
			return nil, err
		}
		if st.Of != c.of || len(st.Criteria) != len(c.Criteria) { // progress made for other criteria does not count
			continue
		}
		if status := c.Status(st, now, p.Location); status.Left > 0 && status.Percent > 0 {
			list = append(list, Ending{id, c.EndsAt.Time})
		}
	}

	return list, nil
}
