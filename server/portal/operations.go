package portal

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operation is one operation of the documents.
type operation struct {
	api, method, path string
	*openapi3.Operation
	parameters openapi3.Parameters // including those of the path
}

// operations lists the operations of an API by path.
func operations(api string, doc *openapi3.T) (all []operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if op := item.GetOperation(method); op != nil {
				all = append(all, operation{api, method, path, op, append(slices.Clone(item.Parameters), op.Parameters...)})
			}
		}
	}
	return all
}

// addOperations writes a page for each API and for each of its operations.
func (b *book) addOperations(c *contract) error {
	b.add(&page{path: "/docs/apis", title: "The APIs", section: "/docs/apis",
		summary: "The twelve APIs.", text: apisText(c)})
	for _, api := range c.names {
		doc := c.byAPI[api]
		all := operations(api, doc)
		b.apis = append(b.apis, choice{api, apiTitle(doc)})
		b.add(&page{
			path: "/docs/apis/" + api, title: apiTitle(doc), section: "/docs/apis", summary: firstSentence(doc.Info.Description),
			text: doc.Info.Description + "\n\n## Operations\n\n" + operationList(all) +
				fmt.Sprintf("\nThe document: [%s.yaml](/openapi/%s.yaml), [%s.json](/openapi/%s.json); [without form bodies](/openapi/%s.json?bodies=json), for generators that take one body only. A collection of requests that sign themselves: [%s.json](/collections/%s.json).\n", api, api, api, api, api, api, api),
		})
		for _, op := range all {
			b.add(op.page())
		}
	}

	return nil
}

func apiTitle(doc *openapi3.T) string {
	_, title, _ := strings.Cut(doc.Info.Title, " - ")
	return title
}

func apisText(c *contract) string {
	var w strings.Builder
	w.WriteString("Each API is one OpenAPI 3 document: import it into your tools, generate a client from it, or read it here. " +
		"The [reference](/docs/reference) shows all of them in one place.\n\n")
	for _, api := range c.names {
		doc := c.byAPI[api]
		fmt.Fprintf(&w, "## %s\n\n%s\n\n[More](/docs/apis/%s)\n\n%s\n",
			apiTitle(doc), firstSentence(doc.Info.Description), api, operationList(operations(api, doc)))
	}
	return w.String()
}

func operationList(all []operation) string {
	var w strings.Builder
	for _, op := range all {
		fmt.Fprintf(&w, "- [`%s %s`](/docs/operations/%s) %s\n", op.method, op.path, op.OperationID, op.Summary)
	}
	return w.String()
}

// page is the page of an operation.
func (o operation) page() *page {
	var w strings.Builder
	fmt.Fprintf(&w, "`%s %s` — of the API [%s](/docs/apis/%s)\n\n%s\n", o.method, o.path, o.api, o.api, o.Description)
	if module := o.module(); module != "" {
		fmt.Fprintf(&w, "\nNeeds the module [%s](/docs/modules/%s).\n", module, module)
	}

	o.writeParameters(&w)
	if o.RequestBody != nil {
		schema := o.RequestBody.Value.Content.Get("application/json").Schema.Value
		fmt.Fprintf(&w, "\n## Body\n\n%s\n\n", o.RequestBody.Value.Description)
		if schema.Discriminator != nil {
			w.WriteString("Its fields are those of the [action](/docs/events) that it names.\n")
		}
		w.WriteString(fieldsOf(schema))
	}

	calls := o.calls()
	w.WriteString(samples(calls[0]))
	if len(calls) > 1 {
		w.WriteString("\n## More examples\n")
		for _, c := range calls[1:] {
			fmt.Fprintf(&w, "\n%s: `%s %s`\n\n```json\n%s\n```\n", c.name, c.Method, c.Target, c.Body)
		}
	}

	o.writeAnswers(&w)
	return &page{
		path: "/docs/operations/" + o.OperationID, title: o.Summary, section: "/docs/apis", text: w.String(),
		summary: fmt.Sprintf("%s %s", o.method, o.path), trial: &calls[0].trial,
	}
}

func (o operation) module() string {
	module, _ := o.Extensions["x-module"].(string)
	return module
}

// writeParameters lists the parameters of path and query, then the headers.
func (o operation) writeParameters(w *strings.Builder) {
	for _, place := range []struct{ in, title string }{{"path", "Path"}, {"query", "Query"}, {"header", "Headers"}} {
		var rows []string
		for _, ref := range o.parameters {
			if p := ref.Value; p.In == place.in {
				rows = append(rows, parameterRow(p))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(w, "\n## %s\n\n%s", place.title, strings.Join(rows, ""))
		}
	}
}

func parameterRow(p *openapi3.Parameter) string {
	notes := "value"
	if p.Schema != nil {
		notes = kind(p.Schema.Value)
	}
	if p.Required {
		notes += ", required"
	}
	return fmt.Sprintf("- `%s` *%s* — %s\n", p.Name, notes,
		strings.ReplaceAll(strings.TrimSpace(p.Description), "\n", "\n  "))
}

// writeAnswers lists the answers, with an example, and the possible errors.
func (o operation) writeAnswers(w *strings.Builder) {
	w.WriteString("\n## Answers\n")
	for _, status := range slices.Sorted(maps.Keys(o.Responses.Map())) {
		answer := o.Responses.Value(status).Value
		if status >= "300" {
			fmt.Fprintf(w, "\n**%s** %s %s\n", status,
				strings.Join(strings.Fields(*answer.Description), " "), errorLinks(answer))
			continue
		}

		fmt.Fprintf(w, "\n**%s** %s\n\n", status, *answer.Description)
		content := answer.Content.Get("application/json")
		if content == nil {
			for _, kind := range slices.Sorted(maps.Keys(answer.Content)) {
				fmt.Fprintf(w, "`%s`:\n\n%s\n", kind, fieldsOf(answer.Content[kind].Schema.Value))
			}
			continue
		}

		for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
			fmt.Fprintf(w, "```json\n%s\n```\n\n", asJSON(content.Examples[name].Value.Value, "  "))
			break
		}

		w.WriteString(fieldsOf(content.Schema.Value))
	}
}

// errorLinks links the codes among the examples of a refusal.
func errorLinks(answer *openapi3.Response) string {
	content := answer.Content.Get("application/json")
	if content == nil {
		return ""
	}

	var links []string
	for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
		body, _ := content.Examples[name].Value.Value.(map[string]any)
		fault, _ := body["error"].(map[string]any)
		if code := fault["code"]; code != nil {
			links = append(links, fmt.Sprintf("[%v](/docs/errors/%v)", code, code))
		}
	}

	slices.Sort(links)
	if links = slices.Compact(links); len(links) == 0 {
		return ""
	}

	return "Such as " + strings.Join(links, ", ") + "."
}
