package job

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// bulkKind is what one kind of bulk operation does. It has item, step or write.
type bulkKind struct {
	// item makes the ticket of one customer. What the ticket does, the mark of its
	// item and the operation's counts are one transaction: no item is ever done
	// twice or missed, and there is nothing to remember for that.
	item func(e *engine.Engine, o *loyalty.BulkOperation, i *loyalty.BulkItem) *engine.Ticket
	// step does the next piece of an operation that has no items: a second's worth
	// of reading, never an effect of its own. It brings Done, Total and Progress of
	// the operation up to date and sets State to BulkDone with the last piece; they
	// are saved together, and a piece whose outcome was not saved (a kill) is done
	// again from what was. An error ends the job's run, and the piece is tried
	// again with the next one: what can never succeed must end the operation, and
	// tell why in Progress.
	step func(ctx context.Context, w *bulkWork) error
	// write does the next piece of an operation that changes what no customer has, in
	// a short transaction of the programme, which nothing may be waited for in. It
	// brings Done, Errors and Progress of the operation up to date, sets State to
	// BulkDone with the last piece, and gives the items that were refused. All of it
	// is one transaction: a kill undoes the piece, or nothing of it.
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

// bulkWork is an operation in the hands of the job.
type bulkWork struct {
	loyalty.BulkOperation
	Engine *engine.Engine
	Store  loyalty.JobStore

	now    time.Time // of the transaction under way
	fault  error     // of ours, which ended items in it; nil: none
	memory any       // what a kind keeps from step to step of one run besides Progress; nil: nothing
	after  int64     // the last item that was tried in this run
	passed bool      // it failed: not again in this run
}
