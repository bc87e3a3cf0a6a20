// Package loyalty is the vocabulary of the rules: ids and names, errors, the records of customers, events, purchases,
// coupons, claims and progress, their tables of states, what an event needs and writes, and what a store must offer. It
// decides nothing; the packages below it do. The store speaks this vocabulary and no more.
package loyalty

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// LotScope is the lots of a customer that an event needs.
type LotScope uint8

// The scopes, each containing the one before.
const (
	NoLots   LotScope = iota
	HeldLots          // lots with reserved points
	OpenLots          // and those with free points
	UsedLots          // and those with spent points, and those of the named transactions
)

// Needs is what a batch asks the store to load, in one round trip.
type Needs struct {
	Customers []CustomerNeeds
	Answers   []AnswerKey
	Items     []BulkKey // of bulk operations
	Version   bool      // the programme's version in force
	// Locked takes the customers' locks before loading. The first attempt of a batch does without: the guards of the
	// write find out whether another writer was faster. A repeated attempt locks, so that it cannot lose again.
	Locked bool
	// Reading says that nothing will be written, so no writer waits for it.
	Reading bool
	// Apart says that the decision takes long: a database with one writer does not hold the writer meanwhile. The
	// guards of the write find out whether another writer was faster.
	Apart bool
	// Light says that other callers wait. In a database with one writer, it fails with ErrMuch if there is more to read
	// than they should wait for. Without Light that much is read beside the writer, as with Apart.
	Light bool
	// Now decides what is due: a customer whose DueAt has passed is loaded with open lots and every pending transaction
	// that has an auto_accept date, so that the due effects can be applied and the next due instant is known.
	Now time.Time
	// Due also takes so many customers whose DueAt has passed, the longest waiting first. It locks them and skips those
	// that another node has locked (SKIP LOCKED), so that many workers share the work. Loaded.Due names them; each is
	// loaded as by CustomerNeeds{ID, Key: true, Lots: OpenLots}.
	Due int
	// DueExcept are skipped: they could not be settled, and would come first again and again.
	DueExcept []ID
}

// CustomerNeeds is what one event needs of one customer, and of rows that belong to no customer. An event that touches
// several customers has several of them.
type CustomerNeeds struct {
	Ref Name // NameCustomer or NameExternal
	ID  ID   // in place of Ref if the internal id is known (jobs)
	// in place of both: the oldest live customer with this e-mail (trimmed, lower case), enrolled before inactive
	Match        string
	Key          bool          // the key that seals personal data
	Lots         LotScope      // which lots
	Opened       []ID          // lots by the events that opened them, including expired ones
	Transactions []string      // by transaction_id, of any owner
	Opens        bool          // the transactions must be new, which their claim shows too
	Reservations []string      // by transaction_id
	Progress     ProgressKinds // all progress of these kinds
	Claims       bool          // the rewards they claimed
	Codes        bool          // the codes of their claimed coupons
	Lists        bool          // the customer lists they are on
	Past         bool          // score and spend in the journal, for tiers that begin late
	Everything   bool          // for a merge: all of the above that is stored, and the customers merged into this one
	Names        []Name        // other names that it will claim: external ids
	Email        string        // also the oldest inactive customer with this e-mail (trimmed, lower case)

	Coupons []string       // by code, of any holder
	Pools   map[string]int // number of codes of a pool that no customer holds
	Tallies []string       // counts that all customers share, by key
	Version bool           // the programme's version in force
}

// Loaded is what the store found. Maps are never nil.
type Loaded struct {
	Customers map[ID]*Loading
	// Names holds the owner of every requested name that is taken: customers, external ids, transactions.
	Names   map[Name]ID
	Emails  map[string]ID // the oldest inactive customer by e-mail
	Matches map[string]ID // the oldest live customer by e-mail
	Answers map[AnswerKey]Answer
	Coupons map[ID]Coupon       // whose codes Names has
	Free    map[string][]Coupon // codes of a pool that no customer holds, oldest first
	Tallies map[string]int64    // those that were ever counted
	Items   map[BulkKey]bool    // items that are to be done
	Version int64               // of the programme; only if requested
	Due     []ID                // customers taken because something is due, the longest waiting first
}

// Loading is one customer with the rows that were asked for.
type Loading struct {
	Customer     Customer
	Lots         []points.Lot
	LotScope     LotScope // what Lots covers
	Transactions map[string]Transaction
	Reservations map[string]Reservation
	Progress     map[ProgressKey]Progress
	Claims       map[ID]RewardClaim
	Codes        map[string]time.Time // of their claimed coupons: when each expires, zero for never
	Lists        []string             // ids, in order; only if requested
	Past         []PastEntry          // oldest first
	Sources      []ID                 // customers merged into this one; only with Everything
}

// PastEntry is the effect of one event of the journal on the score, and the state of its purchase after it.
type PastEntry struct {
	Event       ID
	At          time.Time // effective
	Booked      time.Time // when an event that its sender dated earlier was recorded; otherwise zero
	Score       int64
	Transaction string             // "" if the event belongs to none
	Currency    string             // of the purchase, as its sender wrote it
	Effect      *TransactionEffect // nil if it changed no purchase
}

// Changed pairs a row as it was loaded with its final form. The store writes it only if the row has not changed since.
type Changed[T any] struct {
	Before, After T
}

// Writes is the outcome of a batch: one final row per key. The store writes all
// of it in one transaction, or nothing.
type Writes struct {
	NewCustomers    []Customer
	Customers       []Changed[Customer] // figures, version and, where they differ, profile and status
	Claims          []Claim             // conflicts are refused
	Freed           []Claim             // names given up
	DestroyKeys     []ID                // of customers that opted out
	Events          []Event
	Postings        []CustomerPosting
	NewLots         []CustomerLot
	Lots            []Changed[CustomerLot]
	NewTransactions []Transaction
	Transactions    []Changed[Transaction]
	NewReservations []Reservation
	Reservations    []Changed[Reservation] // an empty Hold deletes the row
	NewProgress     []Progress
	Progress        []Changed[Progress] // nil Data deletes the row
	NewRewardClaims []RewardClaim
	RewardClaims    []Changed[RewardClaim]
	NewCoupons      []Coupon
	Coupons         []Changed[Coupon]
	NewTallies      []Tally
	Tallies         []Changed[Tally]
	CampaignGifts   []CampaignGift  // added to what is stored
	CampaignMerges  []CampaignMerge // after what is given in the same batch
	// Moved are purchases that go to another customer: the row of Before is deleted, and After is inserted as a row of
	// that customer.
	Moved   []Changed[Transaction]
	Answers []Answer
	// Replaced are stored answers that one of Answers replaces.
	Replaced []Answer
	Members  []Membership
	// Items are the items of bulk operations that are done now; the store counts them.
	Items []BulkMark
}

// CustomerPosting is a posting with its owner.
type CustomerPosting struct {
	Customer ID
	points.Posting
}

// CustomerLot is a lot with its owner.
type CustomerLot struct {
	Customer ID
	points.Lot
}

// Empty reports whether there is nothing to write.
func (w *Writes) Empty() bool {
	return len(w.Events) == 0 && len(w.Customers) == 0 && len(w.NewCustomers) == 0 && len(w.Answers) == 0 &&
		len(w.Items) == 0
}

// Store is the batch's database: the only transaction code. work reads what was loaded and returns what to write; it
// may be called more than once and must touch nothing else.
type Store interface {
	// Within loads, calls work, writes and commits. If work fails, everything is rolled back and the error is returned
	// unchanged.
	Within(ctx context.Context, needs Needs, work func(*Loaded) (*Writes, error)) error
	// Due lists customers whose DueAt has passed, oldest first.
	Due(ctx context.Context, now time.Time, limit int) ([]ID, error)
}
