package server_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/signing"
)

const (
	teaLine = `{"product_id":"p-501","product_name":"Tea","product_url":"https://shop.test/","quantity":2,"subtotal":60}`
	ended   = `"starts_at":"2020-01-01","ends_at":"2020-02-01"`
	noClaim = "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"
)

// errorPieces are the programme and the customers: ada and ben are active, sue is
// suspended, ina inactive.
var errorPieces = [][2]string{
	{"/admin/modules/customer_id_validation", `{"enabled":true}`},
	{"/admin/modules/friend_referral", `{"enabled":true}`},
	{"/entities/tiers/structure", `{"id":"club","name":"Club","base":"points"}`},
	{"/entities/tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold"},"threshold":100000000}`},
	{"/entities/stores/store", `{"id":"north","name":"North"}`},
	{"/entities/stores/store", `{"id":"closed","name":"Closed"}`},
	{"/entities/stores/store/closed/archive", ``},
	{"/entities/segments/segment", `{"id":"nobody","name":"Nobody","condition":"customer.score > 1000000000"}`},
	{"/entities/coupons/pool", `{"id":"empty","name":"Empty","source":"uploaded","coupon":{"type":"amount","value":1}}`},
	{"/entities/coupons/pool", `{"id":"known","name":"Known","source":"uploaded","coupon":{"type":"amount","value":1}}`},
	{"/entities/rewards/reward", `{"id":"used","title":{"en":"Used"},"type":"coupon","points":1,"pool":"known"}`},
	{"/entities/rewards/reward", `{"id":"over","title":{"en":"Over"},"type":"custom","points":1,` + ended + `}`},
	{"/entities/rewards/reward", `{"id":"once","title":{"en":"Once"},"type":"custom","points":1,"max_claims":1}`},
	{"/entities/rewards/reward", `{"id":"sold","title":{"en":"Sold"},"type":"custom","points":1,"stock":0}`},
	{"/entities/rewards/reward", `{"id":"dry","title":{"en":"Dry"},"type":"coupon","points":1,"pool":"empty"}`},
	{"/entities/rewards/reward", `{"id":"few","title":{"en":"Few"},"type":"custom","points":1,"segments":["nobody"]}`},
	{"/entities/rewards/reward", `{"id":"dear","title":{"en":"Dear"},"type":"custom","points":99999}`},
	{"/entities/offers/offer", `{"id":"single","name":{"en":"Single"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":1},"max_per_customer":1}`},
	{"/entities/offers/offer", `{"id":"theirs","name":{"en":"Theirs"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":1},"segments":["nobody"]}`},
	{"/entities/offers/offer", `{"id":"last","name":{"en":"Last"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":1},"max_redemptions":1}`},
	{"/entities/challenges/challenge", `{"id":"steady","title":{"en":"Steady"},"criteria":[{"action":"video","threshold":90}],"points":5}`},
	{"/entities/contests/contest", `{"id":"over","title":{"en":"Over"},"points":1,` + ended + `}`},
	{"/entities/contests/contest", `{"id":"pair","title":{"en":"Pair"},"points":1,"max_entries":2}`},
	{"/entities/prize-wheels/wheel", `{"id":"daily","name":{"en":"Daily"},"points":0,"limit":{"count":1,"period":"day"},"options":[{"type":"empty","label":{"en":"No"},"weight":1}]}`},
	{"/entities/quizzes/quiz", `{"id":"origin","title":{"en":"Origin"},"question":{"en":"?"},"answers":[{"id":"a","text":{"en":"A"}},{"id":"b","text":{"en":"B"}}],"correct_answer":"a","points":1}`},
	{"/entities/treasure-hunt/treasure", `{"id":"bean","title":{"en":"Bean"},"kind":"online","points":1}`},
	{"/entities/treasure-hunt/treasure", `{"id":"jar","title":{"en":"Jar"},"kind":"offline","code":"JAR","points":1}`},
	{"/entities/profiling/flow", `{"id":"taste","title":{"en":"Taste"},"questions":[{"id":"drink","field":"cf_drink","text":{"en":"?"}}],"points":1}`},
	{"/entities/automation/campaign", `{"id":"endless","name":"Endless","trigger":"coupon_create","condition":"customer.handler == 'loop'","effects":[{"type":"coupon","coupon":{"type":"amount","value":1}}],"status":"active"}`},
	event("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"7"}}`),
	event("ben", "opt_in", `{"email":"ben@shop.test"}`),
	event("sue", "opt_in", `{"email":"sue@shop.test"}`),
	event("lou", "opt_in", `{"email":"lou@shop.test","handler":"loop"}`),
	event("ina", "subscribe", `{"handler":"ina"}`),
	event("ada", "point_add", `{"points":1000}`),
	event("ada", "coupon_create", `{"code":"FT","type":"gift_card","value":5000,"currency":"HUF"}`),
	event("sue", "point_add", `{"points":100}`),
	event("sue", "suspend", `{}`),
	event("ada", "checkout", `{"transaction_id":"T-1","total":60,"items":[`+teaLine+`]}`),
	event("ada", "checkout", `{"transaction_id":"T-2","total":60,"items":[`+teaLine+`]}`),
	event("ada", "refund", `{"transaction_id":"T-2"}`),
	event("ada", "reserve_points", `{"transaction_id":"T-5","points":5}`),
	event("ada", "coupon_create", `{"code":"CARD","value":0,"amount":10}`),
	event("ada", "coupon_create", `{"code":"NORTH","value":1,"stores":"north"}`),
	event("ada", "coupon_create", `{"code":"CAKE","value":1,"product":"p-700"}`),
}

// failings are the rows, in an order in which they can be made: what a row switches
// stays so.
var failings = []failing{
	{"property_empty", 400, 0, "Property transaction_id cannot be empty", "data.transaction_id", nil, says("ada", "checkout", `{"total":1}`)},
	{"property_invalid", 400, 190010, "Property external_ids is invalid: the name of an external id must have 1 to 255 printable characters and no colon", "data.external_ids.a:b", nil, says("ada", "profile", `{"external_ids":{"a:b":"x"}}`)},
	{"property_unknown", 400, 190011, "Property colour is not known", "data.colour", nil, says("ada", "visit", `{"url":"https://shop.test/","colour":"red"}`)},
	{"unknown_action", 400, 190012, "Unknown action: dance", "action", nil, says("ada", "dance", `{}`)},
	{"future_timestamp", 400, 190013, "Property effective_timestamp cannot be more than 300 seconds in the future", "data.effective_timestamp", nil, says("ada", "visit", `{"url":"https://shop.test/","effective_timestamp":"2999-01-01T00:00:00Z"}`)},
	{"reserved_name", 400, 190014, "Property customer cannot have the reserved value “-”", "customer", nil, says("-", "opt_in", `{"email":"x@shop.test"}`)},
	{"number_out_of_range", 400, 190015, "The number in property points is out of range", "data.points", nil, says("ada", "point_add", `{"points":9007199254740991}`)},
	{"customer_not_found", 404, 160212, "Customer not found", "customer", nil, says("nobody", "visit", `{"url":"https://shop.test/"}`)},
	{"transaction_not_found", 404, 911001, "Transaction not found", "data.transaction_id", nil, says("ada", "refund", `{"transaction_id":"T-9"}`)},
	{"coupon_not_found", 404, 1601, "Coupon not found", "data.code", nil, says("ada", "coupon_redeem", `{"code":"NONE"}`)},
	{"module_unknown", 404, 190020, "Unknown module: nonsense", "", nil, reads("/admin/modules/nonsense")},
	{"key_not_found", 404, 190021, "Access key not found: none", "", nil, reads("/admin/keys/none")},
	{"nothing_reserved", 422, 190022, "No points are reserved for transaction T-9", "data.transaction_id", nil, says("ada", "release_points", `{"transaction_id":"T-9"}`)},
	{"line_not_found", 404, 190023, "The transaction has no line for product p-9", "data.product_id", nil, says("ada", "refund_item", `{"transaction_id":"T-1","product_id":"p-9"}`)},
	{"entity_unknown", 404, 190024, "There is no entity type stores/shop", "", nil, reads("/entities/stores/shop")},
	{"entity_not_found", 404, 190025, "stores/store none not found", "", nil, reads("/entities/stores/store/none")},
	{"ERR_TX_ALREADY_EXISTS", 409, 5003, "ERR_TX_ALREADY_EXISTS", "data.transaction_id", nil, says("ada", "checkout", `{"transaction_id":"T-1","total":1}`)},
	{"customer_exists", 409, 112101, "The customer already exists", "customer", nil, says("ada", "opt_in", `{"email":"ada@shop.test"}`)},
	{"external_id_taken", 409, 190030, "The value of the external id crm is already taken", "data.external_ids.crm", nil, says("ben", "profile", `{"external_ids":{"crm":"7"}}`)},
	{"idempotency_key_reused", 409, 190031, "The Idempotency-Key was already used with a different request", "", nil, func(h *house, language string) answer {
		require.Equal(h.t, http.StatusOK, h.post("/events", `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`, "Idempotency-Key", "used").status)
		return sends("/events", `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/2"}}`, "Idempotency-Key", "used")(h, language)
	}},
	{"coupon_exists", 409, 190033, "The coupon code CARD is taken", "data.code", nil, says("ada", "coupon_create", `{"code":"CARD","value":1}`)},
	{"value_taken", 409, 190341, "Property threshold: gold already has this value", "threshold", nil, sends("/entities/tiers/tier", `{"id":"twin","structure":"club","name":{"en":"Twin"},"threshold":100000000}`)},
	{"entity_exists", 409, 190034, "The id north is taken", "id", nil, sends("/entities/stores/store", `{"id":"north","name":"North"}`)},

	{"not_enough_points_discount", 422, 0, "Customer doesn't have enough points for discount", "data.points_burned", nil, says("ada", "checkout", `{"transaction_id":"T-9","total":1,"points_burned":90000}`)},
	{"not_enough_points", 422, 0, "Customer doesn't have enough points", "data.points", nil, says("ada", "point_spend", `{"points":90000}`)},
	{"unspend_too_much", 422, 112900, "No more points can be returned than were spent (spent: 0)", "data.points", nil, says("ada", "point_unspend", `{"points":1}`)},
	{"customer_suspended", 422, 110003, "The customer is suspended", "", nil, says("sue", "point_spend", `{"points":1}`)},
	{"forbidden_state_change", 422, 190040, "The status cannot change from active to active", "", nil, says("ada", "unsuspend", `{}`)},
	{"wrong_status", 422, 190041, "Action point_add is not possible in status inactive", "", nil, says("ina", "point_add", `{"points":1}`)},
	{"not_refundable", 422, 112201, "Only accepted transactions can be refunded (status: refunded)", "data.transaction_id", nil, says("ada", "refund", `{"transaction_id":"T-2"}`)},
	{"refund_not_positive", 422, 112202, "The amount to refund must be greater than zero", "data.amount", nil, says("ada", "partial_refund", `{"transaction_id":"T-1","amount":0}`)},
	{"refund_too_large", 422, 112203, "The refund is larger than what is left of the transaction (left: 60)", "data.amount", nil, says("ada", "partial_refund", `{"transaction_id":"T-1","amount":60.01}`)},
	{"module_off", 422, 190042, "Property total_quantity needs the module checkout_accept, which is switched off", "data.total_quantity", nil, says("ada", "checkout", `{"transaction_id":"T-9","total":1,"total_quantity":1}`)},
	{"module_off_action", 422, 190043, "Action checkout_reject needs the module checkout_accept, which is switched off", "action", nil, says("ada", "checkout_reject", `{"transaction_id":"T-1"}`)},
	{"internal_action", 422, 190044, "Action checkout_item is written by the platform and cannot be submitted; use POST /events (checkout) instead", "action", nil, says("ada", "checkout_item", `{}`)},
	{"release_too_much", 422, 190046, "No more points can be released than are reserved (reserved: 5)", "data.points", nil, says("ada", "release_points", `{"transaction_id":"T-5","points":6}`)},
	{"referrer_unknown", 422, 190047, "The referring customer does not exist", "data.referrer", nil, says("kim", "opt_in", `{"email":"kim@shop.test","referrer":"nobody"}`)},
	{"referrer_self", 422, 190130, "Customers cannot refer themselves", "data.referrer", nil, says("kim", "opt_in", `{"email":"kim@shop.test","referrer":"kim"}`)},
	{"key_revoked", 422, 190050, "The access key has been revoked", "", nil, func(h *house, language string) answer {
		gone := h.newKey(admin.KeyChange{})
		done(h, "/admin/keys/"+gone.KeyID+"/revoke", "")
		return sends("/admin/keys/"+gone.KeyID, `{"label":"x"}`)(h, language)
	}},
	{"quantity_too_large", 422, 190051, "The quantity is larger than what is left of the product (left: 2)", "data.quantity", nil, says("ada", "refund_item", `{"transaction_id":"T-1","product_id":"p-501","quantity":3}`)},
	{"reactions_endless", 422, 190052, "The rules of the programme trigger each other without end at coupon_create", "", nil, says("lou", "coupon_create", `{"code":"LOOP","value":1}`)},
	{"entity_in_use", 422, 190053, "Still in use by tiers/tier gold; change that first", "", nil, sends("/entities/tiers/structure/club/archive", "")},
	{"entity_archived", 422, 190054, "closed is archived", "", nil, sends("/entities/stores/store/closed", `{"name":"Open"}`)},
	{"job_unknown", 404, 190160, "There is no job cleaning", "", nil, sends("/admin/jobs/cleaning/run", "")},
	{"merge_self", 422, 190163, "A customer cannot be merged with themselves", "customer_id", nil, sends("/customers/ada/merge", `{"target":"ada"}`)},

	{"not_running", 422, 190140, "over is not open now (status: completed)", "", nil, sends("/customers/ada/activities/contests/over/enter", "")},
	{"entries_limit", 422, 190141, "No more entries are possible (limit: 2)", "count", nil, sends("/customers/ada/activities/contests/pair/enter", `{"count":3}`)},
	{"entries_too_few", 422, 190142, "You cannot take back more entries than the customer has (entries: 0)", "data.count", nil, says("ada", "contest_entry_revoke", `{"contest_id":"pair","count":1}`)},
	{"several", 422, 190400, "Property code is needed to choose one of several: TWO-1, TWO-2", "data.code", [][2]string{
		event("two", "opt_in", `{"email":"two@shop.test"}`), event("two", "coupon_create", `{"code":"TWO-2","value":1}`), event("two", "coupon_create", `{"code":"TWO-1","value":1}`),
	}, says("two", "unassign_coupon", `{}`)},
	{"spin_limit", 422, 190143, "The wheel cannot be spun more often for now (limit: 1)", "", [][2]string{{"/customers/ada/prize-wheels/daily", ""}}, sends("/customers/ada/prize-wheels/daily", "")},
	{"quiz_answered", 422, 190144, "The quiz has already been answered", "", [][2]string{{"/customers/ada/activities/quizzes/origin/earn", `{"answer":"b"}`}}, sends("/customers/ada/activities/quizzes/origin/earn", `{"answer":"a"}`)},
	{"treasure_found_already", 422, 190145, "The treasure has already been found", "data.treasure_id", [][2]string{event("ada", "treasure_found", `{"treasure_id":"bean"}`)}, says("ada", "treasure_found", `{"treasure_id":"bean"}`)},
	{"treasure_code_wrong", 422, 190146, "The code of the treasure is wrong", "data.code", nil, says("ada", "offline_treasure_code_found", `{"treasure_id":"jar","code":"POT"}`)},
	{"treasure_other_action", 422, 190147, "This treasure is found by the action offline_treasure_code_found", "data.treasure_id", nil, says("ada", "treasure_found", `{"treasure_id":"jar"}`)},
	{"offer_limit", 422, 190148, "The offer cannot be used more often (limit: 1)", "data.offer", [][2]string{event("ada", "offer_redeem", `{"offer":"single"}`)}, says("ada", "offer_redeem", `{"offer":"single"}`)},
	{"offer_used_up", 422, 190149, "The offer is used up", "data.offer", [][2]string{event("ada", "offer_redeem", `{"offer":"last"}`)}, says("ben", "offer_redeem", `{"offer":"last"}`)},
	{"offer_segment", 422, 190230, "The offer is for other customers", "data.offer", nil, says("ben", "offer_redeem", `{"offer":"theirs"}`)},
	{"offer_not_redeemed", 422, 190150, "The offer has not been used", "data.offer", nil, says("ben", "offer_unredeem", `{"offer":"single"}`)},
	{"question_not_found", 404, 190151, "Question not found: none", "", nil, sends("/customers/ada/activities/profiling/taste/questions/none", `{"answer":"x"}`)},
	{"challenge_not_found", 404, 190120, "There is no challenge none", "data.challenge", nil, says("ada", "challenge_reset", `{"challenge":"none"}`)},
	{"challenge_not_resetable", 422, 190121, "The challenge steady cannot be reset", "data.challenge", nil, says("ada", "challenge_reset", `{"challenge":"steady"}`)},

	{"coupon_balance", 422, 1606, "The coupon balance is lower than the amount", "data.amount", nil, says("ada", "coupon_redeem", `{"code":"CARD","amount":10.01}`)},
	{"reward_not_found", 404, 160320, "Reward not found", "reward", nil, sends("/customers/ada/activities/rewards/none/claim", "")},
	{"reward_inactive", 422, 160321, "The reward is not active", "", nil, sends("/customers/ada/activities/rewards/over/claim", "")},
	{"reward_limit", 422, 120211, "The reward cannot be claimed more often (limit: 1)", "", [][2]string{{"/customers/ada/activities/rewards/once/claim", ""}}, sends("/customers/ada/activities/rewards/once/claim", "")},
	{"reward_stock", 422, 120212, "The reward is out of stock", "", nil, sends("/customers/ada/activities/rewards/sold/claim", "")},
	{"pool_empty", 422, 120212, "The coupon pool empty has no codes left", "", nil, sends("/customers/ada/activities/rewards/dry/claim", "")},
	{"reward_segment", 422, 120213, "The reward is not available to this customer", "", nil, sends("/customers/ada/activities/rewards/few/claim", "")},
	{"reward_points", 422, 120241, "The customer doesn't have enough points for the reward (99999)", "", nil, sends("/customers/ada/activities/rewards/dear/claim", "")},
	{"claim_not_found", 404, 190100, "Event 0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01 does not record a claimed reward of this customer", "data.event", nil, says("ada", "reward_revoke", `{"event":"`+noClaim+`"}`)},
	{"coupon_redeemed", 422, 190101, "Coupon USED-en is redeemed; unredeem it first", "data.event", nil, func(h *house, language string) answer {
		done(h, "/coupon-pools/known/codes", `{"codes":["USED-`+language+`"]}`)
		claim := done(h, "/customers/ada/activities/rewards/used/claim", "")
		done(h, "/events", `{"customer":"ada","action":"coupon_redeem","data":{"code":"USED-`+language+`"}}`)
		return says("ada", "reward_revoke", fmt.Sprintf(`{"event":%q}`, claim["id"]))(h, language)
	}},
	{"transfer_to_self", 422, 190102, "A transfer needs another customer as its receiver", "data.target", nil, says("ada", "coupon_transfer", `{"code":"CAKE","target":"ada"}`)},
	{"coupon_store", 422, 190103, "Coupon NORTH cannot be redeemed in this store", "data.coupon_code", nil, says("ada", "checkout", `{"transaction_id":"T-9","total":1,"store":"south","coupon_code":"NORTH"}`)},
	{"coupon_currency", 422, 190810, "Gift card FT is in HUF and cannot pay a purchase in EUR", "data.coupon_code", nil, says("ada", "checkout", `{"transaction_id":"T-9","total":1,"coupon_code":"FT"}`)},
	{"coupon_product", 422, 190104, "Coupon CAKE is not valid for any product of this purchase", "data.coupons[0]", nil, says("ada", "checkout", `{"transaction_id":"T-9","total":1,"coupons":["CAKE"],"items":[`+teaLine+`]}`)},
	{"pool_not_generated", 422, 190105, "The coupon pool empty does not generate codes; add codes to it instead", "generate", nil, sends("/coupon-pools/empty/codes", `{"generate":1}`)},

	{"attributes_too_large", 413, 190380, "The personal and undeclared attributes together are too large (limit: 16384 bytes); the largest is data.note", "data.note", nil,
		says("ada", "checkout", `{"transaction_id":"T-9001","total":1,"note":"`+strings.Repeat("x", 16<<10)+`"}`)},
	{"negative_refused", 422, 190048, "The points balance cannot go below zero", "data.points", [][2]string{{"/admin/modules/points_economy", `{"config":{"negative":"refuse"}}`}}, says("ben", "point_sub", `{"points":9000}`)},
	{"held_not_found", 404, 190164, "No event 0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01 of this customer is pending", "data.event", [][2]string{{"/admin/modules/pending_events", `{"enabled":true,"config":{"actions":["video"]}}`}}, says("ada", "pending_validate", `{"event":"`+noClaim+`"}`)},
	{"not_holdable", 400, 190165, "The action opt_in cannot be held by pending_events", "config.actions[0]", nil, sends("/admin/modules/pending_events", `{"config":{"actions":["opt_in"]}}`)},
	{"pending_too_much", 422, 190166, "No more points can expire than are pending (pending: 0)", "data.points", nil, says("ada", "pending_expired", `{"points":5}`)},
	{"modules_exclusive", 422, 190049, "The modules checkout_accept and pending_events cannot be on at the same time", "", nil, sends("/admin/modules/checkout_accept", `{"enabled":true}`)},
	{"copied_field", 422, 190045, "Property total is copied from the checkout and cannot be changed here; use checkout_update", "data.total", [][2]string{
		{"/admin/modules/pending_events", `{"enabled":false}`}, {"/admin/modules/checkout_accept", `{"enabled":true}`},
		event("ada", "checkout", `{"transaction_id":"T-8","total":60,"items":[`+teaLine+`]}`),
	}, says("ada", "checkout_accept", `{"transaction_id":"T-8","total":1}`)},
	{"module_off_path", 404, 160600, "The module visual_search is switched off", "", [][2]string{{"/admin/modules/visual_search", `{"enabled":false}`}}, sends("/customers/ada/activities/visual-search", `{"bounds":[]}`)},

	{"read_only_key", 403, 190060, "This access key may only read", "", nil, withKey(func(c *admin.KeyChange) { yes := true; c.ReadOnly = &yes })},
	{"api_forbidden", 403, 190064, "This access key may not use the API events", "", nil, withKey(func(c *admin.KeyChange) { c.APIs = &[]string{"customers"} })},
	{"address_refused", 403, 190065, "This access key may not be used from this address", "", nil, withKey(func(c *admin.KeyChange) { c.Addresses = &[]string{"192.0.2.0/24"} })},
	{"path_not_found", 404, 190066, "There is nothing at this path", "", nil, reads("/nowhere")},
	{"method_not_allowed", 405, 190067, "The method PUT is not allowed at this path", "", nil, func(h *house, language string) answer {
		return h.signed(h.key, h.request(http.MethodPut, "/events", "", "Accept-language", language))
	}},
	{"malformed_body", 400, 190068, "The request body cannot be read: not valid JSON", "customer", nil, sends("/events", `{"customer":`)},
	{"unknown_parameter", 400, 190069, "Unknown query parameter: stat", "stat", nil, reads("/customers?stat=active")},
	{"invalid_parameter", 400, 190070, "Property limit is too small (minimum: 1)", "limit", nil, reads("/customers?limit=0")},
	{"conflicting_parameter", 400, 190071, "Parameter customer contradicts another parameter of the request", "customer", nil, func(h *house, language string) answer {
		return h.signed(h.key, h.request(http.MethodPost, "/events", "customer[x]=ada&customer=ben&action=visit", "Content-Type", formType, "Accept-language", language))
	}},
	{"idempotency_key_invalid", 400, 190072, "The Idempotency-Key must have 1 to 255 characters", "Idempotency-Key", nil, sends("/events", `{}`, "Idempotency-Key", strings.Repeat("x", 256))},
	{"filter_field", 422, 190200, "There is no filter on colour here", "filter[colour][eq]", nil, reads("/v1/customers/ada/events?filter%5Bcolour%5D%5Beq%5D=red")},
	{"filter_operator", 422, 190201, "The filter on points has no operator like", "filter[points][like]", nil, reads("/v1/customers/ada/events?filter%5Bpoints%5D%5Blike%5D=1")},
	{"filter_value", 422, 190202, "The filter on date cannot be read: not a date or a point in time", "filter[date][gte]", nil, reads("/v1/customers/ada/events?filter%5Bdate%5D%5Bgte%5D=2026-02-30")},
	{"filter_form", 422, 190203, "Parameter filter[date] must have the form filter[attribute][operator] or sort[index][field]", "filter[date]", nil, reads("/v1/customers/ada/events?filter%5Bdate%5D=2026-02-03")},
	{"sort_field", 422, 190204, "The list cannot be sorted by colour, or this field is named twice", "sort[0][field]", nil, reads("/v1/customers/ada/events?sort%5B0%5D%5Bfield%5D=colour")},
	{"sort_nothing", 422, 190340, "sort[0][field] must name the field to sort by", "sort[0][direction]", nil, reads("/v1/customers/ada/events?sort%5B0%5D%5Bdirection%5D=desc")},
	{"sort_direction", 422, 190205, "The direction up is neither asc nor desc", "sort[0][direction]", nil, reads("/v1/customers/ada/events?sort%5B0%5D%5Bdirection%5D=up")},
	{"claim_unknown", 404, 190221, "There is no claim " + noClaim, "", nil, reads("/rewards/claims/" + noClaim)},
	{"import_not_found", 404, 190510, "Import not found: " + noClaim, "", nil, reads("/admin/imports/" + noClaim)},
	{"import_state", 422, 190511, "The import cannot do this now: it is open", "", nil, func(h *house, language string) answer {
		return sends("/admin/imports/"+h.newImport("{}").id+"/apply", "{}")(h, language)
	}},
	{"webhook_not_found", 404, 190500, "Webhook not found: " + noClaim, "", nil, reads("/admin/webhooks/" + noClaim)},
	{"delivery_not_found", 404, 190501, "Delivery not found: 9", "", nil, toWebhook("", "/deliveries/9")},
	{"webhook_state", 422, 190502, "The webhook is paused: resume it first", "", nil, toWebhook("{}", "/pause", "/test")},
	{"delivery_not_dead", 422, 190504, "Only a dead delivery can be sent again; this one is waiting", "", nil, toWebhook("{}", "/test", "/deliveries/1/retry")},
	{"replay_running", 422, 190505, "A replay of this webhook is under way", "", nil, toWebhook(`{"from":"2020-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z"}`, "/replay", "/replay")},
	{"webhooks_many", 422, 190503, "There are already 100 webhooks; remove one first", "", nil, func(h *house, language string) (a answer) {
		for a.status < 300 {
			a = sends("/admin/webhooks", `{"url":"https://hooks.shop.test/","types":["event.*"]}`)(h, language)
		}
		return a
	}},
	{"batch_not_found", 404, 190240, "There is no bulk operation " + noClaim, "", nil, reads("/v1/bulk-operation/customer-list/" + noClaim + "/status")},
	{"entity_elsewhere", 422, 190250, "core/customer cannot be changed by create here; submit an event instead", "", nil, sends("/entities/core/customer", `{"id":"eve"}`)},
	{"field_fixed", 422, 190251, "Property name cannot be changed", "name", [][2]string{
		{"/entities/custom-entities/attribute", `{"id":"shade","on":"rewards/reward","name":"shade","type":"string"}`},
	}, sends("/entities/custom-entities/attribute/shade", `{"name":"tint"}`)},
	{"campaign_not_found", 404, 190260, "There is no campaign none", "", nil, reads("/automation/campaigns/none")},
	{"bulk_many", 422, 190241, "10 operations of this kind are already waiting or running; wait for one to end", "", [][2]string{
		{"/entities/automation/campaign", `{"id":"tried","name":"Tried","trigger":"visit","effects":[{"type":"points","points":1}]}`},
	}, func(h *house, language string) (a answer) {
		for range 11 {
			a = sends("/automation/campaigns/tried/backtest", `{"from":"2020-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z"}`)(h, language)
		}
		return a
	}},
	{"target_malformed", 400, 190073, "The request target is malformed", "query", nil, func(h *house, language string) answer {
		r := h.request(http.MethodGet, "/customers", "", "Accept-language", language)
		require.NoError(h.t, signing.Default(region).Sign(r, nil, h.key))
		r.URL.RawQuery = "search=%zz"
		return h.send(r)
	}},
	{"body_too_large", 413, 190061, "The request body is too large (limit: 1048576 bytes)", "", nil, sends("/events", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`)},
	{"unsupported_media_type", 415, 190062, "The media type “text/xml” is not supported; send application/json or application/x-www-form-urlencoded", "", nil, func(h *house, language string) answer {
		return h.signed(h.key, h.request(http.MethodPost, "/events", "<a/>", "Content-Type", "text/xml", "Accept-language", language))
	}},
	{"unsupported_coding", 415, 190840, "The content coding “gzip” is not supported; send the body uncompressed, without Content-Encoding", "", nil, func(h *house, language string) answer {
		return h.signed(h.key, h.request(http.MethodPost, "/events", visit, "Content-Type", "application/json", "Content-Encoding", "gzip", "Accept-language", language))
	}},
	{"signature_malformed", 401, 101021, "The request signature is missing or malformed", "Authorization", nil, func(h *house, language string) answer {
		return h.send(h.request(http.MethodGet, "/customers", "", "Accept-language", language))
	}},
	{"signature_refused", 401, 101024, "The request signature was refused", "", nil, func(h *house, language string) answer {
		return h.signed(signing.Credential{KeyID: h.key.KeyID, Secret: "another"}, h.request(http.MethodGet, "/customers", "", "Accept-language", language))
	}},
}

// withKey sends an event with a key that may not.
// toWebhook sends requests about a new webhook; without a body the last one reads.
func toWebhook(body string, paths ...string) func(*house, string) answer {
	return func(h *house, language string) (a answer) {
		h.numbered()
		made := done(h, "/admin/webhooks", `{"url":"https://hooks.shop.test/","types":["event.*"]}`)["data"].(map[string]any)
		for _, path := range paths {
			if target := fmt.Sprint("/admin/webhooks/", made["webhook_id"], path); body == "" {
				a = reads(target)(h, language)
			} else {
				a = sends(target, body)(h, language)
			}
		}
		return a
	}
}

func withKey(limit func(*admin.KeyChange)) func(*house, string) answer {
	return func(h *house, language string) answer {
		var c admin.KeyChange
		limit(&c)
		return h.signed(h.newKey(c), h.request(http.MethodPost, "/events", `{}`, "Content-Type", jsonType, "Accept-language", language))
	}
}
