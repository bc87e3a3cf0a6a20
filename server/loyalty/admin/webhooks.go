package admin

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// maxWebhooks limits the webhooks that every event is compared with.
const maxWebhooks = 100

// Webhooks changes webhooks, and reads them.
type Webhooks struct {
	*Admin
	rules WebhookRules
	store loyalty.WebhookReader
}

// NewWebhooks makes a Webhooks whose changes are made by an Admin.
func NewWebhooks(a *Admin, store loyalty.WebhookReader, rules WebhookRules) *Webhooks {
	return &Webhooks{Admin: a, rules: rules, store: store}
}

// webhookRun is an administrative transaction on webhooks.
type webhookRun struct {
	*adminRun
	loyalty.WebhookAdminTx
}

// changing is change for a webhook.
func changing[T any](
	ctx context.Context, a *Webhooks, call Call, work func(*webhookRun) (T, error), public func(T) any,
) (Done[T], error) {
	return change(ctx, a.Admin, call, func(r *adminRun) (T, error) {
		return work(&webhookRun{r, r.AdminTx.(loyalty.WebhookAdminTx)})
	}, public)
}

// WebhookRules is the knowledge about webhooks from packages that this one does not import.
type WebhookRules struct {
	// URLFault returns what is wrong with an address, as the name of a message with its arguments;
	// empty if nothing is.
	URLFault func(url string) (name string, args map[string]any)
	// NewSecret makes a secret that signs messages and is shared with their receiver; NewPrivateKey
	// makes a key that only signs, whose PublicKey verifies. PublicKey of a shared secret is empty.
	NewSecret, NewPrivateKey func() string
	PublicKey                func(secret string) string
	// Sign signs the message with an id that is sent at an instant.
	Sign func(secret, id string, at time.Time, body []byte) string
	// Notices are the types of messages that are not about an event.
	Notices []string
	Version string // of messages; the newest
}

// WebhookChange is a change of a webhook, or a new one. Nil fields stay unchanged, or have their
// default.
type WebhookChange struct {
	Label, URL, Filter, Format *string
	Types, Include             *[]string
	Headers                    *map[string]string
	Concurrency                *int
	Ordering, Version          *string // of a new one
	Signature                  *string // likewise
	// ConfirmPersonal confirms that personal data may be sent to this address.
	ConfirmPersonal bool
}

// webhookRecord is a webhook as the audit trail shows it, without secrets.
type webhookRecord struct {
	Label       string               `json:"label"`
	URL         string               `json:"url"`
	Types       []string             `json:"types"`
	Filter      string               `json:"filter,omitempty"`
	Ordered     bool                 `json:"ordered"`
	Version     string               `json:"version"`
	Include     []string             `json:"include"`
	Format      string               `json:"format"`
	HeaderNames []string             `json:"header_names"`
	Concurrency int                  `json:"concurrency"`
	State       loyalty.WebhookState `json:"state"`
	// OldSecretsUntil is when the secrets before the newest end, while a rotation overlaps.
	OldSecretsUntil *time.Time `json:"old_secrets_until,omitempty"`
}

func recordWebhook(w *loyalty.Webhook) webhookRecord {
	r := webhookRecord{
		Label: w.Label, URL: w.URL, Types: w.Types, Filter: w.Filter, Ordered: w.Ordered, Version: w.Version,
		Include: w.Include, Format: w.Format,
		HeaderNames: HeaderNames(w), Concurrency: w.Concurrency, State: w.State,
	}
	if len(w.Secrets) > 1 {
		r.OldSecretsUntil = instantOrNil(w.Secrets[1].ExpiresAt)
	}
	return r
}

// HeaderNames returns the names of a webhook's own headers, sorted.
func HeaderNames(w *loyalty.Webhook) []string {
	names := []string{}
	for name := range w.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Webhooks lists all webhooks, newest first, with the secrets in force without their values.
func (a *Webhooks) Webhooks(ctx context.Context) ([]loyalty.Webhook, error) {
	all, err := a.store.Webhooks(ctx)
	for i := range all {
		all[i] = a.withoutSecrets(all[i])
	}
	return all, err
}

// Backlogs counts the undelivered messages of each webhook.
func (a *Webhooks) Backlogs(ctx context.Context) (map[loyalty.ID]loyalty.WebhookBacklog, error) {
	return a.store.Backlogs(ctx)
}

// Webhook returns one webhook as Webhooks does. It fails with ErrWebhookNotFound.
func (a *Webhooks) Webhook(ctx context.Context, id string) (loyalty.Webhook, error) {
	key, err := webhookID(id)
	if err != nil {
		return loyalty.Webhook{}, err
	}
	w, err := a.store.Webhook(ctx, key)
	return a.withoutSecrets(w), err
}

// Deliveries lists deliveries of a webhook. It fails with ErrWebhookNotFound.
func (a *Webhooks) Deliveries(ctx context.Context, id string, q loyalty.DeliveryQuery) ([]loyalty.Delivery, error) {
	key, err := webhookID(id)
	if err != nil {
		return nil, err
	}
	q.Webhook = key
	return a.store.Deliveries(ctx, q)
}

// Delivery returns a delivery with its webhook and its attempts. It fails with ErrWebhookNotFound and
// ErrDeliveryNotFound.
func (a *Webhooks) Delivery(
	ctx context.Context, id, number string,
) (w loyalty.Webhook, d loyalty.Delivery, log []loyalty.Attempt, err error) {
	if w, err = a.Webhook(ctx, id); err != nil {
		return w, d, nil, err
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != number {
		return w, d, nil, loyalty.ErrDeliveryNotFound.With("delivery", number)
	}
	d, log, err = a.store.Delivery(ctx, w.ID, n)
	return w, d, log, err
}

// signatureShown is how many characters of a signature are shown: enough to tell two apart, too few to use one.
const signatureShown = 12

// Signatures returns the beginnings of the signatures that a message would have now, one for each secret in force.
func (a *Webhooks) Signatures(ctx context.Context, w loyalty.ID, id string, at time.Time, body []byte) (string, error) {
	found, err := a.store.Webhook(ctx, w)
	if err != nil {
		return "", err
	}
	var all []string
	for _, s := range secretsInForce(found.Secrets, a.now()) {
		if signed := a.rules.Sign(s.Value, id, at, body); len(signed) > signatureShown {
			all = append(all, signed[:signatureShown]+"…")
		}
	}
	return strings.Join(all, " "), nil
}

func webhookID(text string) (loyalty.ID, error) {
	id, err := uuid.Parse(text)
	if err != nil || id == (loyalty.ID{}) {
		return loyalty.ID{}, loyalty.ErrWebhookNotFound.With("webhook", text)
	}
	return id, nil
}

// withoutSecrets returns a webhook with only the public keys of the secrets in force.
func (a *Webhooks) withoutSecrets(w loyalty.Webhook) loyalty.Webhook {
	w.Secrets = secretsInForce(w.Secrets, a.now())
	for i := range w.Secrets {
		if s := &w.Secrets[i]; s.Value != "" {
			s.Public, s.Value = a.rules.PublicKey(s.Value), ""
		}
	}
	return w
}

func (a *Webhooks) storableWebhook(w loyalty.Webhook) any { return a.withoutSecrets(w) }

// signing makes the secret of a webhook, for a new one or to replace one of its kind.
func (a *Webhooks) signing(private bool) string {
	if private {
		return a.rules.NewPrivateKey()
	}
	return a.rules.NewSecret()
}

// shown returns a webhook with its newest secret, if the receiver needs to have it.
func (a *Webhooks) shown(w loyalty.Webhook, secret string) loyalty.Webhook {
	if w = a.withoutSecrets(w); w.Secrets[0].Public == "" {
		w.Secrets[0].Value = secret
	}
	return w
}

// CreateWebhook makes a webhook that is sent events from now on. The value of its secret, in
// Secrets[0], is never shown again. It fails with an error of kind Invalid that names the field,
// with ErrAPIForbidden, ErrPersonalNeeded and ErrWebhooksMany.
func (a *Webhooks) CreateWebhook(ctx context.Context, call Call, c WebhookChange) (Done[loyalty.Webhook], error) {
	return changing(ctx, a, call, func(r *webhookRun) (w loyalty.Webhook, err error) {
		if err := r.mayTell(); err != nil {
			return w, err
		}

		n, err := r.CountWebhooks()
		if err == nil && n >= maxWebhooks {
			err = loyalty.ErrWebhooksMany.With("limit", maxWebhooks)
		}
		if err != nil {
			return w, err
		}

		w = loyalty.Webhook{
			ID: r.next(r.now), Ordered: c.Ordering == nil || *c.Ordering != "none", Version: a.rules.Version,
			Format: "json", Concurrency: 8,
			State:     loyalty.WebhookActive,
			Secrets:   []loyalty.Secret{{Value: a.signing(c.Signature != nil && *c.Signature == "ed25519"), CreatedAt: r.now}},
			CreatedAt: r.now,
		}

		if c.Version != nil {
			w.Version = *c.Version
		}
		if w.Cursor, err = r.TailHead(); err == nil {
			err = a.applyWebhook(ctx, r, c, &w)
		}
		if err != nil {
			return w, err
		}

		w.Health.Pace = w.Concurrency
		if err := r.SaveWebhook(w); err != nil {
			return w, err
		}

		return a.shown(w, w.Secrets[0].Value), r.auditWebhook("webhook.create", nil, &w)
	}, a.storableWebhook)
}

// UpdateWebhook changes a webhook. It fails as CreateWebhook does, and with
// ErrWebhookNotFound.
func (a *Webhooks) UpdateWebhook(
	ctx context.Context, call Call, id string, c WebhookChange,
) (Done[loyalty.Webhook], error) {
	return a.editWebhook(ctx, call, id, "webhook.update", func(r *webhookRun, w *loyalty.Webhook) error {
		types, filter := w.Types, w.Filter
		if err := a.applyWebhook(ctx, r, c, w); err != nil {
			return err
		}
		if filter != w.Filter || !slices.Equal(types, w.Types) {
			w.Revision++ // waiting deliveries are judged again
		}
		return nil
	})
}

// RotateWebhook gives a webhook a new secret, whose value, in Secrets[0], is never shown again. The
// previous one signs as well during the overlap, at most 30 days.
func (a *Webhooks) RotateWebhook(
	ctx context.Context, call Call, id string, overlap time.Duration,
) (Done[loyalty.Webhook], error) {
	if overlap > maxOverlap {
		return Done[loyalty.Webhook]{},
			programme.Fault("overlap_seconds", "too_large", map[string]any{"limit": int(maxOverlap / time.Second)})
	}
	fresh := ""
	done, err := a.editWebhook(ctx, call, id, "webhook.rotate", func(r *webhookRun, w *loyalty.Webhook) error {
		fresh = a.signing(a.rules.PublicKey(w.Secrets[0].Value) != "")
		w.Secrets = append([]loyalty.Secret{{Value: fresh, CreatedAt: r.now}}, ending(w.Secrets, r.now, overlap)...)
		return nil
	})
	if err == nil && done.Replayed == nil {
		done.Value = a.shown(done.Value, fresh)
	}
	return done, err
}

// PauseWebhook stops sending until the webhook is resumed. It fails with ErrWebhookState if it is
// disabled.
func (a *Webhooks) PauseWebhook(ctx context.Context, call Call, id string) (Done[loyalty.Webhook], error) {
	return a.editWebhook(ctx, call, id, "webhook.pause", func(_ *webhookRun, w *loyalty.Webhook) error {
		if w.State == loyalty.WebhookDisabled {
			return loyalty.ErrWebhookState.With("state", string(w.State))
		}
		w.State = loyalty.WebhookPaused
		return nil
	})
}

// ResumeWebhook starts sending again: everything since it was paused, or with skip only what
// happens from now on.
func (a *Webhooks) ResumeWebhook(ctx context.Context, call Call, id string, skip bool) (Done[loyalty.Webhook], error) {
	return a.editWebhook(ctx, call, id, "webhook.resume", func(r *webhookRun, w *loyalty.Webhook) error {
		if w.State == loyalty.WebhookActive {
			return nil
		}
		w.State, w.Reason, w.Health = loyalty.WebhookActive,
			"", loyalty.WebhookHealth{Pace: 1, LastSuccessAt: w.Health.LastSuccessAt}
		return r.ResumeWebhook(w.ID, skip, r.now)
	})
}

// editWebhook is the common part of all changes of an existing webhook.
func (a *Webhooks) editWebhook(
	ctx context.Context, call Call, id, action string, edit func(*webhookRun, *loyalty.Webhook) error,
) (Done[loyalty.Webhook], error) {
	return changing(ctx, a, call, func(r *webhookRun) (loyalty.Webhook, error) {
		w, err := r.webhook(id)
		if err != nil {
			return w, err
		}

		before := w
		if err := edit(r, &w); err != nil {
			return w, err
		}
		// the record has neither the values of headers nor the secrets
		if unchanged(recordWebhook(&before), recordWebhook(&w)) && maps.Equal(before.Headers, w.Headers) &&
			slices.Equal(before.Secrets, w.Secrets) {
			return a.withoutSecrets(before), nil
		}

		w.UpdatedAt = r.now
		if err := r.SaveWebhook(w); err != nil {
			return w, err
		}

		return a.withoutSecrets(w), r.auditWebhook(action, &before, &w)
	}, a.storableWebhook)
}

// webhook returns a webhook that will be changed or will send. It fails with ErrWebhookNotFound, and as mayTell does.
func (r *webhookRun) webhook(id string) (loyalty.Webhook, error) {
	if err := r.mayTell(); err != nil {
		return loyalty.Webhook{}, err
	}
	key, err := webhookID(id)
	if err != nil {
		return loyalty.Webhook{}, err
	}
	w, found, err := r.Webhook(key)
	if err == nil && !found {
		err = loyalty.ErrWebhookNotFound.With("webhook", id)
	}
	return w, err
}

// active is webhook for operations that need an active one. It fails with ErrWebhookState.
func (r *webhookRun) active(id string) (loyalty.Webhook, error) {
	w, err := r.webhook(id)
	if err == nil && w.State != loyalty.WebhookActive {
		err = loyalty.ErrWebhookState.With("state", string(w.State))
	}
	return w, err
}

// auditWebhook records a change. Permission to send personal data is a separate line.
func (r *webhookRun) auditWebhook(action string, before, after *loyalty.Webhook) error {
	var was any
	if before != nil {
		was = recordWebhook(before)
	}
	if err := r.audit(action, after.ID.String(), was, recordWebhook(after)); err != nil {
		return err
	}
	if !after.Has(loyalty.IncludePersonal) || before != nil && before.Has(loyalty.IncludePersonal) &&
		before.URL == after.URL {
		return nil
	}
	return r.audit("webhook.personal", after.ID.String(), nil, map[string]string{"url": after.URL})
}
