package server

import "github.com/loyalty-platform/loyalty/server/contract"

// NewVocabulary is contract.NewVocabulary, for the tests of the rules and of the store,
// which know the contract by way of its server.
func NewVocabulary() (*contract.Vocabulary, error) { return contract.NewVocabulary() }
