package loyalty

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Role is the rights of a user. Each role includes the one before it.
type Role string

// The roles, from the least.
const (
	RoleViewer   Role = "viewer"   // sees figures and the programme
	RoleEditor   Role = "editor"   // changes the programme and previews it
	RoleOperator Role = "operator" // acts for customers
	RoleOwner    Role = "owner"    // manages users and their rights
)

var roles = []Role{RoleViewer, RoleEditor, RoleOperator, RoleOwner}

// IsRole reports whether a text names a role.
func IsRole(text string) bool { return slices.Contains(roles, Role(text)) }

// Covers reports whether the role includes the least role of an operation.
func (r Role) Covers(least Role) bool {
	have, need := slices.Index(roles, r), slices.Index(roles, least)
	return need >= 0 && have >= need
}

// User is a person who signs in to the console.
type User struct {
	ID        ID
	Login     string // unique, never changes
	Name      string
	Email     string
	Role      Role
	Personal  bool     // sees personal data of customers
	Language  string   // of the console; empty: the browser's
	Password  string   // Argon2id in PHC form; empty: none was chosen yet
	TOTP      []byte   // secret of the second factor; empty: none. The store keeps it sealed.
	TOTPStep  int64    // the last step whose code was taken: a code works once
	Recovery  []string // hashes of the recovery codes that are left
	Passkeys  []Passkey
	Issuer    string // of an outside sign-in, with Subject; empty: none
	Subject   string
	CreatedAt time.Time
	UpdatedAt time.Time
	// DisabledAt is when the user was disabled; zero: not.
	DisabledAt  time.Time
	Failures    int       // proofs of identity that failed in the user's own sessions since the last good one
	LockedUntil time.Time // no such proof before this instant
	Tries       []Tries   // sign-ins that failed, by network
	Browsers    []Browser // browsers that have signed in
}

// Tries counts the sign-ins of a user that failed from one network.
type Tries struct {
	Network  string    `json:"network"` // empty: all networks together
	Failures int       `json:"failures"`
	At       time.Time `json:"at"`             // when the count was last brought up to date
	Until    time.Time `json:"until,omitzero"` // no sign-in from this network before this instant
}

// Browser is a browser by which a user has signed in. A stranger who guesses passwords cannot keep the user out of it.
type Browser struct {
	Hash      []byte    `json:"hash"` // of the token in its cookie
	ExpiresAt time.Time `json:"expires_at"`
	Failures  int       `json:"failures,omitempty"` // sign-ins with the cookie that failed
	At        time.Time `json:"at,omitzero"`        // when that count was last brought up to date
}

// Passkey is a key pair of a user's own device, which uses it only for the console's own host. The stored part is
// public.
type Passkey struct {
	ID         []byte    `json:"id"` // as the device names it
	Name       string    `json:"name"`
	PublicKey  []byte    `json:"public_key"` // COSE
	Count      uint32    `json:"count"`      // of signatures, as the device counts them; 0: it does not count
	Model      []byte    `json:"model"`      // AAGUID of the device
	Transports []string  `json:"transports"` // how browsers reach it
	Copied     bool      `json:"copied"`     // whether it can be on several devices; never changes
	CreatedAt  time.Time `json:"created_at"`
	UsedAt     time.Time `json:"used_at,omitzero"`
}

// TokenHash is the stored form of a token: its SHA-256.
type TokenHash = [32]byte

// Session is the session of a signed-in user.
type Session struct {
	Hash        TokenHash
	User        ID
	CreatedAt   time.Time
	SeenAt      time.Time // of its last request, to the minute
	ExpiresAt   time.Time
	ConfirmedAt time.Time // when the user last proved their identity; zero: never
	Address     string
	Agent       string // the browser, as it names itself
}

// Invitation is a link by which a user signs in once.
type Invitation struct {
	Hash      TokenHash
	User      ID
	ExpiresAt time.Time
	UsedAt    time.Time // zero: not yet
}

// ActorKind is the kind of an actor of administrative changes.
type ActorKind string

// The kinds of actors.
const (
	ActorKey    ActorKind = "key"
	ActorUser   ActorKind = "user"
	ActorSystem ActorKind = "system" // the program's own commands
)

// CommandLine takes the place of an access key's id when the program's own commands act.
const CommandLine = "command line"

// OwnJob takes the place of an access key's id when a job of the program acts.
const OwnJob = "job"

// userKey begins the name with which a user takes the place of an access key.
const userKey = "user:"

// KeyID returns the user's name in the place of an access key's id: for budgets, repeated requests and the log. No
// access key has such an id.
func (u *User) KeyID() string { return userKey + u.Login }

// ActorOf returns the actor behind the id of an access key, or behind what stands in its place.
func ActorOf(keyID string) (actor string, kind ActorKind) {
	if login, ok := strings.CutPrefix(keyID, userKey); ok {
		return login, ActorUser
	}
	if keyID == CommandLine || keyID == OwnJob {
		return keyID, ActorSystem
	}
	return keyID, ActorKey
}

// KeyIDsOf is the reverse of ActorOf: the values that the journal may have for an actor.
func KeyIDsOf(actor string) []string { return []string{actor, userKey + actor} }

// UserStore keeps users and their sessions.
type UserStore interface {
	// Users lists all users by login.
	Users(ctx context.Context) ([]User, error)
	User(ctx context.Context, id ID) (User, bool, error)
	UserByLogin(ctx context.Context, login string) (User, bool, error)
	// ChangeUser changes one user, read under a lock; false: there is none. If change fails, nothing is written.
	ChangeUser(ctx context.Context, id ID, change func(*User) error) (bool, error)
	// TakeInvitation consumes an invitation and returns its user; false: it is unknown, expired or used.
	TakeInvitation(ctx context.Context, hash TokenHash, now time.Time) (ID, bool, error)
	AddSession(ctx context.Context, s Session) error
	// Session finds a session with its user; the session may have ended.
	Session(ctx context.Context, hash TokenHash) (Session, User, bool, error)
	// Sessions lists the sessions that have not expired, newest first.
	Sessions(ctx context.Context, now time.Time) ([]Session, error)
	// SaveSession writes when a session was last used and confirmed; it never revives one that ended.
	SaveSession(ctx context.Context, s Session) error
	EndSession(ctx context.Context, hash TokenHash) error
	// EndOtherSessions ends the sessions of a user but one.
	EndOtherSessions(ctx context.Context, user ID, but TokenHash) error
	// AddChallenge keeps a challenge for a passkey until an instant; TakeChallenge consumes it; false: it is unknown,
	// expired or used.
	AddChallenge(ctx context.Context, hash TokenHash, until time.Time) error
	TakeChallenge(ctx context.Context, hash TokenHash, now time.Time) (bool, error)
	// ForgetSessions deletes sessions, invitations and challenges that ended before an instant.
	ForgetSessions(ctx context.Context, before time.Time) error
}

// Caller is the user behind a request of the console. It is passed in the request's context, never in a header, so that
// a caller from outside cannot forge one.
type Caller struct {
	User
	ConfirmedAt time.Time // as in Session
}

type callerKey struct{}

// WithCaller returns a context with the user behind a request.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the user behind a request, and false if it did not come from the console.
func CallerOf(ctx context.Context) (*Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	return c, ok
}

// Failures of users and their sign-in.
var (
	ErrRoleNeeded      = NewError(Forbidden, 190640, "role_needed", "role")
	ErrConfirmNeeded   = NewError(Forbidden, 190641, "confirmation_needed")
	ErrReasonNeeded    = NewError(Refused, 190642, "reason_needed", "action")
	ErrUserNotFound    = NewError(NotFound, 190643, "user_not_found")
	ErrLoginTaken      = NewError(Conflict, 190644, "login_taken")
	ErrLastOwner       = NewError(Refused, 190645, "last_owner")
	ErrUserDisabled    = NewError(Refused, 190646, "user_disabled")
	ErrSessionNotFound = NewError(NotFound, 190647, "session_not_found")
	ErrPasswordWeak    = NewError(Refused, 190648, "password_weak", "limit")
	ErrPasswordLong    = NewError(Refused, 190649, "password_too_long", "limit")
	ErrCodeWrong       = NewError(Refused, 190650, "second_factor_wrong")
	ErrOutsideTaken    = NewError(Refused, 190652, "outside_taken")
	ErrPasswordOutside = NewError(Refused, 190653, "password_outside")
	ErrPasskeyWrong    = NewError(Refused, 190654, "passkey_wrong")
	ErrPasskeyUnknown  = NewError(NotFound, 190655, "passkey_unknown")
	ErrPasskeyMany     = NewError(Refused, 190656, "passkey_many", "limit")
	ErrPasskeyOutside  = NewError(Refused, 190657, "passkey_outside")
	ErrPersonalNeeded  = NewError(Forbidden, 190651, "personal_needed")
)
