package portal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// addEntities writes a page for each type of entity.
func (b *book) addEntities(c *contract) error {
	doc := c.entities()
	named, _ := doc.Extensions["x-entities"].(map[string]any)
	examples := map[string]call{}
	for _, op := range operations("entities", doc) {
		if op.OperationID == "createEntity" {
			for _, c := range op.calls() {
				examples[c.name] = c
			}
		}
	}

	for _, kind := range slices.Sorted(maps.Keys(named)) {
		name, _ := named[kind].(string)
		schema := doc.Components.Schemas[name]
		if schema == nil {
			return fmt.Errorf("the entity %s has no schema", kind)
		}

		var w strings.Builder
		fmt.Fprintf(&w, "`%s`\n\n%s\n", kind, schema.Value.Description)
		if module := textOf(schema.Value, "x-module"); module != "" {
			fmt.Fprintf(&w, "\nNeeds the module [%s](/docs/modules/%s).\n", module, module)
		}

		w.WriteString("\n## Properties\n\n" + fieldsOf(schema.Value))
		p := &page{path: "/docs/entities/" + strings.Trim(kind, "{}"), title: kind, section: "/docs/entities",
			summary: firstSentence(schema.Value.Description)}
		if strings.Contains(kind, "{") {
			p.path = "/docs/entities/custom"
		}

		if example, ok := examples[name]; ok {
			w.WriteString(samples(example))
			p.trial = &example.trial
		}

		w.WriteString("\nThe same path reads and changes it: [list](/docs/operations/listEntities), [read](/docs/operations/getEntity), " +
			"[change](/docs/operations/updateEntity), [archive](/docs/operations/archiveEntity).\n")
		p.text = w.String()
		b.add(p)
	}

	b.add(&page{
		path: "/docs/entities", title: "Entities", section: "/docs/entities", summary: "What a programme is made of.",
		text: doc.Info.Description + "\n\n" + b.index("/docs/entities"),
	})

	return nil
}

// addConditions writes the page about conditions, which the Entities document explains.
func (b *book) addConditions(c *contract) error {
	_, text, found := strings.Cut(c.entities().Info.Description, "**Conditions** ")
	if !found {
		return fmt.Errorf("the Entities document does not explain conditions")
	}
	text, _, _ = strings.Cut(text, "**Signing.**") // signing has a page of its own
	b.add(&page{
		path: "/docs/conditions", title: "Conditions", section: "/docs/conditions",
		summary: "When a campaign runs, what a challenge counts, who is in a segment.",
		text: "Conditions " + strings.TrimSpace(text) +
			"\n\nTry one on a purchase before you save it: [previewCampaigns](/docs/operations/previewCampaigns).\n",
	})
	return nil
}
