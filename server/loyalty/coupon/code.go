package coupon

import (
	random "math/rand/v2"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// The characters of generated codes. Letters leave out I and O, and where letters and digits mix, 0
// and 1 are left out too, because codes are read aloud and typed.
const (
	codeDigits  = "0123456789"
	codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	codeMixed   = "23456789" + codeLetters
)

// LeastCodes is the least number of codes that a pattern must have, so that codes cannot be guessed.
var LeastCodes = 1e6

// sparse is the number of possible codes from which two draws are not expected to collide.
const sparse = 1e15

// codePattern holds the alphabet of each character of a code.
type codePattern []string

// ownPattern is the pattern of coupons that come from no pool: 12 characters of 32.
var ownPattern = readPattern("************")

// readPattern reads a pool's pattern: # is a digit, @ a letter, * either, any other character
// itself (decisions 6).
func readPattern(text string) codePattern {
	var p codePattern
	for _, c := range text {
		switch c {
		case '#':
			p = append(p, codeDigits)
		case '@':
			p = append(p, codeLetters)
		case '*':
			p = append(p, codeMixed)
		default:
			p = append(p, string(c))
		}
	}

	return p
}

// Codes returns how many codes the pattern has. It is a float, because the number may exceed 64 bits.
func (p codePattern) Codes() float64 {
	n := 1.0
	for i, from := range p {
		if p.drawn(i) {
			n *= float64(len(from))
		}
	}
	return n
}

// drawn reports whether a character is chosen rather than fixed.
func (p codePattern) drawn(i int) bool {
	return p[i] == codeDigits || p[i] == codeLetters || p[i] == codeMixed
}

// Draw makes one code.
func (p codePattern) Draw(r *random.Rand) string {
	code := make([]byte, 0, len(p))
	for i, from := range p {
		if p.drawn(i) {
			code = append(code, from[r.IntN(len(from))])
		} else {
			code = append(code, from...)
		}
	}
	return string(code)
}

// NewRandom makes a generator whose output cannot be predicted (ChaCha8, seeded by the operating
// system).
func NewRandom() *random.Rand { return random.New(random.NewChaCha8(engine.NewSeed())) }

// drawCoupon makes a coupon under a new code of a pattern. It fails with ErrPatternSpent if nearly all codes of the
// pattern are used. It draws several codes and checks them in one round trip, because in a pattern that is nearly full
// most are used.
func drawCoupon(r *engine.Run, p codePattern, pool string) (*loyalty.Coupon, error) {
	const rounds, candidates = 8, 16
	source := random.New(r.Random())
	for range rounds {
		drawn := make([]string, candidates)
		for i := range drawn {
			drawn[i] = p.Draw(source)
		}

		if p.Codes() < sparse {
			if err := r.Require(loyalty.CustomerNeeds{Coupons: drawn}); err != nil {
				return nil, err
			}
		}

		for _, code := range drawn {
			if c := r.Coupons().Take(code); c != nil {
				return c, nil
			}
		}
	}

	return nil, loyalty.ErrPatternSpent.With("pool", pool)
}
