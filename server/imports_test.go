package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// importing is an import under way in a test.
type importing struct {
	*house
	id string
}

func (h *house) newImport(body string) importing {
	h.t.Helper()
	a := h.makes("/admin/imports", body)
	return importing{h, data(h.t, a)["import_id"].(string)}
}

func (i importing) part(file string, part int, text string) answer {
	i.t.Helper()
	body, err := json.Marshal(map[string]any{"file": file, "part": part, "content": text})
	require.NoError(i.t, err)
	return i.post("/admin/imports/"+i.id+"/files", string(body))
}

// do asks for something, has the jobs do it, and gives the import as it is then.
func (i importing) do(what string) map[string]any {
	i.t.Helper()
	a := i.post("/admin/imports/"+i.id+"/"+what, "{}")
	require.Equal(i.t, http.StatusAccepted, a.status, a.body)
	for _, name := range []string{"imports", "bulk"} {
		i.runs(name)
	}
	return i.now()
}

// runs has a job done, however long that takes: a run that a slow machine cut off leaves its lease behind,
// and the next one is refused until it is over. An end there is nevertheless, as of a job that never ends.
func (i importing) runs(name string) {
	i.t.Helper()
	for until := time.Now().Add(10 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		run := i.post("/admin/jobs/"+name+"/run", "{}")
		if run.status == http.StatusOK && !strings.Contains(run.body, `"running":true`) {
			return
		}
		require.True(i.t, time.Now().Before(until), "the job %s does not end: %d %s", name, run.status, run.body)
	}
}

func (i importing) now() map[string]any {
	i.t.Helper()
	return data(i.t, i.get("/admin/imports/"+i.id))
}

func (i importing) findings() string {
	i.t.Helper()
	a := i.sees("/admin/imports/" + i.id + "/findings")
	require.Equal(i.t, "text/csv; charset=utf-8", a.header.Get("Content-Type"))
	return a.body
}

// TestImports takes members and lots over by the operations alone: files in parts that cut
// through a line, columns by other names, a fault that is found and mended, a plan, the rows done
// once, and the ledger compared.
func TestImports(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		i := h.newImport(`{"label":"Old","dates":"dmy","decimal":",","columns":{"members":{"Member No.":"customer","E-mail":"email","Notes":""}}}`)
		require.Equal(t, "faulty", i.do("check")["status"], "there are no files")
		require.Equal(t, "There are no files.", i.now()["fault"])
		members := "\ufeffMember no.;E-Mail;Notes\n007;ada@example.com;=1+1\n8;ben@example.com;\n"
		lots := "customer;points;earned_at;expires_at\n007;1.500;01.03.2024;31.03.2099\n8;20;31.02.2024;\n"
		require.Equal(t, http.StatusOK, i.part("members", 1, members).status)
		require.Equal(t, http.StatusOK, i.part("lots", 2, lots[40:]).status)
		require.Equal(t, "lots: 1 of 2 parts have arrived. Send the others.", i.do("check")["fault"])
		a := i.part("lots", 1, lots[:40])
		require.Equal(t, "open", data(t, a)["status"])
		require.Len(t, data(t, a)["files"], 2)
		require.Equal(t, "file,line,column,severity,message\n", i.findings())

		now := i.do("check")
		require.Equal(t, "faulty", now["status"], now)
		require.Equal(t, "file,line,column,severity,message\nlots,3,earned_at,fault,This day does not exist in the calendar.\n", i.findings())
		unsaid := h.newImport(`{}`)
		require.Equal(t, http.StatusOK, unsaid.part("members", 1, "customer\n8\n").status)
		require.Equal(t, http.StatusOK, unsaid.part("lots", 1, "customer;points;earned_at\n8;1,5;01.03.2024\n").status)
		unsaid.do("check")
		require.Equal(t, "file,line,column,severity,message\n"+
			`lots,2,points,fault,"Say which is the decimal separator: decimal , or decimal ."`+"\n"+
			"lots,2,earned_at,fault,Say whether the day or the month comes first: dates dmy or dates mdy.\n", unsaid.findings())
		require.Equal(t, http.StatusUnprocessableEntity, i.post("/admin/imports/"+i.id+"/apply", "{}").status)
		require.Equal(t, http.StatusOK, i.part("lots", 2, strings.Replace(lots[40:], "31.02", "28.02", 1)).status)
		now = i.do("check")
		require.Equal(t, "ready", now["status"], "%v %s", now, i.findings())
		plan := now["plan"].(map[string]any)
		require.Equal(t, []string{"1520", "2", "0"}, []string{fmt.Sprint(plan["points"]), fmt.Sprint(plan["new_members"]), fmt.Sprint(plan["faults"])})

		now = i.do("apply")
		require.Equal(t, "done", now["status"], now)
		require.Equal(t, "map[done:4 refused:0 total:4]", fmt.Sprint(now["rows"]))
		points := data(t, h.get("/customers/007/points"))
		require.Equal(t, "1500", fmt.Sprint(points["spendable"]), points)
		require.Equal(t, "[map[lots:2 origin:import points:1520]]", fmt.Sprint(data(t, h.get("/admin/ledger"))["origins"]))
		now = i.do("apply")
		require.Equal(t, "done", now["status"], "again it changes nothing")
		require.Equal(t, http.StatusUnprocessableEntity, i.part("lots", 2, lots).status)
		now = i.do("reconcile")
		require.Equal(t, "map[different:0 exact:true expected_lots:2 expected_points:1520 lots:2 points:1520]", fmt.Sprint(now["account"]))

		again := h.newImport(`{"dates":"dmy","decimal":",","columns":{"members":{"Member No.":"customer","E-mail":"email","Notes":""}}}`)
		require.Equal(t, http.StatusOK, again.part("members", 1, members).status)
		require.Equal(t, http.StatusOK, again.part("lots", 1, strings.Replace(lots, "31.02", "28.02", 1)).status)
		require.Contains(t, again.do("check")["fault"], "These files were already taken over, as import "+i.id)

		audit := h.get("/admin/audit?limit=100").body
		for _, action := range []string{"import.create", "import.check", "import.apply", "import.reconcile", "bulk.import"} {
			require.Contains(t, audit, `"`+action+`"`)
		}

		raw := storetest.Raw(t, url)
		var clear int
		require.NoError(t, raw.QueryRow("SELECT count(*) FROM upload_parts WHERE CAST(sealed AS TEXT) LIKE '%ada@%'").Scan(&clear))
		require.Zero(t, clear, "what was sent is sealed")
		require.NoError(t, h.store.ForgetUploads(t.Context(), time.Now().Add(time.Hour)))
		require.Empty(t, i.now()["files"])
		require.Len(t, h.get("/admin/imports").json(t)["data"], 3)
		held := 0
		h.store.VerifyLedger(t.Context(), func(c loyalty.LedgerCheck) {
			require.Equal(t, loyalty.LedgerHeld, c.Verdict, "%+v", c)
			held++
		})

		require.Positive(t, held)
	})
}

// TestImportCutOff: an import whose work is cut off again and again, by the end of its time, is
// taken over whole and once.
func TestImportCutOff(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		var members, lots strings.Builder
		members.WriteString("customer\n")
		lots.WriteString("customer,points,earned_at\n")
		const n = 3000
		for k := range n {
			fmt.Fprintf(&members, "m-%d\n", k)
			fmt.Fprintf(&lots, "m-%d,%d,2024-01-01\n", k, k+1)
		}

		i := h.newImport(`{}`)
		require.Equal(t, http.StatusOK, i.part("members", 1, members.String()).status)
		require.Equal(t, http.StatusOK, i.part("lots", 1, lots.String()).status)
		require.Equal(t, "ready", i.do("check")["status"])
		require.Equal(t, http.StatusAccepted, i.post("/admin/imports/"+i.id+"/apply", "{}").status)
		cuts := 0
		for wait := time.Millisecond; i.now()["rows"] == nil; wait = wait * 3 / 2 {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			if _, err := h.Imports(ctx); err != nil {
				cuts++
			}
			cancel()
		}

		require.Greater(t, cuts, 2)
		now := i.do("apply")
		require.Equal(t, "done", now["status"], now)
		require.Equal(t, fmt.Sprintf("map[done:%d refused:0 total:%d]", 2*n, 2*n), fmt.Sprint(now["rows"]))
		account := i.do("reconcile")["account"].(map[string]any)
		require.Equal(t, fmt.Sprint(n*(n+1)/2), fmt.Sprint(account["points"]))
		require.Equal(t, true, account["exact"])
	})
}

// TestImportRefusals: what an import cannot be asked for.
func TestImportRefusals(t *testing.T) {
	h := open(t)
	f := h.post("/admin/imports", `{"columns":{"members":{"No":"number"}}}`).fault(t)
	require.Equal(t, []any{190011, []string{"columns.members.No"}}, []any{f.Code, f.fields()})
	f = h.post("/admin/imports", `{"columns":{"people":{}}}`).fault(t)
	require.Equal(t, []any{190011, []string{"columns.people"}}, []any{f.Code, f.fields()})
	f = h.post("/admin/imports", `{"columns":{"members":{"`+strings.Repeat("n", 65<<10)+`":""}}}`).fault(t)
	require.Equal(t, []string{"columns"}, f.fields())
	i := h.newImport(`{}`)
	require.Equal(t, []string{"part"}, i.part("members", 76, "x").fault(t).fields())
	require.Equal(t, []string{"file"}, i.part("people", 1, "x").fault(t).fields())
	require.Equal(t, []string{"content"}, i.part("members", 1, "").fault(t).fields())
}

// TestImportInactive: what the programme would refuse for a customer who is not enrolled is a fault of the check, unless
// the file of members enrols them.
func TestImportInactive(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		done(h, "/events", `{"customer":"sam","action":"subscribe","data":{"handler":"sam"}}`)
		i := h.newImport(`{}`)
		require.Equal(t, http.StatusOK, i.part("lots", 1, "customer,points,earned_at\nsam,5,2026-01-01\nsam,6,2026-01-01\n").status)
		require.Equal(t, "faulty", i.do("check")["status"])
		require.Equal(t, "file,line,column,severity,message\nlots,2,customer,fault,This member is not enrolled. An active row in the file of members enrols them.\n", i.findings())
		require.Equal(t, http.StatusOK, i.part("members", 1, "customer,email\nsam,sam@example.com\n").status)
		require.Equal(t, "ready", i.do("check")["status"], i.findings())
		require.Equal(t, "0", fmt.Sprint(i.do("apply")["rows"].(map[string]any)["refused"]))
	})
}

// TestImportLanguages: findings and faults are in the language of the request, with plain numbers, and are checked once for
// all of them.
func TestImportLanguages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		i := h.newImport(`{}`)
		i.do("check")
		for language, text := range map[string]string{
			"en": "There are no files.", "es": "No hay archivos.", "fr": "Il n’y a pas de fichiers.", "hu": "Nincsenek fájlok.",
		} {
			a := h.sees("/admin/imports/"+i.id, "Accept-Language", language)
			require.Equal(t, text, data(t, a)["fault"])
			require.Equal(t, text, a.json(t)["data"].(map[string]any)["fault"])
			require.Equal(t, language, a.header.Get("Content-Language"))
		}

		require.Equal(t, http.StatusOK, i.part("members", 1, "customer,email\n'007,none\n").status)
		require.Equal(t, http.StatusOK, i.part("lots", 1, "email,points,earned_at\nx@example.com,1,2024-01-01\n,1,2024-01-01\n").status)
		require.Equal(t, http.StatusOK, i.part("coupons", 1, "customer,code,value\n007,A,99999999999999999\n").status)
		require.Equal(t, "faulty", i.do("check")["status"])
		for language, texts := range map[string][]string{
			"en": {"members,2,customer,warning,", "This cannot be taken over: Property", "No member has this e-mail address", "The cell is empty."},
			"es": {"No se puede importar: ", "Ningún miembro tiene esta dirección de correo", "La celda está vacía."},
			"fr": {"Ceci ne peut pas être importé : ", "Aucun membre n’a cette adresse e-mail", "La cellule est vide."},
			"hu": {"Ez nem importálható: ", "Egyetlen tagnak sincs ilyen e-mail-címe", "A cella üres."},
		} {
			a := h.sees("/admin/imports/"+i.id+"/findings", "Accept-Language", language)
			require.Equal(t, language, a.header.Get("Content-Language"))
			for _, text := range texts {
				require.Contains(t, a.body, text)
			}
			require.NotRegexp(t, `[0-9]e\+|too_large|bad_format`, a.body)
			require.Equal(t, 1+5, strings.Count(a.body, "\n"), a.body)
		}
	})
}

// TestImportByEmail: rows that name their members by e-mail, a member who is not enrolled, and consent, taken over whole.
func TestImportByEmail(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("old")
		h.happens("old", "profile", `{"email":"old@example.com"}`)
		i := h.newImport(`{"columns":{"members":{"*":"","No":"customer","Mail":"email","State":"status","News":"consent"}}}`)
		require.Equal(t, http.StatusOK, i.part("members", 1, "sep=|\rNo|Mail|State|News|Rest||\r'+36|New@example.com|active|yes|=1+1||\r'=quiet|quiet@example.com|inactive|no|x||\r").status)
		require.Equal(t, http.StatusOK, i.part("lots", 1, "email,points,earned_at,expires_at\nnew@example.com,5,2026-01-01,\nOLD@example.com,6,2026-01-01,\n").status)
		now := i.do("check")
		require.Equal(t, "ready", now["status"], "%v %s", now, i.findings())
		now = i.do("apply")
		require.Equal(t, "map[done:4 refused:0 total:4]", fmt.Sprint(now["rows"]))
		require.Equal(t, true, i.do("reconcile")["account"].(map[string]any)["exact"])
		require.Equal(t, "5", fmt.Sprint(data(t, h.get("/customers/+36/points"))["spendable"]))
		require.Equal(t, "6", fmt.Sprint(data(t, h.get("/customers/old/points"))["spendable"]))
		require.Equal(t, "inactive", data(t, h.get("/customers/=quiet"))["status"])
	})
}

// TestFindingsAreFew: a reader of findings who takes nothing holds a place, of which there are few, and not the
// server's memory; and a key that is revoked gets no more.
func TestFindingsAreFew(t *testing.T) {
	h := open(t)
	i := h.newImport(`{}`)
	pieces := make([][]byte, 24)
	for k := range pieces {
		pieces[k] = bytes.Repeat([]byte(`{"file":"members","line":1,"column":"","name":"empty"}`+"\n"), 1<<14)
	}

	id, err := uuid.Parse(i.id)
	require.NoError(t, err)
	require.NoError(t, h.store.KeepFindings(t.Context(), id, pieces))
	key := h.newKey(admin.KeyChange{})
	client := &http.Client{Transport: &signing.Transport{Scheme: signing.Default(region), Credential: key}}
	read := func() *http.Response {
		resp, err := client.Do(h.request(http.MethodGet, "/admin/imports/"+i.id+"/findings", ""))
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}

	first := read()
	for range 3 {
		require.Equal(t, http.StatusOK, read().StatusCode)
	}

	require.Equal(t, http.StatusServiceUnavailable, read().StatusCode, "half of the places are one key's")
	require.Equal(t, http.StatusOK, h.post("/admin/keys/"+key.KeyID+"/revoke", "").status)
	n, err := io.Copy(io.Discard, first.Body)
	require.Error(t, err, "it breaks off")
	require.Less(t, n, int64(len(pieces)*len(pieces[0])))
}
