package openapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/oasdiff/yaml"
)

// Files lists the documents by name, common among them.
func Files() []string { return append([]string{common}, served...) }

// Compact gives a document as JSON without the parts that validation does not need: examples, and all descriptions
// except that of the API itself. References stay as they are. It fails for a name that is not among Files.
func Compact(name string) ([]byte, error) {
	text, err := fs.ReadFile(FS, name+".yaml")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	var tree map[string]any
	if _, err := yaml.Unmarshal(text, &tree, yaml.DecodeOpts{}); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", name, err)
	}
	dropProse(tree, "")
	out, err := json.Marshal(tree)
	return append(out, '\n'), err
}

// named are the objects whose keys are names, not keywords.
var named = []string{"properties", "schemas", "parameters", "responses", "headers", "requestBodies", "mapping",
	"paths", "content", "callbacks"}

func dropProse(v any, under string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch names := slices.Contains(named, under); {
			case !names && (key == "description" && under != "info" || key == "example" || key == "examples"):
				delete(v, key)
			case !names && (key == "default" || key == "enum" || strings.HasPrefix(key, "x-")):
				// data, even where its keys look like keywords
			case names:
				dropProse(value, "")
			default:
				dropProse(value, key)
			}
		}

	case []any:
		for _, item := range v {
			dropProse(item, "")
		}
	}
}
