package main

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/egress"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/tracing"
)

// newEgress makes the client that calls webhooks.
func newEgress(s *settings) (*egress.Client, error) {
	o := egress.Options{Agent: "Loyalty-Webhooks/1"}
	for _, text := range s.webhooksAllow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fault("webhooks-allow", "%q is not a network, such as 10.0.0.0/8", text)
		}
		o.Allow = append(o.Allow, p.Masked())
	}

	if s.egressProxy != "" {
		u, err := url.Parse(s.egressProxy)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, fault("egress-proxy", "is not the address of a proxy, such as http://proxy.internal:3128")
		}
		o.Proxy = u
	}

	return egress.NewClient(o), nil
}

// webhookRules are the dependencies of changes of webhooks.
func webhookRules(c *egress.Client) admin.WebhookRules {
	return admin.WebhookRules{URLFault: c.URLFault, NewSecret: egress.NewSecret, NewPrivateKey: egress.NewPrivateKey,
		PublicKey: egress.PublicKey, Sign: egress.Sign, Notices: webhook.NoticeNames(), Version: webhook.Version}
}

// newDeliverer makes the deliverer of webhooks.
func (a *app) newDeliverer(c *egress.Client, traces *tracing.Tracing) *webhook.Deliverer {
	o := webhook.Options{
		Store: a.store, Engine: a.engine, Sender: c, Crowded: a.engine.Crowded,
		Zone:     func() *time.Location { return a.directory.Programme().Location },
		Renderer: administration.NewWebhookMessages(a.store, a.directory.Programme),
		Report:   func(err error) { a.logger.Error("webhooks", "error", err) },
		Told: func(kind string, w *loyalty.Webhook) {
			a.logger.Warn(kind, "webhook", w.ID.String(), "failures", w.Health.Failures,
				"since", w.Health.FailingSince, "reason", w.Reason)
		},
	}

	if a.metrics != nil {
		o.Attempted = a.metrics.Attempted
	}
	if traces != nil {
		o.Tracer = traces
	}

	return webhook.New(o)
}
