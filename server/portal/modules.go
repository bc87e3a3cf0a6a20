package portal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// addModules writes a page for each module: what it is, its configuration, and what needs it.
func (b *book) addModules(c *contract) error {
	names := c.administration().Components.Schemas["ModuleName"].Value
	said := map[string]string{}
	for line := range strings.Lines(names.Description) {
		name, text, found := strings.Cut(strings.TrimPrefix(line, "- `"), "`: ")
		if found {
			said[name] = strings.TrimSpace(text)
		}
	}

	for _, value := range names.Enum {
		name := fmt.Sprint(value)
		text := "A module is a part of the programme that is switched on and off: `POST /admin/modules/" + name +
			"` with `{\"enabled\": true}` ([configureModule](/docs/operations/configureModule)).\n\n" + said[name] + "\n"
		if config := configOf(c, name); config != nil {
			text += "\n## Configuration\n\n" + config.Description + "\n\n" + fieldsOf(config)
		}
		if needed := neededBy(c, name); needed != "" {
			text += "\n## What needs it\n\n" + needed
		}
		b.add(&page{path: "/docs/modules/" + name, title: name, section: "/docs/modules", summary: said[name], text: text})
	}

	_, after, _ := strings.Cut(names.Description, "\n\n")
	b.add(&page{
		path: "/docs/modules", title: "Modules", section: "/docs/modules",
		summary: "The parts of a programme that are switched on and off.",
		text:    after + "\n\n" + b.index("/docs/modules"),
	})

	return nil
}

// configOf is the schema of a module's configuration; nil: it has none.
func configOf(c *contract, module string) *openapi3.Schema {
	for _, s := range c.administration().Components.Schemas {
		if textOf(s.Value, "x-config-of") == module {
			return s.Value
		}
	}
	return nil
}

// neededBy lists the actions, entities and operations that a module switches on.
func neededBy(c *contract, module string) string {
	var w strings.Builder
	event := c.events().Components.Schemas["Event"].Value
	for _, name := range slices.Sorted(maps.Keys(event.Discriminator.Mapping)) {
		schema := c.events().Components.Schemas[baseOf(event.Discriminator.Mapping[name].Ref)].Value
		if textOf(schema.Properties["data"].Value, "x-module") == module {
			fmt.Fprintf(&w, "- the action [%s](/docs/events/%s)\n", name, name)
		}
	}

	kinds, _ := c.entities().Extensions["x-entities"].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if textOf(c.entities().Components.Schemas[fmt.Sprint(kinds[kind])].Value, "x-module") == module &&
			!strings.Contains(kind, "{") {
			fmt.Fprintf(&w, "- the entity [%s](/docs/entities/%s)\n", kind, kind)
		}
	}

	for _, api := range c.names {
		for _, op := range operations(api, c.byAPI[api]) {
			if op.module() == module {
				fmt.Fprintf(&w, "- [`%s %s`](/docs/operations/%s)\n", op.method, op.path, op.OperationID)
			}
		}
	}

	return w.String()
}

func baseOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
