package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The rows of what the programme keeps besides points and purchases.

type progressRow struct {
	CustomerID UUID                 `gorm:"primaryKey"`
	Kind       loyalty.ProgressKind `gorm:"primaryKey;autoIncrement:false"`
	Key        string               `gorm:"primaryKey"`
	Data       Text
	DueAt      Millis
}

func (progressRow) TableName() string { return "progress" }

type claimRow struct {
	CustomerID           UUID `gorm:"primaryKey"`
	ID                   UUID `gorm:"primaryKey"`
	Reward               string
	State                loyalty.ClaimState
	Points, Award        int64
	Coupon               Text
	ClaimedAt, UpdatedAt Millis `gorm:"autoUpdateTime:false"`
	Burn                 Document[[]points.Portion]
}

func (claimRow) TableName() string { return "claims" }

// entityRow is one thing a programme is made of.
type entityRow struct {
	Type       string `gorm:"primaryKey"`
	ID         string `gorm:"primaryKey"`
	Data       Raw
	CreatedAt  Millis `gorm:"autoCreateTime:false"`
	UpdatedAt  Millis `gorm:"autoUpdateTime:false"`
	ArchivedAt Millis
}

func (entityRow) TableName() string { return "entities" }
