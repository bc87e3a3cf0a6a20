package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// answers reads the stored answers.
func (l *loader) answers(list []calls) []calls {
	if len(l.needs.Answers) == 0 {
		return list
	}

	named := make(map[answerName]loyalty.AnswerKey, len(l.needs.Answers))
	rows := make([]answerName, 0, len(l.needs.Answers))
	for _, k := range l.needs.Answers {
		n := answerName{k.AccessKey, l.sealer.answerName(k)}
		if _, twice := named[n]; !twice {
			rows = append(rows, n)
		}
		named[n] = k
	}

	var r answerRow
	var status int64
	into := []any{&r.AccessKey, &r.Key, &r.Hash, (*number)(&status), &r.Body, &r.Block, &r.CustomerID, &r.At, (*plain)(&r.Language)}
	return read(list, selectAnswers, rows, into, func() error {
		if at := r.At.Time(); !l.needs.Now.IsZero() && !at.After(l.needs.Now.Add(-answerLife)) {
			return nil
		}
		r.Status = int(status)
		a, err := l.sealer.answer(&r, named[answerName{r.AccessKey, r.Key}])
		l.out.Answers[a.AnswerKey] = a
		return err
	})
}

// answerName identifies the row of an answer.
type answerName struct{ accessKey, key string }
