package main

const storeRoom = "store"

// suite is a part of the test suite of both databases.
func suite(parts string) string { return "TestSuite/./^(" + parts + ")$" }

// storage are mutants of the store, on both databases.
var storage = []mutant{
	{
		about: "figures are written over those of another batch", file: "store/columns_customer.go",
		old: "b.customer_id = v.customer_id AND b.version = v.version", new: "b.customer_id = v.customer_id", pkg: storeRoom,
		run: suite("guards|races"),
	},
	{
		about: "a customer's row is written over another state", file: "store/columns_customer.go",
		old: "c.id = v.id AND c.status = v.was", new: "c.id = v.id", pkg: storeRoom, run: suite("guards"),
	},
	{
		about: "a lot is written over what is left of it", file: "store/columns_points.go",
		old: " AND l.remaining = v.was_remaining AND l.reserved", new: " AND l.reserved", pkg: storeRoom,
		run: suite("each_part_of_a_guard"),
	},
	{
		about: "a hold is written over another one", file: "store/columns_points.go",
		old: " AND r.hold = v.was", new: "", pkg: storeRoom, run: suite("guards"),
	},
	{
		about: "a purchase is written over another state", file: "store/columns_purchase.go",
		old: "AND t.state = v.was_state AND t.updated_at", new: "AND t.updated_at", pkg: storeRoom,
		run: suite("each_part_of_a_guard"),
	},
	{
		about: "a purchase is written over another refund", file: "store/columns_purchase.go",
		old: " AND t.refunded = v.was_refunded", new: "", pkg: storeRoom, run: suite("each_part_of_a_guard"),
	},
	{
		about: "a name is freed that another customer has", file: "store/columns_customer.go",
		old: "(kind, value, owner) IN (SELECT kind, value, owner FROM v)",
		new: "(kind, value) IN (SELECT kind, value FROM v)", pkg: storeRoom, run: suite("each_part_of_a_guard"),
	},
	{
		about: "SQLite does not count what a guarded write met", file: "store/sqlite_conn.go",
		old: "err != nil || n != 1 {", new: "err != nil {", pkg: storeRoom, run: suite("guards"),
	},
	{
		about: "PostgreSQL does not count what a guarded write met", file: "store/statement.go",
		old: "loyalty_expect((SELECT count(*) FROM u), $\" + strconv.Itoa(len(fields)+1) + \"::bigint)\"",
		new: "loyalty_expect($\" + strconv.Itoa(len(fields)+1) + \"::bigint, $\" + strconv.Itoa(len(fields)+1) + \"::bigint) FROM (SELECT count(*) FROM u) n\"", pkg: storeRoom, run: suite("guards"),
	},
	{
		about: "an answer that lives is written over", file: "store/write_answers.go",
		old: " WHERE answers.at <= excluded.at - 86400000", new: "", pkg: storeRoom, run: suite("answers|guards"),
	},
	{
		about: "an answer lives for ever", file: "store/load_answers.go",
		old: "!at.After(l.needs.Now.Add(-answerLife))", new: "at.IsZero()", pkg: storeRoom, run: suite("answers"),
	},
	{
		about: "the key of a customer who left stays", file: "store/write.go",
		old: "\tlist = write(list, deleteKeys, w.DestroyKeys)\n", new: "", pkg: storeRoom,
		run: suite("opt_out leaves nothing"),
	},
	{
		about: "postings are not written", file: "store/write.go",
		old: "\tlist = write(list, insertPostings, w.Postings)\n", new: "", pkg: storeRoom,
		run: suite("every row comes back"),
	},
	{
		about: "a hold that ended stays", file: "store/write.go",
		old: "\tlist = write(list, deleteReservations, changed(w.Reservations, func(r *loyalty.Changed[loyalty.Reservation]) bool { return !held(r) }))\n", new: "", pkg: actionRoom, run: stories("release_points"),
	},
	{
		about: "the newest inactive customer of an e-mail is found, not the oldest", file: "store/load_statements.go",
		old: "x.status = 'inactive' ORDER BY x.created_at, x.id LIMIT 1",
		new: "x.status = 'inactive' ORDER BY x.created_at DESC, x.id LIMIT 1", pkg: storeRoom,
		run: suite("e-mail finds the oldest inactive"),
	},
	{
		about: "what a merged customer had is not found with who has it now", file: "store/load_statements.go",
		old: "` UNION ALL SELECT ` + columns + from + ` JOIN customers s ON s.merged_into = c.id JOIN ` + of(\"s.id\")",
		new: "``", pkg: storeRoom, run: suite("merged customers"),
	},
	{
		about: "what is due is not loaded before the event", file: "store/load.go",
		old: "at.IsZero() || at.After(l.needs.Now)", new: "at.IsZero() || !at.IsZero()", pkg: storeRoom,
		run: suite("due customers bring what is due"),
	},
	{
		about: "a batch that lost takes no locks", file: "store/postgres_within.go",
		old: "case l.needs.Locked:", new: "case l.needs.Locked && l.needs.Due > 0:", pkg: storeRoom,
		run: suite("locked coupons|races|shared counts"),
	},
	{
		about: "two nodes take the same customers who are due", file: "store/locks.go",
		old: " FOR UPDATE SKIP LOCKED", new: " FOR UPDATE", pkg: storeRoom, run: suite("due customers are shared out"),
	},
	{
		about: "a destroyed key stays in the log of the embedded database", file: "store/sqlite_log.go",
		old: "if e.owed = !c.checkpoint(); e.owed {", new: "if e.owed = false; e.owed {", pkg: storeRoom,
		run: "TestCheckpointIsOwed|TestSuite/sqlite/opt_out_leaves_nothing",
	},
	{
		about: "a commit whose answer was lost is taken for one that failed", file: "store/postgres_within.go",
		old: "case err == nil && written:", new: "case err == nil && written && gone:", pkg: storeRoom,
		run: "TestLostAfterTheCommit|TestOutcomeUnknown|TestLostCommitBehindAPooler",
	},
	{
		about: "two nodes give the same number", file: "store/tail_piece.go",
		old: "s.id = v.id AND s.head = v.was", new: "s.id = v.id", pkg: storeRoom, run: suite("the tail|races of the tail"),
		same: "the row of the head is locked until the commit on PostgreSQL, and SQLite has one writer: the guard is there for who breaks the lock",
	},
	{
		about: "an event is numbered before one that its customer had before", file: "store/tail.go",
		old: "case p.through[l.Customer] == l.before && !strays[l.Customer]:", new: "case !strays[l.Customer]:",
		pkg: storeRoom, run: suite("the tail|races of the tail"),
	},
	{
		about: "the chain of a journal does not tell where a field ends", file: "store/chain.go",
		old: "\th.Write(length[:])\n", new: "", pkg: storeRoom, run: "TestChainTellsFieldsApart",
	},
	{
		about: "of many events of a customer only the first piece is numbered", file: "store/tail_piece.go",
		old: "more = len(found) >= most", new: "more = false", pkg: storeRoom, run: suite("a tail of many events"),
	},
	{
		about: "what was recorded is numbered as far as a customer's first event of the page", file: "store/tail.go",
		old: "if e := &rows[i]; loyalty.CompareID(e.ID, latest[e.Customer]) > 0 {",
		new: "if e := &rows[i]; latest[e.Customer] == (loyalty.ID{}) {", pkg: storeRoom,
		run: suite("the tail|races of the tail"),
	},
	{
		about: "who was never seen by this process is numbered before what they did before", file: "store/tail.go",
		old: "if err != nil || !present {", new: "if _ = present; err != nil {", pkg: storeRoom,
		run: suite("the tail|races of the tail"),
	},
}

// signatures are mutants of the check of signed requests.
var signatures = []mutant{
	{
		about: "the secret that stands for an unknown key is accepted", file: "signing/verify.go",
		old: "hmac.Equal(w.sum, w.want[:]) && w.keys[i].real", new: "hmac.Equal(w.sum, w.want[:])", pkg: "signing",
		run: "TestDummySecretIsNeverAccepted",
	},
	{
		about: "an empty secret is a secret", file: "signing/verify.go",
		old: "i < len(secrets) && secrets[i] != \"\"", new: "i < len(secrets)", pkg: "signing",
		run: "TestEmptySecretIsNoSecret",
	},
	{
		about: "only one secret is compared, so that time tells of rotation", file: "signing/verify.go",
		old: "for i := range max(len(secrets), minTried) {", new: "for i := range max(len(secrets), 1) {", pkg: "signing",
		run: "TestUnknownKeyAndWrongSecretCostTheSame",
	},
	{
		about: "the host need not be signed", file: "signing/headers.go",
		old: "case !host:", new: "case !host && !date:", pkg: "signing", run: "TestRefusals",
	},
	{
		about: "a header that is named twice is signed", file: "signing/headers.go",
		old: "if i > 0 && name == w.names[i-1] {", new: "if i > len(w.names) {", pkg: "signing", run: "TestRefusals",
	},
	{
		about: "30 February is a date", file: "signing/date.go",
		old: "return t, day <= 28 || t.Day() == day", new: "return t, true", pkg: "signing", run: "TestParseDate",
	},
	{
		about: "the body is not part of the signature", file: "signing/claim.go",
		old: "\tw.in.Body = body\n", new: "\tw.in.Body = body[:0]\n", pkg: "signing",
		run: "TestMutationsAreRefused|TestSignedRequestsVerify",
	},
	{
		about: "a path that leads elsewhere has the same signature", file: "signing/path.go",
		old: "kept = kept[:max(0, len(kept)-1)]", new: "_ = kept", pkg: "signing", run: "TestWorkedCases|TestIsClean",
	},
}
