package contract

import (
	"context"
	"errors"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// CheckParameters checks the path, query and header parameters of a request against their declarations. It fails with
// ErrInvalidParameter's code and lists every faulty parameter in the details.
func CheckParameters(
	ctx context.Context, in *openapi3filter.RequestValidationInput, declared []*openapi3.Parameter,
) error {
	in.Options = &openapi3filter.Options{SkipSettingDefaults: true, SchemaValidationOptions: validation}
	var k checker
	for _, p := range declared {
		if err := openapi3filter.ValidateParameter(ctx, in, p); err != nil {
			k.parameterFault(p, err)
		}
	}
	if len(k.faults) == 0 {
		return nil
	}
	e := k.failure()
	e.Code = ErrInvalidParameter.Code
	return e
}

// parameterFault notes the fault of a parameter.
func (k *checker) parameterFault(p *openapi3.Parameter, err error) {
	k.path = append(k.path[:0], step{p.Name, -1})
	var found *openapi3.SchemaError
	if errors.As(err, &found) {
		k.schemaFaults(err)
		return
	}
	if p.Schema != nil {
		k.mustBe(typeNames(p.Schema.Value)) // not readable as its type
		return
	}
	k.fault("property_invalid", "", map[string]any{"property": p.Name, "reason": "schema"})
}
