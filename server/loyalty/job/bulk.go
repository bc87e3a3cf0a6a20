package job

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// bulkKind is what one kind of bulk operation does. It has exactly one of item, step and write.
type bulkKind struct {
	// item makes the ticket of one customer. The ticket's effect, the mark of its item and the operation's counts are
	// one transaction: no item is done twice or missed, and there is no further state to keep.
	item func(e *engine.Engine, o *loyalty.BulkOperation, i *loyalty.BulkItem) *engine.Ticket
	// step does the next piece of an operation that has no items: about a second of reading, without any effect of its
	// own. It updates Done, Total and Progress of the operation and sets State to BulkDone with the last piece. They
	// are saved together; a piece whose outcome was not saved (a kill) is done again from the last saved state. An
	// error ends the job's run, and the next run tries the piece again. A piece that can never succeed must therefore
	// end the operation and say why in Progress.
	step func(ctx context.Context, w *bulkWork) error
	// write does the next piece of an operation that changes rows of no customer, in a short transaction of the
	// programme, in which it must not wait for anything else. It updates Done, Errors and Progress of the operation,
	// sets State to BulkDone with the last piece, and returns the refused items. All of it is one transaction: a kill
	// undoes the piece or nothing of it.
	write func(tx loyalty.AdminTx, w *bulkWork) (refused []loyalty.BulkItem, err error)
}

// bulkKinds lists the kinds by name.
var bulkKinds = map[string]bulkKind{
	loyalty.BulkRewardClaim: {item: claimTicket},
	loyalty.BulkListAdd:     {item: joinTicket},
	loyalty.BulkListRemove:  {item: leaveTicket},
	loyalty.BulkImport:      {item: importTicket},
	admin.BulkPoolFill:      {write: fillPool},
	campaign.BulkBacktest:   {step: backtest},
}

// bulkWork is an operation that the job is working on.
type bulkWork struct {
	loyalty.BulkOperation
	Engine *engine.Engine
	Store  loyalty.JobStore

	now    time.Time // of the current transaction
	fault  error     // a fault of this program that ended items in it; nil: none
	memory any       // what a kind keeps in memory from step to step of one run; nil: nothing
	after  int64     // the last item that this run tried
	passed bool      // it failed: skipped in the rest of this run
}
