package loyalty

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameKind is a kind of name that callers choose and that is unique over the whole programme. Each value of a kind has
// one owner.
type NameKind int16

// The kinds of claimed names.
const (
	NameCustomer    NameKind = 1 // a customer's identifier
	NameTransaction NameKind = 2 // a transaction_id
	NameCoupon      NameKind = 3 // a coupon code
	NameExternal    NameKind = 4 // an external id, as field:value
)

// Name is a claimed name.
type Name struct {
	Kind  NameKind
	Value string
}

// Claim gives a name to its owner, an internal customer id.
type Claim struct {
	Name
	Owner ID
}

// maxName is the longest identifier a caller may choose, in characters.
const maxName = 255

// reserved identifiers would have a meaning of their own in a path.
var reserved = map[string]bool{"-": true, ".": true, "..": true}

// CheckName refuses an identifier that could not be addressed later: 1 to 255
// characters of printable Unicode, and none of the reserved ones. The error
// names the property.
func CheckName(property, value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return ErrPropertyEmpty.With("property", property).At(field(property))
	case !holds(property, value):
		return ErrPropertyInvalid.With("property", property).With("reason", "name").At(field(property))
	case reserved[value] || (property == "customer" && value == "leaderboard"):
		return ErrReservedName.With("property", property).With("value", value).At(field(property))
	}
	return nil
}

// holds reports whether an identifier has the characters that its kind may have.
func holds(property, value string) bool {
	if property == "customer" || property == "external_ids" {
		return Identifying(value)
	}
	return Addressable(value)
}

// Addressable reports whether a path and an index of both databases can hold a name: at most 255 characters of
// printable Unicode.
func Addressable(value string) bool {
	return utf8.RuneCountInString(value) <= maxName && printable(value)
}

func printable(value string) bool {
	return utf8.ValidString(value) && strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Identifying reports whether a text can be the id of a customer or a product, here or in another system. It must be
// Addressable, but may have joiners where its script needs them, because ids are made of names. Codes and transaction
// ids are typed, and invisible characters cannot be typed.
func Identifying(value string) bool {
	if utf8.RuneCountInString(value) > maxName || !utf8.ValidString(value) {
		return false
	}
	chars := []rune(value)
	for i, r := range chars {
		if !unicode.IsPrint(r) && !joins(chars[:i], r, chars[i+1:]) {
			return false
		}
	}
	return true
}

// The two joiners, and the character that may stand between a pictogram and the first joiner.
const (
	joiner, nonJoiner = '\u200d', '\u200c'
	colourful         = '\ufe0f'
	lightest, darkest = '\U0001f3fb', '\U0001f3ff'
)

// joins reports whether a joiner is used as its script requires: ZWJ between the pictograms of one emoji, ZWNJ between
// two letters of a script in which it changes their form.
func joins(before []rune, r rune, after []rune) bool {
	if len(before) == 0 || len(after) == 0 {
		return false
	}

	last := before[len(before)-1]
	switch r {
	case joiner:
		for n := len(before) - 1; n > 0 && (last == colourful || last >= lightest && last <= darkest); n-- {
			last = before[n-1]
		}
		return unicode.Is(unicode.So, last) && unicode.Is(unicode.So, after[0])
	case nonJoiner:
		return unicode.In(last, joining...) && unicode.In(after[0], joining...)
	}

	return false
}

// joining are the scripts whose letters change with their neighbours.
var joining = []*unicode.RangeTable{
	unicode.Adlam, unicode.Arabic, unicode.Bengali, unicode.Devanagari, unicode.Gujarati, unicode.Gurmukhi,
	unicode.Hanifi_Rohingya, unicode.Kannada,
	unicode.Khmer, unicode.Malayalam, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Oriya, unicode.Phags_Pa,
	unicode.Sinhala, unicode.Syriac,
	unicode.Tamil, unicode.Telugu,
}

// field is the place of a property in the request: in the envelope, or in data.
func field(property string) string {
	if property == "customer" || property == "external_id" {
		return property
	}
	return "data." + property
}

// ExternalName returns the name that an external id claims.
func ExternalName(name, value string) Name { return Name{NameExternal, name + ":" + value} }

// CodeName returns the name that a coupon's code claims. People type codes, so codes that differ only in the case of
// their letters are the same.
func CodeName(code string) Name { return Name{NameCoupon, NameKey(code)} }

// ExternalRef returns an external id written name:value as it is claimed, without the blanks around its two parts. A
// text without a colon is not an external id and stays as it is.
func ExternalRef(ref string) string {
	name, value, pair := strings.Cut(ref, ":")
	if !pair {
		return ref
	}
	return strings.TrimSpace(name) + ":" + strings.TrimSpace(value)
}

// EmailKey returns the form in which e-mail addresses are compared: trimmed, in lower case.
func EmailKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// NameKey returns the form in which names are searched: trimmed, in lower case, and with one form of the letters of
// which lower case leaves two, so that GRÖSSE finds Größe. E-mail addresses keep both forms, because they are different
// mailboxes. If the form changes, a migration makes
// the stored keys anew.
func NameKey(name string) string { return oneForm.Replace(strings.ToLower(strings.TrimSpace(name))) }

// oneForm gives letters with the same capitals one form.
var oneForm = strings.NewReplacer(
	"ß", "ss", "ς", "σ", "ſ", "s", "µ", "μ", "և", "եւ",
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
)
