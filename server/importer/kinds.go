package importer

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// importAction is the action that imports points.
const importAction = "balance_import"

// kind is a kind of file.
type kind struct {
	name    string
	columns []column
	byEmail bool // a row may name its member by e-mail, in the column email instead of customer
	// open are the prefixes of further columns.
	open []string
	// row builds the submission; it is not used if there are findings.
	row func(*sheet) (loyalty.ImportRow, []Finding)
}

type column struct {
	name    string
	needed  bool
	meaning string
	field   string // the name in the action's data, if different
}

// kinds are in the order of import.
var kinds = []*kind{
	{
		name: "members", open: []string{"cf_", "external_ids."},
		columns: []column{
			{"customer", true, "your id of the member, kept as it is written", ""},
			{"email", false, "", ""}, {"first_name", false, "", ""}, {"last_name", false, "", ""}, {"handler", false, "", ""},
			{"language", false, "", ""},
			{"gender", false, "", ""}, {"currency", false, "", ""}, {"birth_date", false, "a day", ""},
			{"image_url", false, "", ""},
			{"labels", false, "separated by |, or the JSON list of an export", ""},
			{"enrolled_at", false, "when they joined", "effective_timestamp"},
			{"status", false, "active or inactive; empty: active", ""},
			{"consent", false, "yes or no, kept as cf_consent", "cf_consent"},
			{"external_ids", false, "the JSON object of an export", ""},
		},
		row: member,
	},
	{
		name: "purchases", byEmail: true,
		columns: []column{
			{"customer", true, "or email", ""}, {"email", false, "of the member, in the place of customer", ""},
			{"transaction_id", true, "your id of the purchase", ""}, {"total", true, "", ""}, {"currency", false, "", ""},
			{"made_at", true, "when", "effective_timestamp"}, {"channel", false, "", ""}, {"country", false, "", ""},
		},
		row: purchase,
	},
	{
		name: "lots", byEmail: true,
		columns: []column{
			{"customer", true, "or email", ""}, {"email", false, "of the member, in the place of customer", ""},
			{"points", true, "what is left of them", ""}, {"earned_at", true, "", "effective_timestamp"},
			{"expires_at", false, "the last day on which they are good, or the instant when they expire; empty: never. Without the column the programme's policy counts from earned_at", "expdate"},
		},
		row: lot,
	},
	{
		name: "tiers", byEmail: true,
		columns: []column{
			{"customer", true, "or email", ""}, {"email", false, "of the member, in the place of customer", ""},
			{"tier", true, "", ""}, {"structure", false, "", ""}, {"since", false, "", ""},
			{"expires_at", false, "the last day, or the instant; empty: it has no end", "expdate"},
		},
		row: tierRow,
	},
	{
		name: "coupons", byEmail: true,
		columns: []column{
			{"customer", true, "who holds it, or email", ""}, {"email", false, "of the member, in the place of customer", ""},
			{"code", true, "", ""}, {"value", true, "", ""},
			{"type", false, "amount, percentage, free_shipping or gift_card", ""},
			{"currency", false, "", ""}, {"name", false, "", ""}, {"pool", false, "", ""}, {"cost", false, "", ""},
			{"expires_at", false, "the last day, or the instant; empty: never", "expdate"},
		},
		row: couponRow,
	},
	{
		name:    "lists",
		byEmail: true,
		columns: []column{{"customer", true, "or email", ""}, {"email", false, "of the member, in the place of customer", ""},
			{"list", true, "the id of the customer list", ""}},
		row: func(s *sheet) (row loyalty.ImportRow, told []Finding) {
			return loyalty.ImportRow{Customer: s.member(&told), List: s.id("list", &told)}, told
		},
	},
}

// Kinds are the names of the kinds of files, in the order of import.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Columns lists the columns of a kind of file and marks the mandatory ones.
func Columns(kind string) string {
	k := kindOf(kind)
	var list []string
	for _, c := range k.columns {
		name := c.name
		if c.needed {
			name += "*"
		}
		list = append(list, name)
	}
	for _, o := range k.open {
		list = append(list, o+"…")
	}
	return strings.Join(list, " ")
}

func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (k *kind) knows(name string) bool {
	for _, c := range k.columns {
		if c.name == name {
			return true
		}
	}
	for _, o := range k.open {
		if strings.HasPrefix(name, o) && len(name) > len(o) && len(name) <= longestName {
			return true
		}
	}
	return false
}

// words are columns of words: an apostrophe before a digit belongs to the value.
var words = []string{"email", "first_name", "last_name", "language", "gender", "currency", "image_url", "labels",
	"channel", "country", "type", "name"}

// text reports whether a column holds words, and no id, number or day.
func (k *kind) text(column string) bool {
	return slices.Contains(words, column) || strings.HasPrefix(column, "cf_")
}

func (k *kind) listed() string { return Columns(k.name) }

// columnOf is the column of a field in the action's data.
func (k *kind) columnOf(field string) string {
	for _, c := range k.columns {
		if c.field == field {
			return c.name
		}
	}
	return field
}

// fields are the data of an action, without empty ones.
type fields map[string]any

func (f fields) text(s *sheet, columns ...string) {
	for _, c := range columns {
		if text := s.cell(c); text != "" {
			f[c] = text
		}
	}
}

func (f fields) number(s *sheet, column string, told *[]Finding) {
	if n := s.decimal(column, told); n != "" {
		f[column] = json.Number(n)
	}
}

func (f fields) at(name string, at time.Time) {
	if !at.IsZero() {
		f[name] = at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
}

func (f fields) row(customer, action string) loyalty.ImportRow {
	return loyalty.ImportRow{Customer: customer, Action: action, Data: loyalty.JSON(f)}
}

func member(s *sheet) (row loyalty.ImportRow, told []Finding) {
	f := fields{}
	switch status := strings.ToLower(s.cell("status")); status {
	case "inactive":
		return inactive(s)
	case "", "active":
		f["opt_in"] = true
	default:
		told = append(told, s.finding("status", s.cell("status"), say("status", nil)))
	}

	for _, field := range loyalty.ProfileTexts {
		f.text(s, field.Name)
	}

	if s.cell("birth_date") != "" { // the file may write a day in several ways, the action only in one
		day, fault := s.day(s.cell("birth_date"))
		if fault != nil {
			told = append(told, s.finding("birth_date", s.cell("birth_date"), *fault))
		}
		f["birth_date"] = day // as 2026-03-01
	}

	if labels := s.cell("labels"); labels != "" {
		var list []string
		if labels[0] != '[' || json.Unmarshal([]byte(labels), &list) != nil { // the format of our own exports
			list = s.parts("labels")
		}
		f["labels"] = list
	}

	f.own(s, &told)
	f.at("effective_timestamp", s.instant("enrolled_at", false, &told))
	return f.row(s.id("customer", &told), "profile"), told
}

// inactive is the row of a known member who is not enrolled.
func inactive(s *sheet) (row loyalty.ImportRow, told []Finding) {
	customer := s.id("customer", &told)
	f := fields{"handler": customer}
	f.text(s, "handler", "email", "first_name", "last_name")
	for _, column := range []string{"language", "gender", "currency", "birth_date", "image_url", "labels"} {
		if s.cell(column) != "" {
			told = append(told, s.warning(column, s.cell(column), say("inactive_column", nil)))
		}
	}
	f.own(s, &told)
	f.at("effective_timestamp", s.instant("enrolled_at", false, &told))
	return f.row(customer, "subscribe"), told
}

// own are a member's external ids, custom attributes and consent.
func (f fields) own(s *sheet, told *[]Finding) {
	switch strings.ToLower(s.cell("consent")) {
	case "":
	case "yes", "true", "1":
		f["cf_consent"] = true
	case "no", "false", "0":
		f["cf_consent"] = false
	default:
		*told = append(*told, s.finding("consent", s.cell("consent"), say("consent", nil)))
	}

	for _, name := range s.names {
		if strings.HasPrefix(name, "cf_") {
			f.text(s, name)
		}
	}

	if ids := externalIDs(s, told); len(ids) > 0 {
		f["external_ids"] = ids
	}
}

// externalIDs are the ids of a member in other systems. The column of one name wins over the object of all.
func externalIDs(s *sheet, told *[]Finding) loyalty.ExternalIDs {
	ids := loyalty.ExternalIDs{}
	if text := s.cell("external_ids"); text != "" && (text[0] != '{' || json.Unmarshal([]byte(text), &ids) != nil) {
		*told = append(*told, s.finding("external_ids", text, say("external_ids", nil)))
	}

	for _, column := range s.names {
		name, is := strings.CutPrefix(column, "external_ids.")
		parts := s.parts(column)
		if !is || len(parts) == 0 {
			continue
		}
		ids[name] = parts
		for _, id := range parts {
			s.unrounded(column, id, told)
		}
	}

	return ids
}

func purchase(s *sheet) (row loyalty.ImportRow, told []Finding) {
	f := fields{"transaction_id": s.id("transaction_id", &told)}
	f.number(s, "total", &told)
	f.text(s, "currency", "channel", "country")
	f.at("effective_timestamp", s.instant("made_at", false, &told))
	return f.row(s.member(&told), "checkout"), told
}

func lot(s *sheet) (row loyalty.ImportRow, told []Finding) {
	f := fields{"points": s.whole("points", &told)}
	earned := s.instant("earned_at", false, &told)
	if earned.IsZero() && len(told) == 0 {
		told = append(told, s.finding("earned_at", "", say("empty", nil)))
	}
	f.at("effective_timestamp", earned)
	if s.has("expires_at") {
		f.at("expdate", s.instant("expires_at", true, &told))
	} else {
		f["expiry"] = "programme"
	}
	return f.row(s.member(&told), importAction), told
}

// withImport adds the origin of a row to its data.
func withImport(data json.RawMessage, id loyalty.ID, file string, line int) json.RawMessage {
	all := map[string]json.RawMessage{}
	if json.Unmarshal(data, &all) != nil {
		return data // made by fields
	}
	all["import"], all["file"], all["line"] = loyalty.JSON(id.String()), loyalty.JSON(file), loyalty.JSON(line)
	return loyalty.JSON(all)
}

func tierRow(s *sheet) (row loyalty.ImportRow, told []Finding) {
	f := fields{"tier": s.id("tier", &told)}
	f.text(s, "structure")
	f.at("since", s.instant("since", false, &told))
	f.at("expdate", s.instant("expires_at", true, &told))
	return f.row(s.member(&told), "tier_change"), told
}

func couponRow(s *sheet) (row loyalty.ImportRow, told []Finding) {
	f := fields{"code": s.id("code", &told)}
	f.text(s, "type", "currency", "name", "pool")
	f.number(s, "value", &told)
	f.number(s, "cost", &told)
	f.at("expdate", s.instant("expires_at", true, &told))
	return f.row(s.member(&told), "coupon_create"), told
}
