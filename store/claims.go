package store

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// claimStore reads claims of rewards, and what campaigns gave.
type claimStore struct{ *database }

// Claims lists what a customer and those merged into them claimed or received; see loyalty.ClaimQuery.
func (s claimStore) Claims(ctx context.Context, q loyalty.ClaimQuery) (loyalty.ClaimPage, error) {
	var page loyalty.ClaimPage
	of := holder(q.Customer, q.Ref)
	text, backwards := claimsOf(of, q).sql()
	first := []question{claimTable.list(text, &page.Claims)}
	var who *loyalty.Customer
	if q.Ref != "" {
		first = append(first, customerOf(of, &who))
	}

	given := givenRead{opened: map[loyalty.ID][]byte{}}
	given.keys = s.keysOf(nil, given.opened)
	err := s.ask(ctx, first, func() (_ []question, err error) {
		if page.Customer.ID = q.Customer; q.Ref != "" {
			page.Customer, err = known(who)
		}
		page.Claims = inOrder(page.Claims, backwards)
		if len(page.Claims) == 0 || err != nil {
			return nil, err
		}
		return given.questions(s.database, of, page.Claims), nil
	})
	if err == nil {
		err = given.tell(&page)
	}

	return page, err
}

// givenRead reads what accompanies claims: archived rewards, and coupons that the claimer still holds.
type givenRead struct {
	entities []entityRow
	held     []loyalty.Coupon
	opened   map[loyalty.ID][]byte
	keys     *keysRead
}

func (r *givenRead) questions(s *database, of sqlFragment, claims []loyalty.RewardClaim) []question {
	var rewards, codes []string
	for i := range claims {
		if c := &claims[i]; !slices.Contains(rewards, c.Reward) {
			rewards = append(rewards, c.Reward)
		}
		if claims[i].Coupon != "" {
			codes = append(codes, claims[i].Coupon)
		}
	}

	archived := modelled(s.read, &r.entities)
	archived.sqlFragment = sqlFragment{"SELECT * FROM entities WHERE type = ? AND id IN ? AND archived_at IS NOT NULL", []any{loyalty.RewardType, rewards}}
	list := []question{archived}
	if len(codes) == 0 {
		return list
	}

	mine := theirs("customer_id", of).and(coded, loyalty.NameCoupon, codeNames(codes...))
	return append(list, couponTable.list(couponTable.where(mine.text, mine.args...), &r.held), r.keys.where(sealers(codes)))
}

// tell puts the results on the page.
func (r *givenRead) tell(page *loyalty.ClaimPage) error {
	page.Archived = make(map[string]loyalty.Entity, len(r.entities))
	for _, e := range entitiesOf(r.entities) {
		page.Archived[e.ID] = e
	}
	held, err := heldCoupons(r.held, page.Customer.Person(), nil, r.opened)
	page.Coupons = make(map[string]loyalty.HeldCoupon, len(held))
	for _, c := range held {
		page.Coupons[c.Code] = c
	}
	return errors.Join(err, r.keys.failed)
}

// claimsOf makes the statement of a query.
func claimsOf(of sqlFragment, q loyalty.ClaimQuery) *unionQuery {
	if q.Page.Limit == 0 {
		q.Page.Limit = math.MaxInt32
	}
	return &unionQuery{
		table: "claims", columns: claimTable.names(), branches: owned(of, "claimed_at", false), page: pagerOf(q.Page),
		order: listOrder{at: "claimed_at", id: "id", descending: !q.OldestFirst},
	}
}

// RewardClaim finds a claim by the event that records it, among those of a customer and of the customers merged into
// them. It fails with loyalty.ErrClaimNotFound.
func (s claimStore) RewardClaim(ctx context.Context, customer, event loyalty.ID) (loyalty.RewardClaim, error) {
	var claim *loyalty.RewardClaim
	w := theirs("customer_id", holder(customer, "")).and("id = ?", UUID(event))
	err := s.asks(ctx, claimTable.only(claimTable.where(w.text, w.args...), &claim))
	switch {
	case err != nil:
		return loyalty.RewardClaim{}, err
	case claim == nil:
		return loyalty.RewardClaim{}, loyalty.ErrClaimNotFound.With("event", event.String())
	}
	return *claim, nil
}

// ClaimByID finds a claim by the event that records it, with its customer, or the target if that customer was merged.
// It fails with loyalty.ErrClaimUnknown.
func (s claimStore) ClaimByID(ctx context.Context, id loyalty.ID) (claim loyalty.RewardClaim, customer loyalty.Customer, err error) {
	var found *loyalty.RewardClaim
	var who *loyalty.Customer
	claimer := sqlFragment{"{{SELECT COALESCE(c.merged_into, c.id) FROM claims m JOIN customers c ON c.id = m.customer_id WHERE m.id = ?}}", []any{UUID(id)}}
	err = s.asks(ctx, claimTable.only(claimTable.where("id = ?", UUID(id)), &found), customerOf(claimer, &who))
	if err == nil && found == nil {
		err = loyalty.ErrClaimUnknown.With("claim", id.String())
	}
	if err != nil {
		return claim, customer, err
	}
	customer, err = known(who)
	return *found, customer, err
}
