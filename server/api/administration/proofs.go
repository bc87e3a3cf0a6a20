package administration

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ListLedgerProofs lists the proofs of the ledger, newest first. It shows who asked for them to callers who may read
// the audit trail.
func (a *API) ListLedgerProofs(
	ctx context.Context, in administration.ListLedgerProofsRequestObject,
) (administration.ListLedgerProofsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	found, err := a.Admin.Proofs(api.Plain(ctx), p.Store())
	if err != nil {
		return nil, err
	}

	named := api.RequestOf(ctx).ActorsShown()
	l := list.Linked(p, found, a.Clock(),
		func(v loyalty.LedgerVerification) list.Cursor { return list.Cursor{At: v.At, ID: v.ID[:]} })
	out := administration.ListLedgerProofs200JSONResponse{
		Data: make([]administration.LedgerProof, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i, v := range l.Entries {
		proof := administration.LedgerProof{
			At: common.Instant(v.At), Held: v.Held, Broken: v.Broken, Unchecked: v.Unchecked,
			BrokenIds: api.OrEmpty(v.BrokenIDs), UncheckedIds: api.OrEmpty(v.UncheckedIDs),
		}
		if v.ActorKind != "" {
			proof.ActorKind = new(administration.LedgerProofActorKind(v.ActorKind))
		}
		if named {
			proof.KeyID = api.TextOrNil(v.Actor)
		}
		out.Data[i] = proof
	}

	return out, nil
}
