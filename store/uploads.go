package store

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// uploadStore keeps imports over HTTP.
type uploadStore struct{ *database }

type uploadRow struct {
	ID        UUID `gorm:"primaryKey"`
	Label     string
	Options   Raw
	State     loyalty.UploadState
	Plan      Raw
	Account   Raw
	Fault     Text
	Findings  *int64
	ImportID  UUID
	KeyID     string
	CreatedAt Millis `gorm:"autoCreateTime:false"`
	UpdatedAt Millis `gorm:"autoUpdateTime:false"`
}

func (uploadRow) TableName() string { return "uploads" }

type partRow struct {
	UploadID UUID   `gorm:"primaryKey"`
	File     string `gorm:"primaryKey"`
	Part     int    `gorm:"primaryKey;autoIncrement:false"`
	Bytes    int64
	Sealed   []byte
}

func (partRow) TableName() string { return "upload_parts" }

// partID is the row to which a sealed part is bound.
func partID(upload UUID, file string, part int64) []byte {
	return rowID("upload_parts", string(upload[:]), file, strconv.FormatInt(part, 10))
}

func uploadOf(r *uploadRow) loyalty.Upload {
	return loyalty.Upload{
		ID: loyalty.ID(r.ID), Label: r.Label, Options: json.RawMessage(r.Options), State: r.State, Plan: json.RawMessage(r.Plan), Account: json.RawMessage(r.Account),
		Fault: string(r.Fault), Findings: r.Findings, Import: loyalty.ID(r.ImportID), KeyID: r.KeyID, CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
}

func uploadRowOf(u *loyalty.Upload) uploadRow {
	return uploadRow{
		ID: UUID(u.ID), Label: cleanText(u.Label), Options: Raw(u.Options), State: u.State, Plan: Raw(u.Plan), Account: Raw(u.Account), Fault: Text(cleanText(u.Fault)),
		Findings: u.Findings, ImportID: UUID(u.Import), KeyID: u.KeyID, CreatedAt: Millis(u.CreatedAt), UpdatedAt: Millis(u.UpdatedAt),
	}
}

// Upload reads an upload and locks its row.
func (t *adminTx) Upload(id loyalty.ID) (loyalty.Upload, bool, error) {
	var rows []uploadRow
	err := t.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", UUID(id)).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return loyalty.Upload{}, false, t.s.fault(err)
	}
	list, err := uploadsOf(t.db, rows)
	if err != nil {
		return loyalty.Upload{}, false, t.s.fault(err)
	}
	return list[0], true, nil
}

// SaveUpload writes an upload.
func (t *adminTx) SaveUpload(u loyalty.Upload) error {
	row := uploadRowOf(&u)
	return t.s.fault(t.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error)
}

// PutPart seals a part and stores it.
func (t *adminTx) PutPart(id loyalty.ID, file string, part int, content []byte) error {
	return t.s.fault(t.s.putPart(t.db, UUID(id), file, part, content))
}

func (s *database) putPart(db *gorm.DB, id UUID, file string, part int, content []byte) error {
	row := partRow{id, file, part, int64(len(content)), s.sealer.seal(partID(id, file, int64(part)), content)}
	return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
}

// Uploads lists a page of the newest uploads; see loyalty.UploadStore.
func (s uploadStore) Uploads(ctx context.Context, p loyalty.Page) ([]loyalty.Upload, map[loyalty.ID]loyalty.BulkOperation, error) {
	limit := min(p.Limit, loyalty.UploadsKept-p.Offset)
	if limit <= 0 {
		return nil, nil, nil
	}

	list, err := s.uploads(ctx, s.read.WithContext(ctx).Order("id DESC").Limit(limit).Offset(p.Offset))
	var ids []UUID
	for i := range list {
		if list[i].Import != (loyalty.ID{}) {
			ids = append(ids, UUID(list[i].Import))
		}
	}

	if err != nil || len(ids) == 0 {
		return list, nil, err
	}

	var rows []bulkRow
	if err := s.read.WithContext(ctx).Where("id IN ? AND kind = ?", ids, loyalty.BulkImport).Find(&rows).Error; err != nil {
		return nil, nil, s.fault(err)
	}

	operations := make(map[loyalty.ID]loyalty.BulkOperation, len(rows))
	for i := range rows {
		operations[loyalty.ID(rows[i].ID)] = bulkOf(&rows[i])
	}

	return list, operations, nil
}

// OpenUploads lists the uploads with work to do.
func (s uploadStore) OpenUploads(ctx context.Context) ([]loyalty.Upload, error) {
	working := []loyalty.UploadState{loyalty.UploadChecking, loyalty.UploadApplying, loyalty.UploadReconciling}
	return s.uploads(ctx, s.read.WithContext(ctx).Where("state IN ?", working).Order("id"))
}

// UploadByID reads an upload.
func (s uploadStore) UploadByID(ctx context.Context, id loyalty.ID) (loyalty.Upload, error) {
	list, err := s.uploads(ctx, s.read.WithContext(ctx).Where("id = ?", UUID(id)))
	if err == nil && len(list) == 0 {
		err = loyalty.ErrImportNotFound.With("import", id.String())
	}
	if err != nil {
		return loyalty.Upload{}, err
	}
	return list[0], nil
}

// uploads reads uploads with the arrived parts of their files.
func (s uploadStore) uploads(ctx context.Context, which *gorm.DB) ([]loyalty.Upload, error) {
	var rows []uploadRow
	if err := which.Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, s.fault(err)
	}
	list, err := uploadsOf(s.read.WithContext(ctx), rows)
	return list, s.fault(err)
}

func uploadsOf(db *gorm.DB, rows []uploadRow) ([]loyalty.Upload, error) {
	list, place, ids := make([]loyalty.Upload, len(rows)), map[UUID]int{}, make([]UUID, len(rows))
	for i := range rows {
		list[i], place[rows[i].ID], ids[i] = uploadOf(&rows[i]), i, rows[i].ID
	}

	var files []struct {
		UploadID    UUID
		File        string
		Parts, Last int
		Bytes       int64
	}

	err := db.Model(&partRow{}).Select("upload_id, file, count(*) AS parts, max(part) AS last, sum(bytes) AS bytes").
		Where("upload_id IN ? AND file <> ?", ids, loyalty.UploadFindings).Group("upload_id, file").Order("upload_id, file").Scan(&files).Error
	for _, f := range files {
		u := &list[place[f.UploadID]]
		u.Files = append(u.Files, loyalty.UploadFile{Kind: f.File, Parts: f.Parts, Last: f.Last, Bytes: f.Bytes})
	}

	return list, err
}

// UploadPart reads a part.
func (s uploadStore) UploadPart(ctx context.Context, id loyalty.ID, file string, part int) ([]byte, error) {
	var rows []partRow
	err := s.read.WithContext(ctx).Where("upload_id = ? AND file = ? AND part = ?", UUID(id), file, part).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, s.fault(err)
	}
	return s.sealer.open(partID(UUID(id), file, int64(part)), rows[0].Sealed)
}

// KeepFindings stores findings piece by piece.
func (s uploadStore) KeepFindings(ctx context.Context, id loyalty.ID, pieces [][]byte) error {
	return s.fault(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if err := db.Where("upload_id = ? AND file = ?", UUID(id), loyalty.UploadFindings).Delete(&partRow{}).Error; err != nil {
			return err
		}
		for i, p := range pieces {
			if err := s.putPart(db, UUID(id), loyalty.UploadFindings, i+1, p); err != nil {
				return err
			}
		}
		return nil
	}))
}

// EndUpload writes the result of work on an upload, unless another node was faster.
func (s uploadStore) EndUpload(ctx context.Context, u loyalty.Upload, was loyalty.UploadState) error {
	row := uploadRowOf(&u)
	return s.fault(s.write.WithContext(ctx).Model(&uploadRow{}).Where("id = ? AND state = ?", row.ID, was).
		Select("state", "plan", "account", "fault", "findings", "import_id").Updates(&row).Error)
}

// ForgetUploads deletes the parts and findings of uploads last changed before an instant.
func (s uploadStore) ForgetUploads(ctx context.Context, before time.Time) error {
	old := s.read.Model(&uploadRow{}).Select("id").Where("updated_at < ?", Millis(before))
	return s.fault(s.write.WithContext(ctx).Where("upload_id IN (?)", old).Delete(&partRow{}).Error)
}
