package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Coverable is how many points can be taken without the balance falling below zero: the spendable ones, and those of
// the given lot if it has expired.
func (r *Run) Coverable(lot loyalty.ID) int64 {
	n := max(0, r.Book.Figures.Spendable())
	if l := r.Book.Lot(lot); l != nil {
		n += l.Expired
	}
	return n
}

// Run is one event being decided: what its action may read, and where it records effects. Nothing leaves a run until
// the engine commits the batch, so a preview is a run that is thrown away.
type Run struct {
	Programme *programme.Programme
	Customer  *loyalty.Customer // working copy
	Book      *points.Book
	Now       time.Time      // when it is recorded
	At        time.Time      // when it takes effect; before Now only by effective_timestamp
	Event     *loyalty.Event // the submitted event's own row
	// Data holds the attributes as they were sent, by name.
	Data map[string]json.RawMessage
	// Value is what the answer has besides the events, such as the result of a spin. Only actions that an operation
	// causes set it.
	Value any

	batch    *batch
	stored   *stored
	account  *account
	work     *work
	full     bool // everything that may be due was loaded
	Late     bool // the sender set At (effective_timestamp)
	followed bool // the request named a customer who was merged into this one
	Holding  bool // the effect of the event's rule must wait for its validation
	changed  bool // the customer's row is written although no event is theirs (a merge)
}

// Append appends an event row with the next id. Ids grow with the customer's events even if the clock goes back,
// because the journal is ordered by id.
func (r *Run) Append(action string, at time.Time) *loyalty.Event {
	r.Customer.LastEvent = loyalty.NewID(r.Now, r.Customer.LastEvent)
	e := &loyalty.Event{
		ID: r.Customer.LastEvent, Customer: r.Customer.ID, Action: action,
		At: at, RecordedAt: r.Now, SentBy: r.work.sender, Data: json.RawMessage("{}"),
	}
	if r.Late {
		e.Tell().Booked = &e.RecordedAt
	}
	r.work.events = append(r.work.events, e)
	return e
}

// Derive writes an event that follows from another one, which may be another customer's. data are
// its attributes, none of which may name a person (see DeriveSealed).
func (r *Run) Derive(parent *loyalty.Event, action string, data any) *loyalty.Event {
	e := r.Append(action, r.At)
	e.Data = loyalty.JSON(data)
	if parent != nil {
		e.Parent, e.Transaction = parent.ID, parent.Transaction
	}
	return e
}

// DeriveSealed is Derive with personal attributes of this customer, which are sealed under the customer's key.
func (r *Run) DeriveSealed(
	parent *loyalty.Event, action string, data any, personal map[string]json.RawMessage,
) (*loyalty.Event, error) {
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return nil, err
	}
	e := r.Derive(parent, action, data)
	var err error
	e.Personal, err = r.Seal(personal, e.ID)
	return e, err
}

// Earn opens a lot with the points that an event brings, dated by the programme's expiry policy. It fails with
// ErrTooLarge, at data.points where the caller sent the points. A caller that computed them reports TooMany instead.
func (r *Run) Earn(e *loyalty.Event, n int64, transaction string) error {
	if err := r.Credit(e, n, transaction); err != nil || n == 0 {
		return err
	}
	r.Trace("earn", "applied", "reason.earned", n)
	return nil
}

// Credit opens a lot of n points, earned at the run's effective time, which expires by the policy
// in force now: a policy that changes later leaves existing lots unchanged. transaction is the
// purchase that earned them, or empty.
func (r *Run) Credit(e *loyalty.Event, n int64, transaction string) error {
	e.Points = &n
	if n == 0 {
		return nil
	}
	lot := points.Lot{Transaction: transaction, EarnedAt: r.At, Origin: origin(e, transaction)}
	lot.ExpiresAt, lot.Idle = r.Programme.Economy.Expiry.Dates(r.At, r.Customer.CreatedAt, r.Programme.Location)
	return r.credit(e, n, lot)
}

// CreditUntil is Credit with a given expiry; zero means never.
func (r *Run) CreditUntil(e *loyalty.Event, n int64, expires time.Time) error {
	e.Points = &n
	return r.credit(e, n, points.Lot{EarnedAt: r.At, ExpiresAt: expires, Origin: origin(e, "")})
}

// origin is what points are given for. All points of a purchase count as the purchase's, whatever the event, except for
// what campaigns and referrals add.
func origin(e *loyalty.Event, transaction string) points.Origin {
	switch e.Action {
	case "point_add":
		if e.Parent == (loyalty.ID{}) {
			return points.Correction
		}
		return points.Campaign
	case "challenge":
		return points.Challenge
	case "referral_bonus":
		return points.Referral
	case "reward_claim":
		return points.Reward
	case "balance_import":
		return points.Import
	}

	if transaction != "" {
		return points.Purchase
	}
	return points.Activity
}

// credit opens the lot. The event records the lot's dates and purchase, which its postings do not
// have, so that a rebuild can restore it.
func (r *Run) credit(e *loyalty.Event, n int64, lot points.Lot) error {
	if _, err := r.Book.Credit(e.ID, n, lot); err != nil {
		if _, sent := r.Data["points"]; sent && e == r.Event {
			return loyalty.ErrTooLarge.With("property", "points").At("data.points")
		}
		return TooMany(e.Action)
	}
	e.ExpDate = lot.ExpiresAt
	if !lot.Idle.IsZero() {
		e.ExpDate = lot.Idle.From(r.Now, r.Programme.Location)
	}
	e.OpensLot(lot)
	return nil
}

// TooMany is the failure of points that something of the programme gives or takes, and that a balance cannot hold. It
// names no property, because no property of the request is at fault.
func TooMany(giver string) error { return loyalty.ErrTooLarge.With("property", "points of "+giver) }

// Move takes the customer through the table of states and records the change.
func (r *Run) Move(trigger string) error {
	before := r.Customer.Status
	if err := r.Customer.Move(trigger); err != nil {
		r.Trace("state", "refused", "reason.state", 0)
		return err
	}
	if before != r.Customer.Status {
		r.Event.Tell().Status = r.Customer.Status
	}
	return nil
}

// Claim takes a name for this customer and reports whether it could: another customer may have it. A name that this
// customer owns already stays theirs.
func (r *Run) Claim(n loyalty.Name) bool {
	if owner, taken := r.Owner(n); taken {
		// a transaction_id is used once, even by the same customer: a second checkout is refused
		return owner == r.Customer.ID && n.Kind != loyalty.NameTransaction
	}
	r.work.claims = append(r.work.claims, loyalty.Claim{Name: n, Owner: r.Customer.ID})
	return true
}

// Owner returns the owner of a name, as far as this batch knows: a name that the run has just claimed takes precedence
// over what was loaded.
func (r *Run) Owner(n loyalty.Name) (loyalty.ID, bool) {
	if slices.ContainsFunc(r.work.claims, func(c loyalty.Claim) bool { return c.Name == n }) {
		return r.Customer.ID, true
	}
	owner, taken := r.batch.names[n]
	return owner, taken
}

// Free releases a name of this customer. Releases are written before claims, so that a name can
// change hands within a batch.
func (r *Run) Free(n loyalty.Name) {
	r.account.freed = append(r.account.freed, loyalty.Claim{Name: n, Owner: r.Customer.ID})
}

// DestroyKey makes everything sealed under the customer's key unreadable for good, once the batch
// is committed.
func (r *Run) DestroyKey() { r.account.destroyKey = true }

// Events returns the rows that the submission has recorded so far, of all its customers.
func (r *Run) Events() []*loyalty.Event { return r.work.events }

// Find returns the event of the submission with an id; nil if it has none.
func (r *Run) Find(id loyalty.ID) *loyalty.Event { return r.work.find(id) }

// Unrecord removes the events recorded since there were the given number of them; nothing may refer to them. last is
// the customer's last event before them.
func (r *Run) Unrecord(events int, last loyalty.ID) {
	r.work.events, r.Customer.LastEvent = r.work.events[:events], last
}

// New reports whether this batch created the customer, so that nothing of theirs is stored.
func (r *Run) New() bool { return r.account.loaded == nil }
