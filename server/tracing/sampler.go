package tracing

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler decides which traces are sampled: as OTEL_TRACES_SAMPLER says, and those of batches with a sampled caller.
type sampler struct{ sdk.Sampler }

// followed marks the context of a span that is made whatever the sampler says.
type followed struct{}

// ShouldSample implements the library's interface.
func (s sampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.ParentContext.Value(followed{}) != nil {
		return sdk.AlwaysSample().ShouldSample(p)
	}
	return s.Sampler.ShouldSample(p)
}

// samplerOf reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func samplerOf(name, arg string) (sdk.Sampler, error) {
	ratio := 1.0
	if arg != "" {
		var err error
		if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q must be a number from 0 to 1", arg)
		}
	}

	switch name {
	case "", "parentbased_always_on":
		return sampler{sdk.ParentBased(sdk.AlwaysSample())}, nil
	case "parentbased_always_off":
		return sampler{sdk.ParentBased(sdk.NeverSample())}, nil
	case "parentbased_traceidratio":
		return sampler{sdk.ParentBased(sdk.TraceIDRatioBased(ratio))}, nil
	case "always_on":
		return sampler{sdk.AlwaysSample()}, nil
	case "always_off":
		return sampler{sdk.NeverSample()}, nil
	case "traceidratio":
		return sampler{sdk.TraceIDRatioBased(ratio)}, nil
	}

	return nil, fmt.Errorf("OTEL_TRACES_SAMPLER: %q must be always_on, always_off or traceidratio, or one of these with parentbased_ before it", name)
}

// ids makes the ids of spans, and of traces whose id is not given.
type ids struct{}

// given is the context key for the id of the trace that a span begins.
type given struct{}

// NewIDs implements the library's interface.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(given{}).(trace.TraceID)
	for !ok || !id.IsValid() {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // no secret
		binary.BigEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // no secret
		ok = true
	}
	return id, ids{}.NewSpanID(ctx, id)
}

// NewSpanID implements the library's interface.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // no secret
	}
	return id
}
