package server

import (
	"context"
	"encoding/binary"
	"net/http"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// beginBulk takes a bulk operation on, has the job bulk see to it and answers 202
// with where it stands now.
func (s *Server) beginBulk(ctx context.Context, q loyalty.BulkRequest) (written, error) {
	return s.begin(ctx, func(ctx context.Context, call loyalty.Call) (loyalty.Done[loyalty.BulkOperation], error) {
		return s.admin.BeginBulk(ctx, call, q)
	})
}

func (s *Server) begin(ctx context.Context, take func(context.Context, loyalty.Call) (loyalty.Done[loyalty.BulkOperation], error)) (written, error) {
	answer, err := change(s, ctx, http.StatusAccepted, bulkAnswer, take)
	if err == nil && !answer.replayed {
		s.jobs.Wake("bulk")
	}
	return answer, err
}

// bulkAnswer words where an operation stands.
func bulkAnswer(o loyalty.BulkOperation) any {
	return common.BulkAnswer{Data: common.BulkOperation{
		BatchID: o.ID, Status: common.BulkStatus(o.State), Done: o.Done, Total: o.Total, Errors: o.Errors,
		CreatedAt: common.Instant(o.CreatedAt), FinishedAt: instantOrNil(o.FinishedAt),
	}}
}

// bulkStatus answers where an operation of some kinds stands.
func (s *Server) bulkStatus(ctx context.Context, batch string, kinds ...string) (written, error) {
	o, err := s.bulkNamed(ctx, batch, kinds...)
	if err != nil {
		return written{}, err
	}
	return written{status: http.StatusOK, body: marshal(bulkAnswer(o))}, nil
}

// bulkNamed reads the operation of some kinds that a path names. A text that is no id
// is as unknown as any other.
func (s *Server) bulkNamed(ctx context.Context, batch string, kinds ...string) (loyalty.BulkOperation, error) {
	id, err := uuid.Parse(batch)
	if err != nil {
		return loyalty.BulkOperation{}, loyalty.ErrBatchNotFound.With("batch", batch)
	}
	return s.reader.BulkOperation(plain(ctx), id, kinds...)
}

// bulkPlace is which items of which operation a caller asks for.
type bulkPlace struct {
	batch  string
	limit  *common.Limit
	offset *common.Offset
	cursor *common.Cursor
	fields map[string]string // what fields of the errors are called in the request; see act
}

// bulkRefused reads a page of the items that an operation of some kinds refused.
func (s *Server) bulkRefused(ctx context.Context, at bulkPlace, kinds ...string) (list.Links[loyalty.BulkItem], error) {
	p, err := pageOf(ctx, at.limit, at.offset, at.cursor)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}
	o, err := s.bulkNamed(ctx, at.batch, kinds...)
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}
	items, err := s.reader.BulkErrors(plain(ctx), o.ID, bulkPage(p))
	if err != nil {
		return list.Links[loyalty.BulkItem]{}, err
	}
	return list.Linked(p, items, s.clock(), func(i loyalty.BulkItem) list.Cursor {
		return list.Cursor{At: i.DoneAt, ID: binary.BigEndian.AppendUint64(nil, uint64(i.Seq))}
	}), nil
}

// bulkErrors lists whom an operation of some kinds refused, worded in the language
// of this answer.
func (s *Server) bulkErrors(ctx context.Context, at bulkPlace, kinds ...string) (written, error) {
	l, err := s.bulkRefused(ctx, at, kinds...)
	if err != nil {
		return written{}, err
	}
	out := common.BulkErrorList{Data: make([]common.BulkError, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time}
	language := requestOf(ctx).language
	for i := range l.Entries {
		_, fault := s.envelope(language, act{fields: at.fields}.inRequest(l.Entries[i].Failure()))
		out.Data[i] = common.BulkError{Customer: textOrNil(l.Entries[i].Customer), Error: fault}
	}
	return written{status: http.StatusOK, body: marshal(out)}, nil
}

// bulkPage is a page of items, which are found by their numbers.
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
