package admin

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Uploads manages imports whose files are sent over HTTP.
type Uploads struct{ *Admin }

// uploadRun is an administrative transaction on uploads.
type uploadRun struct {
	*adminRun
	loyalty.UploadAdminTx
}

// uploading is change for an upload.
func (a Uploads) uploading(
	ctx context.Context, call Call, work func(*uploadRun) (loyalty.Upload, error),
) (Done[loyalty.Upload], error) {
	return change(ctx, a.Admin, call, func(r *adminRun) (loyalty.Upload, error) {
		return work(&uploadRun{r, r.AdminTx.(loyalty.UploadAdminTx)})
	}, func(u loyalty.Upload) any { return u })
}

// CreateUpload begins an import over HTTP.
func (a Uploads) CreateUpload(
	ctx context.Context, call Call, label string, options json.RawMessage,
) (Done[loyalty.Upload], error) {
	return a.uploading(ctx, call, func(r *uploadRun) (loyalty.Upload, error) {
		u := loyalty.Upload{
			ID: r.next(r.now), Label: label, Options: options, State: loyalty.UploadOpen, KeyID: r.call.KeyID,
			CreatedAt: r.now, UpdatedAt: r.now,
		}
		if err := r.SaveUpload(u); err != nil {
			return u, err
		}
		return u, r.audit("import.create", u.ID.String(), nil, map[string]any{"label": u.Label, "options": u.Options})
	})
}

// lockUpload reads and locks the upload that a path names, and fails unless it is in one of the
// given states.
func (r *uploadRun) lockUpload(id string, states ...loyalty.UploadState) (u loyalty.Upload, err error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return u, loyalty.ErrImportNotFound.With("import", id)
	}

	u, found, err := r.Upload(parsed)
	if err != nil {
		return u, err
	}
	if !found {
		return u, loyalty.ErrImportNotFound.With("import", id)
	}

	for _, s := range states {
		if u.State == s {
			return u, nil
		}
	}

	return u, loyalty.ErrImportState.With("state", string(u.State))
}

// PutUploadPart adds a part of a file, or replaces it.
func (a Uploads) PutUploadPart(
	ctx context.Context, call Call, id, file string, part int, content string,
) (Done[loyalty.Upload], error) {
	return a.uploading(ctx, call, func(r *uploadRun) (loyalty.Upload, error) {
		u, err := r.lockUpload(id, loyalty.UploadOpen, loyalty.UploadFaulty, loyalty.UploadReady)
		if err != nil {
			return u, err
		}
		if err := r.PutPart(u.ID, file, part, []byte(content)); err != nil {
			return u, err
		}

		u.State, u.UpdatedAt, u.Plan, u.Findings, u.Fault = loyalty.UploadOpen, r.now, nil, nil, ""
		if err := r.SaveUpload(u); err != nil {
			return u, err
		}
		if u, _, err = r.Upload(u.ID); err != nil { // including the parts that have arrived
			return u, err
		}

		return u, r.audit("import.file", u.ID.String(), nil, map[string]any{"file": file, "part": part})
	})
}

// UploadOrder is what should be done with an upload.
type UploadOrder struct {
	Action string // in the audit
	From   []loyalty.UploadState
	To     loyalty.UploadState
}

// The orders for uploads.
var (
	CheckUpload = UploadOrder{"import.check",
		[]loyalty.UploadState{loyalty.UploadOpen, loyalty.UploadChecking, loyalty.UploadFaulty, loyalty.UploadReady},
		loyalty.UploadChecking}
	ApplyUpload = UploadOrder{"import.apply",
		[]loyalty.UploadState{loyalty.UploadReady, loyalty.UploadApplying, loyalty.UploadBegun, loyalty.UploadReconciling},
		loyalty.UploadApplying}
	ReconcileUpload = UploadOrder{"import.reconcile",
		[]loyalty.UploadState{loyalty.UploadBegun, loyalty.UploadReconciling}, loyalty.UploadReconciling}
)

// OrderUpload has the job imports do something with an upload. An order that was begun already changes nothing;
// reconciling requires that done reports the rows as imported.
func (a Uploads) OrderUpload(
	ctx context.Context, call Call, id string, o UploadOrder, done func(loyalty.ID) (bool, error),
) (Done[loyalty.Upload], error) {
	return a.uploading(ctx, call, func(r *uploadRun) (loyalty.Upload, error) {
		u, err := r.lockUpload(id, o.From...)
		if err != nil {
			return u, err
		}

		begun := o.To == loyalty.UploadApplying && u.State != loyalty.UploadReady
		if u.State == o.To || begun {
			return u, nil
		}

		if o.To == loyalty.UploadReconciling {
			over, err := done(u.Import)
			if err != nil {
				return u, err
			}
			if !over {
				return u, loyalty.ErrImportState.With("state", string(loyalty.UploadApplying))
			}
		}

		u.State, u.UpdatedAt = o.To, r.now
		if err := r.SaveUpload(u); err != nil {
			return u, err
		}

		return u, r.audit(o.Action, u.ID.String(), nil, map[string]any{"label": u.Label})
	})
}
