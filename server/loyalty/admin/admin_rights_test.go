package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// TestKeysGiveWhatTheyHave: a key makes no other key, and changes none, itself
// included, into more than it has itself, and takes no secret of one that has more.
func TestKeysGiveWhatTheyHave(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		ctx, end := t.Context(), d.Now().Add(time.Hour)
		small := admin.KeyChange{
			APIs: new([]string{"administration", "events"}), Addresses: new([]string{"192.0.2.0/24"}), RateLimit: new(500), ExpiresAt: new(end.Format(time.RFC3339Nano)),
		}
		giver := d.Create(t, small)
		by := admin.Call{KeyID: giver.ID}
		refused := func(err error, property string) {
			t.Helper()
			require.ErrorIs(t, err, loyalty.ErrRightsExceeded)
			require.Equal(t, property, loyalty.AsError(err).Details[0].Field)
		}

		with := func(change func(*admin.KeyChange)) admin.KeyChange {
			c := small
			change(&c)
			return c
		}

		wider := map[string]admin.KeyChange{
			"apis":       with(func(c *admin.KeyChange) { c.APIs = new([]string{"events", "customers"}) }),
			"addresses":  with(func(c *admin.KeyChange) { c.Addresses = new([]string{"192.0.0.0/16"}) }),
			"rate_limit": with(func(c *admin.KeyChange) { c.RateLimit = new(501) }),
			"expires_at": with(func(c *admin.KeyChange) { c.ExpiresAt = new(end.Add(time.Second).Format(time.RFC3339Nano)) }),
		}

		all := map[string]admin.KeyChange{
			"apis": with(func(c *admin.KeyChange) { c.APIs = nil }), "addresses": with(func(c *admin.KeyChange) { c.Addresses = nil }),
			"rate_limit": with(func(c *admin.KeyChange) { c.RateLimit = nil }), "expires_at": with(func(c *admin.KeyChange) { c.ExpiresAt = nil }),
		}

		same, err := d.CreateKey(ctx, by, small)
		require.NoError(t, err)
		_, err = d.CreateKey(ctx, by, admin.KeyChange{
			APIs: new([]string{"events"}), ReadOnly: new(true), Addresses: new([]string{"192.0.2.7"}), RateLimit: new(1), ExpiresAt: new(end.Format(time.RFC3339Nano)),
		})
		require.NoError(t, err, "less")
		for property, change := range wider {
			_, err := d.CreateKey(ctx, by, change)
			refused(err, property)
			for _, id := range []string{same.Value.ID, giver.ID} {
				_, err = d.UpdateKey(ctx, by, id, change)
				refused(err, property)
			}
		}

		for property, change := range all {
			_, err := d.CreateKey(ctx, by, change)
			refused(err, property)
		}

		// A key that has more can be made less, and revoked, but not taken over.
		large := d.Create(t, admin.KeyChange{RateLimit: new(2000)})
		_, err = d.RotateKey(ctx, by, large.ID, 0)
		refused(err, "apis")
		changed, err := d.UpdateKey(ctx, by, large.ID, admin.KeyChange{Label: new("till"), RateLimit: new(1500)})
		require.NoError(t, err)
		require.Equal(t, 1500, changed.Value.RateLimit)
		_, err = d.UpdateKey(ctx, by, large.ID, admin.KeyChange{RateLimit: new(1600)})
		refused(err, "rate_limit")
		_, err = d.RotateKey(ctx, by, giver.ID, 0)
		require.NoError(t, err, "its own secret")
		_, err = d.RevokeKey(ctx, by, large.ID)
		require.NoError(t, err)

		// What a key has already is no gift, and what both have together may be given, where all else
		// of the key is within what the giver has.
		reader := d.Create(t, admin.KeyChange{
			APIs: new([]string{"customers"}), ReadOnly: new(true), Addresses: new([]string{"192.0.2.1"}), RateLimit: new(500), ExpiresAt: new(end.Format(time.RFC3339Nano)),
		})
		changed, err = d.UpdateKey(ctx, by, reader.ID, admin.KeyChange{APIs: new([]string{"customers", "events"})})
		require.NoError(t, err)
		require.Equal(t, []string{"customers", "events"}, changed.Value.APIs)
		// Rights are no more than together: the giver cannot write customers, nor reach them from elsewhere.
		for property, change := range map[string]admin.KeyChange{
			"read_only": {ReadOnly: new(false)}, "addresses": {Addresses: new([]string{"192.0.2.1", "192.0.2.9"})}, "apis": {APIs: new([]string{"customers", "events", "administration"}), ReadOnly: new(false)},
		} {
			_, err = d.UpdateKey(ctx, by, reader.ID, change)
			refused(err, property)
		}

		elsewhere := d.Create(t, admin.KeyChange{APIs: new([]string{"customers"}), Addresses: new([]string{"198.51.100.1"}), RateLimit: new(500), ExpiresAt: new(end.Format(time.RFC3339Nano))})
		_, err = d.UpdateKey(ctx, by, elsewhere.ID, admin.KeyChange{APIs: new([]string{"customers", "events"})})
		refused(err, "apis")
		ended := d.Create(t, admin.KeyChange{ExpiresAt: new(d.Now().Add(time.Minute).Format(time.RFC3339Nano))})
		_, err = d.UpdateKey(ctx, by, ended.ID, admin.KeyChange{ExpiresAt: new(end.Format(time.RFC3339Nano))})
		refused(err, "expires_at")
		_, err = d.UpdateKey(ctx, by, reader.ID, admin.KeyChange{APIs: new([]string{})})
		refused(err, "apis")

		readOnly := d.Create(t, admin.KeyChange{ReadOnly: new(true)})
		_, err = d.CreateKey(ctx, admin.Call{KeyID: readOnly.ID}, admin.KeyChange{})
		refused(err, "read_only")
		for _, gone := range []string{large.ID, "LKNOBODY"} {
			_, err = d.CreateKey(ctx, admin.Call{KeyID: gone}, admin.KeyChange{RateLimit: new(1)})
			refused(err, "apis")
		}
	})
}
