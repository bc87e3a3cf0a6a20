package i18n

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds of a printed value, in characters. Messages quote what a caller sent, and must stay short.
const (
	maxValue = 200
	maxList  = 1000
)

// message is a text cut at its placeholders: literals[i] stands before
// placeholder i, and one more literal ends it.
type message struct {
	literals     []string
	placeholders []string
}

var errPlaceholder = errors.New("a placeholder is { then small letters, digits or _ then }")

func parseMessage(text string) (message, error) {
	if strings.TrimSpace(text) == "" {
		return message{}, errors.New("the text is empty")
	}

	var m message
	for {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			m.literals = append(m.literals, text)
			return m, nil
		}
		length := strings.IndexByte(text[open:], '}')
		if text[open] == '}' || length < 0 || !isPlaceholder(text[open+1:open+length]) {
			return message{}, errPlaceholder
		}
		m.literals = append(m.literals, text[:open])
		m.placeholders = append(m.placeholders, text[open+1:open+length])
		text = text[open+length+1:]
	}
}

func isPlaceholder(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// write puts the values in. It does not search values for placeholders, so a value that reads {property} stays as it
// is.
func (m message) write(args map[string]any) string {
	var b strings.Builder
	for i, name := range m.placeholders {
		b.WriteString(m.literals[i])
		if value, ok := args[name]; ok {
			b.WriteString(plain(value))
		} else {
			b.WriteString("{" + name + "}")
		}
	}
	b.WriteString(m.literals[len(m.literals)-1])
	return b.String()
}

func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return clean(v, maxValue)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	case *time.Time:
		if v != nil {
			return plain(*v)
		}
		return "null"

	case time.Duration:
		return wholeSeconds(v)
	case fmt.Stringer, error:
		return clean(fmt.Sprint(v), maxValue)
	}

	return plainKind(reflect.ValueOf(value))
}

func plainKind(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		// Never an exponent: %v would print 1e+06 for a million.
		return clean(strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()), maxValue)
	case reflect.Slice, reflect.Array:
		return plainList(v)
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return plain(v.Elem().Interface())
	default:
		return clean(fmt.Sprint(v.Interface()), maxValue)
	}
}

func plainList(v reflect.Value) string {
	var b strings.Builder
	for i := 0; i < v.Len() && b.Len() <= maxList; i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(plain(v.Index(i).Interface()))
	}
	return clean(b.String(), maxList)
}

// wholeSeconds rounds away from zero: a caller told to wait must not come
// back too early.
func wholeSeconds(d time.Duration) string {
	s := int64(d / time.Second)
	switch rest := d % time.Second; {
	case rest > 0:
		s++
	case rest < 0:
		s--
	}
	return strconv.FormatInt(s, 10)
}

// clean makes a caller's text harmless in a message and in a log line: no control characters, no invisible change of
// the writing direction, valid UTF-8, bounded length.
func clean(text string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > limit {
			b.WriteRune('…')
			break
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			r = ' '
		}
		b.WriteRune(r) // a broken byte reads as U+FFFD
	}
	return b.String()
}
