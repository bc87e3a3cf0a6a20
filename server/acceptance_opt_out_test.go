package server_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/action"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// person is a member whose every word is a canary, from the id on.
type person struct {
	*house
	cage *cage
	id   string // member-1…
	crm  string // the external id, once there is one
	sent int
	// batch is a bulk operation that names them, claim a reward they claimed.
	batch, claim string
	// heard takes every answer to the member's requests; nil: not called.
	heard func(target, body string, a answer)
}

// newPerson names a member; first is the digit that the examples' names get.
func (h *house) newPerson(c *cage, place, first string) *person {
	id := "member-" + first + c.name("") // the whole id is the canary, not its end
	c.all[len(c.all)-1] = canary{place, id}
	return &person{house: h, cage: c, id: id}
}

// number is what the steps of the examples' story call the member.
func (p *person) number() string { return strings.TrimPrefix(p.id, "member-") }

// say sends an event of this member; the answer is kept under a key of its own.
func (p *person) say(action string, data map[string]any) map[string]any {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"customer": p.id, "action": action, "data": data})
	require.NoError(p.t, err)
	return p.must("/events", string(body))
}

func (p *person) must(target, body string) map[string]any {
	p.t.Helper()
	p.sent++
	a := p.does(target, body, "Idempotency-Key", fmt.Sprintf("%x-%d", sha256.Sum256([]byte("key of "+p.id)), p.sent))
	if p.heard != nil {
		p.heard(target, body, a)
	}
	return a.json(p.t)
}

// example sends the example of an action with a canary in every place.
func (p *person) example(action, text string) {
	p.t.Helper()
	var event map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(text), &event))
	p.cage.fill(event, actionSchemas(p.t)[action])
	if event["external_id"] != nil {
		event["customer"] = p.crm
	}
	if ids, ok := event["data"].(map[string]any)["external_ids"].(map[string]any); ok {
		p.crm = ids["crm"].(string)
	}
	body, err := json.Marshal(event)
	require.NoError(p.t, err)
	p.must("/events", string(body))
}

// live sends every action that can be submitted, in the order of the examples'
// story; the last one, opt_out, is not sent but given.
func (p *person) live() (optOut string) {
	examples := eventExamples(p.t)
	for _, step := range exampleStory {
		text := strings.NewReplacer(step.names...).Replace(examples[step.action])
		text = strings.NewReplacer("member-1001", p.id, "SPRING-2001", "SPRING-2"+p.number()[1:]).Replace(text)
		if step.action == "opt_out" {
			return text
		}
		if step.action == "subscribe" {
			continue // it is sent for customers that it creates
		}
		if step.before != nil {
			text = exampleEvent.ReplaceAllString(text, step.before(p.house, p.number()))
		}
		p.example(step.action, text)
	}

	p.t.Fatal("the story has no opt_out")
	return ""
}

// canaryPieces is what the programme needs besides that of the examples' story.
var canaryPieces = [][2]string{
	{"/admin/modules/profiling", `{"enabled":true}`},
	{"/admin/modules/visual_search", `{"enabled":true}`},
	{"/entities/core/customer-list", `{"id":"everybody","name":"Everybody"}`},
	{"/admin/modules/custom_events", `{"enabled":true}`},
	{"/admin/modules/friend_referral", `{"enabled":true,"config":{"referrer_points":5,"friend_points":5,"pay_on":"opt_in"}}`},
	{"/admin/webhooks", `{"label":"Everything","url":"https://crm.example.com/hook","types":["event.*"]}`},
	{"/entities/profiling/flow", `{"id":"words","title":{"en":"Words"},"questions":[{"id":"free","field":"cf_said","text":{"en":"?"}},{"id":"nick","field":"handler","text":{"en":"?"}}],"points":1}`},
	{"/entities/custom-events/action", `{"name":"tasting","schema":{"type":"object","properties":{"guest":{"type":"string","x-personal":true},"cups":{"type":"integer"}}}}`},
	{"/entities/custom-events/action", `{"name":"checkout_item","schema":{"type":"object","properties":{"engraving":{"type":"string","x-personal":true}}}}`},
}

// TestOptOutForgets: a member says something personal wherever it is possible,
// passes things on, merges an account and brings a friend. After opt_out nothing
// of it is left anywhere, and the ledger is as it was.
//
// spec: state.customer.opt_out
func TestOptOutForgets(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, piece := range append(slices.Clone(examplePieces), canaryPieces...) {
			done(h, piece[0], piece[1])
		}

		c := newCage(t)
		p := h.newPerson(c, "id", "1")
		optOut := p.live()
		friend := p.operate()
		p.hold()
		p.refuse()
		label := p.labelled()

		db := contentsOf(t, url)
		if db.file == "" {
			db.exec(`ANALYZE`)
		}

		shown := p.answers(p.id)
		readable := c.found(shown)
		for _, place := range []string{"id", "profile.first_name", "profile.email", "profile.labels", "profile.birth_date", "profile.cf_note", "profile.song", "profile.external_ids", "profile.language", "answer.free",
			"visit.url", "visit.referrer", "visit.type", "video.url", "video.title", "video.network", "review_submit.provider", "coupon_create.name", "gift.name", "source.name", "held.name",
			"search.gender", "search.offers", "search.label", "search.catalog"} {
			require.Contains(t, readable, place, "what is readable can be found")
		}

		require.Contains(t, shown["GET /customers/{customer_id}"], label)
		profiles := map[string]string{"all": shown["GET /customers"] + shown["GET /customers/{customer_id}"]}
		require.Equal(t, sorted(c.found(profiles)), sorted(c.found(db.columns())), "what is not on the profile is in no column")
		require.Greater(t, len(readable), 2*len(c.found(profiles)), "the history shows what was said, as long as its key is there")
		require.Greater(t, len(c.all), 100)
		for action, schema := range actionSchemas(t) {
			for _, attribute := range freeTexts(action, schema) {
				sent := slices.ContainsFunc(c.all, func(one canary) bool { return one.place == action+"."+attribute })
				require.True(t, sent || action == "opt_out", "%s.%s was said", action, attribute)
			}
		}

		require.Empty(t, c.found(map[string]string{"log": h.log.String()}))

		before, sums, keys := db.counts(), db.sums(), db.keys()
		p.leave(optOut, db, friend, label)
		left, everywhere := db.keys(), merged(db.files(), db.columns())
		for customer, key := range keys {
			if left[customer] == "" {
				require.Empty(t, (&cage{t: t, all: []canary{{"key", key}}}).found(everywhere), "what a destroyed key was sealed as is gone")
			}
		}

		require.Equal(t, sums, db.sums(), "points and figures stay")
		after := db.counts()
		gone := len(texts(t, db.db, `SELECT action FROM events WHERE action = 'opt_out'`))
		require.Equal(t, before["events"]+gone, after["events"], "events stay, and those of the opt-outs are added")
		require.Equal(t, len(keys)-gone-1, len(left), "a key each, and that of the merged account")
		ledgerHolds(t, h.store)
	})
}

// operate does what only operations do: answers about oneself, coupons and rewards
// for others, a friend brought along, and another account that becomes part of
// this one. It gives the friends, whose words are theirs.
func (p *person) operate() (friends []*person) {
	const flow = "/activities/profiling/words/questions/"
	p.must("/customers/"+p.id+flow+"free", marshal(p.t, map[string]any{"answer": p.cage.text("answer.free")}))
	p.must("/customers/"+p.id+flow+"nick", marshal(p.t, map[string]any{"answer": p.cage.text("answer.nick")}))
	p.must("/customers/"+p.id+"/activities/visual-search", marshal(p.t, map[string]any{"bounds": []any{map[string]any{
		"gender": p.cage.text("search.gender"), "offers": p.cage.text("search.offers"),
		"label": p.cage.text("search.label"), "catalog": p.cage.text("search.catalog"),
	}}}))

	p.say("tasting", map[string]any{"guest": p.cage.text("tasting.guest"), "cups": 3, "cf_note": p.cage.text("tasting.cf_note")})
	p.say("checkout", map[string]any{"transaction_id": "T-7001", "total": 5, "items": []any{map[string]any{
		"product_id": "p-501", "product_name": "Cup", "product_url": "https://shop.test/", "quantity": 1, "subtotal": 5, "engraving": p.cage.text("items.engraving"),
	}}})

	target := p.newPerson(p.cage, "friend.id", "2")
	target.say("opt_in", map[string]any{"email": p.cage.email("friend.email"), "referrer": p.id, "cf_note": p.cage.text("friend.cf_note")})
	for _, code := range []string{"GIFT-1", "GIFT-2"} {
		p.say("coupon_create", map[string]any{"code": code, "value": 5, "name": p.cage.text("gift.name")})
	}

	p.say("coupon_transfer", map[string]any{"code": "GIFT-1", "target": target.id})
	p.say("coupon_transfer", map[string]any{"code": "GIFT-2", "email": p.cage.email("receiver.email")})
	p.claim = claimedReward(p.house, p.number())
	bulk := p.post("/v1/bulk-operation/customer-list/add/everybody", marshal(p.t, map[string]any{"customers": []string{p.id}}))
	require.Equal(p.t, http.StatusAccepted, bulk.status, bulk.body)
	p.batch = batchOf(bulk.json(p.t))
	p.say("reward_transfer", map[string]any{"reward": "coffee-voucher", "email": p.cage.all[len(p.cage.all)-1].text})

	source := p.newPerson(p.cage, "source.id", "4")
	examples := eventExamples(p.t)
	source.example("subscribe", strings.ReplaceAll(examples["subscribe"], "member-1001", source.id))
	source.example("visit", strings.ReplaceAll(strings.ReplaceAll(examples["visit"], "member-1001", source.id), `"points":5,`, ""))
	source.say("opt_in", map[string]any{"email": p.cage.email("source.email")})
	source.say("coupon_create", map[string]any{"code": "SOURCE-1", "value": 5, "name": p.cage.text("source.name")})
	source.must("/customers/"+source.id+"/merge", `{"target":"`+p.id+`"}`)
	return []*person{target}
}

// hold leaves two events waiting, one of them a purchase. A coupon waited before.
func (p *person) hold() {
	done(p.house, "/admin/modules/checkout_accept", `{"enabled":false}`)
	done(p.house, "/admin/modules/pending_events", `{"enabled":true,"config":{"actions":["review_submit","checkout","coupon_create"],"days":30}}`)
	coupon := p.say("coupon_create", map[string]any{"code": "HELD-1", "value": 5, "name": p.cage.text("held.name")})
	require.Equal(p.t, []string{"coupon_create", "pending"}, recordedActions(coupon))
	p.say("pending_validate", map[string]any{"event": coupon["events"].([]any)[0].(map[string]any)["id"]})
	held := p.say("review_submit", map[string]any{"item": "p-501", "review": p.cage.text("held.review")})
	require.Equal(p.t, []string{"review_submit", "pending"}, recordedActions(held))
	examples := eventExamples(p.t)
	p.example("checkout", strings.NewReplacer("member-1001", p.id, "T-1001", "T-7002").Replace(examples["checkout"]))
	done(p.house, "/admin/modules/pending_events", `{"enabled":false}`)
}

// refuse leaves stored refusals and answers of a bulk behind.
func (p *person) refuse() {
	again := `{"customer":"` + p.id + `","action":"opt_in","data":{"email":"` + p.cage.email("refused.email") + `","cf_note":"` + p.cage.name("refused.note") + `"}}`
	require.Equal(p.t, http.StatusConflict, p.post("/events", again, "Idempotency-Key", "refused").status)
	suspended := `{"customer":"` + p.id + `","action":"point_spend","data":{"points":9007199254740991,"reason":"` + p.cage.name("refused.reason") + `"}}`
	require.Equal(p.t, http.StatusUnprocessableEntity, p.post("/events", suspended, "Idempotency-Key", "refused too").status)
	p.does("/events/bulk", `{"events":[`+again+`,`+suspended+`,{"customer":"`+p.id+`","action":"point_add","data":{"points":1,"reason":"`+p.cage.name("bulk.reason")+`"}}]}`, "Idempotency-Key", "bulk")
	require.Equal(p.t, http.StatusBadRequest, p.post("/events", `{"customer":"`+p.id+`","action":"profile","data":{"email":"`+p.cage.name("broken.email")+`"}}`).status)
	p.get("/customers/" + p.cage.name("broken.path"))
}

// labelled gets a label from a campaign, whose text the programme knows.
func (p *person) labelled() string {
	const label = "Qz9999XlabelVw"
	done(p.house, "/entities/automation/campaign", `{"id":"labels","name":"Labels","trigger":"video","effects":[{"type":"label","label":"`+label+`"}],"status":"active"}`)
	p.say("video", map[string]any{"url": "https://video.test/"})
	return label
}

// leave opts the member out and then the friends, and searches each time.
func (p *person) leave(optOut string, db *contents, friends []*person, label string) {
	t := p.t
	t.Helper()
	if db.file == "" { // what the planner learns now it must not know afterwards
		_, err := db.db.Exec(`ANALYZE`)
		require.NoError(t, err)
	}

	p.example("opt_out", optOut)
	theirs := []string{}
	for _, one := range p.cage.all {
		if strings.HasPrefix(one.place, "friend.") || strings.HasPrefix(one.place, "receiver.") || strings.HasPrefix(one.place, "coupon_transfer.email") {
			theirs = append(theirs, one.place)
		}
	}

	hash := db.nameOf("opted_out")
	p.search(db, hash, theirs)
	for where, text := range db.columns() {
		if !strings.HasPrefix(where, "entities.") && !strings.HasPrefix(where, "audit.") && !strings.HasPrefix(where, "pg_stats.") {
			require.NotContains(t, text, label, where)
		}
	}

	for _, f := range friends {
		shown := f.get("/customers/" + f.id)
		require.Contains(t, shown.body, f.id)
		p.cage.none(map[string]string{"friend": shown.body}, theirs...) // nor who brought them
		f.say("opt_out", map[string]any{"reason": p.cage.text("friend.reason")})
	}

	for _, name := range texts(t, db.db, `SELECT name FROM customers WHERE status = 'inactive' AND email <> ''`) {
		(&person{house: p.house, cage: p.cage, id: name}).say("opt_out", map[string]any{})
	}

	p.search(db, hash, nil)
}

// nameOf is what a customer of a status is called now.
func (c *contents) nameOf(status string) string {
	c.t.Helper()
	found := texts(c.t, c.db, `SELECT name FROM customers WHERE status = '`+status+`' ORDER BY name`)
	require.NotEmpty(c.t, found)
	return found[0]
}

// keys gives the sealed key of every customer who has one.
func (c *contents) keys() map[string]string {
	c.t.Helper()
	rows, err := c.db.Query(`SELECT customer_id, sealed FROM customer_keys`)
	require.NoError(c.t, err)
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var customer any
		var sealed []byte
		require.NoError(c.t, rows.Scan(&customer, &sealed))
		all[fmt.Sprint(customer)] = string(sealed)
	}
	require.NoError(c.t, rows.Err())
	return all
}

// search looks for what is left of the members who went, everywhere.
func (p *person) search(db *contents, hash string, but []string) {
	p.t.Helper()
	columns, answers := db.columns(), p.answers(hash)
	p.cage.none(columns, but...)
	if len(but) == 0 {
		p.cage.none(merged(db.files(), columns))
	}

	p.cage.none(answers, but...)
	p.cage.none(map[string]string{"log": p.log.String()})
	for _, gone := range p.cage.all {
		if strings.HasSuffix(gone.place, "id") && !slices.Contains(but, gone.place) {
			a := p.get("/customers/" + url.PathEscape(gone.text))
			require.Equal(p.t, http.StatusNotFound, a.status)
			require.NotContains(p.t, a.body, gone.text)
		}
	}
}

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// answers asks every GET operation of every API about a member, searches for each
// canary, and asks what the events of the examples would do to them.
func (p *person) answers(id string) map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for target, paths := range p.reads(id) {
		for _, path := range paths {
			a := p.get(path)
			require.Less(p.t, a.status, http.StatusInternalServerError, "%s: %s", path, a.body)
			all["GET "+target] += a.body + "\n" + fmt.Sprint(a.header) + "\n"
		}
	}

	for _, one := range p.cage.all {
		a := p.sees("/customers?search=" + url.QueryEscape(one.text[:8]))
		all["search"] += fmt.Sprint(a.json(p.t)["data"]) // its links repeat what was asked for
	}

	for name, text := range eventExamples(p.t) {
		a := p.post("/events/preview", strings.ReplaceAll(text, "member-1001", id))
		require.NotEqual(p.t, http.StatusInternalServerError, a.status, a.body)
		all["preview of "+name] = a.body
	}

	return all
}

// reads gives the paths of every GET operation: with what the path needs in place,
// everything that is there.
func (p *person) reads(id string) map[string][]string {
	p.t.Helper()
	id = url.PathEscape(id)
	values := map[string][]string{
		"customer_id": {id}, "code": {"GIFT-1", "GIFT-2", "SOURCE-1", "HELD-1", "WELCOME-1001", "SPRING-1001"}, "module}/{entity": action.Registry().EntityTypes(),
		"key_id": {p.key.KeyID}, "module": {"events_api"}, "entity_id": {"coffee-voucher"}, "reward_id": {"coffee-voucher"},
		"transaction_id": {"T-1001", "T-7001", "T-7002"}, "quiz_id": {"q"}, "flow_id": {"words"}, "wheel_id": {"w"},
		"offer_id": {"coffee-3-for-2"}, "contest_id": {"spring-raffle"}, "campaign_id": {"labels"}, "pool_id": {"p"}, "job": {"expiry"}, "structure_id": {"main"},
		"batch_id": {p.batch}, "claim_id": {p.claim}, "user_id": {"owner"}, "delivery": {"1"},
		"table":      {"customers", "events", "postings", "lots", "purchases", "coupons", "claims"},
		"import_id":  {data(p.t, p.post("/admin/imports", `{"label":"old system"}`))["import_id"].(string)},
		"webhook_id": {p.get("/admin/webhooks").json(p.t)["data"].([]any)[0].(map[string]any)["webhook_id"].(string)},
	}

	all, asked := map[string][]string{}, 0
	for _, doc := range servertest.Documents() {
		for path, item := range doc.Paths.Map() {
			if item.Get == nil {
				continue
			}
			asked++
			paths := []string{path}
			for _, name := range slices.Backward(sorted(values)) {
				paths = fillIn(paths, "{"+name+"}", values[name])
			}
			for _, one := range paths {
				require.NotContains(p.t, one, "{", "%s: the test does not know this parameter", path)
			}
			all[path] = paths
		}
	}

	require.Greater(p.t, asked, 10)
	return all
}

func fillIn(paths []string, name string, values []string) (all []string) {
	for _, path := range paths {
		if !strings.Contains(path, name) {
			all = append(all, path)
			continue
		}
		for _, value := range values {
			all = append(all, strings.ReplaceAll(path, name, value))
		}
	}
	return all
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}
