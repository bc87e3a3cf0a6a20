package portal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// addActions writes a page for each action, including those that only the platform writes.
func (b *book) addActions(c *contract) error {
	doc := c.events()
	event := doc.Components.Schemas["Event"].Value
	var submit operation
	for _, op := range operations("events", doc) {
		if op.OperationID == "submitEvent" {
			submit = op
		}
	}

	examples := map[string]call{}
	for _, c := range submit.calls() {
		examples[c.name] = c
	}

	for _, name := range slices.Sorted(maps.Keys(event.Discriminator.Mapping)) {
		schema := doc.Components.Schemas[baseOf(event.Discriminator.Mapping[name].Ref)].Value
		b.add(actionPage(name, schema, examples[name]))
	}

	if err := b.addInternalActions(event); err != nil {
		return err
	}

	list := &page{path: "/docs/events", title: "Events", section: "/docs/events",
		summary: "Every action, its attributes and an example."}
	list.text = firstSentence(doc.Info.Description) +
		" One event is one action of one customer: [submit it](/docs/operations/submitEvent), " +
		"or [ask what it would do](/docs/operations/previewEvent).\n\n" + b.index("/docs/events")
	b.add(list)
	return nil
}

func actionPage(name string, schema *openapi3.Schema, example call) *page {
	var w strings.Builder
	fmt.Fprintf(&w, "`%s`\n\n%s\n", name, schema.Description)
	data := schema.Properties["data"].Value
	if module := textOf(data, "x-module"); module != "" {
		fmt.Fprintf(&w,
			"\nNeeds the module [%s](/docs/modules/%s); while it is off the event is refused with [190043](/docs/errors/190043).\n", module, module)
	}
	w.WriteString("\n## Attributes\n\nThey stand in `data`.\n\n")
	w.WriteString(fieldsOf(data))
	w.WriteString("\n## The event\n\n")
	w.WriteString(fieldsOf(&openapi3.Schema{Properties: withoutData(schema.Properties), Required: schema.Required}))
	w.WriteString(samples(example))
	w.WriteString("\nTo see what it would do without recording anything, send the same body to [`POST /events/preview`](/docs/operations/previewEvent).\n")
	return &page{path: "/docs/events/" + name, title: schema.Title, section: "/docs/events",
		summary: "`" + name + "` " + firstSentence(schema.Description), text: w.String(), trial: &example.trial}
}

func withoutData(all openapi3.Schemas) openapi3.Schemas {
	rest := maps.Clone(all)
	delete(rest, "data")
	return rest
}

// addInternalActions writes a page for each action that only the platform writes.
func (b *book) addInternalActions(event *openapi3.Schema) error {
	raw, err := json.Marshal(event.Extensions["x-internal-actions"])
	if err != nil {
		return err
	}

	var all map[string]struct {
		WrittenBy   string           `json:"written_by"`
		Description string           `json:"description"`
		Data        *openapi3.Schema `json:"data"`
		ItemOf      string           `json:"item_of"`
	}

	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		text := fmt.Sprintf("%s\n\nThe platform writes this event; submitting it is refused with [190044](/docs/errors/190044). It is written by: %s.\n", a.Description, a.WrittenBy)
		if a.ItemOf != "" {
			text += fmt.Sprintf("\nIts attributes are those of a line of [%s](/docs/events/%s), and those of the purchase.\n",
				a.ItemOf, a.ItemOf)
		}
		if a.Data != nil && len(a.Data.Properties) > 0 {
			text += "\n## Attributes\n\n" + fieldsOf(a.Data)
		}
		b.add(&page{path: "/docs/events/" + name, title: name, section: "/docs/events",
			summary: firstSentence(a.Description), text: text})
	}

	return nil
}
