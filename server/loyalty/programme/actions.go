package programme

import (
	"maps"
	"slices"
)

// InternalOperations are the events that the platform writes itself, each with the operation that writes it, and in
// brackets the action or job that it needs. Submitting one is refused, and the refusal names that operation. Tests
// compare the list with the document's x-internal-actions and every operation with the documents.
var InternalOperations = map[string]string{
	"anniversary":          "POST /admin/jobs/{job}/run (reminders)",
	"balance_import":       "POST /admin/imports/{import_id}/apply",
	"birthday":             "POST /admin/jobs/{job}/run (reminders)",
	"challenge":            "POST /events",
	"challenge_ending":     "POST /admin/jobs/{job}/run (reminders)",
	"checkout_accept_item": "POST /events (checkout_accept)",
	"checkout_item":        "POST /events (checkout)",
	"checkout_update_item": "POST /events (checkout_update)",
	"contest_enter":        "POST /customers/{customer_id}/activities/contests/{contest_id}/enter",
	"coupon_expiring":      "POST /admin/jobs/{job}/run (reminders)",
	"coupon_receive":       "POST /events (coupon_transfer)",
	"inactivity":           "POST /admin/jobs/{job}/run (reminders)",
	"merge":                "POST /customers/{customer_id}/merge",
	"offer_claim":          "POST /customers/{customer_id}/activities/offers/{offer_id}/claim",
	"pending":              "POST /events",
	"point_burn":           "POST /events (checkout)",
	"point_expire":         "POST /admin/jobs/{job}/run (expiry)",
	"point_unburn":         "POST /events (refund)",
	"points_expiring":      "POST /admin/jobs/{job}/run (reminders)",
	"prize_wheel_spin":     "POST /customers/{customer_id}/prize-wheels/{wheel_id}",
	"profile_answer":       "POST /customers/{customer_id}/activities/profiling/{flow_id}/questions/{question_id}",
	"quiz_answer":          "POST /customers/{customer_id}/activities/quizzes/{quiz_id}/earn",
	"referral_bonus":       "POST /events (checkout)",
	"refund_contest_entry": "POST /events (contest_entry_revoke)",
	"reward_claim":         "POST /customers/{customer_id}/activities/rewards/{reward_id}/claim",
	"reward_receive":       "POST /events (reward_transfer)",
	"reward_redeem":        "POST /rewards/claims/{claim_id}/redeem",
	"tier_change":          "POST /customers/{customer_id}/levels",
	"tier_down":            "POST /admin/jobs/{job}/run (tiers)",
	"tier_expiring":        "POST /admin/jobs/{job}/run (reminders)",
	"tier_recalculation":   "POST /admin/jobs/{job}/run (tiers)",
	"tier_up":              "POST /events",
	"verify_customer":      "POST /customers/{customer_id}/verify",
	"visual_search":        "POST /customers/{customer_id}/activities/visual-search",
	"visual_search_bound":  "POST /customers/{customer_id}/activities/visual-search",
	"wheel_spin":           "POST /customers/{customer_id}/prize-wheels/{wheel_id}",
}

// InternalActions lists the actions that only the platform writes, by name.
func InternalActions() []string { return slices.Sorted(maps.Keys(InternalOperations)) }
