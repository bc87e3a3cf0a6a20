package administration

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// ListUsers lists the users of the console, the newest first.
func (a *API) ListUsers(
	ctx context.Context, in administration.ListUsersRequestObject,
) (administration.ListUsersResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	all, err := a.Users.List(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	place := func(u loyalty.User) list.Cursor { return list.Cursor{At: u.CreatedAt, ID: u.ID[:]} }
	l := list.Linked(p, list.Cut(p, all, place), a.Clock(), place)
	out := administration.ListUsers200JSONResponse{Data: make([]administration.User, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i, u := range l.Entries {
		out.Data[i] = userOf(u)
	}

	return out, nil
}

// GetUser reads a user.
func (a *API) GetUser(
	ctx context.Context, in administration.GetUserRequestObject,
) (administration.GetUserResponseObject, error) {
	u, err := a.Users.Get(api.Plain(ctx), in.UserID)
	if err != nil {
		return nil, err
	}
	return administration.GetUser200JSONResponse{Data: userOf(u)}, nil
}

// CreateUser makes a user.
func (a *API) CreateUser(
	ctx context.Context, in administration.CreateUserRequestObject,
) (administration.CreateUserResponseObject, error) {
	role := loyalty.Role(in.Body.Role)
	c := admin.UserChange{Name: in.Body.Name, Email: in.Body.Email,
		Language: in.Body.Language, Role: &role, Personal: in.Body.Personal}
	return api.Change(ctx, http.StatusCreated, userAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.User], error) {
			return a.Users.Create(ctx, call, in.Body.Login, c)
		})
}

// UpdateUser changes a user.
func (a *API) UpdateUser(
	ctx context.Context, in administration.UpdateUserRequestObject,
) (administration.UpdateUserResponseObject, error) {
	c := admin.UserChange{Name: in.Body.Name, Email: in.Body.Email, Language: in.Body.Language, Personal: in.Body.Personal}
	if in.Body.Role != nil {
		role := loyalty.Role(*in.Body.Role)
		c.Role = &role
	}
	return api.Change(ctx, http.StatusOK, userAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.User], error) {
			return a.Users.Update(ctx, call, in.UserID, c)
		})
}

// DisableUser shuts a user out, or admits the user again.
func (a *API) DisableUser(
	ctx context.Context, in administration.DisableUserRequestObject,
) (administration.DisableUserResponseObject, error) {
	disabled := in.Body.Disabled == nil || *in.Body.Disabled
	return api.Change(ctx, http.StatusOK, userAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.User], error) {
			return a.Users.Disable(ctx, call, in.UserID, disabled)
		})
}

// InviteUser makes a sign-in link for a user and shows it once.
func (a *API) InviteUser(
	ctx context.Context, in administration.InviteUserRequestObject,
) (administration.InviteUserResponseObject, error) {
	return api.Change(ctx, http.StatusOK, invitationAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[admin.Invitation], error) {
			return a.Users.Invite(ctx, call, in.UserID, admin.InvitedFor)
		})
}

// ResetSecondFactor removes a user's second factor.
func (a *API) ResetSecondFactor(
	ctx context.Context, in administration.ResetSecondFactorRequestObject,
) (administration.ResetSecondFactorResponseObject, error) {
	return api.Change(ctx, http.StatusOK, userAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.User], error) {
			return a.Users.ResetSecondFactor(ctx, call, in.UserID)
		})
}

// ListSessions lists the sessions in force, newest first.
func (a *API) ListSessions(
	ctx context.Context, in administration.ListSessionsRequestObject,
) (administration.ListSessionsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	all, err := a.Users.Sessions(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	logins, err := a.logins(api.Plain(ctx), all)
	if err != nil {
		return nil, err
	}

	place := func(s loyalty.Session) list.Cursor { return list.Cursor{At: s.CreatedAt, ID: s.Hash[:]} }
	l := list.Linked(p, list.Cut(p, all, place), a.Clock(), place)
	out := administration.ListSessions200JSONResponse{Data: make([]administration.Session, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i, s := range l.Entries {
		out.Data[i] = sessionOf(s, logins[s.User])
	}

	return out, nil
}

// logins are the logins of the users of sessions.
func (a *API) logins(ctx context.Context, sessions []loyalty.Session) (map[loyalty.ID]string, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	all, err := a.Users.List(ctx)
	logins := make(map[loyalty.ID]string, len(all))
	for _, u := range all {
		logins[u.ID] = u.Login
	}
	return logins, err
}

// EndSession ends a session.
func (a *API) EndSession(
	ctx context.Context, in administration.EndSessionRequestObject,
) (administration.EndSessionResponseObject, error) {
	users, err := a.Users.List(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	answer := func(s loyalty.Session) any {
		login := ""
		for _, u := range users {
			if u.ID == s.User {
				login = u.Login
			}
		}
		return administration.SessionAnswer{Data: sessionOf(s, login)}
	}

	return api.Change(ctx, http.StatusOK, answer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Session], error) {
			return a.Users.EndSession(ctx, call, in.SessionID)
		})
}

// GetMe shows callers their own identity and rights.
func (a *API) GetMe(
	ctx context.Context, _ administration.GetMeRequestObject,
) (administration.GetMeResponseObject, error) {
	r := api.RequestOf(ctx)
	me := administration.Me{Kind: "key", Name: r.Key.Label, Personal: true, Operations: a.OpenTo(r)}
	c := r.Caller
	if c == nil {
		me.KeyID = &r.Key.ID
		return administration.GetMe200JSONResponse{Data: me}, nil
	}

	u := userOf(c.User)
	me.Kind, me.UserID, me.Login, me.Name, me.Role = "user", &u.UserID, &u.Login, u.Name, &u.Role
	me.Personal, me.Language, me.Password, me.SecondFactor, me.Passkeys, me.Outside = u.Personal,
		&u.Language, &u.Password, &u.SecondFactor, &u.Passkeys, &u.Outside
	if user.Confirmed(c, a.Clock().UnixMilli()) {
		me.ConfirmedUntil = api.InstantOrNil(c.ConfirmedAt.Add(user.ConfirmLife))
	}

	return administration.GetMe200JSONResponse{Data: me}, nil
}

func userAnswer(u loyalty.User) any { return administration.UserAnswer{Data: userOf(u)} }

func userOf(u loyalty.User) administration.User {
	return administration.User{
		UserID: u.ID.String(), Login: u.Login, Name: u.Name, Email: u.Email,
		Role: administration.Role(u.Role), Personal: u.Personal,
		Language: u.Language, Password: u.Password != "", SecondFactor: len(u.TOTP) > 0,
		Passkeys: len(u.Passkeys), Outside: u.Issuer != "",
		CreatedAt: common.Instant(u.CreatedAt), UpdatedAt: common.Instant(u.UpdatedAt),
		DisabledAt: api.InstantOrNil(u.DisabledAt),
	}
}

// entryPath is the console's path for a one-time link. The token follows the # sign, so that browsers send it to no
// server.
const entryPath = ConsolePath + "#enter/"

func invitationAnswer(i admin.Invitation) any {
	out := administration.Invitation{UserID: i.User.ID.String(), ExpiresAt: common.Instant(i.ExpiresAt)}
	if i.Token != "" {
		path := entryPath + i.Token
		out.Path = &path
	}
	return administration.InvitationAnswer{Data: out}
}

func sessionOf(s loyalty.Session, login string) administration.Session {
	return administration.Session{
		SessionID: base64.RawURLEncoding.EncodeToString(s.Hash[:]),
		UserID:    s.User.String(), Login: login, CreatedAt: common.Instant(s.CreatedAt),
		SeenAt: common.Instant(s.SeenAt), ExpiresAt: common.Instant(s.ExpiresAt), Address: s.Address, Agent: s.Agent,
	}
}

// ConsolePath is the path of the console.
const ConsolePath = "/console/"
