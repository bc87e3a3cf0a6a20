package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// nodeStore stores the state of the installation: its servers, and the verifications of the ledger.
type nodeStore struct{ *database }

type nodeRow struct {
	ID        UUID `gorm:"primaryKey"`
	Host      string
	Version   string
	StartedAt Millis
	SeenAt    Millis
}

func (nodeRow) TableName() string { return "nodes" }

// NoteNode records that a node is alive, and deletes those last seen before an instant.
func (s nodeStore) NoteNode(ctx context.Context, n loyalty.Node, before time.Time) error {
	db := s.write.WithContext(ctx)
	row := nodeRow{UUID(n.ID), cleanText(n.Host), cleanText(n.Version), Millis(n.StartedAt), Millis(n.SeenAt)}
	return s.classify(errors.Join(
		db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error,
		db.Where("seen_at < ?", Millis(before)).Delete(&nodeRow{}).Error))
}

// ForgetNode removes a node that stops.
func (s nodeStore) ForgetNode(ctx context.Context, id loyalty.ID) error {
	return s.classify(s.write.WithContext(ctx).Where("id = ?", UUID(id)).Delete(&nodeRow{}).Error)
}

// Nodes lists the recently seen nodes, the oldest first.
func (s nodeStore) Nodes(ctx context.Context) ([]loyalty.Node, error) {
	var rows []nodeRow
	if err := s.read.WithContext(ctx).Order("started_at, id").Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.Node, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Node{ID: loyalty.ID(r.ID), Host: r.Host, Version: r.Version, StartedAt: r.StartedAt.Time(), SeenAt: r.SeenAt.Time()}
	}
	return list, nil
}

type proofRow struct {
	ID                      UUID `gorm:"primaryKey"`
	At                      Millis
	Actor, ActorKind        Text
	Held, Broken, Unchecked int
	BrokenIDs               Document[[]string] `gorm:"column:broken_ids"`
	UncheckedIDs            Document[[]string] `gorm:"column:unchecked_ids"`
}

func (proofRow) TableName() string { return "ledger_proofs" }

func (r *proofRow) verification() loyalty.LedgerVerification {
	return loyalty.LedgerVerification{
		ID: loyalty.ID(r.ID), At: r.At.Time(), Actor: string(r.Actor), ActorKind: loyalty.ActorKind(r.ActorKind),
		Held: r.Held, Broken: r.Broken, Unchecked: r.Unchecked, BrokenIDs: r.BrokenIDs.V, UncheckedIDs: r.UncheckedIDs.V,
	}
}

// NoteProof stores the result of a verification of the ledger, and keeps the newest loyalty.KeptProofs.
func (s nodeStore) NoteProof(ctx context.Context, v loyalty.LedgerVerification) error {
	db := s.write.WithContext(ctx)
	row := proofRow{
		ID: UUID(loyalty.NewID(v.At, loyalty.ID{})), At: Millis(v.At), Actor: Text(v.Actor), ActorKind: Text(v.ActorKind),
		Held: v.Held, Broken: v.Broken, Unchecked: v.Unchecked,
		BrokenIDs: Document[[]string]{v.BrokenIDs}, UncheckedIDs: Document[[]string]{v.UncheckedIDs},
	}
	return s.classify(errors.Join(
		db.Create(&row).Error,
		db.Exec(`DELETE FROM ledger_proofs WHERE at < (SELECT at FROM ledger_proofs ORDER BY at DESC LIMIT 1 OFFSET ?)`, loyalty.KeptProofs-1).Error))
}

// LastProof is the last verification of the ledger; its At is zero if there is none.
func (s nodeStore) LastProof(ctx context.Context) (loyalty.LedgerVerification, error) {
	var r proofRow
	err := s.read.WithContext(ctx).Order("at DESC").Limit(1).Find(&r).Error
	return r.verification(), s.classify(err)
}

// Proofs lists the verifications of the ledger, the newest first.
func (s nodeStore) Proofs(ctx context.Context, page loyalty.Page) ([]loyalty.LedgerVerification, error) {
	text, backwards := newestFirst("ledger_proofs", sqlFragment{}, page).sql()
	rows, err := readPage[proofRow](s.read.WithContext(ctx).Raw(text.text, text.args...))
	if err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.LedgerVerification, len(rows))
	for i := range rows {
		list[i] = rows[i].verification()
	}
	return inOrder(list, backwards), nil
}
