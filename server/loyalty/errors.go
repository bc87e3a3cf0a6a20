package loyalty

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// WorthStoring reports whether the answer with an error is stored for repetitions: a success and a refusal by the
// programme's rules are, a malformed request and a temporary failure are not.
func WorthStoring(err error) bool {
	if err == nil {
		return true
	}
	var e *Error
	return errors.As(err, &e) && (e.Kind == NotFound || e.Kind == Conflict || e.Kind == Refused)
}

// Final reports whether an error would come again.
func Final(err error) bool {
	kind := AsError(err).Kind
	return kind != Internal && kind != Unavailable
}

// AtField reports a failure of the rules at the field that caused it.
func AtField(err error, field string) error {
	var e *Error
	if errors.As(err, &e) {
		return e.At(field)
	}
	return err
}

// Panicked is the error of a panic in a worker. A panic ends the batch, never the process. If decided is set, the batch
// may have been written.
func Panicked(fault any, decided bool) error {
	err := fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
	if decided {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// OutcomeError turns the error of a store's transaction into the caller's error.
func OutcomeError(err error) error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrOutcomeUnknown):
		return ErrUnconfirmed.Because(err)
	case errors.Is(err, ErrBatchConflict), errors.Is(err, ErrDatabaseAway), errors.Is(err, context.DeadlineExceeded):
		return ErrUnavailable.Because(err)
	}
	return ErrInternal.Because(err)
}

// Kind is the closed list of ways a request can fail. The server turns each
// kind into one HTTP status; nothing else decides a status.
type Kind int

// The kinds of failure.
const (
	Internal    Kind = iota // a fault of this program; its detail goes to the log only
	Invalid                 // breaks the contract
	NotFound                // no such record, or its module is off
	Conflict                // a name, key or state is taken
	Refused                 // a rule of the programme says no
	Forbidden               // this key may not do this
	Unavailable             // the database cannot be reached now; try again
	Oversized               // more than is kept of such a thing
)

// Error is a failure with a stable name (its translation key), a stable code and the values that its message needs. The
// message itself is made where the language is known.
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

// Unwrap returns the cause, which is never shown to a caller.
func (e *Error) Unwrap() error { return e.cause }

// Is compares by name, so that errors.Is(err, ErrCustomerNotFound) holds for every copy with values of its own.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Name == e.Name
}

// With returns a copy that carries a value for the message.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Args = make(map[string]any, len(e.Args)+1)
	for k, v := range e.Args {
		c.Args[k] = v
	}
	c.Args[key] = value
	return &c
}

// At returns a copy whose only detail names the field at fault.
func (e *Error) At(field string) *Error {
	c := *e
	c.Details = []Detail{{Field: field, Name: e.Name, Args: e.Args}}
	return &c
}

// Because returns a copy that keeps the cause for the log.
func (e *Error) Because(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// NewError declares a failure, once for the whole program: its code, its name, and the names of its message's values,
// which With sets.
func NewError(kind Kind, code int, name string, values ...string) *Error {
	if _, twice := declared[name]; twice {
		panic("declared twice: " + name)
	}
	declared[name] = Declared{code, values}
	return &Error{Kind: kind, Code: code, Name: name}
}

// Declared is the declaration of a failure.
type Declared struct {
	Code   int
	Values []string // the names in its message
}

// declared are the failures by name. Package variables fill it at start.
var declared = map[string]Declared{}

// DeclaredErrors lists the failures of the whole program by name, so that tests can compare them with the texts and the
// documents.
func DeclaredErrors() map[string]Declared { return maps.Clone(declared) }

// AsError returns the failure inside err; an unknown error becomes an internal fault.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return ErrInternal.Because(err)
}

// The failures of the rules, by the code that the caller sees. Names are the keys of the translations. Codes below
// 190000 are the specification's and the design's; from 190001 on they are listed in openapi/errors.yaml.
var (
	ErrAttributesTooLarge = NewError(Oversized, 190380, "attributes_too_large", "property", "limit")
	ErrRulesTooHeavy      = NewError(Refused, 190381, "rules_too_heavy", "action")

	ErrInternal    = NewError(Internal, 190001, "internal")
	ErrUnavailable = NewError(Unavailable, 190002, "unavailable")

	// ErrUnconfirmed is ErrUnavailable if the event, or the change, may have been recorded nevertheless.
	ErrUnconfirmed = NewError(Unavailable, 190420, "outcome_unknown")
	ErrClockOff    = NewError(Unavailable, 190421, "clock_off")
	ErrDamaged     = NewError(Unavailable, 190422, "database_damaged")

	ErrBoardsUnbuilt = NewError(Unavailable, 190270, "leaderboard_unbuilt")

	ErrPropertyEmpty   = NewError(Invalid, 0, "property_empty", "property")
	ErrPropertyInvalid = NewError(Invalid, 190010, "property_invalid", "property", "reason")
	ErrPropertyUnknown = NewError(Invalid, 190011, "property_unknown", "property")
	ErrUnknownAction   = NewError(Invalid, 190012, "unknown_action", "action")
	ErrFutureTimestamp = NewError(Invalid, 190013, "future_timestamp", "property")
	ErrReservedName    = NewError(Invalid, 190014, "reserved_name", "property", "value")
	ErrTooLarge        = NewError(Invalid, 190015, "number_out_of_range", "property")

	ErrCustomerNotFound    = NewError(NotFound, 160212, "customer_not_found")
	ErrTransactionNotFound = NewError(NotFound, 911001, "transaction_not_found")
	ErrCouponNotFound      = NewError(NotFound, 1601, "coupon_not_found")
	ErrModuleUnknown       = NewError(NotFound, 190020, "module_unknown", "module")
	ErrModuleOffPath       = NewError(NotFound, 160600, "module_off_path", "module")
	ErrKeyNotFound         = NewError(NotFound, 190021, "key_not_found", "key")
	ErrReservationNotFound = NewError(Refused, 190022, "nothing_reserved", "transaction_id")
	ErrLineNotFound        = NewError(NotFound, 190023, "line_not_found", "product_id")

	ErrTransactionExists = NewError(Conflict, 5003, "ERR_TX_ALREADY_EXISTS")
	ErrCustomerExists    = NewError(Conflict, 112101, "customer_exists")
	ErrExternalIDTaken   = NewError(Conflict, 190030, "external_id_taken", "name")
	ErrKeyReused         = NewError(Conflict, 190031, "idempotency_key_reused")
	ErrReplayed          = NewError(Conflict, 190032, "request_replayed")

	ErrNotEnoughPoints   = NewError(Refused, 0, "not_enough_points_discount")
	ErrNotEnoughToSpend  = NewError(Refused, 0, "not_enough_points")
	ErrUnspendTooMuch    = NewError(Refused, 112900, "unspend_too_much", "spent")
	ErrSuspended         = NewError(Refused, 110003, "customer_suspended")
	ErrForbiddenState    = NewError(Refused, 190040, "forbidden_state_change", "from", "to")
	ErrWrongStatus       = NewError(Refused, 190041, "wrong_status", "status", "action")
	ErrNotRefundable     = NewError(Refused, 112201, "not_refundable", "status")
	ErrRefundNotPositive = NewError(Refused, 112202, "refund_not_positive")
	ErrRefundTooLarge    = NewError(Refused, 112203, "refund_too_large", "left")
	ErrModuleOff         = NewError(Refused, 190042, "module_off", "module", "property")
	ErrActionOff         = NewError(Refused, 190043, "module_off_action", "module", "action")
	ErrInternalAction    = NewError(Refused, 190044, "internal_action", "action", "operation")
	ErrCopiedField       = NewError(Refused, 190045, "copied_field", "property")
	ErrReleaseTooMuch    = NewError(Refused, 190046, "release_too_much", "reserved")
	ErrReferrerUnknown   = NewError(Refused, 190047, "referrer_unknown")
	ErrNegativeRefused   = NewError(Refused, 190048, "negative_refused")
	ErrModulesExclusive  = NewError(Refused, 190049, "modules_exclusive", "module", "other")
	ErrKeyRevoked        = NewError(Refused, 190050, "key_revoked")
	ErrQuantityTooLarge  = NewError(Refused, 190051, "quantity_too_large", "left")
	ErrEntityInUse       = NewError(Refused, 190053, "entity_in_use", "by")
	ErrEntityArchived    = NewError(Refused, 190054, "entity_archived", "id")
	ErrReactionsEndless  = NewError(Refused, 190052, "reactions_endless", "action")

	ErrAPIForbidden   = NewError(Forbidden, 190064, "api_forbidden", "api")
	ErrRightsExceeded = NewError(Forbidden, 190320, "rights_exceeded", "property")

	ErrCampaignNotFound = NewError(NotFound, 190260, "campaign_not_found", "campaign")

	ErrEntityElsewhere = NewError(Refused, 190250, "entity_elsewhere", "type", "method")
	ErrFieldFixed      = NewError(Refused, 190251, "field_fixed", "property")

	ErrEntityUnknown  = NewError(NotFound, 190024, "entity_unknown", "type")
	ErrEntityNotFound = NewError(NotFound, 190025, "entity_not_found", "type", "id")
	ErrEntityExists   = NewError(Conflict, 190034, "entity_exists", "id")
	ErrValueTaken     = NewError(Conflict, 190341, "value_taken", "property", "id")
	ErrCouponExists   = NewError(Conflict, 190033, "coupon_exists", "code")

	ErrBatchNotFound = NewError(NotFound, 190240, "batch_not_found", "batch")
	ErrBulkMany      = NewError(Refused, 190241, "bulk_many", "limit")

	ErrImportNotFound   = NewError(NotFound, 190510, "import_not_found", "import")
	ErrImportState      = NewError(Refused, 190511, "import_state", "state")
	ErrWebhookNotFound  = NewError(NotFound, 190500, "webhook_not_found", "webhook")
	ErrDeliveryNotFound = NewError(NotFound, 190501, "delivery_not_found", "delivery")
	ErrWebhookState     = NewError(Refused, 190502, "webhook_state", "state")
	ErrWebhooksMany     = NewError(Refused, 190503, "webhooks_many", "limit")
	ErrDeliveryNotDead  = NewError(Refused, 190504, "delivery_not_dead", "state")
	ErrReplayRunning    = NewError(Refused, 190505, "replay_running")

	ErrJobUnknown = NewError(NotFound, 190160, "job_unknown", "job")
	ErrJobRunning = NewError(Conflict, 190161, "job_running", "job")

	ErrGuestAction = NewError(Invalid, 190162, "guest_action", "action")
	ErrMergeSelf   = NewError(Refused, 190163, "merge_self")

	ErrHeldNotFound   = NewError(NotFound, 190164, "held_not_found", "event")
	ErrNotHoldable    = NewError(Invalid, 190165, "not_holdable", "action")
	ErrPendingTooMuch = NewError(Refused, 190166, "pending_too_much", "pending")

	ErrNotRunning       = NewError(Refused, 190140, "not_running", "id", "status")
	ErrEntriesLimit     = NewError(Refused, 190141, "entries_limit", "limit")
	ErrEntriesTooFew    = NewError(Refused, 190142, "entries_too_few", "entries")
	ErrSpinLimit        = NewError(Refused, 190143, "spin_limit", "limit")
	ErrQuizAnswered     = NewError(Refused, 190144, "quiz_answered")
	ErrTreasureFound    = NewError(Refused, 190145, "treasure_found_already")
	ErrTreasureCode     = NewError(Refused, 190146, "treasure_code_wrong")
	ErrTreasureAction   = NewError(Refused, 190147, "treasure_other_action", "action")
	ErrOfferLimit       = NewError(Refused, 190148, "offer_limit", "limit")
	ErrOfferUsedUp      = NewError(Refused, 190149, "offer_used_up")
	ErrOfferNotRedeemed = NewError(Refused, 190150, "offer_not_redeemed")
	ErrQuestionNotFound = NewError(NotFound, 190151, "question_not_found", "question")
	ErrOfferSegment     = NewError(Refused, 190230, "offer_segment")

	ErrCouponBalance   = NewError(Refused, 1606, "coupon_balance")
	ErrClaimCouponUsed = NewError(Refused, 190220, "claim_coupon_redeemed", "code")
	ErrClaimUnknown    = NewError(NotFound, 190221, "claim_unknown", "claim")

	ErrRewardNotFound = NewError(NotFound, 160320, "reward_not_found")
	ErrRewardInactive = NewError(Refused, 160321, "reward_inactive")
	ErrRewardLimit    = NewError(Refused, 120211, "reward_limit", "limit")
	ErrRewardStock    = NewError(Refused, 120212, "reward_stock")
	ErrPoolEmpty      = NewError(Refused, 120212, "pool_empty", "pool")
	ErrRewardSegment  = NewError(Refused, 120213, "reward_segment")
	ErrRewardPoints   = NewError(Refused, 120241, "reward_points", "points")
	ErrClaimNotFound  = NewError(NotFound, 190100, "claim_not_found", "event")
	ErrCouponUsed     = NewError(Refused, 190101, "coupon_redeemed", "code")
	ErrToOneself      = NewError(Refused, 190102, "transfer_to_self")
	ErrCouponStore    = NewError(Refused, 190103, "coupon_store", "code")
	ErrCouponProduct  = NewError(Refused, 190104, "coupon_product", "code")
	ErrCouponCurrency = NewError(Refused, 190810, "coupon_currency", "code", "currency", "paid")

	// ErrConditionCurrency is a warning and refuses nothing.
	ErrConditionCurrency = NewError(Refused, 190811, "condition_currency", "currency")
	ErrPoolSource        = NewError(Refused, 190105, "pool_not_generated", "pool")
	ErrPatternSpent      = NewError(Refused, 190106, "pattern_exhausted", "pool")

	ErrReferrerSelf = NewError(Refused, 190130, "referrer_self")
	ErrSelfReferral = NewError(Refused, 190800, "self_referral") // a warning only

	ErrSeveral = NewError(Refused, 190400, "several", "property", "choices")

	ErrChallengeNotFound = NewError(NotFound, 190120, "challenge_not_found", "challenge")
	ErrNotResetable      = NewError(Refused, 190121, "challenge_not_resetable", "challenge")
	ErrTierNotFound      = NewError(NotFound, 190122, "tier_not_found", "tier")
	ErrStructureNotFound = NewError(NotFound, 190123, "tier_structure_not_found", "structure")
)

// PrefixFields puts the path of a bulk's event before the fields of an error.
func PrefixFields(err error, at string) error {
	var e *Error
	if !errors.As(err, &e) || at == "" || len(e.Details) == 0 {
		return err
	}
	c := *e
	c.Details = slices.Clone(e.Details)
	for i := range c.Details {
		c.Details[i].Field = at + c.Details[i].Field
	}
	return &c
}

// The results of a store's transaction besides success and plain faults.
var (
	// ErrBatchConflict: another writer was faster, or a claimed name is taken. Nothing was written; load again.
	ErrBatchConflict = errors.New("the rows changed since they were loaded")
	// ErrOutcomeUnknown: the connection broke around COMMIT and the database could not be asked whether it happened.
	// The batch must not be repeated.
	ErrOutcomeUnknown = errors.New("the outcome of the commit is unknown")
	// ErrDatabaseAway: the database cannot be reached or does not take writes. Nothing was written.
	ErrDatabaseAway = errors.New("the database is not available")
	// ErrMachineAway is ErrDatabaseAway of one machine among several: customers on the others are not affected.
	ErrMachineAway = fmt.Errorf("a machine of several: %w", ErrDatabaseAway)
	// ErrMuch: Needs.Light was set, and there is too much to load. Nothing was decided.
	ErrMuch = errors.New("much is to be read: not while others wait")
)
