package contract

import "slices"

// What was sent is looked into in the same way whether it came as JSON or as a form,
// before a schema has said what the values of the form are.

// Properties gives those of an object, the values of a form still without types; nil: v
// is no object.
func Properties(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case *Form:
		if v == nil || v.isText {
			return nil
		}
		m := make(map[string]any, len(v.children))
		for name, child := range v.children {
			m[name] = child
		}
		return m
	}
	return nil
}

// Items gives those of a list, in order; nil: v is no list.
func Items(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case *Form:
		if v != nil {
			list, _ := v.items(nil).([]any)
			return list
		}
	}
	return nil
}

// textOf gives a text; false: v is none.
func textOf(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case *Form:
		if v != nil {
			return v.text, v.isText
		}
	}
	return "", false
}

// ActionsIn lists the actions that a body names before it was checked: an event's, or
// those of the events in a bulk, each once.
func ActionsIn(body any) (actions []string) {
	sent := Properties(body)
	if action, ok := textOf(sent["action"]); ok {
		actions = append(actions, action)
	}
	add := func(event any) {
		if action, ok := textOf(Properties(event)["action"]); ok && !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	switch events := sent["events"].(type) {
	case []any:
		for _, event := range events {
			add(event)
		}
	case *Form:
		for _, event := range events.children {
			add(event)
		}
	}
	return actions
}

// Clone copies the objects and lists of a body, so that the copy can be checked, which
// changes it, and the original checked again. A form is never changed and not copied.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[name] = Clone(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = Clone(value)
		}
		return list
	}
	return v
}
