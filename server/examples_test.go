package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// tale is one step of the story: it sends the example of an action.
type tale struct {
	action string
	names  []string // old, new, …: names that only one event may use
	// before makes what the example needs for a member, whose number is given;
	// the event it answers takes the place of the one that the example names.
	before func(h *house, member string) (event string)
}

// exampleStory is an order in which every example of the Events document works
// when it is sent as it is, but for the names that only one event may use.
var exampleStory = []tale{
	{action: "opt_in"},
	{action: "point_add"},
	{action: "visit"},
	{action: "video"},
	{action: "review"},
	{action: "review_submit"},
	{action: "profile"},
	{action: "point_sub"},
	{action: "point_spend"},
	{action: "point_unspend"},
	{action: "reserve_points"},
	{action: "release_points"},
	{action: "suspend"},
	{action: "unsuspend"},
	{action: "checkout"},
	{action: "partial_refund"},
	{action: "refund_item"},
	{action: "refund"},
	{action: "checkout_claim", before: guestPurchase},
	{action: "subscribe", names: []string{"member-1001", "member-1004"}},

	{action: "coupon_create"},
	{action: "coupon_redeem"},
	{action: "coupon_unredeem"},
	{action: "coupon_invalidate"},
	{action: "unassign_coupon", names: []string{"SPRING-1001", "SPRING-2001"}, before: secondCoupon},
	{action: "coupon"},
	{action: "coupon_transfer"},
	{action: "offer_redeem"},
	{action: "offer_unredeem"},
	{action: "treasure_found"},
	{action: "offline_treasure_found"},
	{action: "offline_treasure_code_found"},
	{action: "challenge_reset"},
	{action: "contest_entry_revoke", before: contestEntry},
	{action: "reward_revoke", before: claimedReward},
	{action: "reward_transfer", before: claimedReward},

	{action: "pending_validate", before: heldVisit},
	{action: "pending_invalidate", before: heldVisit},
	{action: "pending_expired", before: heldVisit},

	{action: "checkout", names: []string{"T-1001", "T-2001"}, before: purchasesPend},
	{action: "checkout_update", names: []string{"T-1001", "T-2001", "2026-03-20", "2126-03-20"}},
	{action: "checkout_accept", names: []string{"T-1001", "T-2001"}},
	{action: "checkout", names: []string{"T-1001", "T-2002"}},
	{action: "checkout_reject", names: []string{"T-1001", "T-2002"}},
	{action: "opt_out"},
}

// examplePieces is what the programme of the story is made of.
var examplePieces = [][2]string{
	{"/admin/modules/customer_id_validation", `{"enabled":true}`},
	{"/admin/modules/contests", `{"enabled":true}`},
	{"/entities/offers/offer", `{"id":"coffee-3-for-2","name":{"en":"Three for two"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":3}}`},
	{"/entities/treasure-hunt/treasure", `{"id":"golden-bean","title":{"en":"Golden bean"},"kind":"online","points":10}`},
	{"/entities/treasure-hunt/treasure", `{"id":"silver-spoon","title":{"en":"Silver spoon"},"kind":"offline","points":10}`},
	{"/entities/treasure-hunt/treasure", `{"id":"hidden-jar","title":{"en":"Hidden jar"},"kind":"offline","code":"JAR-77","points":10}`},
	{"/entities/challenges/challenge", `{"id":"coffee-week","title":{"en":"Coffee week"},"criteria":[{"action":"visit","threshold":50}],"points":50,"max_completions":1,"resetable":true}`},
	{"/entities/contests/contest", `{"id":"spring-raffle","title":{"en":"Spring raffle"},"points":5,"max_entries":10}`},
	{"/entities/rewards/reward", `{"id":"coffee-voucher","title":{"en":"Coffee"},"type":"coupon","points":20,"coupon":{"type":"amount","value":3,"name":{"en":"Coffee"},"valid_days":30}}`},
}

// done is the answer to a request that must work.
func done(h *house, target, body string) map[string]any {
	a := h.post(target, body)
	require.Contains(h.t, []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.status, "%s %s: %s", target, body, a.body)
	return a.json(h.t)
}

func guestPurchase(h *house, member string) string {
	done(h, "/events", `{"customer":"guest-`+member+`","action":"checkout","guest":true,"data":{"transaction_id":"T-`+member[:1]+`003","total":10}}`)
	return ""
}

func secondCoupon(h *house, member string) string {
	code := "SPRING-" + string(member[0]+1) + member[1:]
	done(h, "/events", `{"customer":"member-`+member+`","action":"coupon_create","data":{"code":"`+code+`","value":5}}`)
	return ""
}

func contestEntry(h *house, member string) string {
	done(h, "/customers/member-"+member+"/activities/contests/spring-raffle/enter", `{"count":2}`)
	return ""
}

// claimedReward gives the event that records the claim of a reward, and makes a customer to pass it on to.
func claimedReward(h *house, member string) string {
	friend := "member-" + member[:1] + "005"
	if h.get("/customers/"+friend).status == http.StatusNotFound {
		h.enrol(friend)
	}
	claim := done(h, "/customers/member-"+member+"/activities/rewards/coffee-voucher/claim", "")
	return claim["id"].(string)
}

// heldVisit gives a visit that is held, with the points of the example.
func heldVisit(h *house, member string) string {
	done(h, "/admin/modules/pending_events", `{"enabled":true,"config":{"actions":["visit"],"days":30}}`)
	held := done(h, "/events", `{"customer":"member-`+member+`","action":"visit","data":{"url":"https://shop.test/","points":10}}`)
	return held["events"].([]any)[0].(map[string]any)["id"].(string)
}

func purchasesPend(h *house, _ string) string {
	done(h, "/admin/modules/pending_events", `{"enabled":false}`)
	done(h, "/admin/modules/checkout_accept", `{"enabled":true,"config":{"type":"manual"}}`)
	return ""
}

var (
	exampleEvent  = regexp.MustCompile(`0197b3a2-6d0c-7c55-9a3e-1f0a4c1d\d{4}`)
	exampleMember = regexp.MustCompile(`(T-|member-|SPRING-|WELCOME-)([12])(\d{3})`)
)

// ofOther is the example of another member, under names of its own.
func ofOther(text string) string {
	text = strings.ReplaceAll(text, "000417", "000418")
	return exampleMember.ReplaceAllStringFunc(text, func(name string) string {
		part := exampleMember.FindStringSubmatch(name)
		return part[1] + string(part[2][0]+2) + part[3]
	})
}

// TestEveryExampleWorks sends each example of the Events document through HTTP,
// as JSON and as a form, on both databases; the answers are held against the
// document, and the two forms must lead to the same figures.
//
// spec: event.action, endpoint.events, service.post, service.single, service.form, service.json-body
func TestEveryExampleWorks(t *testing.T) {
	examples := eventExamples(t)
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		for _, piece := range examplePieces {
			done(h, piece[0], piece[1])
		}
		told := map[string]bool{}
		for _, step := range exampleStory {
			told[step.action] = true
			tell(h, step, strings.NewReplacer(step.names...).Replace(examples[step.action]))
		}
		require.Equal(t, slices.Sorted(maps.Keys(examples)), slices.Sorted(maps.Keys(told)), "every example is sent")
	})
}

// tell sends an example as JSON for one member and as a form for another one.
func tell(h *house, step tale, text string) {
	t := h.t
	t.Helper()
	asForm := ofOther(text)
	if step.before != nil {
		text = exampleEvent.ReplaceAllString(text, step.before(h, "1001"))
		asForm = exampleEvent.ReplaceAllString(asForm, step.before(h, "3001"))
	}

	preview := h.does("/events/preview", text)
	require.NotContains(t, preview.json(t), "error", "%s: %s", text, preview.body)
	first := h.does("/events", text)
	require.Equal(t, shown(t, preview), shown(t, first), "the preview of %s told the truth", step.action)
	second := h.form("/events", formOf(t, asForm))
	require.Equal(t, http.StatusOK, second.status, "%s as a form: %s", step.action, second.body)
	require.Equal(t, shown(t, first), shown(t, second), step.action)
	deprecated := step.action == "coupon" || step.action == "review"
	require.Equal(t, deprecated, first.header.Get("Deprecation") != "", step.action)
}

// eventExamples gives the example of each action that can be submitted as JSON.
func eventExamples(t *testing.T) map[string]string {
	t.Helper()
	doc := servertest.Documents()["events"]
	examples := map[string]string{}
	for name, ref := range doc.Paths.Find("/events").Post.RequestBody.Value.Content.Get("application/json").Examples {
		examples[name] = marshal(t, ref.Value.Value)
	}
	require.Len(t, examples, len(doc.Components.Schemas["Event"].Value.OneOf))
	return examples
}

// shown is what an answer says of the figures and of the events, without ids.
func shown(t *testing.T, a answer) string {
	var b strings.Builder
	v := a.json(t)
	if c, ok := v["customer"].(map[string]any); ok {
		fmt.Fprintln(&b, c["status"], c["score"], c["spent"], c["pending"], c["reserved"], c["spendable"])
	}
	for _, e := range v["events"].([]any) {
		fmt.Fprintln(&b, e.(map[string]any)["action"], e.(map[string]any)["points"])
	}
	return b.String()
}

// formOf writes a JSON object with bracketed field names.
func formOf(t *testing.T, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v))
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		pairs = append(pairs, bracketed(key, v[key])...)
	}
	return strings.Join(pairs, "&")
}
