package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/store"
)

// A line is one row as a JSON object: numbers as numbers, texts as strings, bytes as strings of hex digits, in the
// order of the columns. NULL is left out.

// appendLine writes a row.
func appendLine(line []byte, t store.Table, row []any) ([]byte, error) {
	line = append(line, '{')
	for i, c := range t.Columns {
		if row[i] == nil {
			continue
		}
		if line[len(line)-1] != '{' {
			line = append(line, ',')
		}

		line = append(append(append(line, '"'), c.Name...), '"', ':')
		switch v := row[i].(type) {
		case int64:
			line = strconv.AppendInt(line, v, 10)
		case []byte:
			line = append(hex.AppendEncode(append(line, '"'), v), '"')
		case string:
			var err error
			if line, err = appendText(line, v); err != nil {
				return nil, fmt.Errorf("table %s, column %s: %w", t.Name, c.Name, err)
			}
		default:
			return nil, fmt.Errorf("table %s, column %s: a %T cannot be written", t.Name, c.Name, v)
		}
	}

	return append(line, '}', '\n'), nil
}

// appendText writes a text unchanged if JSON allows it.
func appendText(line []byte, text string) ([]byte, error) {
	plain := true
	for i := range len(text) {
		if b := text[i]; b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			plain = false
			break
		}
	}

	if plain {
		return append(append(append(line, '"'), text...), '"'), nil
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%q is not UTF-8 and would change", text)
	}

	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return nil, err
	}

	return append(line, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}

// lineReader reads lines of one table into a struct that is made for its columns, so that encoding/json knows their
// types.
type lineReader struct {
	table store.Table
	empty reflect.Value
	into  reflect.Value
}

// hexBytes are bytes written in hex.
type hexBytes []byte

// UnmarshalText reads hex digits.
func (h *hexBytes) UnmarshalText(text []byte) error {
	b, err := hex.AppendDecode(make([]byte, 0, len(text)/2), text)
	*h = b
	return err
}

func newLineReader(t store.Table) (*lineReader, error) {
	kinds := map[store.Kind]reflect.Type{
		store.KindNumber: reflect.TypeFor[*int64](), store.KindText: reflect.TypeFor[*string](),
		store.KindBytes: reflect.TypeFor[*hexBytes](),
	}
	fields := make([]reflect.StructField, len(t.Columns))
	for i, c := range t.Columns {
		kind, known := kinds[c.Kind]
		if !known {
			return nil, fmt.Errorf("table %s, column %s: the kind %q is not known", t.Name, c.Name, c.Kind)
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: kind,
			Tag: reflect.StructTag(`json:"` + c.Name + `"`)}
	}
	row := reflect.StructOf(fields)
	return &lineReader{t, reflect.Zero(row), reflect.New(row)}, nil
}

// read returns the values of a line, in the order of the columns.
func (r *lineReader) read(line []byte) ([]any, error) {
	r.into.Elem().Set(r.empty)
	if err := json.Unmarshal(line, r.into.Interface()); err != nil {
		return nil, fmt.Errorf("table %s: %w", r.table.Name, err)
	}

	row := make([]any, len(r.table.Columns))
	for i := range row {
		switch v := r.into.Elem().Field(i).Interface().(type) {
		case *int64:
			if v != nil {
				row[i] = *v
			}
		case *string:
			if v != nil {
				row[i] = *v
			}
		case *hexBytes:
			if v != nil {
				row[i] = []byte(*v)
			}
		}
	}

	return row, nil
}
