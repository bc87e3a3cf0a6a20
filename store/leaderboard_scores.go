package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// BoardScores counts the customers on a board in bands of scores, most at most. The lowest and the highest score are
// the ends of the index; between two bands it counts how many are above.
func (s boardStore) BoardScores(ctx context.Context, b loyalty.Board, most int) (bands []loyalty.ScoreBand, err error) {
	var ends []int64
	var score number
	end := func(order string) question {
		on := onBoard(b)
		return sqlFragment{"SELECT score FROM rankings" + on.where() + " ORDER BY score " + order + " LIMIT 1", on.args}.reads(func() bool {
			ends = append(ends, int64(score))
			return false
		}, &score)
	}

	var above []number
	err = s.ask(ctx, []question{end("ASC"), end("DESC")}, func() (list []question, err error) {
		if len(ends) < 2 {
			return nil, nil
		}
		bands = loyalty.ScoreBands(ends[0], ends[1], most)
		above = make([]number, len(bands))
		for i := range bands {
			list = append(list, higher(b, bands[i].From-1).one(&above[i]))
		}
		return list, nil
	})

	for i := range above {
		bands[i].Customers = int64(above[i])
		if i > 0 {
			bands[i-1].Customers -= int64(above[i])
		}
	}

	return bands, err
}
