package i18n

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// wireNames are the names that the HTTP layer and the contract's validator
// use, with the values they give.
var wireNames = map[string]string{
	"address_refused": "", "api_forbidden": "api", "body_too_large": "limit", "busy": "",
	"console_busy": "", "console_code_needed": "", "console_cross_site": "", "console_insecure": "", "console_link": "", "console_media_type": "",
	"console_outside_away": "", "console_outside_back": "", "console_outside_confirmed": "", "console_outside_failed": "", "console_outside_link": "login", "console_outside_link_yes": "", "console_outside_refused": "reason",
	"console_outside_role": "", "console_outside_state": "", "console_outside_token": "", "console_passkey": "", "console_passkey_place": "host", "console_session": "", "console_sign_in": "",
	"console_signed_in": "login", "console_slow": "", "conflicting_parameter": "parameter", "coupon_balance": "", "idempotency_key_invalid": "", "idempotency_key_unsigned": "",
	"invalid_parameter": "parameter reason", "malformed_body": "reason", "method_not_allowed": "method",
	"path_not_found": "", "rate_limited": "retry_after", "read_only_key": "",
	"filter_field": "field", "filter_form": "parameter", "filter_operator": "field operator", "filter_value": "field reason",
	"sort_direction": "direction", "sort_field": "field", "sort_nothing": "field",
	"signature_date": "request_time server_time window_seconds", "signature_malformed": "",
	"signature_refused": "", "signature_scope": "", "target_malformed": "",
	"unknown_parameter": "parameter", "unsupported_coding": "coding", "unsupported_media_type": "media_type",

	"bad_format": "format property", "bad_pattern": "property wanted", "case_mismatch": "declared property",
	"must_be_one_of": "property values", "must_be_type": "property type", "not_multiple": "limit property",
	"not_unique": "property", "property_unknown": "property", "too_few": "limit property",
	"too_large": "limit property", "too_long": "limit property", "too_many": "limit property",
	"too_short": "limit property", "too_small": "limit property",
}

// fieldNames are what the rules say of a field beside the names above, with code
// 190010 and the values they give.
var fieldNames = map[string]string{
	"action_missing":      "action property",
	"condition_fact":      "fact property",
	"condition_invalid":   "fault property",
	"condition_trigger":   "fact property trigger",
	"control_characters":  "property",
	"either_or":           "one other property",
	"entity_missing":      "id property type",
	"entity_type_missing": "property type",
	"must_follow":         "other property",
	"not_together":        "other property",
	"not_with_value":      "other property value",
	"pattern_codes":       "limit property",
	"webhook_confirm":     "property",
	"webhook_fact":        "fact property",
	"webhook_header":      "property",
	"webhook_type":        "property value",
	"webhook_url_port":    "property",
	"webhook_url_refused": "property",
	"webhook_url_scheme":  "property",
	"webhook_url_user":    "property",
	"weights_zero":        "property",
}

// reasonNames are the reasons that stand in for {reason}, worded by the server.
var reasonNames = strings.Fields(`brackets codes cursor export_key declared depth encoding external_name incomplete instant internal_action name nul past range
	repeated repeated_name schema surrogate syntax too_many trailing type choice whole_number
	campaign condition limit_total module_is_off nothing_to_give pool_has_no_code referral referral_back
	balance claimed coupon currency handed_out kept paid no_rate pattern_budget limit not_active product redeemed revoked segment stock store transferred
	challenge_completed challenge_full challenge_holds challenge_out challenge_progress challenge_reset challenge_taken_back tier_change tier_down tier_held tier_up
	allowed burned earned expired not_enough own_points promised rate released reserved spent standing state taken taken_back unburned unspent held merged moved breakdown
	coupon_taken_back used`)

// patternNames are what a pattern can want, worded by the server for {wanted}: the x-pattern-words of
// the documents, and declared.
var patternNames = strings.Fields(`currency day_or_previous declared event_types fact feed_parts listed month_and_day profile_field small_name webhook_type`)

// actionNames are the actions whose label customers see.
var actionNames = strings.Fields(`balance_import challenge challenge_reset checkout checkout_accept checkout_accept_item checkout_claim checkout_item
	checkout_reject checkout_update checkout_update_item contest_enter contest_entry_revoke coupon coupon_create
	coupon_invalidate coupon_receive coupon_redeem coupon_transfer coupon_unredeem merge offer_claim offer_redeem
	offer_unredeem offline_treasure_code_found offline_treasure_found opt_in opt_out partial_refund pending
	pending_expired pending_invalidate pending_validate point_add point_burn point_expire point_spend point_sub
	point_unburn point_unspend prize_wheel_spin profile profile_answer quiz_answer referral_bonus refund
	refund_contest_entry refund_item release_points reserve_points review review_submit reward_claim reward_receive reward_redeem
	reward_revoke reward_transfer subscribe suspend tier_change tier_down tier_recalculation tier_up treasure_found
	unassign_coupon unsuspend verify_customer video visit visual_search visual_search_bound wheel_spin anniversary birthday challenge_ending coupon_expiring inactivity points_expiring tier_expiring`)

func TestEveryNameHasAText(t *testing.T) {
	wanted := map[string]string{}
	for name, failure := range loyalty.DeclaredErrors() {
		wanted[name] = strings.Join(slices.Sorted(slices.Values(failure.Values)), " ")
	}

	require.Greater(t, len(wanted), 100)
	for name, values := range wireNames {
		wanted[name] = values
	}

	for name, values := range fieldNames {
		wanted[name] = values
	}

	for _, action := range actionNames {
		wanted["action."+action] = ""
	}

	for _, reason := range reasonNames {
		wanted["reason."+reason] = ""
	}

	for _, words := range patternNames {
		wanted["pattern."+words] = ""
	}

	wanted["reason.condition_fault"] = "condition fault"
	for name, values := range doctorNames(t) {
		wanted["doctor."+name] = values
	}

	for name, values := range findingNames(t) {
		wanted["finding."+name] = values
	}

	c := mustLoad(t)
	have := make(map[string]string, len(wanted))
	for _, name := range namesOf(c) {
		have[name] = strings.Join(placeholdersOf(c.messages[Default][name]), " ")
	}

	require.Equal(t, wanted, have)
}

// findingNames are what can be said of the files of an import, with the values that its code gives.
func findingNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{"refused": "refusal", "row_refused": "refusal"} // see importer.Finding.Refusal
	files, err := filepath.Glob("../server/importer/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || called(call) != "say" {
				return true
			}

			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				return true
			}

			var values []string
			ast.Inspect(call.Args[1], func(n ast.Node) bool {
				if value, ok := n.(*ast.KeyValueExpr); ok {
					values = append(values, must(strconv.Unquote(value.Key.(*ast.BasicLit).Value)))
				}
				return true
			})

			slices.Sort(values)
			if name := must(strconv.Unquote(literal.Value)); names[name] == "" {
				names[name] = strings.Join(values, " ")
			}

			return true
		})
	}

	return names
}

// doctorNames are what an examination can find, with the values that it gives, as its code names them.
func doctorNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{"fine": ""}
	for _, state := range []string{"behind", "away", "unknown", "promoted", "foreign"} { // put together there
		names["replica_"+state] = "replica"
	}

	files, err := filepath.Glob("../server/doctor/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains([]string{"found", "warn", "broken", "say"}, called(call)) {
				return true
			}

			var values []string
			if called(call) == "say" {
				values = []string{"webhook", "label"}
			}

			named := []string{}
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.KeyValueExpr:
						if key, ok := n.Key.(*ast.BasicLit); ok {
							key, err := strconv.Unquote(key.Value)
							require.NoError(t, err)
							values = append(values, key)
							return false
						}
						named = append(named, must(strconv.Unquote(n.Value.(*ast.BasicLit).Value)))
						return false
					case *ast.BasicLit:
						if n.Kind == token.STRING && len(named) == 0 {
							named = append(named, must(strconv.Unquote(n.Value)))
						}
					}

					return true
				})
			}

			slices.Sort(values)
			for _, name := range named {
				if name != "replica_" && !strings.Contains(name, " ") { // a command, where the name is a variable
					names[name] = strings.Join(values, " ")
				}
			}

			return true
		})
	}

	return names
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestFieldsAreWorded: what the rules say of a field is a name that has a text, and
// so is a reason: written out in English, it would stand in messages of every language.
func TestFieldsAreWorded(t *testing.T) {
	c, found := mustLoad(t), 0
	worded := func(e ast.Expr, prefix string) {
		switch e := e.(type) {
		case *ast.BinaryExpr:
			t.Errorf("a text is put together under %q", prefix)
		case *ast.BasicLit:
			name, err := strconv.Unquote(e.Value)
			require.NoError(t, err)
			require.Contains(t, c.messages[Default], prefix+name)
			found++
		}
	}

	eachRule(t, func(_ *token.FileSet, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if called(n) == "Fault" {
					worded(n.Args[1], "")
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.BasicLit); ok && key.Value == `"reason"` {
					worded(n.Value, "reason.")
				}
			}
			return true
		})
	})

	require.Greater(t, found, 30, "the faults were not found in the source")
}

// eachRule parses the rules' source, without its tests.
func eachRule(t *testing.T, visit func(*token.FileSet, *ast.File)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("../server/loyalty", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		require.NoError(t, err)
		visit(files, parsed)
		return nil
	}))
}

// called is the name of the function that is called, wherever it is from.
func called(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		return fn.Sel.Name
	}
	return ""
}

// TestFixedTexts holds the texts that the specification writes out.
func TestFixedTexts(t *testing.T) {
	c := mustLoad(t)
	for name, text := range map[string]string{
		"property_empty":             "Property {property} cannot be empty",
		"not_enough_points_discount": "Customer doesn't have enough points for discount",
		"ERR_TX_ALREADY_EXISTS":      "ERR_TX_ALREADY_EXISTS",
		"transaction_not_found":      "Transaction not found",
		"coupon_not_found":           "Coupon not found",
		"coupon_balance":             "The coupon balance is lower than the amount",
	} {
		require.Equal(t, text, c.Message("en", name, nil))
	}

	for _, lang := range c.Languages() {
		require.Equal(t, "ERR_TX_ALREADY_EXISTS", c.Message(lang, "ERR_TX_ALREADY_EXISTS", nil), lang)
	}
}
