package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestKeyLife(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		ctx := t.Context()
		k := d.Create(t, admin.KeyChange{
			Label: new("Till"), APIs: new([]string{"events", "customers", "events"}), ReadOnly: new(true),
			Addresses: new([]string{"192.0.2.7/24", "2001:db8::1", "::ffff:198.51.100.4"}), RateLimit: new(2000), ExpiresAt: new(d.Now().Add(time.Hour).Format(time.RFC3339Nano)),
		})

		require.Regexp(t, `^LK[A-HJ-NP-Z2-9]{14}$`, k.ID)
		require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, k.Secrets[0].Value)
		require.Equal(t, []string{"customers", "events"}, k.APIs)
		require.Equal(t, []string{"192.0.2.0/24", "198.51.100.4/32", "2001:db8::1/128"}, k.Addresses)

		inForce, ok := d.Directory.Key(k.ID)
		require.True(t, ok, "the directory knows a new key at once")
		require.Equal(t, k, *inForce)

		shown, err := d.Key(ctx, k.ID)
		require.NoError(t, err)
		require.Empty(t, shown.Secrets[0].Value)
		require.Equal(t, k.CreatedAt, shown.Secrets[0].CreatedAt)

		changed, err := d.UpdateKey(ctx, loyaltytest.Caller, k.ID, admin.KeyChange{ReadOnly: new(false), APIs: new([]string{}), ExpiresAt: new("")})
		require.NoError(t, err)
		require.False(t, changed.Value.ReadOnly)
		require.Empty(t, changed.Value.APIs)
		require.True(t, changed.Value.ExpiresAt.IsZero())
		require.Equal(t, "Till", changed.Value.Label, "what is not sent stays")
		require.Equal(t, 2000, changed.Value.RateLimit)
		require.Empty(t, changed.Value.Secrets[0].Value)
		inForce, _ = d.Directory.Key(k.ID)
		require.Equal(t, k.Secrets[0].Value, inForce.Secrets[0].Value, "an update keeps the secret")

		revoked, err := d.RevokeKey(ctx, loyaltytest.Caller, k.ID)
		require.NoError(t, err)
		require.Equal(t, d.Now(), revoked.Value.RevokedAt)
		require.Empty(t, revoked.Value.Secrets)
		_, ok = d.Directory.Key(k.ID)
		require.False(t, ok)

		_, err = d.UpdateKey(ctx, loyaltytest.Caller, k.ID, admin.KeyChange{Label: new("x")})
		require.ErrorIs(t, err, loyalty.ErrKeyRevoked)
		_, err = d.RotateKey(ctx, loyaltytest.Caller, k.ID, 0)
		require.ErrorIs(t, err, loyalty.ErrKeyRevoked)
		again, err := d.RevokeKey(ctx, loyaltytest.Caller, k.ID)
		require.NoError(t, err)
		require.Equal(t, revoked.Value.RevokedAt, again.Value.RevokedAt, "a second revocation changes nothing")
		_, err = d.Key(ctx, "LKNOBODY")
		require.ErrorIs(t, err, loyalty.ErrKeyNotFound)
		_, err = d.RevokeKey(ctx, loyaltytest.Caller, "LKNOBODY")
		require.ErrorIs(t, err, loyalty.ErrKeyNotFound)
	})
}

func TestKeyRotation(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		first := d.Create(t, admin.KeyChange{})
		d.Wait(time.Second)
		second, err := d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, time.Hour)
		require.NoError(t, err)
		require.Len(t, second.Value.Secrets, 2)
		require.NotEqual(t, first.Secrets[0].Value, second.Value.Secrets[0].Value)
		require.Empty(t, second.Value.Secrets[1].Value, "only the new secret is shown")
		require.Equal(t, []string{second.Value.Secrets[0].Value, first.Secrets[0].Value}, secretsOf(t, d, first.ID))

		d.Wait(time.Hour - time.Millisecond)
		require.Len(t, secretsOf(t, d, first.ID), 2)
		d.Wait(time.Millisecond)
		require.Equal(t, []string{second.Value.Secrets[0].Value}, secretsOf(t, d, first.ID), "the overlap is over")

		third, err := d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, time.Hour)
		require.NoError(t, err)
		fourth, err := d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, 2*time.Hour)
		require.NoError(t, err)
		require.Equal(t, []string{fourth.Value.Secrets[0].Value, third.Value.Secrets[0].Value}, secretsOf(t, d, first.ID), "never more than two")
		last, err := d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, 0)
		require.NoError(t, err)
		require.Equal(t, []string{last.Value.Secrets[0].Value}, secretsOf(t, d, first.ID))

		_, err = d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, -time.Second)
		requireField(t, err, "overlap_seconds", "too_small")
		_, err = d.RotateKey(t.Context(), loyaltytest.Caller, first.ID, 31*24*time.Hour)
		requireField(t, err, "overlap_seconds", "too_large")
	})
}

func secretsOf(t *testing.T, d *desk, id string) (values []string) {
	t.Helper()
	k, ok := d.Directory.Key(id)
	require.True(t, ok)
	for _, s := range k.Secrets {
		values = append(values, s.Value)
	}
	return values
}

func TestKeyExpires(t *testing.T) {
	d := newDesk(t, storetest.SQLite(t))
	k := d.Create(t, admin.KeyChange{ExpiresAt: new(d.Now().Add(time.Minute).Format(time.RFC3339Nano))})
	_, ok := d.Directory.Key(k.ID)
	require.True(t, ok)
	d.Wait(time.Minute)
	_, ok = d.Directory.Key(k.ID)
	require.False(t, ok)
}

func TestKeyFaults(t *testing.T) {
	d := newDesk(t, storetest.SQLite(t))
	long := make([]rune, 256)
	for i := range long {
		long[i] = 'ű'
	}

	for name, c := range map[string]struct {
		change      admin.KeyChange
		field, name string
	}{
		"label long":      {admin.KeyChange{Label: new(string(long))}, "label", "too_long"},
		"label control":   {admin.KeyChange{Label: new("a\nb")}, "label", "control_characters"},
		"api":             {admin.KeyChange{APIs: new([]string{"events", "prizes"})}, "apis[1]", "must_be_one_of"},
		"address":         {admin.KeyChange{Addresses: new([]string{"10.0.0.0/8", "localhost"})}, "addresses[1]", "bad_format"},
		"address zone":    {admin.KeyChange{Addresses: new([]string{"fe80::1%eth0"})}, "addresses[0]", "bad_format"},
		"address mapped":  {admin.KeyChange{Addresses: new([]string{"::ffff:10.0.0.0/104"})}, "addresses[0]", "bad_format"},
		"prefix too long": {admin.KeyChange{Addresses: new([]string{"10.0.0.0/33"})}, "addresses[0]", "bad_format"},
		"many addresses":  {admin.KeyChange{Addresses: new(make([]string, 101))}, "addresses", "too_many"},
		"rate negative":   {admin.KeyChange{RateLimit: new(-1)}, "rate_limit", "too_small"},
		"rate huge":       {admin.KeyChange{RateLimit: new(1_000_001)}, "rate_limit", "too_large"},
		"expiry past":     {admin.KeyChange{ExpiresAt: new(d.Now().Format(time.RFC3339Nano))}, "expires_at", "property_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.CreateKey(t.Context(), loyaltytest.Caller, c.change)
			requireField(t, err, c.field, c.name)
		})
	}

	keys, err := d.Keys(t.Context())
	require.NoError(t, err)
	require.Empty(t, keys, "what is refused leaves nothing")
}

func requireField(t *testing.T, err error, field, name string) {
	t.Helper()
	var e *loyalty.Error
	require.True(t, errors.As(err, &e), "%v", err)
	require.Equal(t, loyalty.Invalid, e.Kind)
	require.Len(t, e.Details, 1)
	require.Equal(t, [2]string{field, name}, [2]string{e.Details[0].Field, e.Details[0].Name})
}

func TestModulesAndSettings(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		ctx := t.Context()
		done, err := d.SetModule(ctx, loyaltytest.Caller, "store module", admin.ModuleChange{Enabled: new(false)})
		require.NoError(t, err)
		require.Equal(t, loyalty.ModuleState{Name: "stores", Config: json.RawMessage(`{}`)}, done.Value)
		require.False(t, d.Directory.Programme().On[programme.ModuleStores])

		_, err = d.SetModule(ctx, loyaltytest.Caller, "points_economy", admin.ModuleChange{Config: json.RawMessage(`{"negative":"refuse"}`)})
		require.NoError(t, err)
		require.True(t, d.Directory.Programme().Economy.NegativeRefuse)
		m, err := d.Module(ctx, "points-economy")
		require.NoError(t, err)
		require.JSONEq(t, `{"expiry":{"policy":"none"},"negative":"refuse","reminders":{"points":[30,7],"tiers":[30,7],"coupons":[7],"challenges":[3],"birthday":true,"anniversary":true,"inactivity":[]}}`, string(m.Config))
		_, err = d.SetModule(ctx, loyaltytest.Caller, "points_economy", admin.ModuleChange{Enabled: new(true), Config: json.RawMessage(`null`)})
		require.NoError(t, err)
		require.True(t, d.Directory.Programme().Economy.NegativeRefuse, "without a configuration the old one stays")

		before := d.Directory.Programme()
		_, err = d.SetModule(ctx, loyaltytest.Caller, "points_economy", admin.ModuleChange{Config: json.RawMessage(`{"negative":"maybe"}`)})
		requireField(t, err, "config.negative", "must_be_one_of")
		_, err = d.SetModule(ctx, loyaltytest.Caller, "teleport", admin.ModuleChange{Enabled: new(true)})
		require.ErrorIs(t, err, loyalty.ErrModuleUnknown)
		require.Same(t, before, d.Directory.Programme())

		settings, err := d.SetSettings(ctx, loyaltytest.Caller, admin.SettingsChange{TimeZone: new("Europe/Budapest"), AcceptanceWindow: new(time.Minute)})
		require.NoError(t, err)
		require.Equal(t, loyalty.Settings{Currency: "EUR", TimeZone: "Europe/Budapest", AcceptanceWindow: time.Minute}, settings.Value)
		require.Equal(t, "Europe/Budapest", d.Directory.Programme().Location.String())
		_, err = d.SetSettings(ctx, loyaltytest.Caller, admin.SettingsChange{Currency: new("forint")})
		requireField(t, err, "currency", "bad_format")
		stored, err := d.Settings(ctx)
		require.NoError(t, err)
		require.Equal(t, settings.Value, stored)

		all, err := d.Modules(ctx)
		require.NoError(t, err)
		require.Len(t, all, len(programme.ModuleNames()))
	})
}

func TestAudit(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		ctx := t.Context()
		k := d.Create(t, admin.KeyChange{Label: new("Till")})
		rotated, err := d.RotateKey(ctx, loyaltytest.Caller, k.ID, time.Hour)
		require.NoError(t, err)
		_, err = d.SetModule(ctx, admin.Call{KeyID: "LKMANAGER"}, "stores", admin.ModuleChange{Enabled: new(false)})
		require.NoError(t, err)
		_, err = d.SetModule(ctx, loyaltytest.Caller, "stores", admin.ModuleChange{Config: json.RawMessage(`{"x":1}`)})
		require.Error(t, err)
		d.Wait(time.Second)
		_, err = d.RevokeKey(ctx, loyaltytest.Caller, k.ID)
		require.NoError(t, err)

		all := auditOf(t, d, loyalty.AuditQuery{Page: loyalty.Page{Limit: 10}})
		require.Len(t, all, 4, "what is refused is not audited")
		require.Equal(t, []string{"key.revoke", "module.update", "key.rotate", "key.create"}, actions(all))
		require.Equal(t, "LKMANAGER", all[1].Actor)
		require.JSONEq(t, `{"enabled":true,"config":{}}`, string(all[1].Before))
		require.JSONEq(t, `{"enabled":false,"config":{}}`, string(all[1].After))
		require.Nil(t, all[3].Before)
		text, err := json.Marshal(all)
		require.NoError(t, err)
		require.NotContains(t, string(text), k.Secrets[0].Value)
		require.NotContains(t, string(text), rotated.Value.Secrets[0].Value)

		eq := func(field string, v any) []loyalty.Condition {
			return []loyalty.Condition{{Field: field, Operator: loyalty.Eq, Values: []any{v}}}
		}
		require.Len(t, auditOf(t, d, loyalty.AuditQuery{Conditions: eq("target", k.ID), Page: loyalty.Page{Limit: 10}}), 3)
		require.Len(t, auditOf(t, d, loyalty.AuditQuery{Conditions: eq("key_id", "LKMANAGER"), Page: loyalty.Page{Limit: 10}}), 1)
		require.Len(t, auditOf(t, d, loyalty.AuditQuery{Conditions: eq("at", d.Now()), Page: loyalty.Page{Limit: 10}}), 1)

		second := auditOf(t, d, loyalty.AuditQuery{Page: loyalty.Page{Limit: 2, After: &loyalty.Cursor{At: all[0].At, ID: all[0].ID}}})
		require.Equal(t, actions(all[1:3]), actions(second))
		back := auditOf(t, d, loyalty.AuditQuery{Page: loyalty.Page{Limit: 2, Before: &loyalty.Cursor{At: all[3].At, ID: all[3].ID}}})
		require.Equal(t, actions(all[1:3]), actions(back))
	})
}

func auditOf(t *testing.T, d *desk, q loyalty.AuditQuery) []loyalty.AuditEntry {
	t.Helper()
	list, err := d.AuditLog(t.Context(), q)
	require.NoError(t, err)
	return list
}

func actions(list []loyalty.AuditEntry) (names []string) {
	for _, e := range list {
		names = append(names, e.Action)
	}
	return names
}

// idempotent makes a call that may be repeated; the answer shows what Render
// was given.
func idempotent(key string, hash byte) admin.Call {
	return admin.Call{KeyID: loyaltytest.Caller.KeyID, Idempotency: &admin.AdminIdempotency{
		AnswerKey: loyalty.AnswerKey{AccessKey: loyaltytest.Caller.KeyID, Key: key}, Hash: [32]byte{hash},
		Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return 422, []byte(err.Error())
			}
			return 201, fmt.Appendf(nil, "%+v", result)
		},
	}}
}

func TestIdempotentCalls(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		ctx := t.Context()
		first, err := d.CreateKey(ctx, idempotent("a", 1), admin.KeyChange{})
		require.NoError(t, err)
		require.Nil(t, first.Replayed)
		require.NotEmpty(t, first.Value.Secrets[0].Value)

		again, err := d.CreateKey(ctx, idempotent("a", 1), admin.KeyChange{})
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
		require.Equal(t, 201, again.Replayed.Status)
		require.Contains(t, string(again.Replayed.Body), first.Value.ID)
		require.NotContains(t, string(again.Replayed.Body), first.Value.Secrets[0].Value, "a stored answer shows no secret")
		require.Empty(t, again.Value.ID)

		_, err = d.CreateKey(ctx, idempotent("a", 2), admin.KeyChange{})
		require.ErrorIs(t, err, loyalty.ErrKeyReused)
		keys, err := d.Keys(ctx)
		require.NoError(t, err)
		require.Len(t, keys, 1, "one effect")

		_, err = d.UpdateKey(ctx, idempotent("b", 1), "LKNOBODY", admin.KeyChange{})
		require.ErrorIs(t, err, loyalty.ErrKeyNotFound)
		refused, err := d.UpdateKey(ctx, idempotent("b", 1), "LKNOBODY", admin.KeyChange{})
		require.NoError(t, err, "a refusal is stored too")
		require.Equal(t, 422, refused.Replayed.Status)

		_, err = d.UpdateKey(ctx, idempotent("c", 1), first.Value.ID, admin.KeyChange{RateLimit: new(-1)})
		requireField(t, err, "rate_limit", "too_small")
		corrected, err := d.UpdateKey(ctx, idempotent("c", 2), first.Value.ID, admin.KeyChange{RateLimit: new(5)})
		require.NoError(t, err, "a malformed request is not stored")
		require.Nil(t, corrected.Replayed)

		d.Wait(loyalty.AnswerLife)
		later, err := d.CreateKey(ctx, idempotent("a", 2), admin.KeyChange{})
		require.NoError(t, err)
		require.Nil(t, later.Replayed, "after 24 hours the key is free again")
	})
}

// TestIdempotencyKeyTakenByAnEvent: an event that takes a key while a change under the same
// one is being decided keeps its answer, and the change is refused as a whole.
func TestIdempotencyKeyTakenByAnEvent(t *testing.T) {
	d := newDesk(t, storetest.Postgres(t)) // SQLite has one writer: there the event waits for the change
	mine := loyalty.Answer{AnswerKey: loyalty.AnswerKey{AccessKey: loyaltytest.Caller.KeyID, Key: "till"}, Hash: [32]byte{9}, Status: 200, Body: []byte("mine"), At: d.Now()}
	times := 0
	call := idempotent("till", 1)
	render := call.Idempotency.Render
	call.Idempotency.Render = func(result any, err error) (int, []byte) {
		if times++; times == 1 {
			require.NoError(t, d.Store.Within(t.Context(), loyalty.Needs{Now: d.Now()}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
				return &loyalty.Writes{Answers: []loyalty.Answer{mine}}, nil
			}))
		}
		return render(result, err)
	}

	_, err := d.CreateKey(t.Context(), call, admin.KeyChange{})
	require.ErrorIs(t, err, loyalty.ErrKeyReused)
	require.Equal(t, 1, times)
	keys, err := d.Keys(t.Context())
	require.NoError(t, err)
	require.Empty(t, keys, "nothing is done under a key that another request has")
	require.NoError(t, d.Store.Change(t.Context(), func(tx loyalty.AdminTx) error {
		kept, found, err := tx.Answer(mine.AnswerKey)
		require.True(t, found)
		require.Equal(t, mine.Hash, kept.Hash)
		return err
	}))
}

// Many callers with one idempotency key have one effect, and all get its answer.
func TestIdempotentCrowd(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		const crowd = 8
		results := make([]admin.Done[loyalty.AccessKey], crowd)
		errs := make([]error, crowd)
		var wait sync.WaitGroup
		for i := range crowd {
			wait.Go(func() {
				results[i], errs[i] = d.CreateKey(context.Background(), idempotent("crowd", 1), admin.KeyChange{})
			})
		}

		wait.Wait()
		fresh := 0
		for i, r := range results {
			require.NoError(t, errs[i])
			if r.Replayed == nil {
				fresh++
			}
		}

		require.Equal(t, 1, fresh)
		keys, err := d.Keys(t.Context())
		require.NoError(t, err)
		require.Len(t, keys, 1)
	})
}

// No secret stands in the clear anywhere in the file, and another master key
// cannot open one.
func TestSecretsAreSealed(t *testing.T) {
	url := storetest.SQLite(t)
	d := newDesk(t, url)
	k := d.Create(t, admin.KeyChange{})
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.ReadFile(url[len("sqlite:"):] + suffix)
		require.NoError(t, err)
		require.NotContains(t, string(file), k.Secrets[0].Value)
	}

	other, err := store.Open(t.Context(), store.Options{URL: url, MasterKey: [32]byte{1}})
	require.NoError(t, err)
	defer other.Close()
	require.ErrorIs(t, other.CheckMasterKey(t.Context()), store.ErrMasterKey)
	seen, err := admin.NewDirectory(t.Context(), admin.DirectoryOptions{Registry: action.Registry(), Store: other})
	require.NoError(t, err)
	_, ok := seen.Key(k.ID)
	require.False(t, ok)
}

// A secret that was damaged costs its key, and nothing else.
func TestOneUnreadableSecret(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := storetest.Open(t, url)
		d := newDesk(t, url)
		damaged, good := d.Create(t, admin.KeyChange{}), d.Create(t, admin.KeyChange{})
		_, err := storetest.Raw(t, url).Exec(`UPDATE key_secrets SET sealed = (SELECT sealed FROM key_secrets WHERE key_id = '` + good.ID + `') WHERE key_id = '` + damaged.ID + `'`)
		require.NoError(t, err)
		var told []string
		seen, err := admin.NewDirectory(t.Context(), admin.DirectoryOptions{Registry: action.Registry(), Store: s, Report: func(err error) { told = append(told, err.Error()) }})
		require.NoError(t, err)
		_, ok := seen.Key(damaged.ID)
		require.False(t, ok)
		k, ok := seen.Key(good.ID)
		require.True(t, ok)
		require.Equal(t, good.Secrets[0].Value, k.Secrets[0].Value)
		require.Len(t, told, 1)
		require.Contains(t, told[0], damaged.ID)
		d.Create(t, admin.KeyChange{}) // administration goes on
	})
}

// Of several processes that find no key, one makes the first.
func TestFirstKeyIsOne(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		type end struct {
			made bool
			err  error
		}

		done := make(chan end)
		const processes = 6
		for range processes {
			a := admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: storetest.Open(t, url)})
			go func() {
				_, made, err := a.CreateFirstKey(t.Context(), loyaltytest.Caller, admin.KeyChange{})
				done <- end{made, err}
			}()
		}

		made := 0
		for range processes {
			e := <-done
			require.NoError(t, e.err)
			if e.made {
				made++
			}
		}

		require.Equal(t, 1, made)
		keys, err := admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: storetest.Open(t, url)}).Keys(t.Context())
		require.NoError(t, err)
		require.Len(t, keys, 1)
	})
}
