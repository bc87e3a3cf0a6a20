package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const claimMugs = "/v1/bulk-operation/reward/claim/mug"

// mugs opens a house with a reward that three customers of a list can afford, and
// members from member-1000 on, who have 50 points but for the last.
func mugs(t *testing.T, url string, members int, adjust ...func(*server.Options)) *house {
	t.Helper()
	h := openOn(t, url, adjust...)
	require.Equal(t, http.StatusCreated, h.post("/entities/rewards/reward", `{"id":"mug","title":{"en":"Mug","hu":"Bögre"},"type":"physical","points":50,"max_claims":1}`).status)
	var events []string
	for i := range members {
		name := fmt.Sprintf("member-%d", 1000+i)
		if events = append(events, joins(name)); i < members-1 {
			events = append(events, earns(name, 50))
		}
	}
	h.bulk(events...)
	return h
}

// claims counts a reward's claims in the database.
func claims(t *testing.T, url string) (n int) {
	t.Helper()
	require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM claims`).Scan(&n))
	return n
}

// TestBulkClaim: each claim is an ordinary one, and a refused one does not affect the others.
func TestBulkClaim(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := mugs(t, url, 5)
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1002","action":"suspend","data":{}}`).status)
		require.Equal(t, http.StatusOK, h.post("/customers/member-1001/activities/rewards/mug/claim", "").status)
		batch := begun(t, h.post(claimMugs, `{"customers":["member-1000","nobody","member-1001","member-1002","member-1003","member-1004"]}`, "Idempotency-Key", "k"), 6)
		h.work(6)
		status := "/v1/bulk-operation/reward/claim/" + batch + "/status"
		require.Equal(t, "done 6 6 4", standing(succeeded(t, h.get(status))))
		require.Equal(t, []string{"nobody 160212", "member-1001 120211", "member-1002 110003", "member-1004 120241"}, refusals(t, h.get(status+"/errors")))
		require.Equal(t, 3, claims(t, url))
		for member, spent := range map[string]string{"member-1000": "50", "member-1001": "50", "member-1002": "0", "member-1003": "50", "member-1004": "0"} {
			require.Equal(t, spent, fmt.Sprint(succeeded(t, h.get("/customers/"+member))["spent"]), member)
		}

		worded := h.get(status+"/errors?offset=3", "Accept-language", "hu").json(t)["data"].([]any)[0].(map[string]any)["error"].(map[string]any)
		require.Equal(t, "RuleException", worded["type"])
		require.Contains(t, worded["message"], "50", "the values of the message were kept")
		again := h.post(claimMugs, `{"customers":["member-1000","nobody","member-1001","member-1002","member-1003","member-1004"]}`, "Idempotency-Key", "k")
		require.Equal(t, batch, data(t, again)["batch_id"])
		h.work(0)
		require.Equal(t, 3, claims(t, url))

		refused(t, h.get("/v1/bulk-operation/customer-list/"+batch+"/status"), http.StatusNotFound, 190240)
		refused(t, h.get("/v1/bulk-operation/reward/claim/"+noBatch+"/status"), http.StatusNotFound, 190240)
		refused(t, h.get("/v1/bulk-operation/reward/claim/"+noBatch+"/status/errors"), http.StatusNotFound, 190240)
		refused(t, h.get("/v1/bulk-operation/reward/claim/none/status"), http.StatusNotFound, 190240)
		refused(t, h.get("/v1/bulk-operation/reward/claim/none/status/errors"), http.StatusNotFound, 190240)
		refused(t, h.post("/v1/bulk-operation/reward/claim/none", `{"customers":["member-1000"]}`), http.StatusNotFound, 160320)
		for body, field := range map[string]string{
			`{}`: "customers", `{"customers":[]}`: "customers", `{"customers":["member-1000"],"list_id":"spring"}`: "list_id", `{"list_id":""}`: "list_id",
		} {
			a := h.post(claimMugs, body)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		require.Equal(t, http.StatusOK, h.post("/entities/rewards/reward/mug/archive", "").status)
		refused(t, h.post(claimMugs, `{"customers":["member-1003"]}`), http.StatusNotFound, 160320)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/rewards", `{"enabled":false}`).status)
		refused(t, h.post(claimMugs, `{"customers":["member-1003"]}`), http.StatusNotFound, 160600)
		refused(t, h.get(status), http.StatusNotFound, 160600)
	})
}

// TestBulkClaimOfAList: a list gives the members that it has at that moment, also those who are merged or gone when
// their turn comes.
func TestBulkClaimOfAList(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := mugs(t, url, 5)
		require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"spring","name":"Spring"}`).status)
		empty := h.post(claimMugs, `{"list_id":"spring"}`)
		require.Equal(t, http.StatusAccepted, empty.status, empty.body)
		require.Equal(t, "done 0 0 0", standing(data(t, empty)))
		missing := refused(t, h.post(claimMugs, `{"list_id":"summer"}`), http.StatusNotFound, 190025)
		require.Equal(t, []string{"list_id"}, missing.fields())

		begun(t, h.post(springList, `{"customers":["member-1000","member-1001","member-1002"]}`), 3)
		h.work(3)
		batch := begun(t, h.post(claimMugs, `{"list_id":"spring"}`), 3)
		begun(t, h.post(springList, `{"customers":["member-1003"]}`), 1) // too late for the claim
		require.Equal(t, http.StatusOK, h.post("/customers/member-1001/merge", `{"target":"member-1004"}`).status)
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1002","action":"opt_out","data":{}}`).status)
		h.work(4)
		status := "/v1/bulk-operation/reward/claim/" + batch + "/status"
		require.Equal(t, "done 3 3 1", standing(succeeded(t, h.get(status))))
		require.Equal(t, []string{"<nil> 160212"}, refusals(t, h.get(status+"/errors")))
		require.Equal(t, "50", fmt.Sprint(succeeded(t, h.get("/customers/member-1004"))["spent"]))
		require.Equal(t, "0", fmt.Sprint(succeeded(t, h.get("/customers/member-1003"))["spent"]))
	})
}

// TestBulkClaimOfTheLast: stock goes to the first of the request.
func TestBulkClaimOfTheLast(t *testing.T) {
	h := mugs(t, storetest.SQLite(t), 4)
	require.Equal(t, http.StatusOK, h.post("/entities/rewards/reward/mug", `{"stock":2}`).status)
	batch := begun(t, h.post(claimMugs, `{"customers":["member-1002","member-1000","member-1001"]}`), 3)
	h.work(3)
	require.Equal(t, []string{"member-1001 120212"}, refusals(t, h.get("/v1/bulk-operation/reward/claim/"+batch+"/status/errors")))
}

// slowItems holds the job up before its second piece, until it is released.
type slowItems struct {
	loyalty.JobStore
	reached, release chan struct{}
}

func (s *slowItems) BulkItems(ctx context.Context, batch loyalty.ID, after int64, limit int) ([]loyalty.BulkItem, error) {
	if after > 0 && after < 2*traffic.MaxBatch {
		s.reached <- struct{}{}
		<-s.release
	}
	return s.JobStore.BulkItems(ctx, batch, after, limit)
}

// TestBulkClaimUnderWay: an operation is woken by its own beginning, shows how far
// it is while it runs, and a short one that was begun later need not wait for it.
func TestBulkClaimUnderWay(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		slow := &slowItems{reached: make(chan struct{}), release: make(chan struct{})}
		var jobs *job.Jobs
		h := mugs(t, url, 3*traffic.MaxBatch, func(o *server.Options) {
			slow.JobStore = o.Reader.(loyalty.JobStore)
			jobs = job.NewJobs(job.JobsOptions{Engine: o.Engine.(*engine.Engine), Store: slow})
			o.Jobs = jobs
		})

		working, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			jobs.Work(working)
			close(ended)
		}()

		t.Cleanup(func() { stop(); <-ended })
		require.Eventually(t, func() bool {
			return jobOf(t, h, "bulk")["running"] == false && jobOf(t, h, "bulk")["last_run_at"] != nil
		}, time.Minute, 10*time.Millisecond)

		list := make([]string, 3*traffic.MaxBatch)
		for i := range list {
			list[i] = fmt.Sprintf("member-%d", 1000+i)
		}

		body, err := json.Marshal(map[string]any{"customers": list})
		require.NoError(t, err)
		a := h.post(claimMugs, string(body))
		require.Equal(t, http.StatusAccepted, a.status, a.body)
		status := "/v1/bulk-operation/reward/claim/" + data(t, a)["batch_id"].(string) + "/status"
		<-slow.reached
		require.Equal(t, fmt.Sprintf("processing %d %d 0", traffic.MaxBatch, len(list)), standing(succeeded(t, h.get(status))))
		short := h.post(claimMugs, `{"customers":["nobody"]}`)
		require.Equal(t, http.StatusAccepted, short.status, short.body)
		slow.release <- struct{}{}
		shortStatus := "/v1/bulk-operation/reward/claim/" + data(t, short)["batch_id"].(string) + "/status"
		require.Eventually(t, func() bool {
			return standing(succeeded(t, h.get(status))) == fmt.Sprintf("done %d %d 1", len(list), len(list)) &&
				standing(succeeded(t, h.get(shortStatus))) == "done 1 1 1"
		}, time.Minute, 10*time.Millisecond)

		require.Equal(t, len(list)-1, claims(t, url))
	})
}
