package action_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// stage is where a scenario is played: an engine over a database, with a clock
// and a configuration that the story moves.
type stage struct {
	*loyaltytest.World

	t        *testing.T
	ctx      context.Context
	db       *store.Store
	zone     string
	modules  map[string]json.RawMessage
	entities map[string]loyalty.Entity
	recorded map[string]string     // what "$event 2.0" and "$code 2.0" stand for
	called   map[string]loyalty.ID // by every name that a customer of the story ever had
	changes  map[loyalty.ID]int64  // what events said that they did to the balance
	told     string                // the step at hand, for messages
}

// catalogue is read once for all stages.
var catalogue = sync.OnceValues(i18n.Load)

func newStage(t *testing.T, db *store.Store, story scenario) *stage {
	s := &stage{t: t, ctx: context.Background(), db: db, zone: story.TimeZone,
		modules: map[string]json.RawMessage{}, called: map[string]loyalty.ID{},
		entities: map[string]loyalty.Entity{}, recorded: map[string]string{}, changes: map[loyalty.ID]int64{}}
	start := story.At
	if start.IsZero() {
		start = storyBegins
	}

	s.World = loyaltytest.NewWorld(t, db, start, s.compiled(start, story.Modules, story.Entities), func(o *engine.EngineOptions) {
		if !story.declares() {
			return
		}
		programmes := o.Programmes
		vocabulary, err := contract.NewVocabulary() // not shared: what it declares is the story's own
		require.NoError(t, err)
		vocabulary.UseDeclarations(func(action string) json.RawMessage { return programmes.Programme().Declared(action) })
		o.Contract = vocabulary
	})

	s.upload(story.Codes)
	for _, g := range story.Given {
		s.enrol(g)
	}

	return s
}

// configure changes modules and entities and compiles the programme as the server
// does.
func (s *stage) configure(changes map[string]json.RawMessage, made entities) {
	s.Use(s.compiled(s.Time.Now(), changes, made))
}

func (s *stage) compiled(now time.Time, changes map[string]json.RawMessage, made entities) *programme.Programme {
	maps.Copy(s.modules, changes)
	for kind, all := range made {
		for id, data := range all {
			s.define(now, kind, id, data)
		}
	}

	snapshot := loyalty.Snapshot{Settings: loyalty.Settings{TimeZone: s.zone}}
	for _, key := range slices.Sorted(maps.Keys(s.entities)) {
		snapshot.Entities = append(snapshot.Entities, s.entities[key])
	}

	for name, config := range s.modules {
		known, err := programme.ModuleName(name)
		require.NoError(s.t, err)
		m := loyalty.ModuleState{Name: known, Enabled: string(config) != "false"}
		if config[0] == '{' {
			m.Config = config
		}
		snapshot.Modules = append(snapshot.Modules, m)
	}

	p, err := action.Registry().Compile(snapshot)
	require.NoError(s.t, err)
	return p
}

func (s *stage) define(now time.Time, kind, id string, data json.RawMessage) {
	require.Contains(s.t, action.Registry().EntityTypes(), kind)
	e, known := s.entities[kind+"/"+id]
	if !known {
		e = loyalty.Entity{Type: kind, ID: id, CreatedAt: now}
	}
	e.UpdatedAt = now
	if string(data) == "null" {
		e.ArchivedAt = now
	} else {
		e.Data = data
	}
	s.entities[kind+"/"+id] = e
}

// upload puts codes into pools, as an upload does.
func (s *stage) upload(codes map[string][]string) {
	w := &loyalty.Writes{}
	var last loyalty.ID
	for _, pool := range slices.Sorted(maps.Keys(codes)) {
		p := coupon.Pools.Of(s.Programme())[pool]
		require.NotNil(s.t, p, "codes: no such pool: %s", pool)
		require.NotNil(s.t, p.Coupon, "codes: the pool %s has no coupon", pool)
		for _, code := range codes[pool] {
			last = loyalty.NewID(s.Time.Now(), last)
			c := loyalty.Coupon{
				ID: last, Code: code, State: loyalty.CouponCreated, Pool: pool,
				Type: p.Coupon.Type, Value: money.Parts(p.Coupon.Value), Currency: p.Coupon.Currency, Name: loyalty.CouponName{Texts: p.Coupon.Name},
				Stores: p.Coupon.Stores, Products: p.Coupon.Products, CreatedAt: s.Time.Now(),
			}
			if c.Type == loyalty.CouponGiftCard {
				c.Balance = c.Value
			}
			w.NewCoupons = append(w.NewCoupons, c)
			w.Claims = append(w.Claims, loyalty.Claim{Name: loyalty.CodeName(code), Owner: c.ID})
		}
	}

	if len(w.NewCoupons) > 0 {
		require.NoError(s.t, s.db.Within(s.ctx, loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return w, nil }))
	}
}

// enrol brings a customer to where the story wants them, by events.
func (s *stage) enrol(g given) {
	submit := func(action, data string) {
		o, err := s.Submit(s.ctx, loyalty.Submission{Customer: g.Customer, Action: action, Data: json.RawMessage(data)})
		require.NoError(s.t, err, "given %s: %s", g.Customer, action)
		s.called[g.Customer] = o.Customer.ID
	}

	if g.Status == "inactive" {
		submit("subscribe", fmt.Sprintf(`{"handler": %q, "email": "%s@shop.test"}`, g.Customer, g.Customer))
		return
	}

	submit("opt_in", fmt.Sprintf(`{"email": "%s@shop.test"}`, g.Customer))
	if g.Points > 0 {
		submit("point_add", fmt.Sprintf(`{"points": %d}`, g.Points))
	}

	switch g.Status {
	case "", "active":
	case "suspended":
		submit("suspend", "{}")
	case "opted_out":
		submit("opt_out", "{}")
	default:
		require.Fail(s.t, "given: no such status", g.Status)
	}
}

// play tells the story and then asks the store to prove its ledger, that the lists of
// events add up, and that the journal alone gives what is stored.
func (s *stage) play(steps []step) {
	for i, step := range steps {
		s.told = step.title(i + 1)
		s.move(step)
		s.configure(step.Modules, step.Entities)
		switch {
		case step.Event != nil:
			s.submit(i+1, step)
		case step.Due:
			require.NoError(s.t, s.SettleDue(s.ctx))
		}

		if step.Look != "" {
			s.look(s.find(step.Look), s.filled(step.Want))
		}

		for _, name := range slices.Sorted(maps.Keys(step.Want.Others)) {
			s.look(s.find(name), s.filled(step.Want.Others[name]))
		}
	}

	s.db.VerifyLedger(s.ctx, func(c store.LedgerCheck) {
		require.Equal(s.t, store.LedgerHeld, c.Verdict, "ledger: %s %s: %v %+v", c.Invariant, c.Title, c.Err, c.Findings)
	})
	listed := storetest.AllAddUp(s.t, s.db)
	for id, change := range s.changes {
		require.Equal(s.t, change, listed[id], "the list shows the event %s as its answer did", id)
	}

	err := s.db.VerifyRebuild(s.ctx, func(d rebuild.Difference) {
		require.Fail(s.t, "the journal does not give what is stored", "%+v", d)
	}, func(store.RebuildProgress) {})
	require.NoError(s.t, err)
}

// find gives a customer by any name, also by one that was forgotten.
func (s *stage) find(ref string) loyalty.ID {
	c, err := s.db.Customer(s.ctx, ref)
	if id, known := s.called[ref]; known && errors.Is(err, loyalty.ErrCustomerNotFound) {
		return id
	}
	require.NoError(s.t, err, s.told)
	return c.ID
}

func (s *stage) move(step step) {
	now := s.Time.Now()
	if !step.At.IsZero() {
		now = step.At
	}
	if step.After != "" {
		d, err := time.ParseDuration(step.After)
		require.NoError(s.t, err)
		now = now.Add(d)
	}
	s.Time.Set(now)
}

// submit sends the step's event and compares what it did.
func (s *stage) submit(n int, step step) {
	e := *step.Event
	if e.Was != "" {
		e.Customer = s.load(s.called[e.Was], want{}).Customer.Name
	}

	before := s.known(e)
	outcome, err := s.Submit(s.ctx, loyalty.Submission{
		Customer: e.Customer, ExternalID: e.ExternalID, Action: e.Action, Data: s.fill(e.Data), Operation: e.Operation, Guest: e.Guest,
	})
	if step.Want.Error != nil {
		s.refused(*step.Want.Error, err)
		require.Equal(s.t, before, s.known(e), "%s: a refused event leaves nothing behind", s.told)
		if step.Look == "" && before != nil {
			s.look(before.ID, s.filled(step.Want))
		} else if step.Look == "" {
			require.Equal(s.t, want{Error: step.Want.Error}, step.Want, "%s: there is nobody to look at", s.told)
		}
		return
	}

	require.NoError(s.t, err, s.told)
	s.called[outcome.Customer.Name] = outcome.Customer.ID
	s.remember(n, outcome)
	if step.Want.Forgotten {
		s.forgotten(*before)
	}

	w := s.filled(step.Want)
	s.same(*w.Events, s.shown(outcome, *w.Events, before), "events")
	var warned []wantWarning
	for _, e := range outcome.Warnings {
		warned = append(warned, wantWarning{e.Code, e.Details[0].Field})
	}

	s.same(w.Warnings, warned, "warnings")
	if w.Value != nil {
		s.same(w.Value, project(w.Value, plain(s.t, outcome.Value)), "value")
	}

	s.ordered(outcome)
	if step.Look == "" {
		s.look(outcome.Customer.ID, w)
	}
}

// shown is what was recorded, as a scenario writes it. before is the customer as
// known before, whose key this very event may have destroyed.
func (s *stage) shown(o loyalty.Outcome, wanted []wantEvent, before *loyalty.Customer) []wantEvent {
	return eventsOf(s.t, o.Events, wanted, func(id loyalty.ID) loyalty.Customer {
		c := s.load(id, want{}).Customer
		if c.Key == nil && before != nil && before.ID == id {
			c.Key = before.Key
		}
		return c
	})
}

// remember notes the ids and codes that later steps may name.
func (s *stage) remember(n int, o loyalty.Outcome) {
	for i, e := range o.Events {
		s.recorded[fmt.Sprintf("$event %d.%d", n, i)] = e.ID.String()
		if e.Effects != nil && len(e.Effects.Coupons) > 0 {
			s.recorded[fmt.Sprintf("$code %d.%d", n, i)] = e.Effects.Coupons[0].Code
		}
	}
}

// fill puts recorded ids and codes in the place of their names.
func (s *stage) fill(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"$`)) {
		return data
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.recorded), func(a, b string) int { return strings.Compare(b, a) }) {
		data = bytes.ReplaceAll(data, []byte(`"`+name+`"`), []byte(`"`+s.recorded[name]+`"`))
	}
	return data
}

// filled is a want with recorded ids and codes in it.
func (s *stage) filled(w want) want {
	raw, err := json.Marshal(w)
	require.NoError(s.t, err)
	d := json.NewDecoder(bytes.NewReader(s.fill(raw)))
	d.UseNumber()
	var full want
	require.NoError(s.t, d.Decode(&full))
	return full
}

// ordered holds what is true of every outcome: ids that grow within a customer,
// and the figures that were committed.
func (s *stage) ordered(o loyalty.Outcome) {
	last := map[loyalty.ID]loyalty.ID{}
	for _, e := range o.Events {
		require.Negative(s.t, loyalty.CompareID(last[e.Customer], e.ID), "event ids grow")
		last[e.Customer] = e.ID
		s.changes[e.ID] = e.Change
	}
	stored := s.load(o.Customer.ID, want{}).Customer
	require.Equal(s.t, stored.Figures, o.Customer.Figures, "the outcome shows what was committed")
	require.Equal(s.t, stored.Version, o.Customer.Version)
}

// known is the stored customer of an event; nil if there is none.
func (s *stage) known(e submission) *loyalty.Customer {
	ref := e.Customer
	if e.ExternalID != "" {
		ref = e.ExternalID + ":" + e.Customer
	}
	c, err := s.db.Customer(s.ctx, ref)
	if err != nil {
		require.ErrorIs(s.t, err, loyalty.ErrCustomerNotFound)
		return nil
	}
	found := s.load(c.ID, want{}).Customer
	return &found
}

// load reads a customer through the store's own transaction, without writing.
func (s *stage) load(id loyalty.ID, w want) *loyalty.Loading {
	n := loyalty.CustomerNeeds{ID: id, Key: true, Reservations: slices.Sorted(maps.Keys(w.Reserved)),
		Claims: w.Claims != nil, Progress: allProgress}
	if name, ok := w.Transaction["id"].(string); ok {
		n.Transactions = []string{name}
	}
	var found *loyalty.Loading
	err := s.db.Within(s.ctx, loyalty.Needs{Customers: []loyalty.CustomerNeeds{n}}, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		found = l.Customers[id]
		return &loyalty.Writes{}, nil
	})
	require.NoError(s.t, err)
	require.NotNil(s.t, found, "the customer is stored")
	return found
}

// look compares a customer as stored with what the step wants.
func (s *stage) look(id loyalty.ID, w want) {
	l := s.load(id, w)
	c := l.Customer
	if w.Figures != nil {
		s.same(*w.Figures, figuresOf(c.Figures), "figures")
	}
	if w.Customer != nil {
		s.same(w.Customer, project(w.Customer, customerView(s.t, c)), "customer")
	}

	if w.Transaction != nil {
		name, _ := w.Transaction["id"].(string)
		t, ok := l.Transactions[name]
		require.True(s.t, ok, "%s: transaction %q is stored for the customer", s.told, name)
		s.same(w.Transaction, project(w.Transaction, transactionView(s.t, t)), "transaction")
		if w.Breakdown != nil {
			s.same(*w.Breakdown, s.breakdown(id, name), "breakdown")
		}
	}

	for _, name := range slices.Sorted(maps.Keys(w.Reserved)) {
		require.Equal(s.t, w.Reserved[name], points.Total(l.Reservations[name].Hold), "%s: reserved for %s", s.told, name)
	}

	st, err := s.db.Statement(s.ctx, id, "")
	require.NoError(s.t, err)
	if w.Lots != nil {
		zone := s.Programme().Location
		st.Sort(zone)
		s.same(*w.Lots, lotsOf(st.Lots, c.LastActivityAt, zone), "lots")
	}

	s.lookFurther(l, w)
}

// breakdown is what moved the points of a purchase, as a scenario writes it.
func (s *stage) breakdown(customer loyalty.ID, name string) []string {
	page, err := s.db.Transactions(s.ctx, loyalty.TransactionQuery{
		Customer: customer, Page: loyalty.Page{Limit: 2}, Conditions: []loyalty.Condition{{Field: "id", Operator: loyalty.Eq, Values: []any{name}}},
	})
	require.NoError(s.t, err)
	require.Len(s.t, page.Transactions, 1)
	moves := []string{}
	for _, m := range loyalty.Breakdown(&page.Transactions[0], page.Moves[name]) {
		moves = append(moves, fmt.Sprintln(m.Action, m.Worth, m.Change, m.Earned))
		moves[len(moves)-1] = strings.TrimSpace(moves[len(moves)-1])
	}
	return moves
}

// lookFurther compares what a customer has besides points.
func (s *stage) lookFurther(l *loyalty.Loading, w want) {
	if w.Coupons != nil {
		s.same(w.Coupons, project(w.Coupons, s.coupons(slices.Sorted(maps.Keys(w.Coupons)))), "coupons")
	}
	if w.Claims != nil {
		s.same(*w.Claims, project(*w.Claims, claimsView(s.t, l.Claims)), "claims")
	}
	if w.Progress != nil {
		s.same(w.Progress, project(w.Progress, progressView(s.t, l.Progress)), "progress")
	}
}

// coupons reads coupons by their codes.
func (s *stage) coupons(codes []string) any {
	view := map[string]any{}
	names := map[string]loyalty.CouponName{} // as lists read them
	for _, code := range codes {
		if c, _, err := s.db.Coupon(s.ctx, code); !errors.Is(err, loyalty.ErrCouponNotFound) {
			require.NoError(s.t, err)
			names[code] = c.Name
		}
	}

	n := loyalty.Needs{Now: s.Time.Now(), Customers: []loyalty.CustomerNeeds{{Coupons: codes}}}
	require.NoError(s.t, s.db.Within(s.ctx, n, func(loaded *loyalty.Loaded) (*loyalty.Writes, error) {
		for _, code := range codes {
			c, known := loaded.Coupons[loaded.Names[loyalty.CodeName(code)]]
			if !known {
				continue
			}
			c.Name = names[code]
			view[code] = couponView(c, s.nameOf(c.Customer))
		}
		return &loyalty.Writes{}, nil
	}))

	return plain(s.t, view)
}

// nameOf is what a customer was last called in the story.
func (s *stage) nameOf(id loyalty.ID) any {
	for name, known := range s.called {
		if known == id {
			return name
		}
	}
	if id == (loyalty.ID{}) {
		return nil
	}
	return "somebody else"
}

// digest is what is left of a forgotten text.
var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// forgotten makes sure that nothing of a customer can be told any more: neither
// from the profile, nor by a search, nor from sealed attributes.
func (s *stage) forgotten(before loyalty.Customer) {
	after := s.load(before.ID, want{}).Customer
	require.Equal(s.t, loyalty.OptedOut, after.Status)
	require.Nil(s.t, after.Key, "the key is destroyed")
	was, is := texts(before), texts(after)
	for i, text := range is {
		if was[i] == "" {
			require.Empty(s.t, text)
			continue
		}
		require.Regexp(s.t, digest, text)
		bare := sha256.Sum256([]byte(was[i]))
		require.NotEqual(s.t, hex.EncodeToString(bare[:]), text, "a hash without a salt can be guessed")
		for _, search := range []string{was[i], text[:3]} { // nor by what is left of the text
			found, err := s.db.Customers(s.ctx, loyalty.CustomerQuery{Search: search, Page: loyalty.Page{Limit: 10}})
			require.NoError(s.t, err)
			require.NotContains(s.t, idsOf(found), before.ID, "a search for %q finds nobody", search)
		}
	}

	require.Empty(s.t, after.Profile.ExternalIDs)
	require.Empty(s.t, after.Profile.Custom)
	require.Empty(s.t, after.Profile.Language+after.Profile.Currency, "any text is accepted for them")
	_, err := s.db.Customer(s.ctx, before.Name)
	require.ErrorIs(s.t, err, loyalty.ErrCustomerNotFound)
}

// texts lists what identifies a customer.
func texts(c loyalty.Customer) []string {
	p := c.Profile
	return append([]string{c.Name, p.Handler, p.Email, p.FirstName, p.LastName, p.Gender, p.ImageURL, p.BirthDate}, p.Labels...)
}

func idsOf(customers []loyalty.Customer) []loyalty.ID {
	ids := make([]loyalty.ID, len(customers))
	for i, c := range customers {
		ids[i] = c.ID
	}
	return ids
}

// refused compares an error and its English words.
func (s *stage) refused(w wantError, err error) {
	require.Error(s.t, err, "%s: the event must be refused with %s", s.told, w.Name)
	texts, loaded := catalogue()
	require.NoError(s.t, loaded)
	e := loyalty.AsError(err)
	got := wantError{Name: e.Name, Code: e.Code, Kind: kinds[e.Kind]}
	if w.Args != nil {
		got.Args, _ = project(w.Args, plain(s.t, e.Args)).(map[string]any)
	}
	if len(e.Details) > 0 {
		got.Field = e.Details[0].Field
	}
	if w.Message != "" {
		got.Message = texts.Message("en", e.Name, e.Args)
	}
	if e.Kind == loyalty.Internal {
		s.t.Logf("the cause: %v", e)
	}

	s.same(w, got, "error")
}

// same compares two values in their JSON form, which makes the difference
// readable.
func (s *stage) same(want, got any, what string) {
	require.Equal(s.t, pretty(s.t, want), pretty(s.t, got), "%s: %s", s.told, what)
}
