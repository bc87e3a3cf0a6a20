package loyalty

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// MaxGenerated is how many codes one call may generate.
const MaxGenerated = 100_000

// codesAtOnce is how many codes are handed to the store at a time.
const codesAtOnce = 5_000

// AddedCodes is what became of a pool.
type AddedCodes struct {
	Pool      string `json:"pool"`
	Added     int    `json:"added"`
	Available int64  `json:"available"` // codes of the pool that nobody holds now
}

// AddCodes fills a pool with codes that nobody holds yet: the caller's own, or so
// many new ones by the pool's pattern; all of them or none. It fails with
// ErrModuleOffPath, ErrEntityNotFound or ErrEntityArchived for the pool, with
// ErrCouponExists (409) for a code that exists anywhere in the programme, with
// ErrPropertyInvalid for one that stands in the list twice or cannot be addressed,
// both naming its place, and with ErrPoolSource or ErrPatternSpent where codes
// cannot be generated. The audit has the number of codes, never a code.
func (a *Admin) AddCodes(ctx context.Context, call Call, pool string, codes []string, generate int) (Done[AddedCodes], error) {
	if err := checkCodes(codes, generate); err != nil {
		return Done[AddedCodes]{}, err
	}
	return change(ctx, a, call, func(r *adminRun) (AddedCodes, error) {
		done := AddedCodes{Pool: pool, Added: len(codes) + generate}
		f, err := a.filling(r, pool)
		if err != nil {
			return done, err
		}
		source := PoolUploaded
		if generate > 0 {
			source = PoolGenerated
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
		return done, r.audit("coupon_pool.add_codes", "coupons/pool/"+pool, nil, map[string]any{"added": done.Added, "source": source})
	}, func(d AddedCodes) any { return d })
}

// checkCodes decides what the call alone can tell.
func checkCodes(codes []string, generate int) error {
	switch {
	case len(codes) == 0 && generate == 0:
		return fieldFault("codes", ErrPropertyEmpty.Name, nil)
	case len(codes) > 0 && generate != 0:
		return fieldFault("generate", ErrPropertyInvalid.Name, map[string]any{"reason": "codes"})
	case generate < 0 || generate > MaxGenerated:
		return fieldFault("generate", ErrPropertyInvalid.Name, map[string]any{"reason": "range"})
	}
	first := make(map[string]int, len(codes))
	for i, code := range codes {
		if err := CheckName("code", code); err != nil {
			return at(err, codePlace(i))
		}
		if _, twice := first[code]; twice {
			return fieldFault(codePlace(i), ErrPropertyInvalid.Name, map[string]any{"property": code, "reason": "repeated"})
		}
		first[code] = i
	}
	return nil
}

func codePlace(i int) string { return "codes[" + strconv.Itoa(i) + "]" }

// filling is a pool to which codes are added.
type filling struct {
	*adminRun
	pool     *Pool
	currency string // the programme's
}

// filling finds the pool of a call, as it stands inside the transaction.
func (a *Admin) filling(r *adminRun, pool string) (*filling, error) {
	if _, err := a.found(r, EntityChange{Type: "coupons/pool", ID: pool}); err != nil {
		return nil, err
	}
	p, err := CompileProgramme(r.Snapshot)
	if err != nil {
		return nil, err
	}
	return &filling{r, p.Pools[pool], p.Settings.Currency}, nil
}

// upload adds the caller's codes. They are written in the order of their text,
// which all writers of names keep; those of a call are handed out as they came.
func (f *filling) upload(codes []string) error {
	for some := range slices.Chunk(f.blanks(codes), codesAtOnce) {
		taken, err := f.AddCoupons(some)
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			slices.Sort(taken)
			return ErrCouponExists.With("code", taken[0]).At(codePlace(slices.Index(codes, taken[0])))
		}
	}
	return nil
}

// blanks makes coupons that nobody holds, in the order of their codes.
func (f *filling) blanks(codes []string) []Coupon {
	coupons := make([]Coupon, len(codes))
	var last ID
	for i, code := range codes {
		last = NewID(f.now, last)
		coupons[i] = Coupon{ID: last, Code: code, State: CouponCreated, Pool: f.pool.ID, CreatedAt: f.now}
		coupons[i].shape(f.pool.Coupon, f.currency)
	}
	slices.SortFunc(coupons, func(x, y Coupon) int { return strings.Compare(x.Code, y.Code) })
	return coupons
}

// generate adds new codes by the pool's pattern. A code that is taken is drawn
// again; when most are, the pattern has too few codes left.
func (f *filling) generate(n int) error {
	if f.pool.Source != PoolGenerated {
		return ErrPoolSource.With("pool", f.pool.ID).At("generate")
	}
	source, drawn := newRandom(), map[string]bool{}
	for left, misses := n, 0; left > 0; {
		codes := f.draw(source, min(left, codesAtOnce), drawn)
		taken, err := f.AddCoupons(f.blanks(codes))
		if err != nil {
			return err
		}
		left -= len(codes) - len(taken)
		if misses += len(taken); misses > n+codesAtOnce || len(codes) == 0 {
			return ErrPatternSpent.With("pool", f.pool.ID).At("generate")
		}
	}
	return nil
}

// draw makes n codes that were not drawn before, as far as the pattern has them.
func (f *filling) draw(source *rand.Rand, n int, drawn map[string]bool) []string {
	codes := make([]string, 0, n)
	for len(codes) < n && float64(len(drawn)) < f.pool.codes.codes() {
		if code := f.pool.codes.draw(source); !drawn[code] {
			drawn[code] = true
			codes = append(codes, code)
		}
	}
	return codes
}
