package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// deleteAnswers deletes the answers that new ones replace, if they still exist.
var deleteAnswers = guards(`DELETE FROM answers WHERE EXISTS (SELECT 1 FROM v WHERE v.access_key = answers.access_key AND v.key = answers.key AND v.hash = answers.hash)`,
	field[loyalty.Answer]{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	field[loyalty.Answer]{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	field[loyalty.Answer]{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
)

// answerFields are the columns of an answer.
var answerFields = []field[loyalty.Answer]{
	{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
	{"status", "integer", func(a *loyalty.Answer) any { return number(a.Status) }},
	{"body", "bytea", func(a *loyalty.Answer) any { return append(blob{}, a.Body...) }},
	{"block", "bytea", func(a *loyalty.Answer) any { return blob(a.Block) }},
	{"customer_id", "uuid", func(a *loyalty.Answer) any { return (*UUID)(&a.Customer) }},
	{"at", "bigint", func(a *loyalty.Answer) any { return (*Millis)(&a.At) }},
	{"language", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Language) }},
}

const (
	answersInto = `INSERT INTO answers (access_key, key, hash, status, body, block, customer_id, at, language)
 SELECT access_key, key, hash, status, body, block, customer_id, at, language FROM v`
	outlivedAnswers = ` ON CONFLICT (access_key, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, body = excluded.body,
 block = excluded.block, customer_id = excluded.customer_id, at = excluded.at, language = excluded.language WHERE answers.at <= excluded.at - 86400000`
)

// insertAnswers replaces an expired answer. A valid one is a conflict, which the guard's count reveals. SQLite needs the
// WHERE to tell the conflict's ON from that of a join.
var insertAnswers = guards(answersInto+` WHERE true`+outlivedAnswers, answerFields...).onCitus(answersInto+outlivedAnswers, answerFields...)
