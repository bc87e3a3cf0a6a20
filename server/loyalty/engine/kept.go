package engine

import (
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// kept holds customers as this process last wrote them, so that their next event need not load them
// first. They are as reliable as loaded rows wherever the outcome is written, because the guards of
// the write compare with the rows in the database. So no refusal and no decision to leave something
// unchanged is made on them; see rests. Another node's write makes a guard fail once, and the batch
// is loaded.
type kept struct {
	most int // bytes, about; 0: none are kept

	mu     sync.Mutex
	known  map[string]*keptCustomer // by name
	recent keptCustomer             // of a ring: behind it who was not used for longest, before it who was used last
	bytes  int
	skip   int // batches that are loaded, whoever is known
	lost   int // how often lately a kept customer was not up to date
	held   int // batches in a row whose customers were
}

// keptCustomer is a customer with their balances and progress.
type keptCustomer struct {
	customer loyalty.Customer
	kinds    loyalty.ProgressKinds                    // of which progress has everything
	progress map[loyalty.ProgressKey]loyalty.Progress // never changed

	bytes         int       // about how much memory it takes
	used          time.Time // last
	later, sooner *keptCustomer
}

const (
	// keptBytes is the default limit of memory for kept rows.
	keptBytes = 96 << 20
	// keptFor is how long an unused customer stays: one whom another node forgot must soon be
	// forgotten here too.
	keptFor = 10 * time.Minute
	// mostLost limits how long batches are loaded after a kept customer was out of date, to 2¹⁰
	// batches. Where several nodes write the same customers in turn, hardly any kept row is up to
	// date.
	mostLost = 10
	// regained is the number of good batches after which one loss is forgotten.
	regained = 8
)

// find returns what a batch asks to load if all of it is known; nil if it must be loaded.
func (k *kept) find(n *loyalty.Needs) *loyalty.Loaded {
	if k.most == 0 || n.Locked || n.Reading || n.Apart || n.Version || n.Due > 0 || len(n.Items) > 0 || len(n.Customers) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.skip > 0 {
		k.skip--
		return nil
	}
	l := &loyalty.Loaded{
		Customers: make(map[loyalty.ID]*loyalty.Loading, len(n.Customers)),
		Names:     make(map[loyalty.Name]loyalty.ID, len(n.Customers)),
	}
	for i := range n.Customers {
		if !k.add(l, &n.Customers[i], n.Now) {
			return nil
		}
	}
	return l
}

// add adds the customer of some needs, and reports false if not all of it is known.
func (k *kept) add(l *loyalty.Loaded, n *loyalty.CustomerNeeds, now time.Time) bool {
	if n.ID != (loyalty.ID{}) { // a rule came upon it, of a customer who is named besides
		known := l.Customers[n.ID]
		return known != nil && k.has(k.get(known.Customer.Name), n)
	}
	if n.Ref.Kind != loyalty.NameCustomer || n.Match != "" {
		return false
	}
	c := k.get(n.Ref.Value)
	if !k.has(c, n) {
		return false
	}
	at := c.customer.DueAt
	if !at.IsZero() && !at.After(now) {
		return false
	}
	id := c.customer.ID
	if l.Customers[id] == nil {
		loading := &loyalty.Loading{Customer: c.customer, Progress: c.progress}
		if c.customer.Figures.Reserved == 0 {
			loading.LotScope = loyalty.HeldLots // there are none
		}
		l.Customers[id] = loading
	}
	l.Names[n.Ref] = id
	return true
}

// has reports whether everything that is needed of a customer is known. Reserved points are held by
// lots and reservations, so a customer with none reserved has no such rows.
func (*kept) has(c *keptCustomer, n *loyalty.CustomerNeeds) bool {
	switch {
	case c == nil, n.Key && c.customer.Key == nil, n.Progress&^c.kinds != 0, n.Lots > loyalty.HeldLots,
		(n.Lots == loyalty.HeldLots || len(n.Reservations) > 0) && c.customer.Figures.Reserved != 0,
		len(n.Transactions) > 0 && !n.Opens, len(n.Opened)+len(n.Names)+len(n.Coupons)+len(n.Pools)+len(n.Tallies) > 0,
		n.Email != "", n.Claims || n.Codes || n.Lists || n.Past || n.Everything || n.Version:
		return false
	}
	return true
}

// get returns a customer and marks them as used; nil if they are not known.
func (k *kept) get(name string) *keptCustomer {
	c := k.known[name]
	if c == nil {
		return nil
	}
	k.unlink(c)
	k.link(c)
	return c
}

// put keeps a customer, and drops those who were not used for long, or least recently if there are
// too many.
func (k *kept) put(name string, c *keptCustomer) {
	k.drop(name)
	if k.known == nil {
		k.known = map[string]*keptCustomer{}
		k.recent.later, k.recent.sooner = &k.recent, &k.recent
	}
	c.bytes = c.weigh()
	k.known[name] = c
	k.bytes += c.bytes
	k.link(c)
	for last := k.recent.later; last != c && (k.bytes > k.most || c.used.Sub(last.used) > keptFor); last = k.recent.later {
		k.drop(last.customer.Name)
	}
}

func (k *kept) drop(name string) {
	if c := k.known[name]; c != nil {
		k.bytes -= c.bytes
		k.unlink(c)
		delete(k.known, name)
	}
}

// link puts a customer at the recently used end of the list.
func (k *kept) link(c *keptCustomer) {
	c.used, c.sooner, c.later = time.Now(), k.recent.sooner, &k.recent
	c.sooner.later, c.later.sooner = c, c
}

func (*kept) unlink(c *keptCustomer) { c.sooner.later, c.later.sooner = c.later, c.sooner }

var (
	customerBytes = int(reflect.TypeFor[keptCustomer]().Size()) + 120 // with the map's part and the key
	progressBytes = int(reflect.TypeFor[loyalty.Progress]().Size()) + 80
)

// weigh estimates how much memory a customer takes, in bytes.
func (c *keptCustomer) weigh() int {
	p := &c.customer.Profile
	n := customerBytes + len(c.customer.Name) + len(p.Handler) + len(p.Email) + len(p.FirstName) + len(p.LastName) + len(p.ImageURL)
	for _, label := range p.Labels {
		n += len(label) + 16
	}
	for name, values := range p.ExternalIDs {
		n += len(name) + 64
		for _, value := range values {
			n += len(value) + 16
		}
	}
	for name, value := range p.Custom {
		n += len(name) + len(value) + 80
	}
	for key := range c.progress {
		n += progressBytes + len(key.Key) + len(c.progress[key].Data)
	}
	return n
}

// left is the state in which a batch leaves a customer.
type left struct {
	was      *loyalty.Loading      // nil: the batch made the customer
	kinds    loyalty.ProgressKinds // of which progress has everything
	progress map[loyalty.ProgressKey]*loyalty.Progress
	forget   bool // names were given up, or the key destroyed
}

// note keeps the customers of a committed batch; known says that they were kept before it.
func (k *kept) note(w *loyalty.Writes, known bool, of func(loyalty.ID) left) {
	if k.most == 0 || w == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known {
		if k.held++; k.held >= regained {
			k.held, k.lost = 0, max(0, k.lost-1)
		}
	}
	for i := range w.Customers {
		before, after := &w.Customers[i].Before, w.Customers[i].After
		after.Version = before.Version + 1
		if before.Name != after.Name {
			k.drop(before.Name)
		}
		k.noteOne(after, of(after.ID))
	}
	for i := range w.NewCustomers {
		k.noteOne(w.NewCustomers[i], of(w.NewCustomers[i].ID))
	}
}

// noteOne keeps a customer who is an ordinary member; of others, rules read more than is kept. A
// batch that ends after a later one changes nothing.
func (k *kept) noteOne(c loyalty.Customer, l left) {
	if c.Status != loyalty.Active || l.forget {
		k.drop(c.Name)
		return
	}
	fresh, before := &keptCustomer{customer: c, kinds: l.kinds}, k.known[c.Name]
	switch {
	case before == nil || l.was == nil || before.customer.ID != c.ID:
	case before.customer.Version > c.Version:
		return
	case before.customer.Version == l.was.Customer.Version:
		if before.kinds&^fresh.kinds != 0 { // it was loaded for less than is known
			fresh.kinds, fresh.progress = fresh.kinds|before.kinds, maps.Clone(before.progress)
		}
		if c.Key == nil {
			fresh.customer.Key = before.customer.Key
		}
	}
	for key, p := range l.progress {
		switch {
		case p.Data == nil:
			delete(fresh.progress, key)
			continue
		case fresh.progress == nil:
			fresh.progress = make(map[loyalty.ProgressKey]loyalty.Progress, len(l.progress))
		}
		s := *p
		s.Dirty = false
		fresh.progress[key] = s
	}
	k.put(c.Name, fresh)
}

// miss forgets the batch's customers, one of whom at least was out of date, and has the next
// batches loaded.
func (k *kept) miss(n *loyalty.Needs) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range n.Customers {
		k.drop(n.Customers[i].Ref.Value)
	}
	k.lost, k.held = min(k.lost+1, mostLost), 0
	k.skip = 1 << k.lost
}
