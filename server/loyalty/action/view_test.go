package action_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// kinds are the names of the ways to fail, as scenario files write them.
var kinds = map[loyalty.Kind]string{
	loyalty.Internal: "internal", loyalty.Invalid: "invalid", loyalty.NotFound: "not found", loyalty.Conflict: "conflict",
	loyalty.Refused: "refused", loyalty.Forbidden: "forbidden", loyalty.Unavailable: "unavailable",
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// optional is an instant of a view: null where there is none.
func optional(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return instant(t)
}

// eventsOf shows recorded events as a scenario writes them; wanted says which
// of the optional parts to show.
func eventsOf(t *testing.T, events []loyalty.Event, wanted []wantEvent, whose func(loyalty.ID) loyalty.Customer) []wantEvent {
	place := map[loyalty.ID]int{}
	shown := make([]wantEvent, len(events))
	for i, e := range events {
		place[e.ID] = i
		v := wantEvent{Action: e.Action, ExpDate: instant(e.ExpDate)}
		if e.Points != nil {
			v.Points = *e.Points
		}

		if e.Parent != (loyalty.ID{}) {
			parent, ok := place[e.Parent]
			require.True(t, ok, "the parent of %s is recorded before it", e.Action)
			v.Parent = &parent
		}

		if i < len(wanted) {
			whole := &loyalty.EventPage{Events: events[:i+1], Keys: map[loyalty.ID][]byte{e.Customer: whose(e.Customer).Key}}
			if parent, ok := place[e.Parent]; ok {
				whole.Parents = map[loyalty.ID]loyalty.Event{e.Parent: events[parent]}
			}
			v.addOptional(t, e, wanted[i], whose, whole)
		}

		shown[i] = v
	}

	return shown
}

func (v *wantEvent) addOptional(t *testing.T, e loyalty.Event, w wantEvent, whose func(loyalty.ID) loyalty.Customer, whole *loyalty.EventPage) {
	if w.Customer != "" {
		v.Customer = whose(e.Customer).Name
	}
	if w.Change != nil {
		v.Change = &e.Change
	}
	if w.At != "" {
		v.At = instant(e.At)
	}
	if w.Transaction != "" {
		v.Transaction = e.Transaction
	}

	// A line is shown with what it inherits; without the key that is what is open.
	open, err := (&loyalty.EventPage{Parents: whole.Parents}).Attributes(&e)
	require.NoError(t, err)
	if w.Data != nil {
		v.Data = project(w.Data, decode(t, open)).(map[string]any)
	}
	if w.Personal == nil {
		return
	}

	if e.Inherits() {
		v.Personal = project(w.Personal, sealedIn(t, whole, &e, open)).(map[string]any)
		return
	}

	sealed := map[string]any{}
	if e.Personal != nil {
		opened, err := loyalty.Open(whose(e.Customer).Key, e.ID[:], e.Personal)
		require.NoError(t, err, "what is personal in %s opens under the customer's key", e.Action)
		sealed = decode(t, opened).(map[string]any)
	}

	v.Personal = project(w.Personal, sealed).(map[string]any)
}

// sealedIn is what the key adds to the attributes that are open.
func sealedIn(t *testing.T, whole *loyalty.EventPage, e *loyalty.Event, open []byte) map[string]any {
	all, err := whole.Attributes(e)
	require.NoError(t, err)
	shown, sealed := decode(t, open).(map[string]any), decode(t, all).(map[string]any)
	for name := range shown {
		delete(sealed, name)
	}
	return sealed
}

func figuresOf(f points.Figures) figures {
	return figures{f.Score, f.Spent, f.Reserved, f.Expired, f.Pending, f.Debt, f.Spendable()}
}

func lotsOf(lots []points.Lot, lastActivity time.Time, zone *time.Location) []lot {
	shown := make([]lot, len(lots))
	for i, l := range lots {
		shown[i] = lot{
			Points: l.Points, Remaining: l.Remaining, Reserved: l.Reserved,
			Earned: instant(l.EarnedAt), Expires: instant(l.Expiry(lastActivity, zone)), Transaction: l.Transaction,
		}
	}
	return shown
}

func customerView(t *testing.T, c loyalty.Customer) any {
	p := c.Profile
	view := map[string]any{
		"id": c.Name, "status": c.Status, "labels": p.Labels, "external_ids": p.ExternalIDs,
		"custom": p.Custom, "created_at": instant(c.CreatedAt), "updated_at": instant(c.UpdatedAt),
		"due_at": optional(c.DueAt), "last_activity_at": optional(c.LastActivityAt),
	}
	for _, field := range loyalty.ProfileTexts {
		view[field.Name] = *field.Of(&p)
	}
	return plain(t, view)
}

func transactionView(t *testing.T, tx loyalty.Transaction) any {
	items := make([]map[string]any, len(tx.Detail.Items))
	for i, l := range tx.Detail.Items {
		items[i] = map[string]any{
			"product_id": l.ProductID, "quantity": l.Quantity, "subtotal": l.Subtotal, "points": l.Points,
			"returned": l.Returned, "taken_back": l.TakenBack, "data": l.Data,
		}
	}

	var returned any // null where it is not
	if tx.Detail.Returned {
		returned = true
	}

	return plain(t, map[string]any{
		"id": tx.Name, "state": tx.State, "returned": returned, "checkout_date": instant(tx.CheckoutDate),
		"auto_accept": optional(tx.AutoAccept), "auto_reject": tx.AutoReject,
		"total": money.Amount(tx.Total), "original_total": money.Amount(tx.OriginalTotal), "refunded": money.Amount(tx.Refunded),
		"earned": tx.Earned, "original_earned": tx.OriginalEarned,
		"burned": tx.Burned, "original_burned": tx.OriginalBurned,
		"attributes": tx.Detail.Attributes, "items": items,
	})
}

// allProgress are all kinds of progress.
const allProgress = ^loyalty.ProgressKinds(0)

// progressKinds are the kinds as scenario files write them.
var progressKinds = map[loyalty.ProgressKind]string{
	loyalty.ProgressTier: "tier", loyalty.ProgressChallenge: "challenge", loyalty.ProgressReward: "reward",
	loyalty.ProgressContest: "contest", loyalty.ProgressWheel: "wheel", loyalty.ProgressTreasure: "treasure",
	loyalty.ProgressOffer: "offer", loyalty.ProgressCampaign: "campaign", loyalty.ProgressQuiz: "quiz",
	loyalty.ProgressFlow: "flow", loyalty.ProgressHeld: "held", loyalty.ProgressReferral: "referral",
}

// progressView shows progress by kind and key, with its date as due_at.
func progressView(t *testing.T, all map[loyalty.ProgressKey]loyalty.Progress) any {
	view := map[string]any{}
	for key, p := range all {
		var data map[string]any
		require.NoError(t, json.Unmarshal(p.Data, &data))
		data["due_at"] = optional(p.DueAt)
		view[progressKinds[key.Kind]+"/"+key.Key] = data
	}
	return plain(t, view)
}

func claimsView(t *testing.T, claims map[loyalty.ID]loyalty.RewardClaim) any {
	view := []any{}
	for _, id := range slices.SortedFunc(maps.Keys(claims), loyalty.CompareID) {
		c := claims[id]
		view = append(view, map[string]any{
			"id": id.String(), "reward": c.Reward, "state": c.State, "points": c.Points, "coupon": c.Coupon, "claimed_at": instant(c.ClaimedAt),
		})
	}
	return plain(t, view)
}

func couponView(c loyalty.Coupon, holder any) any {
	uses := []any{}
	for _, u := range c.Uses {
		uses = append(uses, map[string]any{"at": instant(u.At), "amount": u.Amount, "transaction": u.Transaction, "before": u.Before, "cost": u.Cost})
	}
	return map[string]any{
		"status": c.State, "customer": holder, "type": c.Type, "value": money.Amount(c.Value), "balance": money.Amount(c.Balance), "currency": c.Currency,
		"name": c.Name, "pool": c.Pool, "reward": c.Reward, "cost": money.Amount(c.Cost), "stores": c.Stores, "products": c.Products,
		"created_at": instant(c.CreatedAt), "claimed_at": optional(c.ClaimedAt), "redeemed_at": optional(c.RedeemedAt),
		"expires_at": optional(c.ExpiresAt), "uses": uses,
	}
}

// project keeps of got what want names, so that the rest is not compared. A
// name that got does not have is null.
func project(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		kept := make(map[string]any, len(w))
		for name := range w {
			kept[name] = project(w[name], g[name])
		}
		return kept

	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return got
		}
		kept := make([]any, len(w))
		for i := range w {
			kept[i] = project(w[i], g[i])
		}
		return kept
	}

	return got
}

// plain gives a value as its JSON reads.
func plain(t *testing.T, v any) any {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return decode(t, raw)
}

func decode(t *testing.T, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), string(raw))
	return v
}

func pretty(t *testing.T, v any) string {
	raw, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	return string(raw)
}
