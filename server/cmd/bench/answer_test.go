package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func answersOf(text string) *answers { return &answers{r: bufio.NewReader(strings.NewReader(text))} }

func TestAnswersRefuse(t *testing.T) {
	for text, reason := range map[string]string{
		"": "EOF",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab":                           "unexpected EOF",
		"HTTP/1.1 200 OK\r\n\r\nab":                                                "no length",
		"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n":                             "not an answer",
		"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n":                             "status",
		"HTTP/1.1 100 Continue\r\n\r\n":                                            "status",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":                            "Content-Length",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n":                   "Content-Length",
		"HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n":                    "octets",
		"HTTP/1.1 200 OK\r\nnothing\r\n\r\n":                                       "header",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n":        "closes",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":              "chunk",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n":   "does not end",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n":          "EOF",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("x", 5000) + ":\r\n\r\n":            "buffer full",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n1\r\na\r\n0\r\n\r\n":    "no length",
		"HTTP/1.1 500 Oops\r\nContent-Length: 1\r\nContent-Length: x\r\n\r\na\r\n": "Content-Length",
	} {
		_, err := answersOf(text).next()
		require.ErrorContains(t, err, reason, "%.80q", text)
	}
}

// Whatever net/http writes is read back as it was, one answer after the other.
func TestAnswersReadWhatServersWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type answer struct {
			status int
			body   []byte
		}

		var wire bytes.Buffer
		wanted := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) answer {
			return answer{rapid.OneOf(rapid.Just(200), rapid.IntRange(200, 599).Filter(func(n int) bool { return n != 204 && n != 304 })).Draw(t, "status"),
				rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "body")}
		}), 1, 4).Draw(t, "answers")

		for i, a := range wanted {
			r := http.Response{
				StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(a.body)),
				Header: http.Header{"X-Number": {fmt.Sprint(i)}}, Body: io.NopCloser(bytes.NewReader(a.body)),
			}
			if rapid.Bool().Draw(t, "chunked") {
				r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
			}
			require.NoError(t, r.Write(&wire))
		}

		in := answers{r: bufio.NewReader(&wire), drop: rapid.Bool().Draw(t, "drop")}
		for _, a := range wanted {
			status, err := in.next()
			require.NoError(t, err)
			require.Equal(t, a.status, status)
			if in.drop && status == 200 {
				require.Empty(t, in.body, "nobody looks at it")
			} else {
				require.True(t, bytes.Equal(a.body, in.body))
			}
		}

		_, err := in.next()
		require.ErrorIs(t, err, io.EOF)
	})
}

// A foreign server can send anything: that is an error or an answer no longer
// than what came.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 204 No Content\r\n\r\n"))

	f.Fuzz(func(t *testing.T, wire []byte) {
		in := answers{r: bufio.NewReader(bytes.NewReader(wire))}
		for total := 0; ; {
			status, err := in.next()
			if err != nil {
				return
			}
			total += len(in.body)
			require.GreaterOrEqual(t, status, 200)
			require.LessOrEqual(t, total, len(wire))
		}
	})
}
