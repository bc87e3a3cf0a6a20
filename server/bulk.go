package server

import (
	"context"
	"encoding/binary"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// bulkOperations starts bulk operations and shows their progress.
type bulkOperations struct {
	admin  *admin.Admin
	reader loyalty.Reader
	jobs   Jobs
	clock  func() time.Time
}

// start accepts a bulk operation, wakes the job bulk and answers 202 with the operation's progress.
func (b bulkOperations) start(ctx context.Context, q loyalty.BulkRequest) (rawResponse, error) {
	return b.begin(ctx, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.BulkOperation], error) {
		return b.admin.BeginBulk(ctx, call, q)
	})
}

// begin is start for an operation that take creates.
func (b bulkOperations) begin(ctx context.Context, take func(context.Context, admin.Call) (admin.Done[loyalty.BulkOperation], error)) (rawResponse, error) {
	answer, err := change(ctx, http.StatusAccepted, bulkAnswer, take)
	if err == nil && !answer.replayed {
		b.jobs.Wake("bulk")
	}
	return answer, err
}

// bulkAnswer renders the progress of an operation.
func bulkAnswer(o loyalty.BulkOperation) any {
	return common.BulkAnswer{Data: common.BulkOperation{
		BatchID: o.ID, Status: common.BulkStatus(o.State), Done: o.Done, Total: o.Total, Errors: o.Errors,
		CreatedAt: common.Instant(o.CreatedAt), FinishedAt: instantOrNil(o.FinishedAt),
	}}
}

// status answers with the progress of an operation of the given kinds.
func (b bulkOperations) status(ctx context.Context, batch string, kinds ...string) (rawResponse, error) {
	o, err := b.named(ctx, batch, kinds...)
	if err != nil {
		return rawResponse{}, err
	}
	return rawResponse{status: http.StatusOK, body: marshal(bulkAnswer(o))}, nil
}

// named reads the operation that a path names, if it is of the given kinds. A text that is no id counts as unknown.
func (b bulkOperations) named(ctx context.Context, batch string, kinds ...string) (loyalty.BulkOperation, error) {
	id, err := uuid.Parse(batch)
	if err != nil {
		return loyalty.BulkOperation{}, loyalty.ErrBatchNotFound.With("batch", batch)
	}
	return b.reader.BulkOperation(plain(ctx), id, kinds...)
}

// bulkPlace is the page of an operation's list that a caller wants.
type bulkPlace struct {
	batch  string
	limit  *common.Limit
	offset *common.Offset
	cursor *common.Cursor
	fields map[string]string // names of the errors' fields in the request; see act
}

// refused reads a page of the refused items of an operation.
func (b bulkOperations) refused(ctx context.Context, at bulkPlace, kinds ...string) (list.Links[loyalty.BulkItem], error) {
	p, err := pageOf(ctx, at.limit, at.offset, at.cursor)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	o, err := b.named(ctx, at.batch, kinds...)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	items, err := b.reader.BulkErrors(plain(ctx), o.ID, bulkPage(p))
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	return list.Linked(p, items, b.clock(), func(i loyalty.BulkItem) list.Cursor {
		return list.Cursor{At: i.DoneAt, ID: binary.BigEndian.AppendUint64(nil, uint64(i.Seq))}
	}), nil
}

// errors lists the customers that an operation refused, in the language of this answer.
func (b bulkOperations) errors(ctx context.Context, at bulkPlace, kinds ...string) (rawResponse, error) {
	l, err := b.refused(ctx, at, kinds...)
	if err != nil {
		return rawResponse{}, err
	}
	out := common.BulkErrorList{Data: make([]common.BulkError, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time}
	language := requestOf(ctx).language
	for i := range l.Entries {
		_, fault := envelope(language, customerAction{fields: at.fields}.inRequest(l.Entries[i].Failure()))
		out.Data[i] = common.BulkError{Customer: textOrNil(l.Entries[i].Customer), Error: fault}
	}
	return rawResponse{status: http.StatusOK, body: marshal(out)}, nil
}

// bulkPage is a page of items by their numbers.
func bulkPage(p list.Page) loyalty.BulkPage {
	out := loyalty.BulkPage{Limit: p.Fetch(), Offset: p.Offset}
	if p.Cursor == nil || len(p.Cursor.ID) != 8 {
		return out
	}
	if seq := int64(binary.BigEndian.Uint64(p.Cursor.ID)); p.Cursor.Back {
		out.Before = seq
	} else {
		out.After = seq
	}
	return out
}
