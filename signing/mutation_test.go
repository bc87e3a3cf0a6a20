package signing

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const mutantBody = `{"action":"point_add","customer_id":"c-1","data":{"points":100}}`

// original is a signed request that mutations start from. Its target has no octet whose change could be without meaning.
func original(t *testing.T) Incoming {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "https://api.example.com/v1/customers/c1?limit=10&offset=25&q=b%20c", strings.NewReader(mutantBody))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Shop", "north 7")
	require.NoError(t, testScheme().Sign(r, []byte(mutantBody), Credential{testKey, testSecret}, "content-type", "x-shop", "content-length"))
	return FromRequest(r, []byte(mutantBody))
}

// edits gives every replacement of one octet by the given ones, every deletion of one, and every doubling of one.
func edits(s, by string) []string {
	var list []string
	for i := range len(s) {
		for j := range len(by) {
			if by[j] != s[i] {
				list = append(list, s[:i]+by[j:j+1]+s[i+1:])
			}
		}
		list = append(list, s[:i]+s[i+1:], s[:i+1]+s[i:])
	}
	return list
}

type mutants struct {
	t *testing.T
	v *Verifier
	n int
}

func (m *mutants) refuse(what string, change func(in *Incoming)) {
	in := original(m.t)
	change(&in)
	_, err := m.v.Verify(in, testLookup)
	require.Error(m.t, err, what)
	fresh, failed := NewVerifier(testScheme())
	require.NoError(m.t, failed)
	_, same := fresh.Verify(in, testLookup)
	require.EqualError(m.t, same, err.Error(), "what good requests have taught does not matter: "+what)
	m.n++
}

func (m *mutants) refuseHeader(name string, values []string) {
	for _, value := range values {
		m.refuse(name+": "+value, func(in *Incoming) { in.Header.Set(name, value) })
	}
	m.refuse(name+" absent", func(in *Incoming) { in.Header.Del(name) })
	m.refuse(name+" twice", func(in *Incoming) { in.Header.Add(name, in.Header.Get(name)) })
}

func TestMutationsAreRefused(t *testing.T) {
	in := original(t)
	m := &mutants{t: t, v: newTestVerifier(t)}
	_, err := m.v.Verify(in, testLookup)
	require.NoError(t, err)

	for _, method := range append(edits("POST", "AGPXZ"), "GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY") {
		m.refuse("method "+method, func(in *Incoming) { in.Method = method })
	}

	for _, target := range edits(in.Target, "aZ07-_~%") {
		if meaning(target) != meaning(in.Target) {
			m.refuse("target "+target, func(in *Incoming) { in.Target = target })
		}
	}

	for _, host := range append(edits(in.Host, "aZ0-"), "", "api.example.com:8080", "api.example.com.", "evil.example") {
		m.refuse("host "+host, func(in *Incoming) { in.Host = host })
	}

	m.refuseHeader("Content-Type", edits("application/json", "aZ;"))
	m.refuseHeader("X-Shop", append(edits("north7", "aZ\""), "north7", "NORTH 7", "north 7,", "north\t7"))
	m.refuseHeader("Date", append(edits("20260301T120000Z", "0123456789TZ"), "Sun, 01 Mar 2026 12:00:00 GMT", "2026-03-01T12:00:00Z"))
	for _, length := range []int64{-1, 0, 1, in.ContentLength + 1} {
		m.refuse("length", func(in *Incoming) { in.ContentLength = length })
	}

	m.mutateBody()
	m.mutateAuthorization(in.Header.Get("Authorization"))
	require.Greater(t, m.n, 2000)
	t.Logf("%d mutations refused", m.n)
}

func (m *mutants) mutateBody() {
	for i := range len(mutantBody) {
		for bit := range 8 {
			m.refuse(fmt.Sprintf("body bit %d.%d", i, bit), func(in *Incoming) {
				in.Body = slices.Clone(in.Body)
				in.Body[i] ^= 1 << bit
			})
		}
		m.refuse("body cut", func(in *Incoming) { in.Body = in.Body[:i] })
	}
	for _, more := range []string{" ", "\n", "\x00", "{}"} {
		m.refuse("body longer", func(in *Incoming) { in.Body = append(slices.Clone(in.Body), more...) })
		m.refuse("body longer in front", func(in *Incoming) { in.Body = append([]byte(more), in.Body...) })
	}
}

func (m *mutants) mutateAuthorization(value string) {
	optional := strings.ReplaceAll(value, ", ", ",")
	for _, edited := range append(edits(value, "aZ0-/;=, "), strings.ToUpper(value), strings.ToLower(value)) {
		if strings.ReplaceAll(edited, ", ", ",") != optional {
			m.refuse("authorization "+edited, func(in *Incoming) { in.Header.Set("Authorization", edited) })
		}
	}

	head, signature := value[:len(value)-64], value[len(value)-64:]
	for _, edited := range edits(signature, "0123456789abcdefABCDEF") {
		m.refuse("signature "+edited, func(in *Incoming) { in.Header.Set("Authorization", head+edited) })
	}

	for _, names := range []string{
		"date;host", "content-type;date;host;x-shop", "content-length;content-type;date;host", "content-length;content-type;date;host;user-agent;x-shop",
	} {
		m.refuse("signed headers "+names, func(in *Incoming) {
			in.Header.Set("User-Agent", "x")
			edit(in, "content-length;content-type;date;host;x-shop", names)
		})
	}

	for _, secret := range append(edits(testSecret, "aZ0 "), "", "SERVICE"+testSecret) {
		_, err := m.v.Verify(original(m.t), func(string) ([]string, bool) { return []string{secret}, true })
		require.Equal(m.t, refused(), err)
		m.n++
	}
}

// meaning is what a handler may read from a target, by means of the standard library: the clean path with every segment
// decoded, and the parameters without order. Two targets of one meaning may share a signature, two meanings never.
func meaning(target string) string {
	if target == "" || target[0] == '?' {
		target = "/" + target
	}

	u, err := url.ParseRequestURI(target)
	if err != nil {
		return "unreadable " + target
	}

	raw := u.EscapedPath()
	clean := path.Clean("/" + raw)
	if last := raw[strings.LastIndexByte(raw, '/')+1:]; clean != "/" && (last == "" || last == "." || last == "..") {
		clean += "/"
	}

	var parts []string
	for segment := range strings.SplitSeq(clean, "/") {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return "unreadable " + target
		}
		parts = append(parts, fmt.Sprintf("%q", decoded))
	}

	var params []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, errName := url.QueryUnescape(name)
		value, errValue := url.QueryUnescape(value)
		if errName != nil || errValue != nil {
			return "unreadable " + target
		}
		if pair != "" {
			params = append(params, fmt.Sprintf("%q=%q", name, value))
		}
	}

	slices.Sort(params)
	return strings.Join(parts, "/") + "?" + strings.Join(params, "&")
}

// A signature taken from one request must not be good for another of a different meaning, however many forms both have.
func TestSignaturesDoNotTransfer(t *testing.T) {
	v, pairs := newTestVerifier(t), 0
	for _, from := range workedCases {
		for _, to := range workedCases {
			if meaning(from.target) == meaning(to.target) || from.legacyPlus {
				continue
			}
			in := from.incoming()
			in.Target = to.target
			_, err := v.Verify(in, testLookup)
			require.Equal(t, refused(), err, "%s -> %s", from.target, to.target)
			pairs++
		}
	}

	require.Greater(t, pairs, 5000)
}
