package importer

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// endless is a file of one octet, without an end.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestFilesThatAreNone: what is no text in rows is named, and never read into memory whole.
func TestFilesThatAreNone(t *testing.T) {
	for what, c := range map[string]struct {
		file io.Reader
		says string
	}{
		"zero octets":          {endless(0), "no_text"},
		"no end of a line":     {io.MultiReader(strings.NewReader("customer,email\n"), endless('x')), "row_too_long"},
		"no end of the header": {endless('x'), "row_too_long"},
		"no end of a mark":     {io.MultiReader(strings.NewReader("customer,email\nA,a@example.com\n\"B,"), endless('\n')), "row_too_long"},
		"columns without end":  {endless(','), "columns_many"},
		"cells without end":    {io.MultiReader(strings.NewReader("customer,email\nA,a@example.com\n"), endless(',')), "columns_many"},
		"a mark at the end":    {strings.NewReader("customer,email\nA,\"b"), "quotation"},
		"a mark in a value":    {strings.NewReader("customer,email\nA,b\"c\n"), "quotation"},
		"a value behind marks": {strings.NewReader("customer,email\nA,\"b\"c\n"), "quotation"},
	} {
		t.Run(what, func(t *testing.T) {
			var told []Finding
			f := File{Kind: "members", Open: func() io.ReadCloser { return io.NopCloser(io.LimitReader(c.file, 64<<20)) }}
			require.NoError(t, eachRow(source{f, Options{}, time.UTC, nil}, func(*sheet) error { return nil }, func(f Finding) error {
				told = append(told, f)
				return nil
			}))
			require.Len(t, told, 1)
			require.Equal(t, c.says, told[0].Name)
		})
	}
}

// TestLongRows: a file of any length is read, and of a long value the beginning is told.
func TestLongRows(t *testing.T) {
	row := "A," + strings.Repeat("é", 1000) + "\n"
	const rows = 3000 // more than a row may take
	var told []Finding
	read := 0
	f := File{Kind: "members", Open: func() io.ReadCloser {
		return io.NopCloser(strings.NewReader("customer,email\n" + strings.Repeat(row, rows)))
	}}
	require.NoError(t, eachRow(source{f, Options{}, time.UTC, nil}, func(s *sheet) error {
		read++
		if read == 1 {
			told = append(told, s.finding("email", s.cell("email"), say("empty", nil)))
		}
		return nil
	}, func(Finding) error { t.Fatal("there is nothing to tell"); return nil }))

	require.Equal(t, rows, read)
	require.Equal(t, strings.Repeat("é", 100)+"…", told[0].Value)
}

// nobody is a programme without members, into which any row fits.
type nobody struct {
	loyalty.ImportStore
	loyalty.Contract
}

func (nobody) NamesTaken(context.Context, loyalty.NameKind, []string) (map[string]bool, error) {
	return nil, nil
}
func (nobody) Inactive(context.Context, []string) (map[string]bool, error)        { return nil, nil }
func (nobody) EmailsTaken(context.Context, []string) (map[string][]string, error) { return nil, nil }
func (nobody) Check(string, json.RawMessage, string) (json.RawMessage, error)     { return nil, nil }

// TestMembersCutOff: if the rest of the members was not read, no other member is reported as missing; if all were read,
// missing members are reported.
func TestMembersCutOff(t *testing.T) {
	text := func(kind, text string) File {
		return File{Kind: kind, Open: func() io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }}
	}
	lots := text("lots", "customer,points,earned_at\nA,1,2026-01-01\nB,2,2026-01-01\n")

	for members, says := range map[string][]string{
		"customer,email\nA,a@example.com\nB,\"b\"x@example.com\n": {"quotation"},
		"customer,email\nA,a@example.com\n":                       {"no_member"},
		"customer,email\nA,a@example.com\nB,b@example.com\n":      nil,
	} {
		var told []Finding
		w := World{Store: nobody{}, Contract: nobody{}, Programme: &programme.Programme{Location: time.UTC}, Now: time.Now()}
		_, err := Check(t.Context(), w, []File{text("members", members), lots}, Options{}, func(f Finding) { told = append(told, f) })
		require.NoError(t, err)
		require.Len(t, told, len(says), "%q: %v", members, told)
		for i, text := range says {
			require.Equal(t, text, told[i].Name)
		}
	}
}

// TestDaysWithoutMidnight: where the clocks skip midnight a day is a day all the same. It begins when the
// clocks say so, and what lasts through it, or through the day before, ends a millisecond before the next.
func TestDaysWithoutMidnight(t *testing.T) {
	for _, c := range []struct{ zone, before, day, begins, ended, ends string }{ // day has no midnight
		{"Africa/Cairo", "2026-04-23", "2026-04-24", "2026-04-23T22:00:00.000Z", "2026-04-23T21:59:59.999Z", "2026-04-24T20:59:59.999Z"},
		{"America/Havana", "2026-03-07", "2026-03-08", "2026-03-08T05:00:00.000Z", "2026-03-08T04:59:59.999Z", "2026-03-09T03:59:59.999Z"},
		{"America/Sao_Paulo", "1985-11-01", "1985-11-02", "1985-11-02T03:00:00.000Z", "1985-11-02T02:59:59.999Z", "1985-11-03T01:59:59.999Z"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			zone, err := time.LoadLocation(c.zone)
			require.NoError(t, err)
			read := func(kind, text string) (rows []loyalty.ImportRow) {
				f := File{Kind: kind, Open: func() io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }}
				require.NoError(t, eachRow(source{f, Options{}, zone, nil}, func(s *sheet) error {
					row, told := s.kind.row(s)
					require.Empty(t, told)
					rows = append(rows, row)
					return nil
				}, func(f Finding) error { t.Error(f.Name); return nil }))
				return rows
			}

			lots := read("lots", "customer,points,earned_at,expires_at\nA,5,"+c.day+","+c.before+"\nA,5,"+c.day+","+c.day+"\n")
			require.Len(t, lots, 2)
			require.JSONEq(t, `{"points":5,"effective_timestamp":"`+c.begins+`","expdate":"`+c.ended+`"}`, string(lots[0].Data))
			require.JSONEq(t, `{"points":5,"effective_timestamp":"`+c.begins+`","expdate":"`+c.ends+`"}`, string(lots[1].Data))
			members := read("members", "customer,birth_date\nA,"+c.day+"\n")
			require.Len(t, members, 1)
			require.JSONEq(t, `{"opt_in":true,"birth_date":"`+c.day+`"}`, string(members[0].Data))
		})
	}
}
