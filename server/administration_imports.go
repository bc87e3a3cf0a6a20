package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/intake"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// importsAPI reads and starts imports.
type importsAPI struct {
	store loyalty.UploadStore
	bulk  bulkOperations
}

// ListImports lists the imports, the newest first.
func (a *administrationAPI) ListImports(ctx context.Context, in administration.ListImportsRequestObject) (administration.ListImportsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	found, operations, err := a.imports.store.Uploads(plain(ctx), p.Store())
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, found, a.clock(), nil)
	out := administration.ListImports200JSONResponse{Data: make([]administration.Import, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i, u := range l.Entries {
		var op *loyalty.BulkOperation
		if o, known := operations[u.Import]; known {
			op = &o
		}
		out.Data[i] = showImport(requestOf(ctx).language, u, op)
	}

	return out, nil
}

// GetImport reads an import.
func (a *administrationAPI) GetImport(ctx context.Context, in administration.GetImportRequestObject) (administration.GetImportResponseObject, error) {
	u, err := a.imports.named(ctx, in.ImportID)
	if err != nil {
		return nil, err
	}
	shown, err := a.imports.show(ctx, u)
	if err != nil {
		return nil, err
	}
	return administration.GetImport200JSONResponse{Data: shown}, nil
}

// CreateImport creates an import.
func (a *administrationAPI) CreateImport(ctx context.Context, in administration.CreateImportRequestObject) (administration.CreateImportResponseObject, error) {
	var o intake.Options
	label := ""
	if b := in.Body; b != nil {
		label, o.SameEmail = loyalty.Deref(b.Label), loyalty.Deref(b.AllowSameEmail)
		o.Dates, o.Decimal = loyalty.Deref(textOf(b.Dates)), loyalty.Deref(textOf(b.Decimal))
		if b.Columns != nil {
			o.Columns = *b.Columns
		}
	}

	if err := o.CheckColumns(); err != nil {
		return nil, err
	}

	return a.imports.answer(ctx, http.StatusCreated, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
		return admin.Uploads{Admin: a.admin}.CreateUpload(ctx, call, label, loyalty.JSON(o))
	})
}

// AddImportFile accepts a part of a file.
func (a *administrationAPI) AddImportFile(ctx context.Context, in administration.AddImportFileRequestObject) (administration.AddImportFileResponseObject, error) {
	return a.imports.answer(ctx, http.StatusOK, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
		return admin.Uploads{Admin: a.admin}.PutUploadPart(ctx, call, in.ImportID, string(in.Body.File), in.Body.Part, in.Body.Content)
	})
}

// CheckImport starts the check of the files.
func (a *administrationAPI) CheckImport(ctx context.Context, in administration.CheckImportRequestObject) (administration.CheckImportResponseObject, error) {
	return a.imports.order(ctx, a.admin, in.ImportID, admin.CheckUpload)
}

// ApplyImport starts taking the files over.
func (a *administrationAPI) ApplyImport(ctx context.Context, in administration.ApplyImportRequestObject) (administration.ApplyImportResponseObject, error) {
	return a.imports.order(ctx, a.admin, in.ImportID, admin.ApplyUpload)
}

// ReconcileImport starts the comparison of the files with the ledger.
func (a *administrationAPI) ReconcileImport(ctx context.Context, in administration.ReconcileImportRequestObject) (administration.ReconcileImportResponseObject, error) {
	return a.imports.order(ctx, a.admin, in.ImportID, admin.ReconcileUpload)
}

// ListImportFindings starts writing the findings.
func (a *administrationAPI) ListImportFindings(ctx context.Context, in administration.ListImportFindingsRequestObject) (administration.ListImportFindingsResponseObject, error) {
	u, err := a.imports.named(ctx, in.ImportID)
	if err != nil {
		return nil, err
	}
	first, err := a.imports.store.UploadPart(plain(ctx), u.ID, loyalty.UploadFindings, 1)
	if err != nil {
		return nil, err
	}
	return importFindings{a.exports, a.imports.store, requestOf(ctx), u.ID, first}, nil
}

// importFindings is the answer, which is read piece by piece. It counts as an export.
type importFindings struct {
	api     exportsAPI
	store   loyalty.UploadStore
	request *request
	upload  loyalty.ID
	first   []byte
}

// VisitListImportFindingsResponse writes the findings. If reading fails, it breaks the connection, so that the reader
// does not take the part for the whole.
func (f importFindings) VisitListImportFindingsResponse(w http.ResponseWriter) error {
	leave, err := f.api.streams.enter(f.request.unbound, f.request.key.ID)
	if err != nil {
		return err
	}
	defer leave()

	to := http.NewResponseController(w)
	w.Header().Set("Content-Type", csvType)
	w.Header().Set("Content-Disposition", `attachment; filename="findings.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	f.request.language.speak(f.request.language.messages)
	f.request.language.name(w.Header())
	w.WriteHeader(http.StatusOK)
	if !taken(w, to, []byte(intake.FindingsHeader)) {
		return nil
	}

	for piece, part := f.first, 2; piece != nil; part++ {
		text, err := intake.FindingsCSV(piece, f.say)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if !taken(w, to, text) {
			return nil
		}
		if f.api.over() || f.request.unbound.Err() != nil || !f.api.mayGoOn(f.request, false) {
			panic(http.ErrAbortHandler)
		}

		ctx, cancel := context.WithTimeout(f.request.unbound, waitTime)
		next, err := f.store.UploadPart(ctx, f.upload, loyalty.UploadFindings, part)
		cancel()
		if err != nil {
			panic(http.ErrAbortHandler)
		}

		piece = next
	}

	return nil
}

// say writes a text in the caller's language.
func (f importFindings) say(name string, args map[string]any) string {
	return message(f.request.language, name, args)
}

func (a importsAPI) named(ctx context.Context, id string) (loyalty.Upload, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return loyalty.Upload{}, loyalty.ErrImportNotFound.With("import", id)
	}
	return a.store.UploadByID(plain(ctx), parsed)
}

// order gives a job an order on an import and wakes it.
func (a importsAPI) order(ctx context.Context, of *admin.Admin, id string, o admin.UploadOrder) (rawResponse, error) {
	answer, err := a.answer(ctx, http.StatusAccepted, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
		return admin.Uploads{Admin: of}.OrderUpload(ctx, call, id, o, func(batch loyalty.ID) (bool, error) {
			op, err := a.operation(ctx, batch)
			return op == nil || op.State == loyalty.BulkDone, err
		})
	})
	if err == nil && !answer.replayed {
		a.bulk.jobs.Wake("imports")
	}
	return answer, err
}

// answer changes an import and shows its new state.
func (a importsAPI) answer(ctx context.Context, status int, do func(context.Context, admin.Call) (admin.Done[loyalty.Upload], error)) (rawResponse, error) {
	language := requestOf(ctx).language
	return change(ctx, status, func(u loyalty.Upload) any { return administration.ImportAnswer{Data: importOf(language, u, nil)} }, do)
}

// operation is the bulk operation of an import; nil if it ended long ago.
func (a importsAPI) operation(ctx context.Context, batch loyalty.ID) (*loyalty.BulkOperation, error) {
	op, err := a.bulk.reader.BulkOperation(plain(ctx), batch, loyalty.BulkImport)
	if errors.Is(err, loyalty.ErrBatchNotFound) {
		return nil, nil
	}
	return &op, err
}

// show renders an import with the progress of its rows.
func (a importsAPI) show(ctx context.Context, u loyalty.Upload) (administration.Import, error) {
	if u.Import == (loyalty.ID{}) {
		return showImport(requestOf(ctx).language, u, nil), nil
	}
	op, err := a.operation(ctx, u.Import)
	if err != nil {
		return administration.Import{}, err
	}
	return showImport(requestOf(ctx).language, u, op), nil
}

// showImport renders an import with its bulk operation; nil if there is none, or if it ended long ago.
func showImport(language *tongue, u loyalty.Upload, op *loyalty.BulkOperation) administration.Import {
	out := importOf(language, u, op)
	if u.Import != (loyalty.ID{}) && u.State == loyalty.UploadBegun && (op == nil || op.State == loyalty.BulkDone) {
		out.Status = administration.ImportStatusDone
	}
	return out
}

// importOf renders an import. Its stored parts were written by this program.
func importOf(language *tongue, u loyalty.Upload, op *loyalty.BulkOperation) administration.Import {
	var o intake.Options
	_ = json.Unmarshal(u.Options, &o)
	out := administration.Import{
		ImportID: u.ID.String(), Label: textOrNil(u.Label), Status: administration.ImportStatus(u.State), AllowSameEmail: o.SameEmail,
		Files: []administration.ImportFile{}, Findings: u.Findings,
		CreatedAt: common.Instant(u.CreatedAt), UpdatedAt: common.Instant(u.UpdatedAt),
	}

	if u.Fault != "" {
		out.Fault = new(intake.WordsOf(u.Fault).In(func(name string, args map[string]any) string { return message(language, name, args) }))
	}
	if u.State == loyalty.UploadBegun {
		out.Status = administration.ImportStatusApplying
	}
	if o.Dates != "" {
		out.Dates = new(administration.ImportDates(o.Dates))
	}
	if o.Decimal != "" {
		out.Decimal = new(administration.ImportDecimal(o.Decimal))
	}
	if len(o.Columns) > 0 {
		out.Columns = new(administration.ImportColumns(o.Columns))
	}

	for _, f := range u.Files {
		out.Files = append(out.Files, administration.ImportFile{File: administration.ImportKind(f.Kind), Parts: f.Parts, Bytes: f.Bytes})
	}

	if u.Plan != nil {
		out.Plan = planOf(u.Plan)
	}
	if u.Account != nil {
		out.Account = accountOf(u.Account)
	}
	if op != nil {
		out.Rows = &administration.ImportRows{Total: op.Total, Done: op.Done, Refused: op.Errors}
	}

	return out
}

func planOf(text json.RawMessage) *administration.ImportPlan {
	var p intake.Plan
	_ = json.Unmarshal(text, &p)
	return &administration.ImportPlan{
		Rows: p.Rows, NewMembers: p.New, KnownMembers: p.Known, Points: p.Points, Expiring: p.Expiring, Purchases: p.Bought, Faults: p.Errors, Warnings: p.Warnings,
	}
}

func accountOf(text json.RawMessage) *administration.ImportAccount {
	var c intake.Account
	_ = json.Unmarshal(text, &c)
	return &administration.ImportAccount{
		Exact: c.Exact(), Lots: c.Lots.Lots, Points: c.Lots.Points, ExpectedLots: c.Expected.Lots, ExpectedPoints: c.Expected.Points, Different: c.Wrong,
	}
}
