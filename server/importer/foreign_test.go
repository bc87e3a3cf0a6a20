package importer

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/spreadsheet"
)

// text is a file.
func text(kind, text string) File {
	return File{Kind: kind, Open: func() io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }}
}

// taken reads a file and gives the data of its rows, by customer, and the names of what was found.
func taken(t *testing.T, f File, o Options, e *emails) (rows, found []string) {
	t.Helper()
	require.NoError(t, eachRow(source{f, o, time.UTC, e}, func(s *sheet) error {
		row, told := s.kind.row(s)
		for _, f := range told {
			found = append(found, fmt.Sprintf("%d %s %s", f.Line, f.Column, f.Name))
		}
		rows = append(rows, row.Customer+" "+string(row.Data))
		return nil
	}, func(f Finding) error {
		found = append(found, fmt.Sprintf("%d %s %s", f.Line, f.Column, f.Name))
		return nil
	}))
	return rows, found
}

// TestLineEnds: lines end with CR, LF or CRLF, also in one file, and line ends inside quotation marks stay as they are.
func TestLineEnds(t *testing.T) {
	for _, file := range []string{
		"customer,first_name\rA,Ada\rB,\"B\r\ne\nn\ro\"\rC,\"C\"\"c\"\r",
		"customer,first_name\nA,Ada\nB,\"B\r\ne\nn\ro\"\nC,\"C\"\"c\"\n",
		"customer,first_name\r\nA,Ada\r\nB,\"B\r\ne\nn\ro\"\r\nC,\"C\"\"c\"",
		"customer,first_name\r\nA,Ada\rB,\"B\r\ne\nn\ro\"\nC,\"C\"\"c\"\r\r\n\n",
	} {
		var names []string
		var lines []int
		require.NoError(t, eachRow(source{text("members", file), Options{}, time.UTC, nil}, func(s *sheet) error {
			names, lines = append(names, s.cell("first_name")), append(lines, s.line)
			return nil
		}, func(f Finding) error { t.Error(f.Name); return nil }))
		require.Equal(t, []string{"Ada", "B\r\ne\nn\ro", `C"c`}, names, "%q", file)
		require.Equal(t, []int{2, 3, 7}, lines, "%q", file)
	}
}

// TestSaidSeparator: a first line sep=X names the separator, whatever it is and in whatever encoding a spreadsheet wrote it.
func TestSaidSeparator(t *testing.T) {
	wide := func(text string, big bool) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			if big {
				b.Write([]byte{byte(u >> 8), byte(u)})
			} else {
				b.Write([]byte{byte(u), byte(u >> 8)})
			}
		}
		return b.String()
	}

	for _, separator := range []string{";", ",", "\t", "|", "^", "¦"} {
		body := "customer" + separator + "first_name\r\nA" + separator + "Ágnes\r\n"
		said := "sep=" + separator + "\r\n" + body
		for _, file := range []string{said, "\ufeff" + said, "SEP=" + separator + separator + "\r" + body, "\"sep=" + separator + "\"\n" + body, wide(said, false), wide(said, true)} {
			rows, found := taken(t, text("members", file), Options{}, nil)
			require.Empty(t, found, "%q", file)
			require.Equal(t, []string{`A {"first_name":"Ágnes","opt_in":true}`}, rows, "%q", file)
		}
	}

	_, found := taken(t, text("members", "sep=;\ncustomer;colour\n"), Options{}, nil)
	require.Equal(t, []string{"2  columns_unknown"}, found)
}

// TestEmptyEnds: columns without a name at the end are passed over while they are empty.
func TestEmptyEnds(t *testing.T) {
	rows, found := taken(t, text("members", "customer,email,,\nA,a@example.com,,\nB,b@example.com\nC,c@example.com,,x\nD,d@example.com,,,,\nE,\n"), Options{}, nil)
	require.Len(t, rows, 4)
	require.Equal(t, []string{"4  cell_unnamed"}, found)
	_, found = taken(t, text("members", "customer,,email\nA,,a@example.com\n"), Options{}, nil)
	require.Equal(t, []string{"1  columns_nameless"}, found)
	_, found = taken(t, text("members", "customer,email\nA\n"), Options{}, nil)
	require.Equal(t, []string{"2  cells"}, found)
}

// TestOtherColumns: * in a mapping passes over every column that the mapping does not name, also those without a name.
func TestOtherColumns(t *testing.T) {
	o := Options{Columns: map[string]map[string]string{"members": {"No": "customer", "*": ""}}}
	require.NoError(t, o.Check())
	rows, found := taken(t, text("members", "no,email,colour,,colour,\nA,a@example.com,red,x,blue,y\n"), o, nil)
	require.Empty(t, found)
	require.Equal(t, []string{`A {"opt_in":true}`}, rows)
	o.Columns["members"]["*"] = "email"
	require.Error(t, o.Check(), "all of them cannot be one of ours")
}

// TestApostrophes: what spreadsheets and our own exports write before an id, a number or a day is no part of it, and a
// name keeps its own.
func TestApostrophes(t *testing.T) {
	rows, found := taken(t, text("members", "customer,external_ids.card,first_name,birth_date\n'+36301234567,'007,'t Hart,'1990-12-31\n'＝A,''x,'=1+1,\n"), Options{}, nil)
	require.Equal(t, []string{
		`+36301234567 {"birth_date":"1990-12-31","external_ids":{"card":"007"},"first_name":"'t Hart","opt_in":true}`,
		`＝A {"external_ids":{"card":"'x"},"first_name":"=1+1","opt_in":true}`,
	}, rows)

	require.Equal(t, []string{"2 customer apostrophe", "2 external_ids.card apostrophe", "2 birth_date apostrophe", "3 first_name apostrophe"}, found, "once of each column")

	for kind, c := range map[string][2]string{
		"purchases": {"customer,transaction_id,total,made_at\n'-1,'@T,'12.50,'2024-01-02\n", `-1 {"effective_timestamp":"2024-01-02T00:00:00.000Z","total":12.50,"transaction_id":"@T"}`},
		"lots":      {"customer,points,earned_at,expires_at\n'007,'15,'2024-01-02,\n", `007 {"effective_timestamp":"2024-01-02T00:00:00.000Z","points":15}`},
		"tiers":     {"customer,tier,structure\n'007,'+gold,'1club\n", `007 {"structure":"1club","tier":"+gold"}`},
		"coupons":   {"customer,code,value,pool\n''a,'0042,'5,'-p\n", `'a {"code":"0042","pool":"-p","value":5}`},
	} {
		rows, _ := taken(t, text(kind, c[0]), Options{}, nil)
		require.Equal(t, []string{c[1]}, rows, kind)
	}
}

// TestBlanksInFiles: whatever white space stands around an id or a code, the row is the one without it.
func TestBlanksInFiles(t *testing.T) {
	for kind, c := range map[string][2]string{
		"members":   {"\u2003customer ,external_ids.card,e\u2003\n\u2003A\u3000,\u00a042\u2009,\n", `A {"external_ids":{"card":"42"},"opt_in":true}`},
		"lots":      {"customer,points,earned_at,lot\n\u2003A ,5,2024-01-02,\u2028L\u3000\n", `A {"effective_timestamp":"2024-01-02T00:00:00.000Z","expiry":"programme","points":5}`},
		"purchases": {"customer,transaction_id,total,made_at\nA\u2003,\u2003T 1\u2009,12.50,2024-01-02\n", `A {"effective_timestamp":"2024-01-02T00:00:00.000Z","total":12.50,"transaction_id":"T 1"}`},
		"tiers":     {"customer,tier,structure\n\u2003A,gold\u3000,\u2009club\n", `A {"structure":"club","tier":"gold"}`},
		"coupons":   {"customer,code,value,pool\nA,\u2003X\u3000,5,\u2009P \n", `A {"code":"X","pool":"P","value":5}`},
	} {
		o := Options{Columns: map[string]map[string]string{kind: {"e": "", "lot": ""}}}
		rows, found := taken(t, text(kind, c[0]), o, nil)
		require.Equal(t, []string{c[1]}, rows, kind)
		require.Empty(t, found, kind)
	}
}

// TestExportedIDs: an id of any look that an export writes is read back as it was.
func TestExportedIDs(t *testing.T) {
	for _, id := range []string{"+36301234567", "=1+1", "-5", "@x", "'a", "''a", "'=1", "'5", "007", "Ada", "＝1", "＋1", "－1", "＠1", "a'b"} {
		cell := `"` + strings.ReplaceAll(spreadsheet.Guard(id), `"`, `""`) + `"`
		rows, _ := taken(t, text("members", "customer\n"+cell+"\n"), Options{}, nil)
		require.Equal(t, []string{id + ` {"opt_in":true}`}, rows)
	}
}

// TestStatusAndConsent: an inactive member is known and not enrolled, and consent is kept.
func TestStatusAndConsent(t *testing.T) {
	rows, found := taken(t, text("members", "customer,email,first_name,gender,status,consent\nA,,,,Active,yes\nB,b@example.com,Ben,male,inactive,No\nC,,,,gone,perhaps\nD,,,,,\n"), Options{}, nil)
	require.Equal(t, []string{
		`A {"cf_consent":true,"opt_in":true}`, `B {"cf_consent":false,"email":"b@example.com","first_name":"Ben","handler":"B"}`, `C {}`, `D {"opt_in":true}`,
	}, rows)
	require.Equal(t, []string{"3 gender inactive_column", "4 status status", "4 consent consent"}, found)
}

// town is a programme whose members have e-mails.
type town struct {
	nobody
	holders map[string][]string
}

func (w town) EmailsTaken(_ context.Context, keys []string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, key := range keys {
		if ids, there := w.holders[key]; there {
			found[key] = ids
		}
	}
	return found, nil
}

func (town) NamesTaken(_ context.Context, _ loyalty.NameKind, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = strings.HasPrefix(id, "old-")
	}
	return known, nil
}

// TestMembersByEmail: a row may name its member by e-mail where exactly one has it, in the file of members or in the
// programme.
func TestMembersByEmail(t *testing.T) {
	w := World{Store: town{holders: map[string][]string{"one@example.com": {"old-1"}, "two@example.com": {"old-2", "old-3"}, "was@example.com": {"old-4"}}}, Contract: nobody{}, Programme: &programme.Programme{Location: time.UTC}, Now: time.Now()}
	files := []File{
		text("members", "customer,email\nnew,new@example.com\nold-4,is@example.com\n"),
		text("lots", "customer,email,points,earned_at\n,New@example.com ,1,2024-01-01\n,ONE@example.com,2,2024-01-01\n,two@example.com,3,2024-01-01\n,none@example.com,4,2024-01-01\n,was@example.com,5,2024-01-01\n,is@example.com,6,2024-01-01\nold-2,two@example.com,7,2024-01-01\n,,8,2024-01-01\n"),
		text("coupons", "email,code,value\nnew@example.com,A,1\n"),
		text("purchases", "email,transaction_id,total,made_at\none@example.com,T,1,2024-01-01\n"),
	}

	w.Programme.On = map[string]bool{programme.ModuleCoupons: true}
	var told []string
	plan, err := Check(t.Context(), w, files, Options{}, func(f Finding) { told = append(told, fmt.Sprintf("%s %d %s %s", f.File, f.Line, f.Column, f.Name)) })
	require.NoError(t, err)
	require.Equal(t, []string{"lots 4 email email_several", "lots 5 email email_unknown", "lots 6 email email_unknown", "lots 9 customer empty"}, told)
	require.Equal(t, int64(16), plan.Points)

	e, err := emailsOf(t.Context(), w, files, Options{})
	require.NoError(t, err)
	rows, _ := taken(t, files[1], Options{}, e)
	require.True(t, strings.HasPrefix(rows[0], "new ") && strings.HasPrefix(rows[1], "old-1 ") && strings.HasPrefix(rows[5], "old-4 "), rows)
}

// TestCodesInOtherLetters: two codes of a file that differ in case only are one, and so are one of the file and one that is there.
func TestCodesInOtherLetters(t *testing.T) {
	w := World{Store: town{}, Contract: nobody{}, Programme: &programme.Programme{Location: time.UTC, On: map[string]bool{programme.ModuleCoupons: true}}, Now: time.Now()}
	files := []File{text("coupons", "customer,code,value\nold-1,Größe,1\nold-1,GRÖSSE,1\nold-1,OLD-Code,1\nold-1,new,1\n")}
	var told []string
	_, err := Check(t.Context(), w, files, Options{}, func(f Finding) { told = append(told, fmt.Sprintf("%d %s %s %s", f.Line, f.Column, f.Value, f.Name)) })
	require.NoError(t, err)
	require.Equal(t, []string{"3 code GRÖSSE twice", "4 code OLD-Code taken"}, told)
}

// TestFindingsKeepNames: where the names of columns are expected a finding gives places, and never what stands there.
func TestFindingsKeepNames(t *testing.T) {
	said := func(name string, a map[string]any) string { return name + fmt.Sprint(a) }
	for _, first := range []string{"007,ada@example.com,Ada", "customer,ada@example.com,ada@example.com", "customer," + strings.Repeat("cf_ada", 100)} {
		tells := 0
		require.NoError(t, eachRow(source{text("members", first+"\n"), Options{}, time.UTC, nil}, func(*sheet) error { return nil }, func(f Finding) error {
			tells++
			require.NotContains(t, f.Text(said)+f.Column+f.Value, "ada")
			return nil
		}))
		require.Positive(t, tells)
	}
}

// TestManyColumns: a file with more columns than any has is one finding, read no further.
func TestManyColumns(t *testing.T) {
	_, found := taken(t, text("members", strings.Repeat("x,", 60_000)+"\n"+strings.Repeat("y,", 60_000)+"\n"), Options{}, nil)
	require.Equal(t, []string{"1  columns_many"}, found)
	_, found = taken(t, text("members", "customer"+strings.Repeat(",x", 199)+"\n"), Options{}, nil)
	require.Equal(t, []string{"1  columns_unknown"}, found)
	_, found = taken(t, text("members", "customer"+strings.Repeat(",cf_x", 10)+"\n"), Options{}, nil)
	require.Equal(t, []string{"1  columns_twice"}, found)
}

// FuzzRows: whatever a file holds, each row has a bound, its cells are a part of it, and reading ends.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{"customer,email\nA,a\n", "sep=;\r\"a\";b\r\n", "\xff\xfea\x00", "\ufeffa\r\rb", "a,\"\n\"\"\r\",", "'=1,'\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		last := 0
		require.NoError(t, eachRow(source{text("members", file), Options{Columns: map[string]map[string]string{"members": {"a": "customer", "*": ""}}}, time.UTC, nil}, func(s *sheet) error {
			require.Greater(t, s.line, last)
			require.LessOrEqual(t, len(s.cells), maxCells)
			last = s.line
			s.kind.row(s)
			return nil
		}, func(Finding) error { return nil }))
	})
}

// TestSeveralIDs: a cell has several ids of one member, separated by a bar, and the object and list of our own exports are read.
func TestSeveralIDs(t *testing.T) {
	rows, found := taken(t, text("members", `customer;external_ids.card;external_ids.crm;external_ids;labels
A;4711 | '4712|;007;;a|b
B;;|;"{""card"":[""1"",""2""],""till"":""x|y""}";"[""a|b"",""c""]"
C;3;;"{""card"":[""1"",""2""]}";null
D;1,5E+12|2;;[1];"[a|b"
E;;;"{""card"":[7]}";
F;;;null;
`), Options{}, nil)

	require.Equal(t, []string{
		`A {"external_ids":{"card":["4711","'4712"],"crm":"007"},"labels":["a","b"],"opt_in":true}`,
		`B {"external_ids":{"card":["1","2"],"till":"x|y"},"labels":["a|b","c"],"opt_in":true}`,
		`C {"external_ids":{"card":"3"},"labels":["null"],"opt_in":true}`,
		`D {"external_ids":{"card":["1,5E+12","2"]},"labels":["[a","b"],"opt_in":true}`,
		`E {"opt_in":true}`,
		`F {"opt_in":true}`,
	}, rows)

	require.Equal(t, []string{"5 external_ids external_ids", "5 external_ids.card id_exponent", "6 external_ids external_ids", "7 external_ids external_ids"}, found)
}
