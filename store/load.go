package store

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// answerLife is how long a stored answer is repeated (decisions 1, idempotency).
// After it the row counts as absent, whether the clean-up has come or not.
const answerLife = 24 * time.Hour

// person is a customer as needs name one: by one of the three.
type person struct {
	loyalty.Name
	id    loyalty.ID
	email string
}

// ask is one row of a load: who, and where it matters which purchase.
type ask struct {
	person
	i  int // index in needs.Customers, for what the answer does not repeat
	tx string
}

// who is one of the three ways in which needs name a customer. A load runs a
// statement for each way that occurs: nearly always one.
type who int

const (
	byName who = iota
	byID
	byEmail
	ways
)

var (
	askIndex = field[ask]{"i", "bigint", func(a *ask) any { return number(a.i) }}
	askKind  = field[ask]{"kind", "smallint", func(a *ask) any { return number(a.Kind) }}
	askValue = field[ask]{"value", "text", func(a *ask) any { return (*plain)(&a.Value) }}
	askID    = field[ask]{"id", "uuid", func(a *ask) any { return (*UUID)(&a.id) }}
	askEmail = field[ask]{"email", "text", func(a *ask) any { return (*plain)(&a.email) }}
	askTx    = field[ask]{"tx", "text", func(a *ask) any { return (*plain)(&a.tx) }}

	askWho = [ways][]field[ask]{byName: {askKind, askValue}, byID: {askID}, byEmail: {askEmail}}
)

// found joins v with the customer it names, as c.
var found = [ways]string{
	byName: ` FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value JOIN customers c ON c.id = n.owner`,
	byID:   ` FROM v JOIN customers c ON c.id = v.id`,
	byEmail: ` FROM v JOIN customers c ON c.id = (SELECT x.id FROM customers x
 WHERE x.email_key = v.email AND x.status = 'inactive' ORDER BY x.created_at, x.id LIMIT 1)`,
}

const (
	loadCustomer = `c.id, c.name, c.status, c.created_at, c.updated_at, c.merged_into,
 c.handler, c.email, c.first_name, c.last_name, c.language, c.gender, c.currency, c.image_url, c.birth_date,
 c.labels, c.external_ids, c.custom, c.referrer,
 b.version, b.score, b.spent, b.reserved, b.expired, b.pending, b.debt, b.last_event, b.due_at, b.last_activity_at`
	loadLot = `l.customer_id, l.id, l.transaction_id, l.points, l.remaining, l.reserved, l.spent, l.expired,
 l.earned_at, l.expires_at, l.idle_months, l.idle_days`
	loadTransaction = `t.state, t.checkout, t.created_at, t.updated_at, t.checkout_date, t.auto_accept, t.auto_reject,
 t.total, t.original_total, t.refunded, t.original_earned, t.earned, t.original_burned, t.burned, t.detail`
)

// The statements of a load, one for each way of naming customers.
var (
	selectPeople, selectCustomers, selectSealed, selectHeldLots, selectOpenLots, selectUsedLots, selectTransactionLots, selectReservations [ways]*statement[ask]

	selectNames = selects(`SELECT n.kind, n.value, n.owner FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value`, askKind, askValue)

	// A purchase is found through its claimed name: it may be somebody else's.
	selectTransactions = selects(`SELECT n.owner, n.value, `+loadTransaction+` FROM v JOIN names n ON n.kind = 2 AND n.value = v.tx
 LEFT JOIN transactions t ON t.customer_id = n.owner AND t.transaction_id = n.value`, askTx)
	selectDueTransactions = selects(`SELECT t.customer_id, t.transaction_id, `+loadTransaction+` FROM v JOIN transactions t
 ON t.customer_id = v.id AND t.state = 'pending' AND t.auto_accept IS NOT NULL`, askID)

	selectAnswers = selects(`SELECT a.access_key, a.key, a.hash, a.status, a.body, a.customer_id, a.at
 FROM v JOIN answers a ON a.access_key = v.access_key AND a.key = v.key`,
		field[loyalty.AnswerKey]{"access_key", "text", func(k *loyalty.AnswerKey) any { return (*plain)(&k.AccessKey) }},
		field[loyalty.AnswerKey]{"key", "text", func(k *loyalty.AnswerKey) any { return (*plain)(&k.Key) }})
)

func init() {
	for w := range ways {
		fields, from := askWho[w], found[w]
		lots := from + ` JOIN lots l ON l.customer_id = c.id`
		indexed := append([]field[ask]{askIndex}, fields...)
		bought := append([]field[ask]{askTx}, fields...)
		balance := from + ` JOIN balances b ON b.customer_id = c.id`
		selectPeople[w] = selects(`SELECT c.id`+from, fields...)
		selectCustomers[w] = selects(`SELECT v.i, `+loadCustomer+balance, indexed...)
		selectSealed[w] = selects(`SELECT v.i, `+loadCustomer+`, k.sealed`+balance+` LEFT JOIN customer_keys k ON k.customer_id = c.id`, indexed...)
		selectHeldLots[w] = selects(`SELECT `+loadLot+lots+` AND l.open AND l.reserved > 0`, fields...)
		selectOpenLots[w] = selects(`SELECT `+loadLot+lots+` AND l.open`, fields...)
		selectUsedLots[w] = selects(`SELECT `+loadLot+lots+` AND (l.open OR l.spent > 0)`, fields...)
		selectTransactionLots[w] = selects(`SELECT `+loadLot+lots+` AND l.transaction_id = v.tx AND NOT (l.open OR l.spent > 0)`, bought...)
		selectReservations[w] = selects(`SELECT r.customer_id, r.transaction_id, r.hold`+from+
			` JOIN reservations r ON r.customer_id = c.id AND r.transaction_id = v.tx`, bought...)
	}
}

// loader turns needs into calls and their answers into Loaded.
type loader struct {
	needs  loyalty.Needs
	sealer sealer
	out    *loyalty.Loaded
	txs    map[string]loyalty.Transaction
	held   []reservationRow
	twice  bool // a customer was named in two ways
}

func newLoader(needs loyalty.Needs, s sealer) *loader {
	return &loader{
		needs: needs, sealer: s,
		out: &loyalty.Loaded{
			Customers: make(map[loyalty.ID]*loyalty.Loading, len(needs.Customers)),
			Names:     make(map[loyalty.Name]loyalty.ID, len(needs.Customers)),
			Emails:    map[string]loyalty.ID{}, Answers: map[loyalty.AnswerKey]loyalty.Answer{},
		},
	}
}

// calls lists the statements of the first round. The customers come first: their
// version guards everything that is read after it.
func (l *loader) calls() []calls {
	var list []calls
	q := l.questions()
	statements := &selectCustomers
	if q.keys {
		statements = &selectSealed
	}
	for w := range ways {
		list = l.customers(list, w, statements[w], q.customers[w], q.keys)
	}
	for w := range ways {
		list = l.lots(list, selectHeldLots[w], q.reserved[w])
		list = l.lots(list, selectOpenLots[w], q.open[w])
		list = l.lots(list, selectUsedLots[w], q.used[w])
		list = l.lots(list, selectTransactionLots[w], q.bought[w])
		list = l.reservations(list, selectReservations[w], q.held[w])
	}
	list = l.transactions(list, selectTransactions, q.transactions)
	list = l.names(list, q.names)
	return l.answers(list)
}

// questions are the rows of the first round's statements, each asked once.
type questions struct {
	keys                                          bool
	customers, reserved, open, used, bought, held [ways][]ask
	transactions, names                           []ask
}

// set remembers what was asked.
type set[K comparable] map[K]struct{}

// add says whether k is new.
func (s *set[K]) add(k K) bool {
	if _, ok := (*s)[k]; ok {
		return false
	}
	if *s == nil {
		*s = set[K]{}
	}
	(*s)[k] = struct{}{}
	return true
}

func (l *loader) questions() *questions {
	q := &questions{}
	scopes := make(map[person]loyalty.LotScope, len(l.needs.Customers))
	var bought, held set[ask]
	var transactions set[string]
	var names set[loyalty.Name]
	for i := range l.needs.Customers {
		n := &l.needs.Customers[i]
		w, p := personOf(n)
		if _, known := scopes[p]; !known {
			q.customers[w] = append(q.customers[w], ask{person: p, i: i})
		}
		scopes[p] = max(scopes[p], n.Lots)
		q.keys = q.keys || n.Key
		if n.Email != "" {
			q.customers[byEmail] = append(q.customers[byEmail], ask{person: person{email: n.Email}, i: i})
		}
		for _, tx := range n.Transactions {
			if transactions.add(tx) {
				q.transactions = append(q.transactions, ask{tx: tx})
			}
			if a := (ask{person: p, tx: tx}); n.Lots == loyalty.UsedLots && bought.add(a) {
				q.bought[w] = append(q.bought[w], a)
			}
		}
		for _, tx := range n.Reservations {
			if a := (ask{person: p, tx: tx}); held.add(a) {
				q.held[w] = append(q.held[w], a)
			}
		}
		for _, name := range n.Names {
			if names.add(name) {
				q.names = append(q.names, ask{person: person{Name: name}})
			}
		}
	}
	for w := range ways {
		for _, a := range q.customers[w] {
			switch a.i = 0; scopes[a.person] {
			case loyalty.HeldLots:
				q.reserved[w] = append(q.reserved[w], a)
			case loyalty.OpenLots:
				q.open[w] = append(q.open[w], a)
			case loyalty.UsedLots:
				q.used[w] = append(q.used[w], a)
			}
		}
	}
	return q
}

func personOf(n *loyalty.CustomerNeeds) (who, person) {
	if n.ID != (loyalty.ID{}) {
		return byID, person{id: n.ID}
	}
	return byName, person{Name: n.Ref}
}

// people lists the calls that find the ids of everybody in needs.
func (l *loader) people() (*[]loyalty.ID, []calls) {
	ids := new([]loyalty.ID)
	var id UUID
	var list []calls
	q := l.questions()
	for w := range ways {
		list = read(list, selectPeople[w], q.customers[w], []any{&id}, func() error {
			*ids = append(*ids, loyalty.ID(id))
			return nil
		})
	}
	return ids, list
}

// due lists the customers that must be settled first, with the calls that fetch
// what that needs.
func (l *loader) due() []calls {
	var lots, pending []ask
	for id, c := range l.out.Customers {
		if at := c.Customer.DueAt; at.IsZero() || at.After(l.needs.Now) {
			continue
		}
		if c.LotScope < loyalty.OpenLots {
			c.LotScope, c.Lots = loyalty.OpenLots, nil
			lots = append(lots, ask{person: person{id: id}})
		}
		pending = append(pending, ask{person: person{id: id}})
	}
	return l.transactions(l.lots(nil, selectOpenLots[byID], lots), selectDueTransactions, pending)
}

func (l *loader) customers(list []calls, w who, s *statement[ask], asks []ask, keys bool) []calls {
	var (
		i      int64
		c      customerRow
		b      balanceRow
		sealed []byte
	)
	into := []any{(*number)(&i), &c.ID, &c.Name, (*string)(&c.Status), &c.CreatedAt, &c.UpdatedAt, &c.MergedInto,
		&c.Handler, &c.Email, &c.FirstName, &c.LastName, &c.Language, &c.Gender, &c.Currency, &c.ImageURL, &c.BirthDate,
		&c.Labels, &c.ExternalIDs, &c.Custom, &c.Referrer,
		(*number)(&b.Version), (*number)(&b.Score), (*number)(&b.Spent), (*number)(&b.Reserved), (*number)(&b.Expired),
		(*number)(&b.Pending), (*number)(&b.Debt), &b.LastEvent, &b.DueAt, &b.LastActivityAt}
	if keys {
		into = append(into, &sealed)
	}
	return read(list, s, asks, into, func() error {
		n := &l.needs.Customers[i]
		id := loyalty.ID(c.ID)
		loading := l.out.Customers[id]
		if loading == nil {
			loading = &loyalty.Loading{Customer: customerOf(&c, &b),
				Transactions: map[string]loyalty.Transaction{}, Reservations: map[string]loyalty.Reservation{}}
			l.out.Customers[id] = loading
		} else {
			l.twice = true
		}
		switch w {
		case byName:
			l.out.Names[n.Ref] = id
		case byEmail:
			l.out.Emails[n.Email] = id
		}
		return l.openKey(loading, sealed)
	})
}

func (l *loader) openKey(loading *loyalty.Loading, sealed []byte) (err error) {
	if sealed != nil && loading.Customer.Key == nil {
		id := loading.Customer.ID
		loading.Customer.Key, err = l.sealer.open(rowID("customer_keys", string(id[:])), sealed)
	}
	return err
}

func (l *loader) lots(list []calls, s *statement[ask], asks []ask) []calls {
	var r lotRow
	var months, days int64
	into := []any{&r.CustomerID, &r.ID, &r.TransactionID, (*number)(&r.Points), (*number)(&r.Remaining), (*number)(&r.Reserved),
		(*number)(&r.Spent), (*number)(&r.Expired), &r.EarnedAt, &r.ExpiresAt, (*number)(&months), (*number)(&days)}
	return read(list, s, asks, into, func() error {
		r.IdleMonths, r.IdleDays = int(months), int(days)
		loading := l.out.Customers[loyalty.ID(r.CustomerID)]
		if loading == nil { // it was created between the statements: not loaded
			return nil
		}
		lot := lotOf(&r)
		if l.twice && slices.ContainsFunc(loading.Lots, func(known points.Lot) bool { return known.ID == lot.ID }) {
			return nil
		}
		loading.Lots = append(loading.Lots, lot)
		return nil
	})
}

func (l *loader) transactions(list []calls, s *statement[ask], asks []ask) []calls {
	var r transactionRow
	into := []any{&r.CustomerID, &r.TransactionID, (*Text)(&r.State), &r.Checkout, &r.CreatedAt, &r.UpdatedAt, &r.CheckoutDate,
		&r.AutoAccept, (*flag)(&r.AutoReject), (*number)(&r.Total), (*number)(&r.OriginalTotal), (*number)(&r.Refunded),
		(*number)(&r.OriginalEarned), (*number)(&r.Earned), (*number)(&r.OriginalBurned), (*number)(&r.Burned), &r.Detail}
	return read(list, s, asks, into, func() error {
		owner := loyalty.ID(r.CustomerID)
		l.out.Names[loyalty.Name{Kind: loyalty.NameTransaction, Value: r.TransactionID}] = owner
		if r.State == loyalty.NoTransaction { // the name is taken without a purchase
			return nil
		}
		if s == selectDueTransactions {
			l.out.Customers[owner].Transactions[r.TransactionID] = transactionOf(&r)
			return nil
		}
		if l.txs == nil {
			l.txs = map[string]loyalty.Transaction{}
		}
		l.txs[r.TransactionID] = transactionOf(&r)
		return nil
	})
}

func (l *loader) reservations(list []calls, s *statement[ask], asks []ask) []calls {
	var r reservationRow
	return read(list, s, asks, []any{&r.CustomerID, &r.TransactionID, &r.Hold}, func() error {
		l.held = append(l.held, r)
		return nil
	})
}

func (l *loader) names(list []calls, asks []ask) []calls {
	var r nameRow
	var kind int64
	return read(list, selectNames, asks, []any{(*number)(&kind), &r.Value, &r.Owner}, func() error {
		l.out.Names[loyalty.Name{Kind: loyalty.NameKind(kind), Value: r.Value}] = loyalty.ID(r.Owner)
		return nil
	})
}

func (l *loader) answers(list []calls) []calls {
	var r answerRow
	var status int64
	into := []any{&r.AccessKey, &r.Key, &r.Hash, (*number)(&status), &r.Body, &r.CustomerID, &r.At}
	return read(list, selectAnswers, l.needs.Answers, into, func() (err error) {
		if at := r.At.Time(); !l.needs.Now.IsZero() && !at.After(l.needs.Now.Add(-answerLife)) {
			return nil
		}
		a := loyalty.Answer{AnswerKey: loyalty.AnswerKey{AccessKey: r.AccessKey, Key: r.Key}, Status: int(status),
			Body: r.Body, Customer: loyalty.ID(r.CustomerID), At: r.At.Time()}
		copy(a.Hash[:], r.Hash)
		if a.Customer == (loyalty.ID{}) {
			a.Body, err = l.sealer.open(rowID("answers", r.AccessKey, r.Key), r.Body)
		}
		l.out.Answers[a.AnswerKey] = a
		return err
	})
}

// share hands purchases and reservations to those who asked for them, and says
// what lots were read.
func (l *loader) share() {
	for i := range l.needs.Customers {
		n := &l.needs.Customers[i]
		loading := l.out.Customers[n.ID]
		if n.ID == (loyalty.ID{}) {
			loading = l.out.Customers[l.out.Names[n.Ref]]
		}
		if loading == nil {
			continue
		}
		loading.LotScope = max(loading.LotScope, n.Lots)
		for _, name := range n.Transactions {
			if t, ok := l.txs[name]; ok {
				loading.Transactions[name] = t
			}
		}
	}
	for _, r := range l.held {
		if loading := l.out.Customers[loyalty.ID(r.CustomerID)]; loading != nil {
			loading.Reservations[r.TransactionID] = loyalty.Reservation{
				Customer: loyalty.ID(r.CustomerID), Transaction: r.TransactionID, Hold: r.Hold.V}
		}
	}
}
