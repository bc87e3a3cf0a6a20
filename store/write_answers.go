package store

// deleteAnswers makes room for answers that take the place of others, if those are
// still there.
var deleteAnswers = guards(`DELETE FROM answers WHERE EXISTS (SELECT 1 FROM v WHERE v.access_key = answers.access_key AND v.key = answers.key AND v.hash = answers.hash)`,
	field[storedAnswer]{"access_key", "text", func(a *storedAnswer) any { return (*plain)(&a.AccessKey) }},
	field[storedAnswer]{"key", "text", func(a *storedAnswer) any { return (*plain)(&a.Key) }},
	field[storedAnswer]{"hash", "bytea", func(a *storedAnswer) any { return blob(a.Hash[:]) }},
)

// insertAnswers replaces an answer that has outlived its time; a living one is a conflict,
// which the guard's count shows, also where it still has its former name: a batch that was
// decided on kept customers has not looked for it.
var insertAnswers = guards(`INSERT INTO answers (access_key, key, hash, status, body, block, customer_id, at)
 SELECT access_key, key, hash, status, body, block, customer_id, at FROM v
 WHERE NOT EXISTS (SELECT 1 FROM answers o WHERE o.access_key = v.access_key AND o.key = v.former AND o.at > v.at - 86400000)
 ON CONFLICT (access_key, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, body = excluded.body,
 block = excluded.block, customer_id = excluded.customer_id, at = excluded.at WHERE answers.at <= excluded.at - 86400000`,
	field[storedAnswer]{"access_key", "text", func(a *storedAnswer) any { return (*plain)(&a.AccessKey) }},
	field[storedAnswer]{"key", "text", func(a *storedAnswer) any { return (*plain)(&a.Key) }},
	field[storedAnswer]{"hash", "bytea", func(a *storedAnswer) any { return blob(a.Hash[:]) }},
	field[storedAnswer]{"status", "integer", func(a *storedAnswer) any { return number(a.Status) }},
	field[storedAnswer]{"body", "bytea", func(a *storedAnswer) any { return append(blob{}, a.Body...) }},
	field[storedAnswer]{"block", "bytea", func(a *storedAnswer) any { return blob(a.Block) }},
	field[storedAnswer]{"customer_id", "uuid", func(a *storedAnswer) any { return (*UUID)(&a.Customer) }},
	field[storedAnswer]{"at", "bigint", func(a *storedAnswer) any { return (*Millis)(&a.At) }},
	field[storedAnswer]{"former", "text", func(a *storedAnswer) any { return (*plain)(&a.former) }},
)
