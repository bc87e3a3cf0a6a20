package signing

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goodAuthorization = "SERVICE-HMAC-SHA256 Credential=shop-1/20260301/eu/api/service_request, SignedHeaders=date;host, " +
	"Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// request is one that is in order but for its signature.
func request(change ...func(*Incoming)) Incoming {
	in := Incoming{Method: "GET", Target: "/events", Host: "api.example.com", Header: http.Header{
		"Date": {"20260301T120000Z"}, "Authorization": {goodAuthorization},
	}}
	for _, f := range change {
		f(&in)
	}
	return in
}

func authorized(value string) func(*Incoming) {
	return func(in *Incoming) { in.Header.Set("Authorization", value) }
}

func replaced(old, new string) func(*Incoming) {
	return authorized(strings.Replace(goodAuthorization, old, new, 1))
}

func dated(value string) func(*Incoming) { return func(in *Incoming) { in.Header.Set("Date", value) } }

func targeted(target string) func(*Incoming) { return func(in *Incoming) { in.Target = target } }

func codeOf(t *testing.T, err error) int {
	t.Helper()
	require.Error(t, err)
	switch e := err.(type) {
	case *Error:
		require.Equal(t, http.StatusUnauthorized, e.Status())
		return e.Code
	case *RequestError:
		require.Equal(t, http.StatusBadRequest, e.Status())
		return e.Status()
	}
	require.Failf(t, "foreign error", "%T", err)
	return 0
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Incoming)
		code   int
		reason string
	}{
		{"nothing wrong but the signature", func(*Incoming) {}, CodeSignature, "the signature is refused"},
		{"blank after comma absent", authorized(strings.ReplaceAll(goodAuthorization, ", ", ",")), CodeSignature, "the signature is refused"},

		{"header missing", func(in *Incoming) { in.Header.Del("Authorization") }, CodeHeader, "exactly once"},
		{"header twice", func(in *Incoming) { in.Header.Add("Authorization", goodAuthorization) }, CodeHeader, "exactly once"},
		{"presigned", func(in *Incoming) { in.Header.Del("Authorization"); in.Target = "/events?X-SERVICE-Signature=00" }, CodeHeader, "presigned"},
		{"empty", authorized(""), CodeHeader, "algorithm"},
		{"other scheme", authorized("Bearer abc"), CodeHeader, "Credential="},
		{"api key", authorized("api_key shop-1"), CodeHeader, "algorithm"},
		{"two blanks after the algorithm", replaced(" Cred", "  Cred"), CodeHeader, "Credential="},
		{"comma after the algorithm", replaced(" Cred", ", Cred"), CodeHeader, "algorithm"},
		{"two blanks after a comma", replaced(", Signed", ",  Signed"), CodeHeader, "SignedHeaders="},
		{"parts in another order", authorized("SERVICE-HMAC-SHA256 SignedHeaders=date;host, Credential=shop-1/20260301/eu/api/service_request, Signature=00"), CodeHeader, "Credential="},
		{"text behind", authorized(goodAuthorization + " "), CodeHeader, "Signature="},
		{"text between", replaced(", Signed", ", X=1, Signed"), CodeHeader, "SignedHeaders="},
		{"key id empty", replaced("shop-1", ""), CodeHeader, "key id"},
		{"key id with a dot", replaced("shop-1", "shop.1"), CodeHeader, "key id"},
		{"key id of 129", replaced("shop-1", strings.Repeat("k", 129)), CodeHeader, "key id"},
		{"key id of 128", replaced("shop-1", strings.Repeat("k", 128)), CodeSignature, "refused"},
		{"day of seven digits", replaced("20260301", "2026031"), CodeHeader, "YYYYMMDD"},
		{"day with a letter", replaced("20260301", "2026030l"), CodeHeader, "YYYYMMDD"},
		{"scope missing", replaced("/eu/api/service_request", ""), CodeHeader, "scope"},
		{"signature upper case", replaced("abcdef", "ABCDEF"), CodeHeader, "hex"},
		{"signature of 63", replaced("Signature=0", "Signature="), CodeHeader, "64"},
		{"signature of 65", replaced("Signature=0", "Signature=00"), CodeHeader, "64"},
		{"signature empty", authorized(goodAuthorization[:len(goodAuthorization)-64]), CodeHeader, "64"},

		{"SHA-512", replaced("SHA256", "SHA512"), CodeScope, "algorithm"},
		{"SHA-512 with its own length", authorized(strings.Replace(goodAuthorization, "SHA256", "SHA512", 1) + strings.Repeat("0", 64)), CodeScope, "algorithm"},
		{"foreign prefix", replaced("SERVICE-", "AWS4-"), CodeScope, "algorithm"},
		{"algorithm in lower case", replaced("SERVICE-HMAC", "service-hmac"), CodeScope, "algorithm"},
		{"other region", replaced("/eu/", "/us/"), CodeScope, "scope must be eu/api/service_request"},
		{"region in upper case", replaced("/eu/", "/EU/"), CodeScope, "scope"},
		{"scope longer", replaced("service_request", "service_request/"), CodeScope, "scope"},
		{"day not the date's", replaced("20260301", "20260302"), CodeScope, "day"},

		{"date missing", func(in *Incoming) { in.Header.Del("Date") }, CodeHeader, "Date"},
		{"date twice", func(in *Incoming) { in.Header.Add("Date", "20260301T120000Z") }, CodeHeader, "Date"},
		{"date malformed", dated("yesterday"), CodeHeader, "Date"},
		{"too old", dated("20260301T115459Z"), CodeDate, "window"},
		{"too new", dated("20260301T120501Z"), CodeDate, "window"},

		{"host not signed", replaced("date;host", "date"), CodeHeader, "must name host"},
		{"date not signed", replaced("date;host", "host"), CodeHeader, "must name date"},
		{"authorization signed", replaced("date;host", "authorization;date;host"), CodeHeader, "must not name"},
		{"named twice", replaced("date;host", "date;date;host"), CodeHeader, "twice"},
		{"named twice apart", replaced("date;host", "host;date;host"), CodeHeader, "twice"},
		{"name in upper case", replaced("date;host", "Date;host"), CodeHeader, "lower case"},
		{"empty name", replaced("date;host", "date;;host"), CodeHeader, "lower case"},
		{"no names", replaced("date;host", ""), CodeHeader, "lower case"},
		{"blank in names", replaced("date;host", "date; host"), CodeHeader, "lower case"},
		{"absent header", replaced("date;host", "date;host;x-absent"), CodeHeader, "x-absent"},
		{"absent header with a very long name", replaced("date;host", "date;host;x-"+strings.Repeat("y", 100)), CodeHeader, "missing"},
		{"content-length of a chunked body", func(in *Incoming) {
			in.ContentLength = -1
			replaced("date;host", "content-length;date;host")(in)
		}, CodeHeader, "content-length"},
		{"no host", func(in *Incoming) { in.Host = "" }, CodeHeader, "host"},

		{"Authorization over 4 KiB", authorized(strings.Repeat("a", 4097)), 400, "Authorization: is longer"},
		{"Authorization of 4 KiB", authorized(strings.Repeat("a", 4096)), CodeHeader, "algorithm"},
		{"query over 8 KiB", targeted("/events?" + strings.Repeat("a", 8193)), 400, "query: is longer"},
		{"query of 8 KiB", targeted("/events?" + strings.Repeat("a", 8192)), CodeSignature, "refused"},
		{"path over 8 KiB", targeted("/" + strings.Repeat("a", 8192)), 400, "path: is longer"},
		{"1001 parameters", targeted("/events?" + strings.Repeat("a&", 1000)), 400, "query: has more"},
		{"1000 parameters", targeted("/events?" + strings.Repeat("a&", 999)), CodeSignature, "refused"},
		{"broken triplet in the path", targeted("/a%zz"), 400, "path: has a broken"},
		{"cut triplet in the path", targeted("/a%4"), 400, "path: has a broken"},
		{"broken triplet in the query", targeted("/a?b=%4g"), 400, "query: has a broken"},
		{"cut triplet in the query", targeted("/a?b=%"), 400, "query: has a broken"},
		{"triplet across the question mark", targeted("/a%4?1"), 400, "path: has a broken"},
		{"blank in the target", targeted("/a b"), 400, "path: has a blank"},
		{"line feed in the target", targeted("/a\nb"), 400, "path: has a blank"},
		{"control in the query", targeted("/a?b\x00"), 400, "query: has a blank"},
		{"asterisk", targeted("*"), 400, "target: must be"},
		{"authority", targeted("api.example.com:443"), 400, "target: must be"},
		{"absolute form without a host", targeted("http:///events"), 400, "target: must be"},
		{"other absolute form", targeted("ftp://api.example.com/"), 400, "target: must be"},
		{"method empty", func(in *Incoming) { in.Method = "" }, 400, "method"},
		{"method with a line feed", func(in *Incoming) { in.Method = "GET\n" }, 400, "method"},
		{"signed headers over 16 KiB", func(in *Incoming) {
			in.Header.Set("X-A", strings.Repeat("a", 16<<10))
			replaced("date;host", "date;host;x-a")(in)
		}, 400, "headers: the signed ones"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := false
			_, err := newTestVerifier(t).Verify(request(c.change), func(keyID string) ([]string, bool) {
				asked = true
				return testLookup(keyID)
			})
			require.Equal(t, c.code, codeOf(t, err))
			require.ErrorContains(t, err, c.reason)
			require.Equal(t, c.code == CodeSignature, asked, "the key is looked up last")
		})
	}
}

// Of several faults the one that is checked first is told: size, grammar, algorithm, scope, date, window, signed headers, key.
func TestOrderOfChecks(t *testing.T) {
	faults := []struct {
		change func(*Incoming)
		code   int
		reason string
	}{
		{targeted("/a%zz"), 400, "triplet"},
		{func(in *Incoming) { edit(in, "Signature=", "signature=") }, CodeHeader, "Signature="},
		{func(in *Incoming) { edit(in, "SHA256", "SHA999") }, CodeScope, "algorithm"},
		{func(in *Incoming) { edit(in, "/eu/", "/us/") }, CodeScope, "scope must"},
		{dated("20260302"), CodeHeader, "Date must"},
		{func(in *Incoming) { edit(in, "date;host", "date") }, CodeHeader, "must name host"},
		{func(in *Incoming) { edit(in, "shop-1", "nobody") }, CodeSignature, "refused"},
	}

	for first := range faults {
		in := request()
		for _, f := range faults[first:] {
			f.change(&in)
		}
		_, err := newTestVerifier(t).Verify(in, testLookup)
		require.Equal(t, faults[first].code, codeOf(t, err))
		require.ErrorContains(t, err, faults[first].reason)
	}

	_, err := newTestVerifier(t).Verify(request(dated("20250301T120000Z"), func(in *Incoming) {
		edit(in, "20260301", "20250301")
		edit(in, "date;host", "date")
	}), testLookup)

	require.Equal(t, CodeDate, codeOf(t, err), "the window comes before the signed headers")
}

func edit(in *Incoming, old, new string) {
	in.Header.Set("Authorization", strings.Replace(in.Header.Get("Authorization"), old, new, 1))
}

func TestWindow(t *testing.T) {
	_, err := newTestVerifier(t).Verify(request(dated("20260301T115459Z")), testLookup)
	require.Equal(t, &Error{
		Code: CodeDate, Reason: "Date is outside the accepted window",
		ServerTime: testNow, RequestTime: testNow.Add(-301 * time.Second), Window: 300 * time.Second,
	}, err)

	narrow := func(s *Scheme) { s.Window = 0 }
	_, err = newTestVerifier(t, narrow).Verify(request(), testLookup)
	require.Equal(t, CodeSignature, codeOf(t, err), "inclusive")
	_, err = newTestVerifier(t, narrow).Verify(request(dated("20260301T115959Z")), testLookup)
	require.Equal(t, CodeDate, codeOf(t, err))

	fraction := func(s *Scheme) { s.Now = func() time.Time { return testNow.Add(999 * time.Millisecond) } }
	_, err = newTestVerifier(t, fraction).Verify(request(dated("20260301T115500Z")), testLookup)
	require.Equal(t, CodeSignature, codeOf(t, err), "whole seconds")
}

// A request dated before midnight is good after it, and the other way round: the server's own day plays no part.
func TestMidnight(t *testing.T) {
	for _, c := range []struct{ signed, checked string }{
		{"2026-02-28T23:59:59Z", "2026-03-01T00:00:01Z"},
		{"2026-03-01T00:00:01Z", "2026-02-28T23:59:59Z"},
	} {
		clock := func(text string) Scheme {
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err)
			s := Default("eu")
			s.Now = func() time.Time { return at }
			return s
		}

		r, err := http.NewRequest(http.MethodGet, "http://api.example.com/events", nil)
		require.NoError(t, err)
		require.NoError(t, clock(c.signed).Sign(r, nil, Credential{testKey, testSecret}))
		v, err := NewVerifier(clock(c.checked))
		require.NoError(t, err)
		_, err = v.Verify(FromRequest(r, nil), testLookup)
		require.NoError(t, err)
	}
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"20260301T120000Z":              "20260301120000",
		"20240229T235959Z":              "20240229235959",
		"Sun, 01 Mar 2026 12:00:00 GMT": "20260301120000",
		"Wed, 01 Mar 2026 12:00:00 GMT": "20260301120000",
		"2026-03-01T12:00:00Z":          "20260301120000",
		"2026-03-01T12:00:00+00:00":     "20260301120000",
		"2026-03-01T12:00:00+0000":      "20260301120000",
		"2026-01-01T00:30:00+01:00":     "20251231233000",
		"2025-12-31T23:30:00-0100":      "20260101003000",
	} {
		d, at, ok := parseDate(text)
		require.True(t, ok, text)
		require.Equal(t, want, string(d[:]))
		require.Equal(t, want, at.UTC().Format("20060102150405"))
	}

	for _, text := range []string{
		"", "20260301", "20260301T1200Z", "20260301T120000", "20260301t120000z", "20260301T120000+0000", "20260301T120000.0Z",
		"20260230T120000Z", "20250229T120000Z", "20261301T120000Z", "20260001T120000Z", "20260300T120000Z", "20260332T120000Z",
		"20260301T240000Z", "20260301T126000Z", "20260301T120060Z", "2026030aT120000Z", "-0260301T120000Z", "20260301 120000Z",
		"Sun, 1 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 12:00:00 UTC", "Sun, 01 Mar 2026 12:00:00 +0000", "Xxx, 01 Mar 2026 12:00:00 GMT",
		"Sun, 01 mar 2026 12:00:00 GMT", "Sun, 30 Feb 2026 12:00:00 GMT", "Sunday, 01-Mar-26 12:00:00 GMT", "Sun Mar  1 12:00:00 2026",
		"Sun, 01 anF 2026 12:00:00 GMT", "Sun, 01 Mar 26 12:00:00 GMT", "Sun,  1 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 12.00.00 GMT",
		"2026-03-01", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00z",
		"2026-03-01T12:00:00+24:00", "2026-03-01T12:00:00+01:60", "2026-03-01T12:00:00+01", "2026-03-01T12:00:00 +01:00",
		"2026-02-30T12:00:00Z", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "1772366400",
	} {
		_, _, ok := parseDate(text)
		require.False(t, ok, text)
	}
}

func TestIsClean(t *testing.T) {
	for _, target := range []string{
		"/", "/events", "/v1/customers/", "/customers/a%2Fb", "/customers/a%2e%2eb", "/.../x", "/..a/b.", "/a%2e", "/?//../",
		"/events?x=/../", "http://api.example.com/events", "http://api.example.com", "", "?a=1",
	} {
		require.True(t, IsClean(target), target)
	}
	for _, target := range []string{
		"//", "//events", "/v1//customers", "/events//", "/.", "/./x", "/x/.", "/..", "/../x", "/x/..", "/x/../y", "/%2e", "/%2E/x",
		"/%2e%2E/x", "/x/.%2e", "/%2e./y", "*", "events", "http://api.example.com//x", "http://api.example.com/../x",
	} {
		require.False(t, IsClean(target), target)
	}
}

func TestSchemeThatCannotBeUsed(t *testing.T) {
	for field, change := range map[string]func(*Scheme){
		"AlgorithmPrefix": func(s *Scheme) { s.AlgorithmPrefix = "" },
		"Scope":           func(s *Scheme) { s.Scope = "/api/service_request" },
		"DateHeader":      func(s *Scheme) { s.DateHeader = "the date" },
		"AuthHeader":      func(s *Scheme) { s.AuthHeader = "date" },
		"Window":          func(s *Scheme) { s.Window = -time.Second },
	} {
		s := testScheme()
		change(&s)
		_, err := NewVerifier(s)
		require.ErrorContains(t, err, field)
	}

	_, err := NewVerifier(Default("e,u"))
	require.ErrorContains(t, err, "Scope")
	_, err = NewVerifier(Default(""))
	require.ErrorContains(t, err, "Scope")
}
