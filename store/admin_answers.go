package store

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Answer finds a stored answer. An answer of a customer is returned sealed, as the rules stored it.
func (t *adminTx) Answer(key loyalty.AnswerKey) (loyalty.Answer, bool, error) {
	var rows []answerRow
	err := t.db.Where("access_key = ? AND key = ?", key.AccessKey, t.s.sealer.answerName(key)).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return loyalty.Answer{}, false, t.s.fault(err)
	}
	a, err := t.s.sealer.answer(&rows[0], key)
	return a, err == nil, err
}

// SaveAnswer stores an answer sealed under the master key, replacing one that has expired. An event may have taken
// the name since the look-up, because an administrative lock does not block events.
func (t *adminTx) SaveAnswer(a loyalty.Answer) error {
	r := t.s.sealer.stored(a)
	over := clause.Lte{Column: clause.Column{Table: "answers", Name: "at"}, Value: Millis(r.At.Add(-loyalty.AnswerLife))}
	saved := t.db.Clauses(clause.OnConflict{UpdateAll: true, Where: clause.Where{Exprs: []clause.Expression{over}}}).Create(&answerRow{
		AccessKey: r.AccessKey, Key: r.Key, Hash: r.Hash[:], Status: r.Status, Body: r.Body, At: Millis(r.At), Language: r.Language,
	})
	if saved.Error == nil && saved.RowsAffected == 0 {
		return loyalty.ErrBatchConflict
	}
	return t.s.fault(saved.Error)
}

// TakeSignature takes the signature of a write, and returns false if it was taken before. The row holds half of the
// signature, which is enough to tell signatures apart and useless for anything else.
func (s adminStore) TakeSignature(ctx context.Context, signature [32]byte, goodUntil time.Time) (bool, error) {
	const statement = `INSERT INTO taken_signatures (signature, good_until) VALUES (?, ?) ON CONFLICT (signature) DO NOTHING`
	taken := s.write.WithContext(ctx).Exec(statement, blob(signature[:16]), Millis(goodUntil))
	return taken.RowsAffected == 1, s.fault(taken.Error)
}

// forgetPage is how many rows one statement deletes: SQLite has one writer, and purchases must not wait for a night's
// worth of deletions.
const forgetPage = 1000

// ForgetAnswers deletes the stored answers of idempotent requests that are older than an instant, and the replay
// guard's signatures that expired before it. Several nodes may run it at once.
func (s adminStore) ForgetAnswers(ctx context.Context, before time.Time) error {
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
func (s adminStore) forget(ctx context.Context, statement string, before time.Time) error {
	for {
		deleted := s.write.WithContext(ctx).Exec(statement, Millis(before), forgetPage)
		if deleted.Error != nil || deleted.RowsAffected < forgetPage {
			return s.fault(deleted.Error)
		}
	}
}
