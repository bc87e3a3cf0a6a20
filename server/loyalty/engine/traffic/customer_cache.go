package traffic

import (
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customerCache caches customers as this process last wrote them, so that their next event need not load them first.
// Wherever the outcome is written, they are as reliable as loaded rows, because the guards of the write compare with
// the rows in the database. Refusals and decisions to change nothing have no such guard, so they are never made on
// cached rows; see rests. After a write by another node a guard fails once, and the batch is loaded.
type customerCache struct {
	most int // approximate limit in bytes; 0: no caching

	mu    sync.Mutex
	known map[string]*cachedCustomer // by name
	// head of a ring: after it the least recently used customer, before it the most recently used
	recent cachedCustomer
	bytes  int
	skip   int // so many more batches are loaded without looking here
	lost   int // recent batches in which a cached customer was out of date
	held   int // consecutive batches whose cached customers were up to date
}

// cachedCustomer is a customer with their balances and progress.
type cachedCustomer struct {
	customer loyalty.Customer
	kinds    loyalty.ProgressKinds                    // kinds of which progress is complete
	progress map[loyalty.ProgressKey]loyalty.Progress // never changed in place

	bytes         int       // approximate memory
	used          time.Time // the last time
	later, sooner *cachedCustomer
}

const (
	// cacheBytes is the default limit of memory for kept rows.
	cacheBytes = 96 << 20
	// cacheFor is how long an unused customer stays: a customer who was forgotten on another node must soon be forgotten
	// here too.
	cacheFor = 10 * time.Minute
	// mostLost limits how long batches are loaded after a cached customer was out of date, to 2¹⁰ batches. If several
	// nodes write the same customers in turn, hardly any cached row is up to date.
	mostLost = 10
	// regained is the number of good batches after which one loss is forgotten.
	regained = 8
)

// find returns the rows that a batch needs if all of them are cached; nil if they must be loaded.
func (k *customerCache) find(n *loyalty.Needs) *loyalty.Loaded {
	if k.most == 0 || n.Locked || n.Reading || n.Apart || n.Version || n.Due > 0 || len(n.Items) > 0 ||
		len(n.Customers) == 0 {
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

// add adds the rows of one customer's needs, and returns false if not all of them are cached.
func (k *customerCache) add(l *loyalty.Loaded, n *loyalty.CustomerNeeds, now time.Time) bool {
	if n.ID != (loyalty.ID{}) { // a rule needs more of a customer who is named as well
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

// has reports whether everything that is needed of a customer is cached. Reserved points are held by lots and
// reservations, so a customer with none reserved has no such rows.
func (*customerCache) has(c *cachedCustomer, n *loyalty.CustomerNeeds) bool {
	switch {
	case c == nil, n.Key && c.customer.Key == nil, n.Progress&^c.kinds != 0, n.Lots > loyalty.HeldLots,
		(n.Lots == loyalty.HeldLots || len(n.Reservations) > 0) && c.customer.Figures.Reserved != 0,
		len(n.Transactions) > 0 && !n.Opens, len(n.Opened)+len(n.Names)+len(n.Coupons)+len(n.Pools)+len(n.Tallies) > 0,
		n.Email != "", n.Claims || n.Codes || n.Lists || n.Past || n.Everything || n.Version:
		return false
	}
	return true
}

// get returns a customer and marks them as used; nil if they are not cached.
func (k *customerCache) get(name string) *cachedCustomer {
	c := k.known[name]
	if c == nil {
		return nil
	}
	k.unlink(c)
	k.link(c)
	return c
}

// put caches a customer, and drops customers that were not used for long, or the least recently used ones if there are
// too many.
func (k *customerCache) put(name string, c *cachedCustomer) {
	k.drop(name)
	if k.known == nil {
		k.known = map[string]*cachedCustomer{}
		k.recent.later, k.recent.sooner = &k.recent, &k.recent
	}
	c.bytes = c.weigh()
	k.known[name] = c
	k.bytes += c.bytes
	k.link(c)
	for last := k.recent.later; last != c && (k.bytes > k.most ||
		c.used.Sub(last.used) > cacheFor); last = k.recent.later {
		k.drop(last.customer.Name)
	}
}

func (k *customerCache) drop(name string) {
	if c := k.known[name]; c != nil {
		k.bytes -= c.bytes
		k.unlink(c)
		delete(k.known, name)
	}
}

// link puts a customer at the recently used end of the list.
func (k *customerCache) link(c *cachedCustomer) {
	c.used, c.sooner, c.later = time.Now(), k.recent.sooner, &k.recent
	c.sooner.later, c.later.sooner = c, c
}

func (*customerCache) unlink(c *cachedCustomer) { c.sooner.later, c.later.sooner = c.later, c.sooner }

var (
	customerBytes = int(reflect.TypeFor[cachedCustomer]().Size()) + 120 // with the map's part and the key
	progressBytes = int(reflect.TypeFor[loyalty.Progress]().Size()) + 80
)

// weigh estimates how much memory a customer takes, in bytes.
func (c *cachedCustomer) weigh() int {
	p := &c.customer.Profile
	n := customerBytes + len(c.customer.Name) + len(p.Handler) + len(p.Email) + len(p.FirstName) + len(p.LastName) +
		len(p.ImageURL)
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

// FinalState is the state in which a batch leaves a customer.
type FinalState struct {
	Was      *loyalty.Loading      // as it was loaded; nil: the batch made the customer
	Kinds    loyalty.ProgressKinds // kinds of which progress is complete
	Progress map[loyalty.ProgressKey]*loyalty.Progress
	Forget   bool // names were given up, or the key destroyed
}

// note caches the customers of a committed batch; known says that they were cached before it.
func (k *customerCache) note(w *loyalty.Writes, known bool, of func(loyalty.ID) FinalState) {
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

// noteOne caches an active customer; for others, rules read more than is cached. A batch that ends after a later one
// changes nothing.
func (k *customerCache) noteOne(c loyalty.Customer, s FinalState) {
	if c.Status != loyalty.Active || s.Forget {
		k.drop(c.Name)
		return
	}

	fresh, before := &cachedCustomer{customer: c, kinds: s.Kinds}, k.known[c.Name]
	switch {
	case before == nil || s.Was == nil || before.customer.ID != c.ID:
	case before.customer.Version > c.Version:
		return
	case before.customer.Version == s.Was.Customer.Version:
		if before.kinds&^fresh.kinds != 0 { // fewer kinds were loaded than are cached
			fresh.kinds, fresh.progress = fresh.kinds|before.kinds, maps.Clone(before.progress)
		}
		if c.Key == nil {
			fresh.customer.Key = before.customer.Key
		}
	}

	for key, p := range s.Progress {
		switch {
		case p.Data == nil:
			delete(fresh.progress, key)
			continue
		case fresh.progress == nil:
			fresh.progress = make(map[loyalty.ProgressKey]loyalty.Progress, len(s.Progress))
		}
		kept := *p
		kept.Dirty = false
		fresh.progress[key] = kept
	}

	k.put(c.Name, fresh)
}

// miss drops the batch's customers, at least one of which was out of date, and has the next batches loaded.
func (k *customerCache) miss(n *loyalty.Needs) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range n.Customers {
		k.drop(n.Customers[i].Ref.Value)
	}
	k.lost, k.held = min(k.lost+1, mostLost), 0
	k.skip = 1 << k.lost
}
