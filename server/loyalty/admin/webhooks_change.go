package admin

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// applyWebhook checks a change and makes it, or fails with the field at fault.
func (a *Webhooks) applyWebhook(ctx context.Context, r *webhookRun, c WebhookChange, w *loyalty.Webhook) error {
	w.UpdatedAt = r.now
	had, url := w.Has(loyalty.IncludePersonal), w.URL
	if c.Label != nil {
		if err := checkLabel(*c.Label); err != nil {
			return err
		}
		w.Label = *c.Label
	}

	if c.URL != nil {
		if name, args := a.rules.URLFault(*c.URL); name != "" {
			return programme.Fault("url", name, args)
		}
		w.URL = *c.URL
	}

	if c.Concurrency != nil {
		w.Concurrency = *c.Concurrency
	}
	if c.Format != nil {
		w.Format = *c.Format
	}
	if c.Include != nil {
		w.Include = slices.Sorted(slices.Values(*c.Include))
	}
	if err := a.applyWishes(ctx, r, c, w); err != nil {
		return err
	}
	if w.Has(loyalty.IncludePersonal) && (!had || url != w.URL) && !c.ConfirmPersonal {
		return programme.Fault("confirm_personal", "webhook_confirm", nil)
	}

	return maySendPersonal(ctx, w)
}

// maySendPersonal refuses a webhook with personal data to a user who may not see it, because they could have it sent to
// an address of their own. Keys are programs; mayTell checks them.
func maySendPersonal(ctx context.Context, w *loyalty.Webhook) error {
	if c, console := loyalty.CallerOf(ctx); console && !c.Personal && w.Has(loyalty.IncludePersonal) {
		return loyalty.ErrPersonalNeeded
	}
	return nil
}

// mayNotProbe reports whether a condition on these facts would let a user find out masked data of customers from the
// events that are sent, letter by letter or value by value. The personal attributes of events are not visible to a
// filter.
func mayNotProbe(ctx context.Context, facts []string) bool {
	who, console := loyalty.CallerOf(ctx)
	return console && !who.Personal &&
		slices.ContainsFunc(facts, func(fact string) bool { return strings.HasPrefix(fact, "customer.") })
}

// applyWishes is the part of applyWebhook about the events to send, and their headers.
func (a *Webhooks) applyWishes(ctx context.Context, r *webhookRun, c WebhookChange, w *loyalty.Webhook) error {
	if c.Types != nil {
		p, err := a.programme(r.adminRun)
		if err != nil {
			return err
		}
		for i, t := range *c.Types {
			if !a.knownType(p, t) {
				return programme.Fault(fmt.Sprintf("types[%d]", i), "webhook_type", map[string]any{"value": t})
			}
		}
		w.Types = slices.Sorted(slices.Values(*c.Types))
	}

	if c.Filter != nil {
		compiled, err := programme.CompileCondition("filter", *c.Filter)
		if err != nil {
			return err
		}

		for _, fact := range []string{"transaction", "item"} {
			if compiled.Uses(fact) {
				return programme.Fault("filter", "webhook_fact", map[string]any{"fact": fact})
			}
		}

		filter := *c.Filter
		if compiled == nil { // blank
			filter = ""
		}
		if filter != w.Filter && mayNotProbe(ctx, compiled.Guarded()) {
			return loyalty.ErrPersonalNeeded.At("filter")
		}

		w.Filter = filter
	}

	if c.Headers != nil {
		headers := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(*c.Headers)) { // in order, so that equal requests name the same header
			value := (*c.Headers)[name]
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || ours(name) {
				return programme.Fault("headers."+name, "webhook_header", nil)
			}
			headers[http.CanonicalHeaderKey(name)] = value
		}
		w.Headers = headers
	}

	return nil
}

// ours reports whether a header belongs to the platform or the connection, so that no webhook may
// set it.
func ours(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "webhook-") || strings.HasPrefix(name, "content-") || slices.Contains([]string{
		"host", "user-agent", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade",
		"expect", "accept-encoding",
		"proxy-connection", "proxy-authorization", "date", "traceparent", "tracestate",
	}, name)
}

// knownType reports whether there are messages of a type, or of any type that a pattern matches.
func (a *Webhooks) knownType(p *programme.Programme, t string) bool {
	if prefix, open := strings.CutSuffix(t, "*"); open {
		// a pattern may be shorter than the common prefix of events, such as "ev*"
		shared := min(len(prefix), len(loyalty.EventType))
		return prefix[:shared] == loyalty.EventType[:shared] ||
			slices.ContainsFunc(a.rules.Notices, func(n string) bool { return strings.HasPrefix(n, prefix) })
	}
	action, event := strings.CutPrefix(t, loyalty.EventType)
	return event && slices.Contains(p.Recorded(), action) || slices.Contains(a.rules.Notices, t)
}

// mayTell refuses a key that could not read the events that webhooks send.
func (r *webhookRun) mayTell() error {
	giver, limited := r.giver()
	if !limited || len(giver.APIs) == 0 {
		return nil
	}
	for _, api := range []string{"events", "display"} {
		if !slices.Contains(giver.APIs, api) {
			return loyalty.ErrAPIForbidden.With("api", api)
		}
	}
	return nil
}
