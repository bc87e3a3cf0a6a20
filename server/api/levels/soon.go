package levels

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// lookedAt is how many customers one page of rising or falling customers examines. No index can find them, because
// their figures change every day.
const lookedAt = 1000

// The defaults of how near the next level, and how soon the end of a level, must be.
const (
	nearShare = 20
	soonDays  = 30
)

// soonPage is one page of a walk over all customers.
type soonPage struct {
	list.Page
	structure *tier.Structure
	looked    int
	next      *string
}

// soon continues the walk over the customers and passes each to keep, which reports whether the customer belongs to the
// list. It fails with loyalty.ErrStructureNotFound.
func (a *API) soon(
	ctx context.Context, structure string, limit *common.Limit,
	cursor *common.Cursor, keep func(*loyalty.TierStanding, *tier.TierStatus) bool,
) (*soonPage, error) {
	p, err := api.PageOf(ctx, limit, nil, cursor)
	if err != nil {
		return nil, err
	}

	s := tier.Structures.Of(a.Programme())[structure]
	if s == nil {
		return nil, loyalty.ErrStructureNotFound.With("structure", structure)
	}

	var after loyalty.ID
	if p.Cursor != nil && copy(after[:], p.Cursor.ID) != len(p.Cursor.ID) {
		return nil, list.ErrCursor()
	}

	people, err := a.Reader.TierStandings(api.Plain(ctx), structure, after, lookedAt)
	if err != nil {
		return nil, err
	}

	page, kept, now := &soonPage{Page: p, structure: s}, 0, a.Now()
	for i := range people {
		c := &people[i]
		status, known, err := s.Soon(c,
			tier.TierView{At: now, Score: c.Score, Enrolled: c.Enrolled, Location: a.Programme().Location})
		if err != nil {
			return nil, err
		}
		page.looked++
		if known && keep(c, &status) {
			kept++
		}
		if kept == p.Limit {
			break
		}
	}

	if page.looked < len(people) || len(people) == lookedAt {
		page.next = p.Onward(list.Cursor{ID: people[page.looked-1].Customer[:]})
	}

	return page, nil
}

// ListRisingCustomers lists the customers near the next level.
func (a *API) ListRisingCustomers(
	ctx context.Context, in levels.ListRisingCustomersRequestObject,
) (levels.ListRisingCustomersResponseObject, error) {
	share := int64(nearShare)
	if in.Params.Share != nil {
		share = int64(*in.Params.Share)
	}

	language, out := api.RequestOf(ctx).Language,
		levels.ListRisingCustomers200JSONResponse{Data: []levels.RisingCustomer{}}
	page, err := a.soon(ctx, in.StructureID, in.Params.Limit, in.Params.Cursor,
		func(c *loyalty.TierStanding, t *tier.TierStatus) bool {
			if !t.Near(share) {
				return false
			}
			s := t.Structure
			out.Data = append(out.Data, levels.RisingCustomer{
				Customer: c.Name, Level: stepOf(language, t.Current), Next: *stepOf(language, t.Next),
				Figure: s.Number(t.Figure), Missing: s.Number(t.Missing),
			})
			return true
		})
	if err != nil {
		return nil, err
	}

	out.Structure, out.LookedAt, out.Next, out.Time = structureOf(page.structure), page.looked, page.next, a.took(page)
	return out, nil
}

// ListFallingCustomers lists the customers whose level ends soon.
func (a *API) ListFallingCustomers(
	ctx context.Context, in levels.ListFallingCustomersRequestObject,
) (levels.ListFallingCustomersResponseObject, error) {
	days := soonDays
	if in.Params.Days != nil {
		days = *in.Params.Days
	}

	until := a.Now().AddDate(0, 0, days)
	language, out := api.RequestOf(ctx).Language,
		levels.ListFallingCustomers200JSONResponse{Data: []levels.FallingCustomer{}}
	page, err := a.soon(ctx, in.StructureID, in.Params.Limit, in.Params.Cursor,
		func(c *loyalty.TierStanding, t *tier.TierStatus) bool {
			if t.Current == nil || t.Expires.IsZero() || t.Expires.After(until) {
				return false
			}
			entry := levels.FallingCustomer{Customer: c.Name,
				Level: *stepOf(language, t.Current), ExpiresAt: common.Instant(t.Expires)}
			if s := t.Structure; s.Base != tier.BaseManual {
				figure, missing := s.Number(t.Figure), s.Number(t.Lacks())
				entry.Figure, entry.Missing = &figure, &missing
			}
			out.Data = append(out.Data, entry)
			return true
		})
	if err != nil {
		return nil, err
	}

	out.Structure, out.LookedAt, out.Next, out.Time = structureOf(page.structure), page.looked, page.next, a.took(page)
	return out, nil
}

// took is the duration of an answer, in seconds.
func (a *API) took(p *soonPage) float64 {
	return a.Clock().Sub(p.Began).Round(time.Microsecond).Seconds()
}

// structureOf renders a ladder.
func structureOf(s *tier.Structure) levels.LevelStructure {
	return levels.LevelStructure{ID: s.ID, Name: s.Name,
		Base: levels.LevelStructureBase(s.Base), Currency: api.TextOrNil(s.Paid())}
}

// stepOf renders a tier beside its ladder; nil if there is none.
func stepOf(language *api.Localizer, t *tier.Tier) *levels.LevelStep {
	if t == nil {
		return nil
	}
	return &levels.LevelStep{ID: t.ID, Name: language.Text(t.Name), Threshold: t.Threshold}
}
