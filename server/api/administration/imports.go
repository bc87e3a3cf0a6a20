package administration

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/importer"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ImportsAPI reads and starts imports.
type ImportsAPI struct {
	Store loyalty.UploadStore
	Bulk  api.BulkOperations
}

// ListImports lists the imports, the newest first.
func (a *API) ListImports(
	ctx context.Context, in administration.ListImportsRequestObject,
) (administration.ListImportsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	found, operations, err := a.Imports.Store.Uploads(api.Plain(ctx), p.Store())
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, found, a.Clock(), nil)
	out := administration.ListImports200JSONResponse{Data: make([]administration.Import, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i, u := range l.Entries {
		var op *loyalty.BulkOperation
		if o, known := operations[u.Import]; known {
			op = &o
		}
		out.Data[i] = showImport(api.RequestOf(ctx).Language, u, op)
	}

	return out, nil
}

// GetImport reads an import.
func (a *API) GetImport(
	ctx context.Context, in administration.GetImportRequestObject,
) (administration.GetImportResponseObject, error) {
	u, err := a.Imports.named(ctx, in.ImportID)
	if err != nil {
		return nil, err
	}
	shown, err := a.Imports.show(ctx, u)
	if err != nil {
		return nil, err
	}
	return administration.GetImport200JSONResponse{Data: shown}, nil
}

// CreateImport creates an import.
func (a *API) CreateImport(
	ctx context.Context, in administration.CreateImportRequestObject,
) (administration.CreateImportResponseObject, error) {
	var o importer.Options
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

	return a.Imports.answer(ctx, http.StatusCreated,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
			return admin.Uploads{Admin: a.Admin}.CreateUpload(ctx, call, label, loyalty.JSON(o))
		})
}

// AddImportFile accepts a part of a file.
func (a *API) AddImportFile(
	ctx context.Context, in administration.AddImportFileRequestObject,
) (administration.AddImportFileResponseObject, error) {
	return a.Imports.answer(ctx, http.StatusOK,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
			return admin.Uploads{Admin: a.Admin}.PutUploadPart(ctx, call,
				in.ImportID, string(in.Body.File), in.Body.Part, in.Body.Content)
		})
}

// CheckImport starts the check of the files.
func (a *API) CheckImport(
	ctx context.Context, in administration.CheckImportRequestObject,
) (administration.CheckImportResponseObject, error) {
	return a.Imports.order(ctx, a.Admin, in.ImportID, admin.CheckUpload)
}

// ApplyImport starts taking the files over.
func (a *API) ApplyImport(
	ctx context.Context, in administration.ApplyImportRequestObject,
) (administration.ApplyImportResponseObject, error) {
	return a.Imports.order(ctx, a.Admin, in.ImportID, admin.ApplyUpload)
}

// ReconcileImport starts the comparison of the files with the ledger.
func (a *API) ReconcileImport(
	ctx context.Context, in administration.ReconcileImportRequestObject,
) (administration.ReconcileImportResponseObject, error) {
	return a.Imports.order(ctx, a.Admin, in.ImportID, admin.ReconcileUpload)
}

// ListImportFindings starts writing the findings.
func (a *API) ListImportFindings(
	ctx context.Context, in administration.ListImportFindingsRequestObject,
) (administration.ListImportFindingsResponseObject, error) {
	u, err := a.Imports.named(ctx, in.ImportID)
	if err != nil {
		return nil, err
	}
	first, err := a.Imports.Store.UploadPart(api.Plain(ctx), u.ID, loyalty.UploadFindings, 1)
	if err != nil {
		return nil, err
	}
	return importFindings{
		api: a.Exports, store: a.Imports.Store, request: api.RequestOf(ctx), upload: u.ID, first: first,
	}, nil
}

// importFindings is the answer, which is read piece by piece. It counts as an export.
type importFindings struct {
	administration.AnyAdministration
	api     api.Exports
	store   loyalty.UploadStore
	request *api.Request
	upload  loyalty.ID
	first   []byte
}

// Write writes the findings. If reading fails, it breaks the connection, so that the reader
// does not take the part for the whole.
func (f importFindings) Write(w http.ResponseWriter) error {
	leave, err := f.api.Streams.Enter(f.request.Unbound, f.request.Key.ID)
	if err != nil {
		return err
	}
	defer leave()

	to := http.NewResponseController(w)
	w.Header().Set("Content-Type", api.CsvType)
	w.Header().Set("Content-Disposition", `attachment; filename="findings.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	f.request.Language.Speak(f.request.Language.Messages)
	f.request.Language.Name(w.Header())
	w.WriteHeader(http.StatusOK)
	if !api.WrittenInTime(w, to, []byte(importer.FindingsHeader)) {
		return nil
	}

	for piece, part := f.first, 2; piece != nil; part++ {
		text, err := importer.FindingsCSV(piece, f.say)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if !api.WrittenInTime(w, to, text) {
			return nil
		}
		if f.api.Over() || f.request.Unbound.Err() != nil || !f.api.MayGoOn(f.request, false) {
			panic(http.ErrAbortHandler)
		}

		ctx, cancel := context.WithTimeout(f.request.Unbound, api.WaitTime)
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
	return api.Message(f.request.Language, name, args)
}

func (a ImportsAPI) named(ctx context.Context, id string) (loyalty.Upload, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return loyalty.Upload{}, loyalty.ErrImportNotFound.With("import", id)
	}
	return a.Store.UploadByID(api.Plain(ctx), parsed)
}

// order gives a job an order on an import and wakes it.
func (a ImportsAPI) order(
	ctx context.Context, of *admin.Admin, id string, o admin.UploadOrder,
) (api.RawResponse, error) {
	answer, err := a.answer(ctx, http.StatusAccepted,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Upload], error) {
			return admin.Uploads{Admin: of}.OrderUpload(ctx, call, id, o, func(batch loyalty.ID) (bool, error) {
				op, err := a.operation(ctx, batch)
				return op == nil || op.State == loyalty.BulkDone, err
			})
		})
	if err == nil && !answer.Replayed {
		a.Bulk.Jobs.Wake("imports")
	}
	return answer, err
}

// answer changes an import and shows its new state.
func (a ImportsAPI) answer(
	ctx context.Context, status int, do func(context.Context, admin.Call) (admin.Done[loyalty.Upload], error),
) (api.RawResponse, error) {
	language := api.RequestOf(ctx).Language
	return api.Change(ctx, status,
		func(u loyalty.Upload) any { return administration.ImportAnswer{Data: importOf(language, u, nil)} }, do)
}

// operation is the bulk operation of an import; nil if it ended long ago.
func (a ImportsAPI) operation(ctx context.Context, batch loyalty.ID) (*loyalty.BulkOperation, error) {
	op, err := a.Bulk.Reader.BulkOperation(api.Plain(ctx), batch, loyalty.BulkImport)
	if errors.Is(err, loyalty.ErrBatchNotFound) {
		return nil, nil
	}
	return &op, err
}

// show renders an import with the progress of its rows.
func (a ImportsAPI) show(ctx context.Context, u loyalty.Upload) (administration.Import, error) {
	if u.Import == (loyalty.ID{}) {
		return showImport(api.RequestOf(ctx).Language, u, nil), nil
	}
	op, err := a.operation(ctx, u.Import)
	if err != nil {
		return administration.Import{}, err
	}
	return showImport(api.RequestOf(ctx).Language, u, op), nil
}

// showImport renders an import with its bulk operation; nil if there is none, or if it ended long ago.
func showImport(language *api.Localizer, u loyalty.Upload, op *loyalty.BulkOperation) administration.Import {
	out := importOf(language, u, op)
	if u.Import != (loyalty.ID{}) && u.State == loyalty.UploadBegun && (op == nil || op.State == loyalty.BulkDone) {
		out.Status = administration.ImportStatusDone
	}
	return out
}

// importOf renders an import. Its stored parts were written by this program.
func importOf(language *api.Localizer, u loyalty.Upload, op *loyalty.BulkOperation) administration.Import {
	var o importer.Options
	_ = json.Unmarshal(u.Options, &o)
	out := administration.Import{
		ImportID: u.ID.String(), Label: api.TextOrNil(u.Label),
		Status: administration.ImportStatus(u.State), AllowSameEmail: o.SameEmail,
		Files: []administration.ImportFile{}, Findings: u.Findings,
		CreatedAt: common.Instant(u.CreatedAt), UpdatedAt: common.Instant(u.UpdatedAt),
	}

	if u.Fault != "" {
		out.Fault = new(importer.WordsOf(u.Fault).In(func(name string, args map[string]any) string { return api.Message(language, name, args) }))
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
		out.Files = append(out.Files,
			administration.ImportFile{File: administration.ImportKind(f.Kind), Parts: f.Parts, Bytes: f.Bytes})
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
	var p importer.Plan
	_ = json.Unmarshal(text, &p)
	return &administration.ImportPlan{
		Rows: p.Rows, NewMembers: p.New, KnownMembers: p.Known, Points: p.Points,
		Expiring: p.Expiring, Purchases: p.Bought, Faults: p.Errors, Warnings: p.Warnings,
	}
}

func accountOf(text json.RawMessage) *administration.ImportAccount {
	var c importer.Account
	_ = json.Unmarshal(text, &c)
	return &administration.ImportAccount{
		Exact: c.Exact(), Lots: c.Lots.Lots, Points: c.Lots.Points,
		ExpectedLots: c.Expected.Lots, ExpectedPoints: c.Expected.Points, Different: c.Wrong,
	}
}
