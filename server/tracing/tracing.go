// Package tracing traces requests, to show where their time goes: a span for each request, for the batch that decided
// it, for reading, deciding and writing, and for each attempt to deliver to a webhook, sent to a collector (OTLP over
// HTTP). Only OpenTelemetry's environment variables configure it. It is the only importer of its libraries.
package tracing

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes spans and sends them. It is safe for concurrent use.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	database string // OpenTelemetry's name of it
	report   func(error)
	events   places
}

// Options are the parts of a Tracing besides the environment.
type Options struct {
	Version  string // of the program
	Embedded bool   // the database is SQLite
	// Report receives the errors of spans that could not be sent.
	Report func(error)
}

// New makes a Tracing from the environment; nil if that names no collector, or turns tracing off. Its errors name the
// variable.
func New(ctx context.Context, o Options) (*Tracing, error) {
	wanted, err := configured()
	if !wanted || err != nil {
		return nil, err
	}

	sampler, err := samplerOf(os.Getenv("OTEL_TRACES_SAMPLER"), os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
	if err != nil {
		return nil, err
	}

	otel.SetErrorHandler(otel.ErrorHandlerFunc(o.Report))
	exporter, err := otlptracehttp.New(ctx) // it reads its variables itself
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}

	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "loyalty"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}

	database := "postgresql"
	if o.Embedded {
		database = "sqlite"
	}

	t := &Tracing{database: database, report: o.Report, provider: sdk.NewTracerProvider(
		sdk.WithBatcher(exporter), sdk.WithResource(about), sdk.WithSampler(sampler), sdk.WithIDGenerator(ids{}))}
	t.tracer = t.provider.Tracer("github.com/loyalty-platform/loyalty")
	return t, nil
}

// lastSpans is how long Close waits for the collector.
const lastSpans = 5 * time.Second

// Close sends the remaining spans. A nil Tracing does nothing.
func (t *Tracing) Close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastSpans)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.report(err)
	}
}

// Reads returns the function that receives database queries; nil without tracing.
func (t *Tracing) Reads() func(ctx context.Context, kind string, began time.Time) {
	if t == nil {
		return nil
	}
	return t.asked
}

// configured reports whether spans are wanted; it fails for a protocol that is not supported.
func configured() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}

	endpoint, name := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	exporter := os.Getenv("OTEL_TRACES_EXPORTER")
	if endpoint == "" || exporter == "none" {
		return false, nil
	}
	if exporter != "" && exporter != "otlp" {
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not supported; use otlp, or none to switch traces off",
			exporter)
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, fmt.Errorf("%s: is not the address of a collector, such as http://127.0.0.1:4318", name)
	}
	if protocol, name := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" &&
		protocol != "http/protobuf" {
		return false, fmt.Errorf("%s: %q is not supported; use http/protobuf", name, protocol)
	}

	return true, nil
}

// first is the value of the first variable that is set, and its name.
func first(names ...string) (value, name string) {
	for _, name = range names {
		if value = os.Getenv(name); value != "" {
			return value, name
		}
	}
	return "", name
}
