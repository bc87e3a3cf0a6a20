package admin

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// MaxGenerated is the most codes that one call may generate.
const MaxGenerated = 100_000

// MaxCodesAtOnce is the most codes that one transaction adds directly: a tenth of a second of writing on SQLite, where
// every other writer waits for it. More codes are added by a bulk operation; see FillPool.
const MaxCodesAtOnce = 2_000

// AddedCodes is the state of a pool after codes were added.
type AddedCodes struct {
	Pool      string `json:"pool"`
	Added     int    `json:"added"`
	Available int64  `json:"available"` // codes of the pool that no customer holds now
}

// AddCodes fills a pool with codes that no customer holds yet, at most MaxCodesAtOnce: the caller's
// own, or the given number of new ones by the pool's pattern; all of them or none. It fails with
// ErrModuleOffPath, ErrEntityNotFound or ErrEntityArchived for the pool, with ErrCouponExists (409)
// for a code that exists anywhere in the programme, with ErrPropertyInvalid for one that is
// repeated in the list or cannot be part of a URL, both naming its place, and with ErrPoolSource or
// ErrPatternSpent if codes cannot be generated. The audit trail gets the number of codes, never a
// code.
func (a *Admin) AddCodes(
	ctx context.Context, call Call, pool string, codes []string, generate int,
) (Done[AddedCodes], error) {
	if err := checkCodes(codes, generate); err != nil {
		return Done[AddedCodes]{}, err
	}

	return change(ctx, a, call, func(r *adminRun) (AddedCodes, error) {
		done := AddedCodes{Pool: pool, Added: len(codes) + generate}
		f, err := a.filling(r, pool, generate > 0)
		if err != nil {
			return done, err
		}

		if generate > 0 {
			err = f.generate(generate)
		} else {
			err = f.upload(codes)
		}

		if err != nil {
			return done, err
		}
		if done.Available, err = r.CountCodes(pool); err != nil {
			return done, err
		}

		return done, r.audit("coupon_pool.add_codes", coupon.PoolType+"/"+pool, nil,
			map[string]any{"added": done.Added, "source": SourceOf(generate)})
	}, func(d AddedCodes) any { return d })
}

// checkCodes validates what the call shows by itself.
func checkCodes(codes []string, generate int) error {
	switch {
	case len(codes) == 0 && generate == 0:
		return programme.Fault("codes", loyalty.ErrPropertyEmpty.Name, nil)
	case len(codes) > 0 && generate != 0:
		return programme.Fault("generate", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "codes"})
	case generate < 0 || generate > MaxGenerated:
		return programme.Fault("generate", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "range"})
	}

	first := make(map[string]int, len(codes))
	for i, code := range codes {
		if err := loyalty.CheckName("code", code); err != nil {
			return loyalty.AtField(err, CodePlace(i))
		}
		key := loyalty.NameKey(code)
		if _, twice := first[key]; twice {
			return programme.Fault(CodePlace(i), loyalty.ErrPropertyInvalid.Name,
				map[string]any{"property": code, "reason": "repeated"})
		}
		first[key] = i
	}

	return nil
}

func CodePlace(i int) string { return "codes[" + strconv.Itoa(i) + "]" }

// SourceOf returns the source of the codes of a call, for the audit trail.
func SourceOf(generate int) string {
	if generate > 0 {
		return coupon.PoolGenerated
	}
	return coupon.PoolUploaded
}

// Filling is a pool to which codes are added, inside one transaction.
type Filling struct {
	Tx       loyalty.AdminTx
	pool     *coupon.Pool
	currency string     // the programme's
	now      time.Time  // when the codes are created
	Asked    time.Time  // when they were requested: their ids, which decide the order of handing out, sort by it
	Last     loyalty.ID // the id of the previous code of the call
}

// filling finds the pool of a call, in its state inside the transaction.
func (a *Admin) filling(r *adminRun, pool string, generate bool) (*Filling, error) {
	p, err := a.programme(r)
	if err != nil {
		return nil, err
	}
	return NewFilling(p, r.AdminTx, pool, generate, r.now)
}

// NewFilling decides whether codes can be added to a programme's pool, and generated for it.
func NewFilling(
	p *programme.Programme, tx loyalty.AdminTx, pool string, generate bool, now time.Time,
) (*Filling, error) {
	if err := p.CheckEntityType(coupon.PoolType); err != nil {
		return nil, err
	}

	stored, ok, err := tx.Entity(coupon.PoolType, pool)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, loyalty.ErrEntityNotFound.With("type", coupon.PoolType).With("id", pool)
	case !stored.ArchivedAt.IsZero():
		return nil, loyalty.ErrEntityArchived.With("id", pool)
	case generate && coupon.Pools.Of(p)[pool].Source != coupon.PoolGenerated:
		return nil, loyalty.ErrPoolSource.With("pool", pool).At("generate")
	}

	return &Filling{Tx: tx, pool: coupon.Pools.Of(p)[pool], currency: p.Settings.Currency, now: now, Asked: now}, nil
}

// upload adds the caller's codes.
func (f *Filling) upload(codes []string) error {
	taken, err := f.Tx.AddCoupons(f.Blanks(codes))
	if err != nil || len(taken) == 0 {
		return err
	}
	slices.Sort(taken)
	return loyalty.ErrCouponExists.With("code", taken[0]).At(CodePlace(slices.Index(codes, taken[0])))
}

// Blanks makes coupons that no customer holds. They are written in the order of their names, as all
// writers of names do, so that writers cannot block each other; they are handed out in the order
// given.
func (f *Filling) Blanks(codes []string) []loyalty.Coupon {
	coupons := make([]loyalty.Coupon, len(codes))
	for i, code := range codes {
		f.Last = loyalty.NewID(f.Asked, f.Last)
		coupons[i] = loyalty.Coupon{ID: f.Last, Code: code, State: loyalty.CouponCreated, Pool: f.pool.ID, CreatedAt: f.now}
		coupon.Shape(&coupons[i], f.pool.Coupon, f.currency)
	}
	slices.SortFunc(coupons, func(x, y loyalty.Coupon) int {
		return strings.Compare(loyalty.NameKey(x.Code), loyalty.NameKey(y.Code))
	})
	return coupons
}

// generate adds n new codes by the pool's pattern.
func (f *Filling) generate(n int) error {
	added, err := f.Draw(n, n+MaxCodesAtOnce)
	if err == nil && added < n {
		err = f.Spent()
	}
	return err
}

// Spent refuses a pool whose pattern has too few codes left: drawing on would take ever longer,
// because nearly every draw hits a used code.
func (f *Filling) Spent() error {
	return loyalty.ErrPatternSpent.With("pool", f.pool.ID).At("generate")
}

// Draw adds up to n new codes by the pool's pattern. Used codes are drawn again, but at most again times in all: beyond
// that most codes are used, and fewer are added.
func (f *Filling) Draw(n, again int) (added int, err error) {
	source, drawn := coupon.NewRandom(), map[string]bool{}
	for left := n; added < n; left = min(n-added, again) {
		codes := f.fresh(source, left, drawn)
		if len(codes) == 0 {
			break
		}
		taken, err := f.Tx.AddCoupons(f.Blanks(codes))
		if err != nil {
			return added, err
		}
		added += len(codes) - len(taken)
		again -= len(taken)
	}

	return added, nil
}

// fresh makes up to n codes that were not drawn before; fewer if the pattern has no more.
func (f *Filling) fresh(source *rand.Rand, n int, drawn map[string]bool) []string {
	codes := make([]string, 0, max(n, 0))
	for len(codes) < n && float64(len(drawn)) < f.pool.Codes.Codes() {
		if code := f.pool.Codes.Draw(source); !drawn[code] {
			drawn[code] = true
			codes = append(codes, code)
		}
	}
	return codes
}
