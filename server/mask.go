package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// masked text stands in the place of what names a person.
const maskedText = "•••"

// personalNames are properties that name a person wherever no document says what stands
// there.
var personalNames = map[string]bool{
	"email": true, "first_name": true, "last_name": true, "handler": true, "birth_date": true, "gender": true, "image_url": true,
	"labels": true, "reason": true, "review": true, "external_ids": true, "custom": true, "answer": true,
}

// mask answers a user who may not see personal data: what a document marks x-personal is
// taken out of the answer before it leaves. An answer in a form that cannot be masked is
// refused.
func mask(c *gin.Context, vocabulary *contract.Vocabulary, fail func(*gin.Context, error)) {
	o := requestOf(c).operation
	w := &maskingWriter{ResponseWriter: c.Writer, masker: masker{vocabulary}, operation: o.route.Operation}
	c.Writer = w
	c.Next()
	c.Writer = w.ResponseWriter
	if w.foreign {
		fail(c, loyalty.ErrPersonalNeeded)
		return
	}
	w.finish()
}

// maskingWriter holds an answer back until it is whole; a stream line by line.
type maskingWriter struct {
	gin.ResponseWriter
	masker    masker
	operation *openapi3.Operation
	status    int
	held      bytes.Buffer
	stream    bool
	foreign   bool // neither JSON nor a stream
}

func (w *maskingWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	switch kind := w.Header().Get("Content-Type"); {
	case strings.HasPrefix(kind, sseType), strings.HasPrefix(kind, ndjsonType):
		w.stream = true
		w.ResponseWriter.WriteHeader(status)
	case kind != "" && !strings.HasPrefix(kind, "application/json"):
		w.foreign = true
	}
}

func (w *maskingWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.foreign {
		return len(b), nil
	}
	w.held.Write(b)
	if w.stream {
		w.release()
	}
	return len(b), nil
}

func (w *maskingWriter) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// WriteHeaderNow takes the place of gin's: the head of a held answer waits for its length.
func (w *maskingWriter) WriteHeaderNow() {
	if w.WriteHeader(http.StatusOK); w.stream {
		w.ResponseWriter.WriteHeaderNow()
	}
}

func (w *maskingWriter) Written() bool { return w.status != 0 }

func (w *maskingWriter) Status() int {
	if w.status != 0 {
		return w.status
	}
	return w.ResponseWriter.Status()
}

// Flush sends what a stream has; a held answer waits.
func (w *maskingWriter) Flush() {
	if w.stream {
		w.ResponseWriter.Flush()
	}
}

// Unwrap lets deadlines be set.
func (w *maskingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// release sends the complete lines of a stream, the data in them masked.
func (w *maskingWriter) release() {
	for {
		at := bytes.IndexByte(w.held.Bytes(), '\n')
		if at < 0 {
			return
		}
		line := bytes.Clone(w.held.Next(at + 1))
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = append(append([]byte("data: "), w.masker.text(bytes.TrimSpace(data), nil)...), '\n')
		} else if line[0] == '{' {
			line = append(w.masker.text(line, nil), '\n')
		}
		_, _ = w.ResponseWriter.Write(line) // a caller who went away is no failure of ours
	}
}

func (w *maskingWriter) finish() {
	if w.stream || w.status == 0 {
		return
	}
	body := w.held.Bytes()
	if w.status < http.StatusBadRequest && len(body) > 0 {
		body = w.masker.text(body, answerSchema(w.operation, w.status))
	}
	if w.Header().Get("Content-Length") != "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(body)
}

// answerSchema is what a document says of an answer.
func answerSchema(o *openapi3.Operation, status int) []*openapi3.Schema {
	r := o.Responses.Status(status)
	if r == nil || r.Value == nil {
		return nil
	}
	media := r.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return []*openapi3.Schema{media.Schema.Value}
}

// masker blanks what is personal: by the schema of the answer, in the data of an event by
// its action, and where nothing is said by name.
type masker struct{ vocabulary *contract.Vocabulary }

func (m masker) text(body []byte, schemas []*openapi3.Schema) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []byte("null") // nothing that cannot be read is let through
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(m.value(v, flat(schemas))) != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// flat are schemas with the parts that they are put together from.
func flat(schemas []*openapi3.Schema) (all []*openapi3.Schema) {
	for _, s := range schemas {
		if s == nil {
			continue
		}
		all = append(all, s)
		for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
			for _, p := range parts {
				all = append(all, flat([]*openapi3.Schema{p.Value})...)
			}
		}
	}
	return all
}

func (m masker) value(v any, schemas []*openapi3.Schema) any {
	for _, s := range schemas {
		if s.Extensions["x-personal"] == true {
			return blank(v)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		m.object(v, schemas)
	case []any:
		var items []*openapi3.Schema
		for _, s := range schemas {
			if s.Items != nil {
				items = append(items, s.Items.Value)
			}
		}
		items = flat(items)
		for i := range v {
			v[i] = m.value(v[i], items)
		}
	}
	return v
}

func (m masker) object(v map[string]any, schemas []*openapi3.Schema) {
	action, _ := v["action"].(string)
	for name, value := range v {
		if data, ok := value.(map[string]any); ok && name == "data" && action != "" {
			if shape, known := m.vocabulary.Shape(action); known {
				m.shaped(data, shape)
				continue
			}
		}
		under, declared := propertyOf(schemas, name)
		if !declared && personalNames[name] {
			v[name] = blank(value)
			continue
		}
		v[name] = m.value(value, under)
	}
}

// shaped masks the attributes of an event.
func (m masker) shaped(data map[string]any, shape *loyalty.Shape) {
	for name, value := range data {
		a, known := shape.Attributes[name]
		switch {
		case a.Personal, !known && personalNames[name]:
			data[name] = blank(value)
		case a.Items != nil:
			lines, _ := value.([]any)
			for _, line := range lines {
				if l, ok := line.(map[string]any); ok {
					m.shaped(l, a.Items)
				}
			}
		default:
			data[name] = m.value(value, nil)
		}
	}
}

func propertyOf(schemas []*openapi3.Schema, name string) (under []*openapi3.Schema, declared bool) {
	for _, s := range schemas {
		if p := s.Properties[name]; p != nil {
			under, declared = append(under, p.Value), true
		} else if p := s.AdditionalProperties.Schema; p != nil {
			under = append(under, p.Value)
		}
	}
	return flat(under), declared
}

// blank keeps the kind of a value and nothing of what it says.
func blank(v any) any {
	switch v.(type) {
	case string:
		return maskedText
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	case json.Number:
		return 0
	case bool:
		return false
	}
	return nil
}
