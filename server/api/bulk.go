package api

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

// BulkOperations starts bulk operations and shows their progress.
type BulkOperations struct {
	Admin  *admin.Admin
	Reader loyalty.Reader
	Jobs   Jobs
	Clock  func() time.Time
}

// Start accepts a bulk operation, wakes the job bulk and answers 202 with the operation's progress.
func (b BulkOperations) Start(ctx context.Context, q loyalty.BulkRequest) (RawResponse, error) {
	return b.Begin(ctx, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.BulkOperation], error) {
		return b.Admin.BeginBulk(ctx, call, q)
	})
}

// Begin is start for an operation that take creates.
func (b BulkOperations) Begin(
	ctx context.Context, take func(context.Context, admin.Call) (admin.Done[loyalty.BulkOperation], error),
) (RawResponse, error) {
	answer, err := Change(ctx, http.StatusAccepted, bulkAnswer, take)
	if err == nil && !answer.Replayed {
		b.Jobs.Wake("bulk")
	}
	return answer, err
}

// bulkAnswer renders the progress of an operation.
func bulkAnswer(o loyalty.BulkOperation) any {
	return common.BulkAnswer{Data: common.BulkOperation{
		BatchID: o.ID, Status: common.BulkStatus(o.State), Done: o.Done, Total: o.Total, Errors: o.Errors,
		CreatedAt: common.Instant(o.CreatedAt), FinishedAt: InstantOrNil(o.FinishedAt),
	}}
}

// Status answers with the progress of an operation of the given kinds.
func (b BulkOperations) Status(ctx context.Context, batch string, kinds ...string) (RawResponse, error) {
	o, err := b.Named(ctx, batch, kinds...)
	if err != nil {
		return RawResponse{}, err
	}
	return RawResponse{Status: http.StatusOK, Body: Marshal(bulkAnswer(o))}, nil
}

// Named reads the operation that a path names, if it is of the given kinds. A text that is no id counts as unknown.
func (b BulkOperations) Named(ctx context.Context, batch string, kinds ...string) (loyalty.BulkOperation, error) {
	id, err := uuid.Parse(batch)
	if err != nil {
		return loyalty.BulkOperation{}, loyalty.ErrBatchNotFound.With("batch", batch)
	}
	return b.Reader.BulkOperation(Plain(ctx), id, kinds...)
}

// BulkPlace is the page of an operation's list that a caller wants.
type BulkPlace struct {
	Batch  string
	Limit  *common.Limit
	Offset *common.Offset
	Cursor *common.Cursor
	Fields map[string]string // names of the errors' fields in the request; see act
}

// Refused reads a page of the refused items of an operation.
func (b BulkOperations) Refused(
	ctx context.Context, at BulkPlace, kinds ...string,
) (list.Links[loyalty.BulkItem], error) {
	p, err := PageOf(ctx, at.Limit, at.Offset, at.Cursor)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	o, err := b.Named(ctx, at.Batch, kinds...)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	items, err := b.Reader.BulkErrors(Plain(ctx), o.ID, bulkPage(p))
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}

	return list.Linked(p, items, b.Clock(), func(i loyalty.BulkItem) list.Cursor {
		return list.Cursor{At: i.DoneAt, ID: binary.BigEndian.AppendUint64(nil, uint64(i.Seq))}
	}), nil
}

// Errors lists the customers that an operation refused, in the language of this answer.
func (b BulkOperations) Errors(ctx context.Context, at BulkPlace, kinds ...string) (RawResponse, error) {
	l, err := b.Refused(ctx, at, kinds...)
	if err != nil {
		return RawResponse{}, err
	}
	out := common.BulkErrorList{Data: make([]common.BulkError, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	language := RequestOf(ctx).Language
	for i := range l.Entries {
		_, fault := Envelope(language, CustomerAction{Fields: at.Fields}.InRequest(l.Entries[i].Failure()))
		out.Data[i] = common.BulkError{Customer: TextOrNil(l.Entries[i].Customer), Error: fault}
	}
	return RawResponse{Status: http.StatusOK, Body: Marshal(out)}, nil
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
