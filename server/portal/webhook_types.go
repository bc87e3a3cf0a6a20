package portal

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Notice is a type of message that is not about an event: an example and its JSON Schema. The documents say when it is
// sent.
type Notice struct {
	Type            string
	Example, Schema json.RawMessage
}

// addMessages writes a page for each type of message that a webhook can subscribe to.
func (b *book) addMessages(c *contract, message *openapi3.Operation, notices []Notice) error {
	event := c.events().Components.Schemas["Event"].Value
	base := oneExample(message)
	samples := map[string]map[string]any{}
	for _, op := range operations("events", c.events()) {
		for _, sent := range op.calls() {
			if body, ok := sent.value.(map[string]any); ok && op.OperationID == "submitEvent" {
				samples[sent.name], _ = body["data"].(map[string]any)
			}
		}
	}

	names := slices.Collect(maps.Keys(event.Discriminator.Mapping))
	internal, _ := event.Extensions["x-internal-actions"].(map[string]any)
	names = slices.AppendSeq(names, maps.Keys(internal))
	slices.Sort(names)
	for _, action := range names {
		var personal map[string]bool
		if ref := event.Discriminator.Mapping[action].Ref; ref != "" {
			personal = personalIn(c.events().Components.Schemas[baseOf(ref)].Value.Properties["data"].Value)
		}
		b.add(eventMessagePage(action, base, samples[action], personal))
	}

	return b.addNotices(c, base, notices)
}

// oneExample is a message from the documents.
func oneExample(message *openapi3.Operation) map[string]any {
	for _, example := range message.RequestBody.Value.Content.Get("application/json").Examples {
		if value, ok := example.Value.Value.(map[string]any); ok {
			return value
		}
	}
	return map[string]any{}
}

// personalIn are the attributes that are left out of messages.
func personalIn(data *openapi3.Schema) map[string]bool {
	found := map[string]bool{}
	for name, property := range data.Properties {
		if on, _ := property.Value.Extensions["x-personal"].(bool); on {
			found[name] = true
		}
	}
	return found
}

func eventMessagePage(action string, base, sample map[string]any, personal map[string]bool) *page {
	shown := maps.Clone(base)
	data := map[string]any{"action": action, "change": 0, "timestamp": base["timestamp"]}
	attributes := map[string]any{}
	for name, value := range sample {
		if !personal[name] {
			attributes[name] = value
		}
	}

	data["data"] = attributes
	shown["type"], shown["data"] = "event."+action, data
	var w strings.Builder
	fmt.Fprintf(&w,
		"`event.%s`\n\nA customer's event [%[1]s](/docs/events/%[1]s) was recorded. `data.data` has its attributes as that page tells them; ", action)
	w.WriteString("none of them is required, and what is personal is absent")
	if left := slices.Sorted(maps.Keys(personal)); len(left) > 0 {
		w.WriteString(": `" + strings.Join(left, "`, `") + "`")
	}

	w.WriteString(".\n\n## The message\n\n```json\n" + asJSON(shown, "  ") + "\n```\n\n" + howItComes)
	return &page{path: "/docs/webhooks/event." + action, title: "event." + action, section: "/docs/webhooks",
		summary: "The message about the event " + action + ".", text: w.String()}
}

const howItComes = "The fields, the headers and how to verify it: [Webhooks](/docs/webhooks). The JSON Schema of `data`: " +
	"`GET /admin/webhook-types?schemas=true` ([listWebhookTypes](/docs/operations/listWebhookTypes)).\n"

// quotedName finds the names in a line of a list, before their descriptions.
var quotedName = regexp.MustCompile("`([a-z]+\\.[a-z]+)`")

// addNotices writes the pages of the platform's own messages.
func (b *book) addNotices(c *contract, base map[string]any, notices []Notice) error {
	said := map[string]string{}
	for _, op := range operations("administration", c.administration()) {
		if op.OperationID != "listWebhookTypes" {
			continue
		}
		for line := range strings.Lines(op.Description) {
			if line, listed := strings.CutPrefix(strings.TrimSpace(line), "- "); listed {
				for _, name := range quotedName.FindAllStringSubmatch(line, -1) {
					said[name[1]] = line
				}
			}
		}
	}

	for _, n := range notices {
		if said[n.Type] == "" {
			return fmt.Errorf("the description of listWebhookTypes does not tell of %s", n.Type)
		}

		var schema openapi3.Schema
		var example any
		if err := json.Unmarshal(n.Schema, &schema); err != nil {
			return err
		}
		if err := json.Unmarshal(n.Example, &example); err != nil {
			return err
		}

		shown := map[string]any{"type": n.Type, "id": base["id"], "timestamp": base["timestamp"],
			"version": base["version"], "data": example}
		text := "`" + n.Type + "`\n\n" + said[n.Type] + "\n\n## What `data` has\n\n" + fieldsOf(&schema) +
			"\n## The message\n\n```json\n" + asJSON(shown, "  ") + "\n```\n\n" + howItComes
		b.add(&page{path: "/docs/webhooks/" + n.Type, title: n.Type, section: "/docs/webhooks",
			summary: firstSentence(said[n.Type]), text: text})
	}

	return nil
}
