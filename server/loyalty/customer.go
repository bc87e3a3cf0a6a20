package loyalty

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Status is the state of a customer in the programme.
type Status string

// The states of a customer. None is the state before the first event.
const (
	None      Status = ""
	Inactive  Status = "inactive"
	Active    Status = "active"
	Suspended Status = "suspended"
	OptedOut  Status = "opted_out"
	Merged    Status = "merged"
)

// Statuses lists the states a stored customer can be in.
var Statuses = []Status{Inactive, Active, Suspended, OptedOut, Merged}

// CustomerMoves is the specification's table of states: trigger, state before, state after. Other moves are refused
// with both states named.
var CustomerMoves = map[string]map[Status]Status{
	"subscribe": {None: Inactive},
	"opt_in":    {None: Active, Inactive: Active},
	"suspend":   {Active: Suspended},
	"unsuspend": {Suspended: Active},
	"opt_out":   {Inactive: OptedOut, Active: OptedOut, Suspended: OptedOut},
	"merge":     {Inactive: Merged, Active: Merged, Suspended: Merged}, // of the source
	"guest":     {None: Inactive, Inactive: Inactive},                  // a checkout of a customer who is not enrolled
}

// aims is the state that a trigger leads to, for the message of a refusal.
var aims = map[string]Status{
	"subscribe": Inactive, "opt_in": Active, "suspend": Suspended, "unsuspend": Active, "opt_out": OptedOut,
	"merge": Merged, "guest": Inactive,
}

// Person is the part of a customer that other people may see.
type Person struct {
	ID     ID
	Name   string
	Status Status
}

// Person returns the customer without what only they and the programme know.
func (c *Customer) Person() Person { return Person{c.ID, c.Name, c.Status} }

// Customer is one person's account in the programme. Every row of theirs is
// keyed by ID, never by Name: the name is forgotten by opt_out.
type Customer struct {
	ID         ID
	Name       string // the caller's identifier
	Status     Status
	CreatedAt  time.Time
	UpdatedAt  time.Time // of the profile and the account; see ChangedAt
	MergedInto ID        // set when Merged
	Profile    Profile
	// Key seals personal data inside events; nil once opt_out destroyed it.
	Key []byte

	Figures        points.Figures
	Version        int64     // grows by one with every committed change
	LastEvent      ID        // ids of later events sort after it
	DueAt          time.Time // no later than the next expiry or acceptance; zero: none
	LastActivityAt time.Time
	Chain          Chain // of the journal, up to LastEvent
}

// Profile is the personal data of a customer.
type Profile struct {
	Handler, Email, FirstName, LastName  string
	Language, Gender, Currency, ImageURL string
	BirthDate                            string // YYYY-MM-DD
	Labels                               []string
	ExternalIDs                          ExternalIDs
	Custom                               map[string]json.RawMessage // cf_* and other undeclared attributes
	Referrer                             ID                         // the customer who referred this one
}

// MostIDs is how many ids a customer may have under one name of another system. Each of them claims a name.
const MostIDs = 20

// ExternalIDs are a customer's ids in other systems, by the name of the system, in the order in which they were sent.
// In JSON one id is a text and several are a list. In a change, a name without ids is removed.
type ExternalIDs map[string][]string

// Names lists the names that the ids claim, in one order on every node.
func (ids ExternalIDs) Names() []Name {
	var names []Name
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		for _, value := range ids[name] {
			names = append(names, ExternalName(name, value))
		}
	}
	return names
}

// MarshalJSON writes a text for one id and a list for several.
func (ids ExternalIDs) MarshalJSON() ([]byte, error) {
	if ids == nil {
		return []byte("null"), nil
	}

	shown := make(map[string]any, len(ids))
	for name, values := range ids {
		switch len(values) {
		case 0:
			shown[name] = nil
		case 1:
			shown[name] = values[0]
		default:
			shown[name] = values
		}
	}

	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // the encoder of the ids decides that
	err := e.Encode(shown)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a text, a list of texts, or null under each name.
func (ids *ExternalIDs) UnmarshalJSON(text []byte) error {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(text, &sent); err != nil || sent == nil {
		*ids = nil
		return err
	}

	all := make(ExternalIDs, len(sent))
	for name, raw := range sent {
		var values []string
		if raw[0] == '"' {
			raw = slices.Concat([]byte("["), raw, []byte("]"))
		}
		if err := json.Unmarshal(raw, &values); err != nil {
			return err
		}
		all[name] = values
	}

	*ids = all
	return nil
}

// ProfileText is a field of the profile that holds one text.
type ProfileText struct {
	Name string // in the APIs and in conditions
	Of   func(*Profile) *string
	// Shared says that many people have the same text, so that it identifies none of them and is not masked. A hash of
	// it could be guessed, so opt_out clears it, while other texts become hashes.
	Shared bool
}

// ProfileTexts are the fields of the profile that hold one text: opt_out forgets them; the action profile, questions
// about the customer and imports set them; conditions read them, exports show them, and answers mask them.
var ProfileTexts = []ProfileText{
	{"handler", func(p *Profile) *string { return &p.Handler }, false},
	{"email", func(p *Profile) *string { return &p.Email }, false},
	{"first_name", func(p *Profile) *string { return &p.FirstName }, false},
	{"last_name", func(p *Profile) *string { return &p.LastName }, false},
	{"gender", func(p *Profile) *string { return &p.Gender }, false},
	{"image_url", func(p *Profile) *string { return &p.ImageURL }, false},
	{"birth_date", func(p *Profile) *string { return &p.BirthDate }, false},
	{"language", func(p *Profile) *string { return &p.Language }, true},
	{"currency", func(p *Profile) *string { return &p.Currency }, true},
}

// Field returns the text of the profile with a name, to be changed; nil if there is none.
func (p *Profile) Field(name string) *string {
	for i := range ProfileTexts {
		if ProfileTexts[i].Name == name {
			return ProfileTexts[i].Of(p)
		}
	}
	return nil
}

// Text returns the text of the profile with a name; empty if there is none.
func (p *Profile) Text(name string) string { return Deref(p.Field(name)) }

// ChangedAt returns when anything of the customer changed last, points included. Every such change is recorded on an
// event, whose id has the instant; a separate instant would have to be written with each event.
func (c *Customer) ChangedAt() time.Time {
	ms, _ := parts(c.LastEvent)
	if at := time.UnixMilli(int64(ms)).UTC(); at.After(c.UpdatedAt) {
		return at
	}
	return c.UpdatedAt
}

// Move changes the customer's state by the table. It fails with ErrForbiddenState, which names both states.
func (c *Customer) Move(trigger string) error {
	next, ok := CustomerMoves[trigger][c.Status]
	if !ok {
		return ErrForbiddenState.With("from", string(c.Status)).With("to", string(aims[trigger]))
	}
	c.Status = next
	return nil
}
