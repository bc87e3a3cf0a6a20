package store

// deleteAnswers deletes the answers that new ones replace, if they still exist.
var deleteAnswers = guards(`DELETE FROM answers WHERE EXISTS (SELECT 1 FROM v WHERE v.access_key = answers.access_key AND v.key = answers.key AND v.hash = answers.hash)`,
	field[storedAnswer]{"access_key", "text", func(a *storedAnswer) any { return (*plain)(&a.AccessKey) }},
	field[storedAnswer]{"key", "text", func(a *storedAnswer) any { return (*plain)(&a.Key) }},
	field[storedAnswer]{"hash", "bytea", func(a *storedAnswer) any { return blob(a.Hash[:]) }},
)

// answerFields are the columns of an answer, and the unhashed name that an older program would have used.
var answerFields = []field[storedAnswer]{
	{"access_key", "text", func(a *storedAnswer) any { return (*plain)(&a.AccessKey) }},
	{"key", "text", func(a *storedAnswer) any { return (*plain)(&a.Key) }},
	{"hash", "bytea", func(a *storedAnswer) any { return blob(a.Hash[:]) }},
	{"status", "integer", func(a *storedAnswer) any { return number(a.Status) }},
	{"body", "bytea", func(a *storedAnswer) any { return append(blob{}, a.Body...) }},
	{"block", "bytea", func(a *storedAnswer) any { return blob(a.Block) }},
	{"customer_id", "uuid", func(a *storedAnswer) any { return (*UUID)(&a.Customer) }},
	{"at", "bigint", func(a *storedAnswer) any { return (*Millis)(&a.At) }},
	{"language", "text", func(a *storedAnswer) any { return (*plain)(&a.Language) }},
	{"former", "text", func(a *storedAnswer) any { return (*plain)(&a.former) }},
}

const (
	answersInto = `INSERT INTO answers (access_key, key, hash, status, body, block, customer_id, at, language)
 SELECT access_key, key, hash, status, body, block, customer_id, at, language FROM v`
	outlivedAnswers = ` ON CONFLICT (access_key, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, body = excluded.body,
 block = excluded.block, customer_id = excluded.customer_id, at = excluded.at, language = excluded.language WHERE answers.at <= excluded.at - 86400000`
	livingFormer = `o.access_key = v.access_key AND o.key = v.former AND o.at > v.at - 86400000`
)

// insertAnswers replaces an expired answer. A valid one is a conflict, which the guard's count reveals, also if it is
// stored under the unhashed name: a batch that was decided on cached customers has not looked for it. On Citus the
// two names may be on two machines, so the unhashed one is looked up first.
var insertAnswers = guards(answersInto+`
 WHERE NOT EXISTS (SELECT 1 FROM answers o WHERE `+livingFormer+`)`+outlivedAnswers, answerFields...).
	onCitus(answersInto+outlivedAnswers, answerFields...).
	unlessOnCitus(`SELECT o.key FROM v JOIN answers o ON ` + livingFormer)
