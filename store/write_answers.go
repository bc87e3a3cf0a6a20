package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// deleteAnswers makes room for answers that take the place of others, if those are
// still there.
var deleteAnswers = guards(`DELETE FROM answers WHERE EXISTS (SELECT 1 FROM v WHERE v.access_key = answers.access_key AND v.key = answers.key AND v.hash = answers.hash)`,
	field[loyalty.Answer]{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	field[loyalty.Answer]{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	field[loyalty.Answer]{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
)

// insertAnswers replaces an answer that has outlived its time; a living one is a conflict,
// which the guard's count shows.
var insertAnswers = guards(`INSERT INTO answers (access_key, key, hash, status, body, block, customer_id, at)
 SELECT access_key, key, hash, status, body, block, customer_id, at FROM v WHERE true
 ON CONFLICT (access_key, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, body = excluded.body,
 block = excluded.block, customer_id = excluded.customer_id, at = excluded.at WHERE answers.at <= excluded.at - 86400000`,
	field[loyalty.Answer]{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	field[loyalty.Answer]{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	field[loyalty.Answer]{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
	field[loyalty.Answer]{"status", "integer", func(a *loyalty.Answer) any { return number(a.Status) }},
	field[loyalty.Answer]{"body", "bytea", func(a *loyalty.Answer) any { return append(blob{}, a.Body...) }},
	field[loyalty.Answer]{"block", "bytea", func(a *loyalty.Answer) any { return blob(a.Block) }},
	field[loyalty.Answer]{"customer_id", "uuid", func(a *loyalty.Answer) any { return (*UUID)(&a.Customer) }},
	field[loyalty.Answer]{"at", "bigint", func(a *loyalty.Answer) any { return (*Millis)(&a.At) }},
)
