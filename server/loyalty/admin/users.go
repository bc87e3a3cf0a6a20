package admin

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// Bounds of a user, in characters.
const (
	maxLogin     = 64
	maxName      = 255
	maxEmail     = 254
	loginLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-_@"
)

// InvitedFor is how long the link of an invitation is valid.
const InvitedFor = 72 * time.Hour

// Users creates and changes users of the console. Each change is audited, never with a password, a
// second factor or a link.
type Users struct{ admin *Admin }

// UsersOf returns the Users of an Admin.
func UsersOf(a *Admin) *Users { return &Users{a} }

// UserChange is a change of a user, or a new user. Nil fields stay unchanged.
type UserChange struct {
	Name, Email, Language *string
	Role                  *loyalty.Role
	Personal              *bool
}

// userRecord is a user as the audit trail shows them: without password and second factor.
type userRecord struct {
	Login        string       `json:"login"`
	Name         string       `json:"name"`
	Email        string       `json:"email"`
	Role         loyalty.Role `json:"role"`
	Personal     bool         `json:"personal"`
	Language     string       `json:"language"`
	SecondFactor bool         `json:"second_factor"`
	Passkeys     int          `json:"passkeys"`
	Issuer       string       `json:"issuer,omitempty"`
	Subject      string       `json:"subject,omitempty"`
	DisabledAt   *time.Time   `json:"disabled_at,omitempty"`
}

// recordUser is used for comparison too: a change that the audit trail would not show counts as none.
func recordUser(u loyalty.User) userRecord {
	return userRecord{u.Login, u.Name, u.Email, u.Role, u.Personal, u.Language, len(u.TOTP) > 0, len(u.Passkeys), u.Issuer,
		u.Subject, instantOrNil(u.DisabledAt)}
}

// List lists all users, newest first.
func (o *Users) List(ctx context.Context) ([]loyalty.User, error) {
	all, err := o.admin.store.Users(ctx)
	slices.SortFunc(all, func(x, y loyalty.User) int {
		if c := y.CreatedAt.Compare(x.CreatedAt); c != 0 {
			return c
		}
		return loyalty.CompareID(y.ID, x.ID)
	})
	return all, err
}

// Get returns one user by id or login. It fails with ErrUserNotFound.
func (o *Users) Get(ctx context.Context, id string) (loyalty.User, error) {
	at, err := uuid.Parse(id)
	if err != nil {
		return o.userByLogin(ctx, id)
	}
	u, found, err := o.admin.store.User(ctx, at)
	if err == nil && !found {
		err = loyalty.ErrUserNotFound
	}
	return u, err
}

func (o *Users) userByLogin(ctx context.Context, login string) (loyalty.User, error) {
	u, found, err := o.admin.store.UserByLogin(ctx, user.CleanLogin(login))
	if err == nil && !found {
		err = loyalty.ErrUserNotFound
	}
	return u, err
}

// Create creates a user without a password. It fails with ErrLoginTaken, or with an error of kind
// Invalid that names the field.
func (o *Users) Create(ctx context.Context, call Call, login string, c UserChange) (Done[loyalty.User], error) {
	return change(ctx, o.admin, call, func(r *adminRun) (loyalty.User, error) { return r.newUser(login, c) }, asItIs)
}

func asItIs(u loyalty.User) any { return u }

func (r *adminRun) newUser(login string, c UserChange) (loyalty.User, error) {
	if err := r.mayRule(); err != nil {
		return loyalty.User{}, err
	}

	u := loyalty.User{ID: r.next(r.now), Login: user.CleanLogin(login), CreatedAt: r.now, UpdatedAt: r.now}
	if err := checkLogin(u.Login); err != nil {
		return u, err
	}
	if err := c.apply(&u); err != nil {
		return u, err
	}
	if u.Role == "" {
		return u, programme.Fault("role", loyalty.ErrPropertyEmpty.Name, nil)
	}

	switch _, taken, err := r.UserByLogin(u.Login); {
	case err != nil:
		return u, err
	case taken:
		return u, loyalty.ErrLoginTaken.At("login")
	}

	if err := r.SaveUser(u); err != nil {
		return u, err
	}

	return u, r.audit("user.create", u.Login, nil, recordUser(u))
}

// FirstOwner returns the oldest owner, and creates one if there is no user at all. If there are users but no owner, it
// creates none: otherwise anyone able to start the program would become owner.
func (o *Users) FirstOwner(ctx context.Context) (loyalty.User, error) {
	all, err := o.List(ctx)
	if err != nil {
		return loyalty.User{}, err
	}

	for _, u := range slices.Backward(all) {
		if u.Role == loyalty.RoleOwner && u.DisabledAt.IsZero() {
			return u, nil
		}
	}

	if len(all) > 0 {
		return loyalty.User{}, loyalty.ErrUserNotFound
	}

	name, role, yes := "Owner", loyalty.RoleOwner, true
	done, err := o.Create(ctx, Call{KeyID: CommandLine}, "owner", UserChange{Name: &name, Role: &role, Personal: &yes})
	if errors.Is(err, loyalty.ErrLoginTaken) { // another program that started was faster
		return o.userByLogin(ctx, "owner")
	}

	return done.Value, err
}

// Update changes a user. A user whose role or right changes is signed out. It fails with
// ErrUserNotFound, ErrLastOwner, or an error of kind Invalid that names the field.
func (o *Users) Update(ctx context.Context, call Call, id string, c UserChange) (Done[loyalty.User], error) {
	return o.edit(ctx, call, id, "user.update", func(_ *adminRun, u *loyalty.User) error {
		return c.apply(u)
	})
}

// Disable disables a user, or enables them again. It fails as Update does.
func (o *Users) Disable(ctx context.Context, call Call, id string, disabled bool) (Done[loyalty.User], error) {
	action := map[bool]string{true: "user.disable", false: "user.enable"}[disabled]
	return o.edit(ctx, call, id, action, func(r *adminRun, u *loyalty.User) error {
		switch {
		case !disabled:
			u.DisabledAt, u.Failures, u.LockedUntil, u.Tries = time.Time{}, 0, time.Time{}, nil
		case u.DisabledAt.IsZero():
			u.DisabledAt = r.now
		}
		return nil
	})
}

// ResetSecondFactor removes a user's second factor and passkeys and signs them out.
func (o *Users) ResetSecondFactor(ctx context.Context, call Call, id string) (Done[loyalty.User], error) {
	return o.edit(ctx, call, id, "user.reset_second_factor", func(_ *adminRun, u *loyalty.User) error {
		u.TOTP, u.TOTPStep, u.Recovery, u.Passkeys = nil, 0, nil, nil
		return nil
	})
}

// edit is the common part of all changes of one user: a key needs all rights, the installation keeps an owner, sessions
// that depend on what was removed end, and the audit trail shows before and after.
func (o *Users) edit(
	ctx context.Context, call Call, id, action string, edit func(*adminRun, *loyalty.User) error,
) (Done[loyalty.User], error) {
	return change(ctx, o.admin, call, func(r *adminRun) (loyalty.User, error) {
		u, err := r.user(id)
		if err != nil {
			return u, err
		}
		if err := r.mayRule(); err != nil {
			return u, err
		}

		before := u
		if err := edit(r, &u); err != nil {
			return u, err
		}
		if err := r.keepsAnOwner(before, u); err != nil {
			return u, err
		}

		was, is := recordUser(before), recordUser(u)
		if was == is {
			return u, nil
		}

		u.UpdatedAt = r.now
		if signsOut(before, u) {
			u.Browsers = nil
		}
		if err := r.SaveUser(u); err != nil {
			return u, err
		}

		if signsOut(before, u) {
			if err := r.EndSessions(u.ID); err != nil {
				return u, err
			}
		}

		return u, r.audit(action, u.Login, was, is)
	}, asItIs)
}

// mayRule refuses a key with limited rights: a user that it creates, changes, disables or enables may be an owner, and
// so have more rights than the key.
func (r *adminRun) mayRule() error {
	return r.mayGive(nil, &loyalty.AccessKey{})
}

// signsOut reports whether a change ends the user's sessions and makes their browsers unknown, so that no session keeps
// rights that were taken away.
func signsOut(before, after loyalty.User) bool {
	return before.Role != after.Role || before.Personal != after.Personal || !after.DisabledAt.IsZero() ||
		len(before.TOTP) != len(after.TOTP) || len(before.Passkeys) != len(after.Passkeys)
}

// keepsAnOwner refuses to remove the last owner, because no other user could appoint a new one.
func (r *adminRun) keepsAnOwner(before, after loyalty.User) error {
	rules := func(u loyalty.User) bool { return u.Role == loyalty.RoleOwner && u.DisabledAt.IsZero() }
	if !rules(before) || rules(after) {
		return nil
	}
	n, err := r.Owners()
	if err == nil && n <= 1 {
		err = loyalty.ErrLastOwner
	}
	return err
}

// user returns a user by id or login, inside the transaction.
func (r *adminRun) user(id string) (loyalty.User, error) {
	var u loyalty.User
	var found bool
	at, err := uuid.Parse(id)
	if err == nil {
		u, found, err = r.User(at)
	} else {
		u, found, err = r.UserByLogin(user.CleanLogin(id))
	}
	if err == nil && !found {
		err = loyalty.ErrUserNotFound
	}
	return u, err
}

// Invitation is a link for a user; its Token is shown once.
type Invitation struct {
	User      loyalty.User
	Token     string
	ExpiresAt time.Time
}

// Invite makes a link by which a user signs in once and chooses a password. Their old password,
// sessions and earlier links end. It fails with ErrUserNotFound or ErrUserDisabled.
func (o *Users) Invite(ctx context.Context, call Call, id string, life time.Duration) (Done[Invitation], error) {
	return change(ctx, o.admin, call, func(r *adminRun) (Invitation, error) {
		u, err := r.user(id)
		if err != nil {
			return Invitation{}, err
		}
		if err := r.mayRule(); err != nil {
			return Invitation{}, err
		}
		if !u.DisabledAt.IsZero() {
			return Invitation{}, loyalty.ErrUserDisabled
		}

		if u.Password != "" || len(u.Browsers) > 0 { // they choose a new one
			u.Password, u.Browsers, u.UpdatedAt = "", nil, r.now
			if err := r.SaveUser(u); err != nil {
				return Invitation{}, err
			}
		}

		// A session that continued could choose the password in the user's place, and so could one from an earlier
		// link.
		if err := r.EndSessions(u.ID); err != nil {
			return Invitation{}, err
		}

		token, hash := user.NewToken()
		i := Invitation{u, token, r.now.Add(life)}
		if err := r.SaveInvitation(loyalty.Invitation{Hash: hash, User: u.ID, ExpiresAt: i.ExpiresAt}); err != nil {
			return i, err
		}

		return i, r.audit("user.invite", u.Login, nil, map[string]any{"expires_at": i.ExpiresAt})
	}, func(i Invitation) any { i.Token = ""; return i })
}

// Sessions lists the sessions in force, newest first.
func (o *Users) Sessions(ctx context.Context) ([]loyalty.Session, error) {
	all, err := o.admin.store.Sessions(ctx, o.admin.now())
	return slices.DeleteFunc(all, func(s loyalty.Session) bool { return o.admin.now().Sub(s.SeenAt) > user.IdleLife }), err
}

// EndSession ends a session. It fails with ErrSessionNotFound.
func (o *Users) EndSession(ctx context.Context, call Call, id string) (Done[loyalty.Session], error) {
	return change(ctx, o.admin, call, func(r *adminRun) (loyalty.Session, error) {
		hash, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil || len(hash) != len(loyalty.TokenHash{}) {
			return loyalty.Session{}, loyalty.ErrSessionNotFound
		}

		s, found, err := r.EndSession(loyalty.TokenHash(hash))
		if err != nil {
			return s, err
		}
		if !found {
			return s, loyalty.ErrSessionNotFound
		}

		u, _, err := r.User(s.User)
		if err != nil {
			return s, err
		}

		return s, r.audit("session.end", u.Login, map[string]any{"address": s.Address, "created_at": s.CreatedAt}, nil)
	}, func(s loyalty.Session) any { return s })
}

// checkLogin allows characters that are the same on every keyboard: letters that look alike would make two logins look
// like one.
func checkLogin(login string) error {
	switch {
	case login == "":
		return programme.Fault("login", loyalty.ErrPropertyEmpty.Name, nil)
	case len(login) > maxLogin:
		return programme.Fault("login", "too_long", map[string]any{"limit": maxLogin})
	case strings.Trim(login, loginLetters) != "":
		return programme.Fault("login", "bad_format", map[string]any{"format": "a-z 0-9 . - _ @"})
	}
	return nil
}

// apply makes the change, or fails with the field at fault. Texts must fit on one line of a page.
func (c UserChange) apply(u *loyalty.User) error {
	for _, t := range []struct {
		field string
		sent  *string
		to    *string
		most  int
	}{{"name", c.Name, &u.Name, maxName}, {"email", c.Email, &u.Email, maxEmail},
		{"language", c.Language, &u.Language, 8}} {
		if t.sent == nil {
			continue
		}
		if utf8.RuneCountInString(*t.sent) > t.most {
			return programme.Fault(t.field, "too_long", map[string]any{"limit": t.most})
		}
		if !utf8.ValidString(*t.sent) || strings.ContainsFunc(*t.sent, unicode.IsControl) {
			return programme.Fault(t.field, "control_characters", nil)
		}
		*t.to = *t.sent
	}

	if c.Role != nil {
		if !loyalty.IsRole(string(*c.Role)) {
			return programme.Fault("role", "must_be_one_of", map[string]any{"values": "viewer, editor, operator, owner"})
		}
		u.Role = *c.Role
	}

	if c.Personal != nil {
		u.Personal = *c.Personal
	}

	return nil
}
