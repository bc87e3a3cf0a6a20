package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The rows of administration, for GORM; the rows of customers are tables (columns.go). Automatic times are off
// everywhere: the rules decide when something happened.

type customerKeyRow struct {
	CustomerID UUID `gorm:"primaryKey"`
	Sealed     []byte
}

func (customerKeyRow) TableName() string { return "customer_keys" }

type answerRow struct {
	AccessKey  string `gorm:"primaryKey"`
	Key        string `gorm:"primaryKey"`
	Hash       []byte
	Status     int
	Body       []byte // sealed by the rules under the customer's key, or here under the master key
	Block      []byte // likewise
	CustomerID UUID
	At         Millis
	Language   string
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
	ID        UUID `gorm:"primaryKey"`
	At        Millis
	Actor     string
	ActorKind string
	Action    string
	Target    string
	Before    Raw
	After     Raw
}

func (auditRow) TableName() string { return "audit" }

// versionRow is one row, with id 1; the migration creates it.
type versionRow struct {
	ID      int `gorm:"primaryKey;autoIncrement:false"`
	Version int64
}

func (versionRow) TableName() string { return "programme_version" }

// foundBy is the search key of a customer's text. The program computes it, because the databases lower-case texts
// differently. A customer who opted out has none: the stored texts are hashes then, and a search for "ada" would find
// a hash that happens to begin so.
func foundBy(c *loyalty.Customer, key string) Text {
	if c.Status == loyalty.OptedOut {
		return ""
	}
	return Text(key)
}

// entityRow is one of the things that make up a programme.
type entityRow struct {
	Type       string `gorm:"primaryKey"`
	ID         string `gorm:"primaryKey"`
	Data       Raw
	CreatedAt  Millis `gorm:"autoCreateTime:false"`
	UpdatedAt  Millis `gorm:"autoUpdateTime:false"`
	ArchivedAt Millis
}

func (entityRow) TableName() string { return "entities" }
