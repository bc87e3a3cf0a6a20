package loyalty

import (
	"crypto/rand"
	random "math/rand/v2"
)

// The characters of generated codes. Letters leave out I and O, and where letters
// and digits mix, 0 and 1 are left out too: codes are read aloud and typed.
const (
	codeDigits  = "0123456789"
	codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	codeMixed   = "23456789" + codeLetters
)

// leastCodes is how many codes a pattern must allow for, so that none can be
// guessed.
var leastCodes = 1e6

// sparse is from how many codes on two draws are never expected to meet.
const sparse = 1e15

// codePattern says what the characters of a code are chosen from, one by one.
type codePattern []string

// ownPattern is that of coupons that come from no pool: 12 of 32 characters.
var ownPattern = readPattern("************")

// readPattern reads a pool's pattern: # is a digit, @ a letter, * either, anything
// else stands for itself (decisions 6).
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

// codes is how many there are.
func (p codePattern) codes() float64 {
	n := 1.0
	for i, from := range p {
		if p.drawn(i) {
			n *= float64(len(from))
		}
	}
	return n
}

// drawn says whether a place is chosen rather than fixed.
func (p codePattern) drawn(i int) bool {
	return p[i] == codeDigits || p[i] == codeLetters || p[i] == codeMixed
}

// draw makes one code.
func (p codePattern) draw(r *random.Rand) string {
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

// newRandom is a generator that nobody can foresee (ChaCha8, seeded by the
// operating system).
func newRandom() *random.Rand { return random.New(random.NewChaCha8(newSeed())) }

func newSeed() (seed [32]byte) {
	if _, err := rand.Read(seed[:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return seed
}

// drawCoupon makes a coupon under a new code of a pattern. It fails with
// ErrPatternSpent when nearly all codes of the pattern are taken.
func (r *Run) drawCoupon(p codePattern, pool string) (*Coupon, error) {
	const rounds, candidates = 8, 16
	source := random.New(r.Random())
	for range rounds {
		drawn := make([]string, candidates)
		for i := range drawn {
			drawn[i] = p.draw(source)
		}
		if p.codes() < sparse {
			if err := r.require(CustomerNeeds{Coupons: drawn}); err != nil {
				return nil, err
			}
		}
		for _, code := range drawn {
			if c := r.claimCode(code); c != nil {
				return c, nil
			}
		}
	}
	return nil, ErrPatternSpent.With("pool", pool)
}
