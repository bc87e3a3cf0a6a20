package engine

import (
	"crypto/rand"
)

func NewSeed() (seed [32]byte) {
	if _, err := rand.Read(seed[:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return seed
}
