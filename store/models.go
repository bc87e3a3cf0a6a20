package store

import (
	"encoding/json"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The rows, as GORM reads and writes them. The batch (load.go, write.go) uses
// the same columns through SQL of its own. Automatic times are off everywhere:
// the rules say when something happened.

type nameRow struct {
	Kind  loyalty.NameKind `gorm:"primaryKey;autoIncrement:false"`
	Value string           `gorm:"primaryKey"`
	Owner UUID
}

func (nameRow) TableName() string { return "names" }

type customerRow struct {
	ID         UUID `gorm:"primaryKey"`
	Name       string
	Status     loyalty.Status
	CreatedAt  Millis `gorm:"autoCreateTime:false"`
	UpdatedAt  Millis `gorm:"autoUpdateTime:false"`
	MergedInto UUID

	Handler, Email, FirstName, LastName  string
	Language, Gender, Currency, ImageURL string
	BirthDate                            string
	Labels                               Document[[]string]
	ExternalIDs                          Document[map[string]string] `gorm:"column:external_ids"`
	Custom                               Document[map[string]json.RawMessage]
	Referrer                             UUID

	// What search and matching compare; see searchKey.
	HandlerKey, EmailKey, FirstKey, LastKey Text
}

func (customerRow) TableName() string { return "customers" }

// balanceRow is the hot part of a customer.
type balanceRow struct {
	CustomerID                                     UUID `gorm:"primaryKey"`
	Version                                        int64
	Score, Spent, Reserved, Expired, Pending, Debt int64
	LastEvent                                      UUID
	DueAt                                          Millis
	LastActivityAt                                 Millis
	Chain                                          []byte
	ChainFrom                                      UUID
}

func (balanceRow) TableName() string { return "balances" }

type customerKeyRow struct {
	CustomerID UUID `gorm:"primaryKey"`
	Sealed     []byte
}

func (customerKeyRow) TableName() string { return "customer_keys" }

type eventRow struct {
	CustomerID    UUID   `gorm:"primaryKey"`
	ID            UUID   `gorm:"primaryKey"`
	RecordedAt    Millis `gorm:"primaryKey"`
	At            Millis
	Points        *int64
	ExpDate       Millis
	Parent        UUID
	Action        string
	TransactionID Text
	Data          Raw
	Personal      []byte
	Effects       Document[*loyalty.Effects]
}

func (eventRow) TableName() string { return "events" }

type postingRow struct {
	CustomerID  UUID `gorm:"primaryKey"`
	EventID     UUID `gorm:"primaryKey"`
	Seq         int  `gorm:"primaryKey;autoIncrement:false"`
	FromAccount points.Account
	ToAccount   points.Account
	LotID       UUID
	Points      int64
}

func (postingRow) TableName() string { return "postings" }

type lotRow struct {
	CustomerID                                  UUID `gorm:"primaryKey"`
	ID                                          UUID `gorm:"primaryKey"`
	TransactionID                               Text
	Points, Remaining, Reserved, Spent, Expired int64
	EarnedAt, ExpiresAt                         Millis
	IdleMonths, IdleDays                        int
	Open                                        bool // Remaining + Reserved > 0
}

func (lotRow) TableName() string { return "lots" }

type transactionRow struct {
	CustomerID     UUID   `gorm:"primaryKey"`
	TransactionID  string `gorm:"primaryKey"`
	State          loyalty.TransactionState
	Checkout       UUID
	CreatedAt      Millis `gorm:"autoCreateTime:false"`
	UpdatedAt      Millis `gorm:"autoUpdateTime:false"`
	CheckoutDate   Millis
	AutoAccept     Millis
	AutoReject     bool
	Total          money.Amount
	OriginalTotal  money.Amount
	Refunded       money.Amount
	OriginalEarned int64
	Earned         int64
	OriginalBurned int64
	Burned         int64
	Detail         Document[loyalty.TransactionDetail]
}

func (transactionRow) TableName() string { return "transactions" }

type reservationRow struct {
	CustomerID    UUID   `gorm:"primaryKey"`
	TransactionID string `gorm:"primaryKey"`
	Hold          Document[[]points.Portion]
}

func (reservationRow) TableName() string { return "reservations" }

type answerRow struct {
	AccessKey  string `gorm:"primaryKey"`
	Key        string `gorm:"primaryKey"`
	Hash       []byte
	Status     int
	Body       []byte // sealed by the rules under the customer's key, or here under the master key
	Block      []byte // likewise
	CustomerID UUID
	At         Millis
}

func (answerRow) TableName() string { return "answers" }

type accessKeyRow struct {
	ID         string `gorm:"primaryKey"`
	Label      string
	APIs       Document[[]string] `gorm:"column:apis"`
	ReadOnly   bool
	Addresses  Document[[]string]
	RateLimit  int
	CreatedAt  Millis `gorm:"autoCreateTime:false"`
	ExpiresAt  Millis
	RevokedAt  Millis
	LastUsedAt Millis
}

func (accessKeyRow) TableName() string { return "access_keys" }

type secretRow struct {
	KeyID     string `gorm:"primaryKey"`
	ID        UUID   `gorm:"primaryKey"`
	Sealed    []byte
	CreatedAt Millis `gorm:"autoCreateTime:false"`
	ExpiresAt Millis
}

func (secretRow) TableName() string { return "key_secrets" }

type moduleRow struct {
	Name    string `gorm:"primaryKey"`
	Enabled bool
	Config  Raw
}

func (moduleRow) TableName() string { return "modules" }

// settingsRow is one row, with id 1.
type settingsRow struct {
	ID               int `gorm:"primaryKey;autoIncrement:false"`
	Currency         string
	TimeZone         string
	AcceptanceWindow int64 // milliseconds
}

func (settingsRow) TableName() string { return "settings" }

type auditRow struct {
	ID     UUID `gorm:"primaryKey"`
	At     Millis
	KeyID  string
	Action string
	Target string
	Before Raw
	After  Raw
}

func (auditRow) TableName() string { return "audit" }

// versionRow is one row, with id 1; the migration made it.
type versionRow struct {
	ID      int `gorm:"primaryKey;autoIncrement:false"`
	Version int64
}

func (versionRow) TableName() string { return "programme_version" }

// searchKey is the form in which a text is searched and matched: trimmed and in
// lower case, made here and not by the databases, whose lower-casing differs.
func searchKey(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// customerOf joins the parts of a customer. The key stays out: only the batch
// opens it.
func customerOf(c *customerRow, b *balanceRow) loyalty.Customer {
	return loyalty.Customer{
		ID: loyalty.ID(c.ID), Name: c.Name, Status: c.Status,
		CreatedAt: c.CreatedAt.Time(), UpdatedAt: c.UpdatedAt.Time(), MergedInto: loyalty.ID(c.MergedInto),
		Profile: loyalty.Profile{
			Handler: c.Handler, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName,
			Language: c.Language, Gender: c.Gender, Currency: c.Currency, ImageURL: c.ImageURL,
			BirthDate: c.BirthDate, Labels: c.Labels.V, ExternalIDs: c.ExternalIDs.V, Custom: c.Custom.V,
			Referrer: loyalty.ID(c.Referrer),
		},
		Figures: points.Figures{
			Score: b.Score, Spent: b.Spent, Reserved: b.Reserved,
			Expired: b.Expired, Pending: b.Pending, Debt: b.Debt,
		},
		Version: b.Version, LastEvent: loyalty.ID(b.LastEvent),
		DueAt: b.DueAt.Time(), LastActivityAt: b.LastActivityAt.Time(),
		Chain: loyalty.Chain{Head: b.Chain, From: loyalty.ID(b.ChainFrom)},
	}
}

// lotOf is the lot of a row.
func lotOf(r *lotRow) points.Lot {
	return points.Lot{
		ID: points.ID(r.ID), Transaction: string(r.TransactionID), Points: r.Points, Remaining: r.Remaining,
		Reserved: r.Reserved, Spent: r.Spent, Expired: r.Expired,
		EarnedAt: r.EarnedAt.Time(), ExpiresAt: r.ExpiresAt.Time(),
		Idle: points.Period{Months: r.IdleMonths, Days: r.IdleDays},
	}
}

// transactionOf is the purchase of a row.
func transactionOf(r *transactionRow) loyalty.Transaction {
	return loyalty.Transaction{
		Customer: loyalty.ID(r.CustomerID), Name: r.TransactionID, State: r.State, Checkout: loyalty.ID(r.Checkout),
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), CheckoutDate: r.CheckoutDate.Time(),
		AutoAccept: r.AutoAccept.Time(), AutoReject: r.AutoReject,
		Total: r.Total, OriginalTotal: r.OriginalTotal, Refunded: r.Refunded,
		OriginalEarned: r.OriginalEarned, Earned: r.Earned, OriginalBurned: r.OriginalBurned, Burned: r.Burned,
		Detail: r.Detail.V,
	}
}
