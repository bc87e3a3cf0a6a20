package loyalty

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the closed list of ways a request can fail. The server turns each
// kind into one HTTP status; nothing else decides a status.
type Kind int

// The kinds of failure.
const (
	Internal    Kind = iota // a fault of ours; its detail goes to the log only
	Invalid                 // breaks the contract
	NotFound                // no such record, or its module is off
	Conflict                // a name, key or state is taken
	Refused                 // a rule of the programme says no
	Forbidden               // this key may not do this
	Unavailable             // the database cannot be reached now; try again
	Oversized               // more than is kept of such a thing
)

// Error is a failure with a stable name (its translation key), a stable code
// and the values its message needs. The message itself is made where the
// language is known.
type Error struct {
	Kind    Kind
	Code    int
	Name    string
	Args    map[string]any // values of the message's placeholders
	Details []Detail
	cause   error
}

// Detail names a field at fault, as a path into the request
// (data.items[0].quantity), with a message of its own.
type Detail struct {
	Field string
	Name  string // translation key
	Args  map[string]any
}

// Error writes the failure for logs, in English key form.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d)", e.Name, e.Code)
	for _, d := range e.Details {
		fmt.Fprintf(&b, " %s: %s", d.Field, d.Name)
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	return b.String()
}

// Unwrap gives the cause, which is never shown to a caller.
func (e *Error) Unwrap() error { return e.cause }

// Is compares by name, so that errors.Is(err, ErrCustomerNotFound) holds for
// every copy that carries its own values.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Name == e.Name
}

// With gives a copy that carries a value for the message.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Args = make(map[string]any, len(e.Args)+1)
	for k, v := range e.Args {
		c.Args[k] = v
	}
	c.Args[key] = value
	return &c
}

// At gives a copy whose only detail names the field at fault.
func (e *Error) At(field string) *Error {
	c := *e
	c.Details = []Detail{{Field: field, Name: e.Name, Args: e.Args}}
	return &c
}

// Because gives a copy that keeps the cause for the log.
func (e *Error) Because(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

func newError(kind Kind, code int, name string) *Error {
	return &Error{Kind: kind, Code: code, Name: name}
}

// AsError finds the failure inside err; anything unknown is an internal fault.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return ErrInternal.Because(err)
}

// The failures of the rules, by the code the caller sees. Names are the keys
// of the translations. Codes below 190000 are the specification's and the
// design's; from 190001 on they are listed in openapi/DECISIONS.md.
var (
	ErrAttributesTooLarge = newError(Oversized, 190380, "attributes_too_large") // {property} {limit}
	ErrRulesTooHeavy      = newError(Refused, 190381, "rules_too_heavy")        // {action}

	ErrInternal    = newError(Internal, 190001, "internal")
	ErrUnavailable = newError(Unavailable, 190002, "unavailable")

	// ErrUnconfirmed is ErrUnavailable where the event, or the change, may have been
	// recorded all the same.
	ErrUnconfirmed = newError(Unavailable, 190420, "outcome_unknown")
	ErrClockOff    = newError(Unavailable, 190421, "clock_off")
	ErrDamaged     = newError(Unavailable, 190422, "database_damaged")

	ErrBoardsUnbuilt = newError(Unavailable, 190270, "leaderboard_unbuilt")

	ErrPropertyEmpty   = newError(Invalid, 0, "property_empty")           // {property}
	ErrPropertyInvalid = newError(Invalid, 190010, "property_invalid")    // {property} {reason}
	ErrPropertyUnknown = newError(Invalid, 190011, "property_unknown")    // {property}
	ErrUnknownAction   = newError(Invalid, 190012, "unknown_action")      // {action}
	ErrFutureTimestamp = newError(Invalid, 190013, "future_timestamp")    // {property}
	ErrReservedName    = newError(Invalid, 190014, "reserved_name")       // {property} {value}
	ErrTooLarge        = newError(Invalid, 190015, "number_out_of_range") // {property}

	ErrCustomerNotFound    = newError(NotFound, 160212, "customer_not_found")
	ErrTransactionNotFound = newError(NotFound, 911001, "transaction_not_found")
	ErrCouponNotFound      = newError(NotFound, 1601, "coupon_not_found")
	ErrModuleUnknown       = newError(NotFound, 190020, "module_unknown")  // {module}
	ErrModuleOffPath       = newError(NotFound, 160600, "module_off_path") // {module}
	ErrKeyNotFound         = newError(NotFound, 190021, "key_not_found")   // {key}
	ErrReservationNotFound = newError(Refused, 190022, "nothing_reserved") // {transaction_id}
	ErrLineNotFound        = newError(NotFound, 190023, "line_not_found")  // {product_id}

	ErrTransactionExists = newError(Conflict, 5003, "ERR_TX_ALREADY_EXISTS")
	ErrCustomerExists    = newError(Conflict, 112101, "customer_exists")
	ErrExternalIDTaken   = newError(Conflict, 190030, "external_id_taken") // {name}
	ErrKeyReused         = newError(Conflict, 190031, "idempotency_key_reused")
	ErrReplayed          = newError(Conflict, 190032, "request_replayed")

	ErrNotEnoughPoints   = newError(Refused, 0, "not_enough_points_discount")
	ErrNotEnoughToSpend  = newError(Refused, 0, "not_enough_points")
	ErrUnspendTooMuch    = newError(Refused, 112900, "unspend_too_much") // {spent}
	ErrSuspended         = newError(Refused, 110003, "customer_suspended")
	ErrForbiddenState    = newError(Refused, 190040, "forbidden_state_change") // {from} {to}
	ErrWrongStatus       = newError(Refused, 190041, "wrong_status")           // {status} {action}
	ErrNotRefundable     = newError(Refused, 112201, "not_refundable")         // {status}
	ErrRefundNotPositive = newError(Refused, 112202, "refund_not_positive")
	ErrRefundTooLarge    = newError(Refused, 112203, "refund_too_large")  // {left}
	ErrModuleOff         = newError(Refused, 190042, "module_off")        // {module} {property}
	ErrActionOff         = newError(Refused, 190043, "module_off_action") // {module} {action}
	ErrInternalAction    = newError(Refused, 190044, "internal_action")   // {action} {operation}
	ErrCopiedField       = newError(Refused, 190045, "copied_field")      // {property}
	ErrReleaseTooMuch    = newError(Refused, 190046, "release_too_much")  // {reserved}
	ErrReferrerUnknown   = newError(Refused, 190047, "referrer_unknown")
	ErrNegativeRefused   = newError(Refused, 190048, "negative_refused")
	ErrModulesExclusive  = newError(Refused, 190049, "modules_exclusive") // {module} {other}
	ErrKeyRevoked        = newError(Refused, 190050, "key_revoked")
	ErrQuantityTooLarge  = newError(Refused, 190051, "quantity_too_large") // {left}
	ErrEntityInUse       = newError(Refused, 190053, "entity_in_use")      // {by}
	ErrEntityArchived    = newError(Refused, 190054, "entity_archived")    // {id}
	ErrReactionsEndless  = newError(Refused, 190052, "reactions_endless")  // {action}

	ErrRightsExceeded = newError(Forbidden, 190320, "rights_exceeded") // {property}

	ErrCampaignNotFound = newError(NotFound, 190260, "campaign_not_found") // {campaign}

	ErrEntityElsewhere = newError(Refused, 190250, "entity_elsewhere") // {type} {method}
	ErrFieldFixed      = newError(Refused, 190251, "field_fixed")      // {property}

	ErrEntityUnknown  = newError(NotFound, 190024, "entity_unknown")   // {type}
	ErrEntityNotFound = newError(NotFound, 190025, "entity_not_found") // {type} {id}
	ErrEntityExists   = newError(Conflict, 190034, "entity_exists")    // {id}
	ErrValueTaken     = newError(Conflict, 190341, "value_taken")      // {property} {id}
	ErrCouponExists   = newError(Conflict, 190033, "coupon_exists")    // {code}

	ErrBatchNotFound = newError(NotFound, 190240, "batch_not_found") // {batch}

	ErrJobUnknown = newError(NotFound, 190160, "job_unknown") // {job}
	ErrJobRunning = newError(Conflict, 190161, "job_running") // {job}

	ErrGuestAction = newError(Invalid, 190162, "guest_action") // {action}
	ErrMergeSelf   = newError(Refused, 190163, "merge_self")

	ErrHeldNotFound   = newError(NotFound, 190164, "held_not_found")  // {event}
	ErrNotHoldable    = newError(Invalid, 190165, "not_holdable")     // {action}
	ErrPendingTooMuch = newError(Refused, 190166, "pending_too_much") // {pending}

	ErrNotRunning       = newError(Refused, 190140, "not_running")     // {id} {status}
	ErrEntriesLimit     = newError(Refused, 190141, "entries_limit")   // {limit}
	ErrEntriesTooFew    = newError(Refused, 190142, "entries_too_few") // {entries}
	ErrSpinLimit        = newError(Refused, 190143, "spin_limit")      // {limit}
	ErrQuizAnswered     = newError(Refused, 190144, "quiz_answered")
	ErrTreasureFound    = newError(Refused, 190145, "treasure_found_already")
	ErrTreasureCode     = newError(Refused, 190146, "treasure_code_wrong")
	ErrTreasureAction   = newError(Refused, 190147, "treasure_other_action") // {action}
	ErrOfferLimit       = newError(Refused, 190148, "offer_limit")           // {limit}
	ErrOfferUsedUp      = newError(Refused, 190149, "offer_used_up")
	ErrOfferNotRedeemed = newError(Refused, 190150, "offer_not_redeemed")
	ErrQuestionNotFound = newError(NotFound, 190151, "question_not_found") // {question}
	ErrOfferSegment     = newError(Refused, 190230, "offer_segment")

	ErrCouponBalance   = newError(Refused, 1606, "coupon_balance")
	ErrClaimCouponUsed = newError(Refused, 190220, "claim_coupon_redeemed") // {code}
	ErrClaimUnknown    = newError(NotFound, 190221, "claim_unknown")        // {claim}

	ErrRewardNotFound = newError(NotFound, 160320, "reward_not_found")
	ErrRewardInactive = newError(Refused, 160321, "reward_inactive")
	ErrRewardLimit    = newError(Refused, 120211, "reward_limit") // {limit}
	ErrRewardStock    = newError(Refused, 120212, "reward_stock")
	ErrPoolEmpty      = newError(Refused, 120212, "pool_empty") // {pool}
	ErrRewardSegment  = newError(Refused, 120213, "reward_segment")
	ErrRewardPoints   = newError(Refused, 120241, "reward_points")    // {points}
	ErrClaimNotFound  = newError(NotFound, 190100, "claim_not_found") // {event}
	ErrCouponUsed     = newError(Refused, 190101, "coupon_redeemed")  // {code}
	ErrToOneself      = newError(Refused, 190102, "transfer_to_self")
	ErrCouponStore    = newError(Refused, 190103, "coupon_store")       // {code}
	ErrCouponProduct  = newError(Refused, 190104, "coupon_product")     // {code}
	ErrPoolSource     = newError(Refused, 190105, "pool_not_generated") // {pool}
	ErrPatternSpent   = newError(Refused, 190106, "pattern_exhausted")  // {pool}

	ErrReferrerSelf = newError(Refused, 190130, "referrer_self")

	ErrSeveral = newError(Refused, 190400, "several") // {property} {choices}

	ErrChallengeNotFound = newError(NotFound, 190120, "challenge_not_found")      // {challenge}
	ErrNotResetable      = newError(Refused, 190121, "challenge_not_resetable")   // {challenge}
	ErrTierNotFound      = newError(NotFound, 190122, "tier_not_found")           // {tier}
	ErrStructureNotFound = newError(NotFound, 190123, "tier_structure_not_found") // {structure}
)
