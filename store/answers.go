package store

import (
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// answerName is the name under which an answer is stored. It is a hash, because a caller's key may name a person, and
// because a copy of the database must not reveal keys that can be replayed.
func (s sealer) answerName(k loyalty.AnswerKey) string {
	return s.hash(rowID("answers", k.AccessKey, k.Key, strconv.Itoa(k.Place)))
}

// stored is an answer in the form of its row: under the hash of its key, and sealed under the master key unless it
// belongs to a customer. It is a copy, because the caller still has to send the answer.
func (s sealer) stored(a loyalty.Answer) loyalty.Answer {
	a.Key, a.Place = s.answerName(a.AnswerKey), 0
	if a.Customer == (loyalty.ID{}) {
		a.Body = s.seal(rowID("answers", a.AccessKey, a.Key), a.Body)
		if len(a.Block) > 0 {
			a.Block = s.seal(rowID("answers", a.AccessKey, a.Key, "customer"), a.Block)
		}
	}
	return a
}

func (s sealer) storedAnswers(answers []loyalty.Answer) []loyalty.Answer {
	rows := make([]loyalty.Answer, len(answers))
	for i := range answers {
		rows[i] = s.stored(answers[i])
	}
	return rows
}

// answer reads the row of an answer. An answer of a customer stays sealed.
func (s sealer) answer(r *answerRow, k loyalty.AnswerKey) (a loyalty.Answer, err error) {
	a = loyalty.Answer{
		AnswerKey: k, Status: r.Status, Body: r.Body, Block: r.Block, Customer: loyalty.ID(r.CustomerID), At: r.At.Time(), Language: r.Language,
	}
	copy(a.Hash[:], r.Hash)
	if a.Customer != (loyalty.ID{}) {
		return a, nil
	}
	if a.Body, err = s.open(rowID("answers", r.AccessKey, r.Key), r.Body); err == nil && len(r.Block) > 0 {
		a.Block, err = s.open(rowID("answers", r.AccessKey, r.Key, "customer"), r.Block)
	}
	return a, err
}
