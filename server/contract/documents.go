package contract

import (
	"errors"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/openapi"
)

// Document is one API of the contract: its name, such as display, and its OpenAPI
// document with every reference resolved.
type Document struct {
	API  string
	Spec *openapi3.T
}

// Documents gives every document of the contract. They are read once, side by side, and
// must not be changed. It fails where one cannot be read.
var Documents = sync.OnceValues(func() ([]Document, error) {
	names := openapi.Names()
	all, faults := make([]Document, len(names)), make([]error, len(names))
	var reading sync.WaitGroup
	for i, api := range names {
		reading.Go(func() {
			all[i].API = api
			all[i].Spec, faults[i] = openapi.Load(api)
		})
	}
	reading.Wait()
	return all, errors.Join(faults...)
})
