package store

import (
	"context"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// answerName is what the row of an answer is found by: a hash, because a caller's
// key may name a person, and because what stands in a copy of the database must not
// be good for asking.
func (s sealer) answerName(k loyalty.AnswerKey) string {
	return s.hash(rowID("answers", k.AccessKey, k.Key, strconv.Itoa(k.Place)))
}

// clearName is what the row was found by before names were hashed.
func clearName(k loyalty.AnswerKey) string {
	if k.Place == 0 {
		return k.Key
	}
	return k.Key + "#" + strconv.Itoa(k.Place-1)
}

// storedName is what the row of an answer is called.
func (s sealer) storedName(a *loyalty.Answer) string {
	if a.Clear {
		return clearName(a.AnswerKey)
	}
	return s.answerName(a.AnswerKey)
}

// stored is an answer as its row has it: under the hash of its key, and sealed where
// it belongs to no customer. It is a copy: the caller still has to send the answer.
func (s sealer) stored(a loyalty.Answer) loyalty.Answer {
	a.Key, a.Place = s.storedName(&a), 0
	if a.Customer == (loyalty.ID{}) {
		a.Body = s.seal(rowID("answers", a.AccessKey, a.Key), a.Body)
		if len(a.Block) > 0 {
			a.Block = s.seal(rowID("answers", a.AccessKey, a.Key, "customer"), a.Block)
		}
	}
	return a
}

func (s *Store) storedAnswers(answers []loyalty.Answer) []loyalty.Answer {
	rows := make([]loyalty.Answer, len(answers))
	for i := range answers {
		rows[i] = s.sealer.stored(answers[i])
	}
	return rows
}

// answer reads the row of an answer. One that belongs to a customer stays sealed.
func (s sealer) answer(r *answerRow, k loyalty.AnswerKey) (a loyalty.Answer, err error) {
	a = loyalty.Answer{
		AnswerKey: k, Status: r.Status, Body: r.Body, Block: r.Block, Customer: loyalty.ID(r.CustomerID), At: r.At.Time(),
		Clear: r.Key != s.answerName(k),
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

// answers asks for each answer by both its names, for as long as rows with the clear
// one can be alive: an answer that is not found is an effect that happens twice.
func (l *loader) answers(list []calls) []calls {
	if len(l.needs.Answers) == 0 {
		return list
	}
	named := make(map[answerName]loyalty.AnswerKey, 2*len(l.needs.Answers))
	rows := make([]answerName, 0, 2*len(l.needs.Answers))
	for _, k := range l.needs.Answers {
		for _, name := range []string{l.sealer.answerName(k), clearName(k)} {
			n := answerName{k.AccessKey, name}
			if _, twice := named[n]; !twice {
				rows = append(rows, n)
			}
			named[n] = k
		}
	}
	var r answerRow
	var status int64
	into := []any{&r.AccessKey, &r.Key, &r.Hash, (*number)(&status), &r.Body, &r.Block, &r.CustomerID, &r.At}
	return read(list, selectAnswers, rows, into, func() error {
		if at := r.At.Time(); !l.needs.Now.IsZero() && !at.After(l.needs.Now.Add(-answerLife)) {
			return nil
		}
		r.Status = int(status)
		a, err := l.sealer.answer(&r, named[answerName{r.AccessKey, r.Key}])
		if before, known := l.out.Answers[a.AnswerKey]; !known || before.Clear {
			l.out.Answers[a.AnswerKey] = a
		}
		return err
	})
}

// answerName names the row of an answer.
type answerName struct{ accessKey, key string }

// Answer finds a stored answer. One that belongs to a customer comes back
// sealed, as the rules stored it.
func (t *adminTx) Answer(key loyalty.AnswerKey) (loyalty.Answer, bool, error) {
	var rows []answerRow
	names := []string{t.s.sealer.answerName(key), clearName(key)}
	err := t.db.Where("access_key = ? AND key IN ?", key.AccessKey, names).Order("at DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return loyalty.Answer{}, false, t.s.fault(err)
	}
	a, err := t.s.sealer.answer(&rows[0], key)
	return a, err == nil, err
}

// SaveAnswer stores an answer sealed under the master key, in the place of one
// that is over.
func (t *adminTx) SaveAnswer(a loyalty.Answer) error {
	r := t.s.sealer.stored(a)
	return t.s.fault(upsert(t.db).Create(&answerRow{
		AccessKey: r.AccessKey, Key: r.Key, Hash: r.Hash[:], Status: r.Status, Body: r.Body, At: Millis(r.At),
	}).Error)
}

// TakeSignature takes the signature of a write; false: it was taken before. The row
// holds half of it, which tells signatures apart and is good for nothing else.
func (s *Store) TakeSignature(ctx context.Context, signature [32]byte, goodUntil time.Time) (bool, error) {
	const statement = `INSERT INTO taken_signatures (signature, good_until) VALUES (?, ?) ON CONFLICT (signature) DO NOTHING`
	taken := s.write.WithContext(ctx).Exec(statement, blob(signature[:16]), Millis(goodUntil))
	return taken.RowsAffected == 1, s.fault(taken.Error)
}

// forgetPage is how many answers one statement deletes: SQLite has one writer,
// and purchases must not wait for a night's worth of deletions.
const forgetPage = 1000

// ForgetAnswers deletes the stored answers of idempotent requests that are
// older than an instant, and the signatures of the replay guard that are over by
// then. A job calls it; several nodes may.
func (s *Store) ForgetAnswers(ctx context.Context, before time.Time) error {
	const answers = `DELETE FROM answers WHERE (access_key, key) IN (SELECT access_key, key FROM answers WHERE at < ? ORDER BY at LIMIT ?)`
	const signatures = `DELETE FROM taken_signatures WHERE signature IN (SELECT signature FROM taken_signatures WHERE good_until < ? ORDER BY good_until LIMIT ?)`
	for _, statement := range []string{answers, signatures} {
		if err := s.forget(ctx, statement, before); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes page by page.
func (s *Store) forget(ctx context.Context, statement string, before time.Time) error {
	for {
		deleted := s.write.WithContext(ctx).Exec(statement, Millis(before), forgetPage)
		if deleted.Error != nil || deleted.RowsAffected < forgetPage {
			return s.fault(deleted.Error)
		}
	}
}
