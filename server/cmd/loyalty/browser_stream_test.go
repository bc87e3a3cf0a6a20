package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestConsoleStreamOfAKey watches what one access key sends, beside what others do, and looks into it.
func TestConsoleStreamOfAKey(t *testing.T) {
	b := openConsole(t, storetest.All[0].Empty(t))
	var made struct {
		Data struct {
			KeyID  string `json:"key_id"`
			Secret string
		}
	}

	require.NoError(b.t, json.Unmarshal([]byte(b.send("/admin/keys", `{"label":"Till","apis":["events"]}`)), &made))
	require.NotEmpty(b.t, made.Data.Secret)
	till := http.Client{Transport: &signing.Transport{Scheme: signing.Default("local"), Credential: signing.Credential{KeyID: made.Data.KeyID, Secret: made.Data.Secret}}}
	sends := func(points string) {
		r, err := till.Post(b.base+"/events", "application/json", strings.NewReader(`{"customer":"member-0006","action":"point_add","data":{"points":`+points+`}}`))
		require.NoError(b.t, err)
		require.NoError(b.t, r.Body.Close())
		require.Equal(b.t, http.StatusOK, r.StatusCode)
	}

	const (
		live  = "document.querySelector('main .badge')?.textContent === 'live'"
		shown = "[...document.querySelectorAll('main details.rule')].map((e) => e.textContent)"
	)

	b.open("/stream")
	b.until(live)
	b.fill(map[string]string{"main input[name=key_id]": made.Data.KeyID})
	b.press("main form.filters button")
	b.until("location.hash.includes('key_id=" + made.Data.KeyID + "') && " + live)
	require.Contains(b.t, b.send("/events", `{"customer":"member-0005","action":"point_add","data":{"points":5,"reason":"Not the till's"}}`), "point_add")
	sends("6")
	b.until(shown + ".some((e) => e.includes('member-0006'))")
	require.Contains(b.t, b.send("/events", `{"customer":"member-0005","action":"point_add","data":{"points":5,"reason":"Nor this"}}`), "point_add")
	sends("7")
	b.until(shown + ".filter((e) => e.includes('member-0006')).length === 2")
	assert.False(b.t, evaluate[bool](b, shown+".some((e) => e.includes('member-0005'))"), "of the key alone")
	b.press("main details.rule summary")
	assert.Equal(b.t, "Sent by: "+made.Data.KeyID+" access key", evaluate[string](b, "document.querySelector('main details.rule[open] p').textContent"))

	b.open("/stream?key_id=owner") // the address alone is enough
	b.until(live)
	sends("8")
	require.Contains(b.t, b.send("/events", `{"customer":"member-0005","action":"point_add","data":{"points":9,"reason":"The owner's"}}`), "point_add")
	b.until(shown + ".some((e) => e.includes('member-0005'))")
	assert.False(b.t, evaluate[bool](b, shown+".some((e) => e.includes('member-0006'))"))
	b.readable("the stream of a key")
	assert.Empty(b.t, b.faults())
}
