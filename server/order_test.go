package server_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestOrderWithoutSort: the direction alone turns a list's own order round, and its
// links go on in that direction.
func TestOrderWithoutSort(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, id := range []string{"ada", "bob"} {
			h.enrol(id)
			for i := range 3 {
				done(h, "/events", fmt.Sprintf(`{"customer":%q,"action":"point_add","data":{"points":%d}}`, id, i+1))
			}
		}

		done(h, "/events", `{"customer":"ada","action":"point_add","data":{"points":9,"effective_timestamp":"2026-03-01T09:00:00Z"}}`)
		for i, id := range []string{"c", "a", "b"} {
			h.entity("rewards/reward", fmt.Sprintf(`{"id":%q,"title":{"en":"A"},"type":"physical","points":%d}`, id, i))
		}

		for _, list := range []struct{ path, turned, own string }{
			{"/customers/-/events?", "asc", "desc"},
			{"/customers/-/events?action=point_add&action=opt_in&", "asc", "desc"},
			{"/customers/-/events?date.lte=2026-03-01&", "asc", "desc"},
			{"/customers/-/events?date.gte=2026-02-01&", "asc", "desc"},
			{"/customers/ada/events?", "asc", "desc"},
			{"/customers/ada/activities/rewards?", "desc", "asc"},
			{"/rewards?", "desc", "asc"},
		} {
			want := column(t, h.get(list.path), "id")
			require.NotEmpty(t, want, list.path)
			require.Equal(t, want, column(t, h.get(list.path+"order="+list.own), "id"), list.path)
			slices.Reverse(want)
			require.Equal(t, want, column(t, h.get(list.path+"order="+list.turned), "id"), list.path)
			require.Equal(t, want, h.walkBoth(list.path+"limit=2&order="+list.turned, "id"), list.path)
		}
	})
}
