package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The types of this file define how a value is stored in a column, in both databases. Each implements driver.Valuer
// and sql.Scanner for SQLite and GORM, and pgx's own interfaces, which encode in binary directly. They share the
// memory of the domain's types, so a pointer is converted, not copied.

// UUID is an id: uuid on PostgreSQL, 16 bytes on SQLite, NULL if it is zero.
type UUID [16]byte

// Value returns the 16 bytes.
func (u UUID) Value() (driver.Value, error) {
	if u == (UUID{}) {
		return nil, nil
	}
	return u[:], nil
}

// Scan reads 16 bytes or the text form.
func (u *UUID) Scan(src any) error {
	if src == nil {
		*u = UUID{}
		return nil
	}
	return (*uuid.UUID)(u).Scan(src)
}

// UUIDValue implements pgtype.UUIDValuer.
func (u UUID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: u, Valid: u != (UUID{})}, nil
}

// ScanUUID implements pgtype.UUIDScanner.
func (u *UUID) ScanUUID(v pgtype.UUID) error {
	*u = v.Bytes
	if !v.Valid {
		*u = UUID{}
	}
	return nil
}

// GormDataType keeps GORM from guessing.
func (UUID) GormDataType() string { return "uuid" }

// Millis is an instant as UTC milliseconds, NULL if it is zero.
type Millis time.Time

// Time is the instant, in UTC.
func (m Millis) Time() time.Time { return time.Time(m) }

// Value returns the milliseconds.
func (m Millis) Value() (driver.Value, error) {
	if time.Time(m).IsZero() {
		return nil, nil
	}
	return time.Time(m).UnixMilli(), nil
}

// Scan reads milliseconds.
func (m *Millis) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m = Millis{}
	case int64:
		*m = Millis(time.UnixMilli(v).UTC())
	default:
		return fmt.Errorf("not milliseconds: %T", src)
	}
	return nil
}

// Int64Value implements pgtype.Int64Valuer.
func (m Millis) Int64Value() (pgtype.Int8, error) {
	if time.Time(m).IsZero() {
		return pgtype.Int8{}, nil
	}
	return pgtype.Int8{Int64: time.Time(m).UnixMilli(), Valid: true}, nil
}

// ScanInt64 implements pgtype.Int64Scanner.
func (m *Millis) ScanInt64(v pgtype.Int8) error {
	*m = Millis{}
	if v.Valid {
		*m = Millis(time.UnixMilli(v.Int64).UTC())
	}
	return nil
}

// GormDataType keeps GORM from guessing.
func (Millis) GormDataType() string { return "bigint" }

// Text is a text that is NULL if it is empty.
type Text string

// Value returns the text.
func (t Text) Value() (driver.Value, error) {
	if t == "" {
		return nil, nil
	}
	return string(t), nil
}

// Scan reads a text.
func (t *Text) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = ""
	case string:
		*t = Text(v)
	case []byte:
		*t = Text(v)
	default:
		return fmt.Errorf("not a text: %T", src)
	}
	return nil
}

// TextValue implements pgtype.TextValuer.
func (t Text) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(t), Valid: t != ""}, nil
}

// ScanText implements pgtype.TextScanner.
func (t *Text) ScanText(v pgtype.Text) error {
	*t = Text(v.String)
	return nil
}

// Document is a value stored as JSON text, NULL if it is empty.
type Document[T any] struct{ V T }

// Value returns the JSON text.
func (d Document[T]) Value() (driver.Value, error) {
	text, err := d.json()
	if text == "" || err != nil {
		return nil, err
	}
	return text, nil
}

// scanText is Scan for types that read from text.
func scanText(src any, into pgtype.TextScanner) error {
	var text Text
	if err := text.Scan(src); err != nil {
		return err
	}
	return into.ScanText(pgtype.Text{String: string(text)})
}

// Scan reads the JSON text.
func (d *Document[T]) Scan(src any) error { return scanText(src, d) }

// TextValue implements pgtype.TextValuer.
func (d Document[T]) TextValue() (pgtype.Text, error) {
	text, err := d.json()
	return pgtype.Text{String: text, Valid: text != ""}, err
}

// ScanText implements pgtype.TextScanner.
func (d *Document[T]) ScanText(v pgtype.Text) error {
	var fresh T
	d.V = fresh
	if v.String == "" {
		return nil
	}
	return json.Unmarshal([]byte(v.String), &d.V)
}

// GormDataType keeps GORM from guessing.
func (Document[T]) GormDataType() string { return "text" }

func (d Document[T]) json() (string, error) {
	text, err := json.Marshal(d.V)
	switch s := string(text); s {
	case "null", "[]", "{}":
		return "", err
	default:
		return s, err
	}
}

// documentIn is the document in a field of a row: it reads into the field, and writes its value.
func documentIn[T any](field *T) documentField[T] { return documentField[T]{field} }

type documentField[T any] struct{ at *T }

// same compares the texts.
func (d documentField[T]) same(other any) bool {
	a, err := Document[T]{*d.at}.json()
	b, failed := Document[T]{*other.(documentField[T]).at}.json()
	return err == nil && failed == nil && a == b
}

// Value returns the JSON text.
func (d documentField[T]) Value() (driver.Value, error) { return Document[T]{*d.at}.Value() }

// TextValue implements pgtype.TextValuer.
func (d documentField[T]) TextValue() (pgtype.Text, error) { return Document[T]{*d.at}.TextValue() }

// Scan reads the JSON text.
func (d documentField[T]) Scan(src any) error { return scanText(src, d) }

// ScanText implements pgtype.TextScanner.
func (d documentField[T]) ScanText(v pgtype.Text) error {
	var fresh T
	*d.at = fresh
	if v.String == "" {
		return nil
	}
	// A type with its own UnmarshalJSON needs no check of the text before.
	if own, ok := any(d.at).(json.Unmarshaler); ok {
		return own.UnmarshalJSON([]byte(v.String))
	}
	return json.Unmarshal([]byte(v.String), d.at)
}

// listIn, idsIn and rawsIn are documents that are compared without writing them.
func listIn(field *[]string) listField { return listField{documentIn(field)} }

type listField struct{ documentField[[]string] }

func (l listField) same(other any) bool { return slices.Equal(*l.at, *other.(listField).at) }

func idsIn(field *loyalty.ExternalIDs) idsField { return idsField{documentIn(field)} }

type idsField struct {
	documentField[loyalty.ExternalIDs]
}

func (m idsField) same(other any) bool {
	return maps.EqualFunc(*m.at, *other.(idsField).at, slices.Equal)
}

func rawsIn(field *map[string]json.RawMessage) rawsField { return rawsField{documentIn(field)} }

type rawsField struct {
	documentField[map[string]json.RawMessage]
}

func (m rawsField) same(other any) bool {
	return maps.EqualFunc(*m.at, *other.(rawsField).at, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// Raw is JSON text that is stored byte for byte, NULL if it is absent.
type Raw json.RawMessage

// Value returns the text.
func (r Raw) Value() (driver.Value, error) {
	if r == nil {
		return nil, nil
	}
	return string(r), nil
}

// Scan reads the text.
func (r *Raw) Scan(src any) error {
	var text Text
	err := text.Scan(src)
	*r = nil
	if text != "" {
		*r = Raw(text)
	}
	return err
}

// TextValue implements pgtype.TextValuer.
func (r Raw) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(r), Valid: r != nil}, nil
}

// ScanText implements pgtype.TextScanner.
func (r *Raw) ScanText(v pgtype.Text) error {
	*r = nil
	if v.Valid {
		*r = Raw(v.String)
	}
	return nil
}

// GormDataType keeps GORM from guessing.
func (Raw) GormDataType() string { return "text" }

// The types below are only used by tables and batches: they encode and read plain Go values without an allocation for
// each.

// value can be compared with another value of its type.
type value interface{ same(other any) bool }

func (u *UUID) same(other any) bool   { return *u == *other.(*UUID) }
func (m *Millis) same(other any) bool { return m.Time().Equal(other.(*Millis).Time()) }
func (p *plain) same(other any) bool  { return *p == *other.(*plain) }

// number is an int64; NULL reads as zero.
type number int64

func (n number) Value() (driver.Value, error) { return int64(n), nil }
func (n number) Int64Value() (pgtype.Int8, error) {
	return pgtype.Int8{Int64: int64(n), Valid: true}, nil
}
func (n *number) ScanInt64(v pgtype.Int8) error { *n = number(v.Int64); return nil }

func (n *number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("not a number: %T", src)
	}
	*n = number(v)
	return nil
}

// wholeIn is an integer field of another type.
func wholeIn[N wholes](field *N) wholeField[N] { return wholeField[N]{field} }

type wholes interface{ ~int | ~int16 | ~uint8 }

type wholeField[N wholes] struct{ at *N }

func (w wholeField[N]) Value() (driver.Value, error) { return int64(*w.at), nil }
func (w wholeField[N]) Int64Value() (pgtype.Int8, error) {
	return pgtype.Int8{Int64: int64(*w.at), Valid: true}, nil
}
func (w wholeField[N]) ScanInt64(v pgtype.Int8) error { *w.at = N(v.Int64); return nil }

func (w wholeField[N]) Scan(src any) error {
	var n number
	err := n.Scan(src)
	*w.at = N(n)
	return err
}

// optional is a number field that may be absent.
type optional struct{ at **int64 }

func (o optional) Value() (driver.Value, error) {
	if *o.at == nil {
		return nil, nil
	}
	return **o.at, nil
}

func (o optional) Int64Value() (pgtype.Int8, error) {
	if *o.at == nil {
		return pgtype.Int8{}, nil
	}
	return pgtype.Int8{Int64: **o.at, Valid: true}, nil
}

func (o optional) ScanInt64(v pgtype.Int8) error {
	*o.at = nil
	if v.Valid {
		*o.at = &v.Int64
	}
	return nil
}

func (o optional) Scan(src any) error {
	var n number
	err := n.Scan(src)
	return errors.Join(err, o.ScanInt64(pgtype.Int8{Int64: int64(n), Valid: src != nil}))
}

// plain is a text that is never NULL; a missing join reads as empty.
type plain string

func (p *plain) Scan(src any) error           { return (*Text)(p).Scan(src) }
func (p *plain) ScanText(v pgtype.Text) error { return (*Text)(p).ScanText(v) }

func (p plain) Value() (driver.Value, error) { return string(p), nil }
func (p plain) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(p), Valid: true}, nil
}

// flag is a boolean; NULL reads as false.
type flag bool

func (f flag) Value() (driver.Value, error)    { return bool(f), nil }
func (f flag) BoolValue() (pgtype.Bool, error) { return pgtype.Bool{Bool: bool(f), Valid: true}, nil }
func (f *flag) ScanBool(v pgtype.Bool) error   { *f = flag(v.Bool); return nil }

func (f *flag) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*f = false
	case bool:
		*f = flag(v)
	case int64:
		*f = v != 0
	default:
		return fmt.Errorf("not a truth value: %T", src)
	}
	return nil
}

// blob is a byte string, NULL if it is nil.
type blob []byte

func (b blob) BytesValue() ([]byte, error) { return b, nil }
func (b *blob) ScanBytes(v []byte) error   { *b = bytes.Clone(v); return nil }

func (b *blob) Scan(src any) error {
	v, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("not a byte string: %T", src)
	}
	*b = bytes.Clone(v)
	return nil
}

func (b blob) Value() (driver.Value, error) {
	if b == nil {
		return nil, nil
	}
	return []byte(b), nil
}
