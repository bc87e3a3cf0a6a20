package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// userStore keeps users and their sessions.
type userStore struct{ *database }

type userRow struct {
	ID          UUID `gorm:"primaryKey"`
	Login       string
	Name        string
	Email       string
	Role        string
	Personal    bool
	Language    string
	Password    *string
	TOTPSealed  []byte `gorm:"column:totp_sealed"`
	TOTPStep    int64  `gorm:"column:totp_step"`
	Recovery    Document[[]string]
	Passkeys    Document[[]loyalty.Passkey]
	Issuer      *string
	Subject     *string
	CreatedAt   Millis `gorm:"autoCreateTime:false"`
	UpdatedAt   Millis `gorm:"autoUpdateTime:false"`
	DisabledAt  Millis
	Failures    int
	LockedUntil Millis
	Tries       Document[[]loyalty.Tries]
	Browsers    Document[[]loyalty.Browser]
}

func (userRow) TableName() string { return "users" }

type sessionRow struct {
	TokenHash   []byte `gorm:"primaryKey"`
	UserID      UUID
	CreatedAt   Millis `gorm:"autoCreateTime:false"`
	SeenAt      Millis
	ExpiresAt   Millis
	ConfirmedAt Millis
	Address     string
	Agent       string
}

func (sessionRow) TableName() string { return "sessions" }

type invitationRow struct {
	TokenHash []byte `gorm:"primaryKey"`
	UserID    UUID
	ExpiresAt Millis
	UsedAt    Millis
}

func (invitationRow) TableName() string { return "invitations" }

// challengeRow is a challenge for a passkey to sign.
type challengeRow struct {
	TokenHash []byte `gorm:"primaryKey"`
	ExpiresAt Millis
}

func (challengeRow) TableName() string { return "challenges" }

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// totpID binds a sealed second factor to its user.
func totpID(user UUID) []byte { return rowID("users", string(user[:]), "totp") }

func (d *database) userRow(u loyalty.User) userRow {
	r := userRow{
		ID: UUID(u.ID), Login: cleanText(u.Login), Name: cleanText(u.Name), Email: cleanText(u.Email), Role: string(u.Role),
		Personal: u.Personal, Language: u.Language, Password: orNull(u.Password), TOTPStep: u.TOTPStep,
		Recovery: Document[[]string]{u.Recovery}, Passkeys: Document[[]loyalty.Passkey]{u.Passkeys}, Issuer: orNull(u.Issuer), Subject: orNull(u.Subject),
		CreatedAt: Millis(u.CreatedAt), UpdatedAt: Millis(u.UpdatedAt), DisabledAt: Millis(u.DisabledAt),
		Failures: u.Failures, LockedUntil: Millis(u.LockedUntil),
		Tries: Document[[]loyalty.Tries]{u.Tries}, Browsers: Document[[]loyalty.Browser]{u.Browsers},
	}
	if len(u.TOTP) > 0 {
		r.TOTPSealed = d.sealer.seal(totpID(r.ID), u.TOTP)
	}
	return r
}

func (d *database) userOf(r *userRow) (u loyalty.User, err error) {
	u = loyalty.User{
		ID: loyalty.ID(r.ID), Login: r.Login, Name: r.Name, Email: r.Email, Role: loyalty.Role(r.Role), Personal: r.Personal,
		Language: r.Language, Password: orEmpty(r.Password), TOTPStep: r.TOTPStep, Recovery: r.Recovery.V, Passkeys: r.Passkeys.V,
		Issuer: orEmpty(r.Issuer), Subject: orEmpty(r.Subject), CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		DisabledAt: r.DisabledAt.Time(), Failures: r.Failures, LockedUntil: r.LockedUntil.Time(),
		Tries: r.Tries.V, Browsers: r.Browsers.V,
	}
	if len(r.TOTPSealed) > 0 {
		// A second factor that does not open must not let its user in without it.
		u.TOTP, err = d.sealer.open(totpID(r.ID), r.TOTPSealed)
	}
	return u, err
}

func (d *database) usersOf(rows []userRow) ([]loyalty.User, error) {
	list := make([]loyalty.User, len(rows))
	for i := range rows {
		u, err := d.userOf(&rows[i])
		if err != nil {
			return nil, err
		}
		list[i] = u
	}
	return list, nil
}

// oneUser returns the only user of a query.
func (d *database) oneUser(db *gorm.DB) (loyalty.User, bool, error) {
	var rows []userRow
	if err := db.Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return loyalty.User{}, false, d.fault(err)
	}
	u, err := d.userOf(&rows[0])
	return u, err == nil, err
}

// Users lists all users by login.
func (s userStore) Users(ctx context.Context) ([]loyalty.User, error) {
	var rows []userRow
	if err := s.read.WithContext(ctx).Order("login").Find(&rows).Error; err != nil {
		return nil, s.fault(err)
	}
	return s.usersOf(rows)
}

// User finds a user by id.
func (s userStore) User(ctx context.Context, id loyalty.ID) (loyalty.User, bool, error) {
	return s.oneUser(s.read.WithContext(ctx).Where("id = ?", UUID(id)))
}

// UserByLogin finds a user by their login.
func (s userStore) UserByLogin(ctx context.Context, login string) (loyalty.User, bool, error) {
	return s.oneUser(s.read.WithContext(ctx).Where("login = ?", cleanText(login)))
}

// ChangeUser changes one user under a lock; see loyalty.UserStore.
func (s userStore) ChangeUser(ctx context.Context, id loyalty.ID, change func(*loyalty.User) error) (found bool, err error) {
	var failed error
	err = s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		var u loyalty.User
		u, found, failed = s.oneUser(db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", UUID(id)))
		if failed == nil && found {
			failed = change(&u)
		}
		if failed != nil || !found {
			return failed
		}
		row := s.userRow(u)
		return db.Save(&row).Error
	})

	if failed != nil {
		return found, failed
	}

	return found, s.fault(err)
}

// TakeInvitation uses up an invitation; see loyalty.UserStore.
func (s userStore) TakeInvitation(ctx context.Context, hash loyalty.TokenHash, now time.Time) (loyalty.ID, bool, error) {
	var user loyalty.ID
	taken := false
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		done := db.Model(&invitationRow{}).Where("token_hash = ? AND used_at IS NULL AND expires_at > ?", hash[:], Millis(now)).
			Update("used_at", Millis(now))
		if taken = done.RowsAffected == 1; done.Error != nil || !taken {
			return done.Error
		}
		var row invitationRow
		err := db.Where("token_hash = ?", hash[:]).Take(&row).Error
		user = loyalty.ID(row.UserID)
		return err
	})

	return user, taken && err == nil, s.fault(err)
}

// AddSession begins a session.
func (s userStore) AddSession(ctx context.Context, v loyalty.Session) error {
	row := sessionRowOf(v)
	return s.fault(s.write.WithContext(ctx).Create(&row).Error)
}

func sessionRowOf(v loyalty.Session) sessionRow {
	return sessionRow{
		TokenHash: v.Hash[:], UserID: UUID(v.User), CreatedAt: Millis(v.CreatedAt), SeenAt: Millis(v.SeenAt), ExpiresAt: Millis(v.ExpiresAt),
		ConfirmedAt: Millis(v.ConfirmedAt), Address: cleanText(v.Address), Agent: cleanText(v.Agent),
	}
}

func (r *sessionRow) session() loyalty.Session {
	v := loyalty.Session{
		User: loyalty.ID(r.UserID), CreatedAt: r.CreatedAt.Time(), SeenAt: r.SeenAt.Time(), ExpiresAt: r.ExpiresAt.Time(),
		ConfirmedAt: r.ConfirmedAt.Time(), Address: r.Address, Agent: r.Agent,
	}
	copy(v.Hash[:], r.TokenHash)
	return v
}

// Session finds a session with its user.
func (s userStore) Session(ctx context.Context, hash loyalty.TokenHash) (loyalty.Session, loyalty.User, bool, error) {
	db := s.read.WithContext(ctx)
	var sessions []sessionRow
	var users []userRow
	err := s.asks(ctx, append(s.patience(),
		modelled(db.Where("token_hash = ?", hash[:]), &sessions),
		modelled(db.Where("id IN (SELECT user_id FROM sessions WHERE token_hash = ?)", hash[:]), &users))...)
	if err != nil || len(sessions) == 0 || len(users) == 0 {
		return loyalty.Session{}, loyalty.User{}, false, err
	}
	u, err := s.userOf(&users[0])
	return sessions[0].session(), u, err == nil, err
}

// Sessions lists the sessions that have not expired, the newest first.
func (s userStore) Sessions(ctx context.Context, now time.Time) ([]loyalty.Session, error) {
	var rows []sessionRow
	err := s.read.WithContext(ctx).Where("expires_at > ?", Millis(now)).Order("created_at DESC, token_hash DESC").Find(&rows).Error
	list := make([]loyalty.Session, len(rows))
	for i := range rows {
		list[i] = rows[i].session()
	}
	return list, s.fault(err)
}

// SaveSession writes when a session was last seen and confirmed.
func (s userStore) SaveSession(ctx context.Context, v loyalty.Session) error {
	return s.fault(s.write.WithContext(ctx).Model(&sessionRow{}).Where("token_hash = ?", v.Hash[:]).
		Updates(map[string]any{"seen_at": Millis(v.SeenAt), "confirmed_at": Millis(v.ConfirmedAt)}).Error)
}

// EndSession ends a session, if it exists.
func (s userStore) EndSession(ctx context.Context, hash loyalty.TokenHash) error {
	return s.fault(s.write.WithContext(ctx).Where("token_hash = ?", hash[:]).Delete(&sessionRow{}).Error)
}

// EndOtherSessions ends all sessions of a user except one.
func (s userStore) EndOtherSessions(ctx context.Context, user loyalty.ID, but loyalty.TokenHash) error {
	return s.fault(s.write.WithContext(ctx).Where("user_id = ? AND token_hash <> ?", UUID(user), but[:]).Delete(&sessionRow{}).Error)
}

// AddChallenge stores a challenge for a passkey to sign.
func (s userStore) AddChallenge(ctx context.Context, hash loyalty.TokenHash, until time.Time) error {
	row := challengeRow{hash[:], Millis(until)}
	return s.fault(s.write.WithContext(ctx).Create(&row).Error)
}

// TakeChallenge uses up a challenge; see loyalty.UserStore.
func (s userStore) TakeChallenge(ctx context.Context, hash loyalty.TokenHash, now time.Time) (bool, error) {
	done := s.write.WithContext(ctx).Where("token_hash = ? AND expires_at > ?", hash[:], Millis(now)).Delete(&challengeRow{})
	return done.RowsAffected == 1, s.fault(done.Error)
}

// ForgetSessions deletes sessions, invitations and challenges that expired before an instant.
func (s userStore) ForgetSessions(ctx context.Context, before time.Time) error {
	for _, row := range []any{&sessionRow{}, &invitationRow{}, &challengeRow{}} {
		if err := s.write.WithContext(ctx).Where("expires_at < ?", Millis(before)).Delete(row).Error; err != nil {
			return s.fault(err)
		}
	}
	return nil
}

// Users, inside an administrative transaction.

// UserByLogin finds a user; see loyalty.AdminTx.
func (t *adminTx) UserByLogin(login string) (loyalty.User, bool, error) {
	return t.s.oneUser(t.db.Where("login = ?", cleanText(login)))
}

// UserBySubject finds a user, locked; see loyalty.AdminTx.
func (t *adminTx) UserBySubject(issuer, subject string) (loyalty.User, bool, error) {
	return t.s.oneUser(t.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("issuer = ? AND subject = ?", cleanText(issuer), cleanText(subject)))
}

// User finds a user by id, locked.
func (t *adminTx) User(id loyalty.ID) (loyalty.User, bool, error) {
	return t.s.oneUser(t.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", UUID(id)))
}

// Owners counts the owners who can sign in.
func (t *adminTx) Owners() (n int64, err error) {
	err = t.db.Model(&userRow{}).Where("role = ? AND disabled_at IS NULL", string(loyalty.RoleOwner)).Count(&n).Error
	return n, t.s.fault(err)
}

// SaveUser writes a user.
func (t *adminTx) SaveUser(u loyalty.User) error {
	row := t.s.userRow(u)
	return t.s.fault(upsert(t.db).Create(&row).Error)
}

// SaveInvitation writes an invitation and deletes the user's earlier ones.
func (t *adminTx) SaveInvitation(i loyalty.Invitation) error {
	err := t.db.Where("user_id = ?", UUID(i.User)).Delete(&invitationRow{}).Error
	if err == nil {
		row := invitationRow{TokenHash: i.Hash[:], UserID: UUID(i.User), ExpiresAt: Millis(i.ExpiresAt), UsedAt: Millis(i.UsedAt)}
		err = t.db.Create(&row).Error
	}
	return t.s.fault(err)
}

// EndSession ends one session and returns it; false if there is none.
func (t *adminTx) EndSession(hash loyalty.TokenHash) (loyalty.Session, bool, error) {
	var rows []sessionRow
	err := t.db.Where("token_hash = ?", hash[:]).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return loyalty.Session{}, false, t.s.fault(err)
	}
	err = t.db.Where("token_hash = ?", hash[:]).Delete(&sessionRow{}).Error
	return rows[0].session(), err == nil, t.s.fault(err)
}

// EndSessions ends every session and invitation of a user.
func (t *adminTx) EndSessions(user loyalty.ID) error {
	err := t.db.Where("user_id = ?", UUID(user)).Delete(&sessionRow{}).Error
	if err == nil {
		err = t.db.Where("user_id = ?", UUID(user)).Delete(&invitationRow{}).Error
	}
	return t.s.fault(err)
}
