package loyalty

import (
	"encoding/json"
	"strings"
	"time"
)

// ProgressKind is a kind of thing in the programme that customers make progress with.
type ProgressKind uint8

// The kinds of progress, each with what its key names.
const (
	ProgressTier      ProgressKind = 1  // a tier structure
	ProgressChallenge ProgressKind = 2  // a challenge
	ProgressReward    ProgressKind = 3  // a reward: how often it was claimed
	ProgressContest   ProgressKind = 4  // a contest: entries
	ProgressWheel     ProgressKind = 5  // a prize wheel: spins in its period
	ProgressTreasure  ProgressKind = 6  // a treasure that was found
	ProgressOffer     ProgressKind = 7  // an offer: claimed and redeemed
	ProgressCampaign  ProgressKind = 8  // a campaign: how often it gave
	ProgressQuiz      ProgressKind = 9  // a quiz
	ProgressFlow      ProgressKind = 10 // a profiling flow
	ProgressHeld      ProgressKind = 11 // an event that waits for its validation, by event id
	ProgressReferral  ProgressKind = 12 // the bonus for bringing this customer; key "bonus"
	ProgressReminder  ProgressKind = 13 // what the customer was reminded of, by the action
)

// ProgressKinds is a set of kinds.
type ProgressKinds uint32

// Kinds makes a set.
func Kinds(list ...ProgressKind) (set ProgressKinds) {
	for _, k := range list {
		set |= 1 << k
	}
	return set
}

// Has reports whether a kind is in the set.
func (s ProgressKinds) Has(k ProgressKind) bool { return s&(1<<k) != 0 }

// ProgressKey names one progress of a customer.
type ProgressKey struct {
	Kind ProgressKind `json:"kind"`
	Key  string       `json:"key"`
}

// Progress is a customer's progress with one thing of the programme: a tier, a challenge, a reward. Its data is a
// document of its kind. It is guarded by the version of its customer. As JSON it is the effect of an event: the
// progress after the event, without data if it was removed.
type Progress struct {
	Customer ID `json:"-"` // the customer of the event
	ProgressKey
	Data  json.RawMessage `json:"data,omitempty"`
	DueAt time.Time       `json:"due_at,omitzero"` // when it must be looked at next; zero: never

	Dirty bool `json:"-"`
}

// Before orders progress by date, then by kind and key, so that the same rows always give the same
// events.
func (s *Progress) Before(o *Progress) bool {
	if c := s.DueAt.Compare(o.DueAt); c != 0 {
		return c < 0
	}
	return CompareProgress(s.ProgressKey, o.ProgressKey) < 0
}

// CompareProgress orders rows of progress by kind and then key, the order in which they are written and locked
// everywhere.
func CompareProgress(a, b ProgressKey) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.Key, b.Key)
}
