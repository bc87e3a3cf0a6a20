package contract

import "slices"

// A body is read in the same way whether it was sent as JSON or as a form whose values have no types yet.

// Properties returns the properties of an object, the values of a form still without types; nil if v is no object.
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

// Items returns the items of a list in order; nil if v is no list.
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

// textOf returns a text; false if v is none.
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

// ActionsIn lists each action once that an unchecked body names: the action of an event, or the actions of the events
// in a bulk.
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

// Clone copies the objects and lists of a body. The copy can be checked, which changes it, and the original can be
// checked again. A form is never changed and is not copied.
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
