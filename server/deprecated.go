package server

import (
	"fmt"
	"slices"

	"github.com/gin-gonic/gin"
)

// deprecate says in the answer's header when one of the actions is deprecated,
// and since when (RFC 9745). It knows them before the body is checked, because
// a refused event says so too.
func (s *Server) deprecate(c *gin.Context, actions []string) {
	for _, action := range actions {
		if since, deprecated := s.vocabulary.Deprecated(action); deprecated {
			c.Header("Deprecation", fmt.Sprintf("@%d", since.Unix()))
			return
		}
	}
}

// actionsOf lists the actions in a body that nobody has checked: an event's, or
// those of the events in a bulk.
func actionsOf(body any) (actions []string) {
	if action, ok := textIn(body, "action"); ok {
		actions = append(actions, action)
	}
	switch body := body.(type) {
	case map[string]any:
		events, _ := body["events"].([]any)
		for _, event := range events {
			if action, ok := textIn(event, "action"); ok && !slices.Contains(actions, action) {
				actions = append(actions, action)
			}
		}
	case *formNode:
		if events := body.children["events"]; events != nil {
			for _, event := range events.children {
				if action, ok := textIn(event, "action"); ok && !slices.Contains(actions, action) {
					actions = append(actions, action)
				}
			}
		}
	}
	return actions
}

// textIn finds a text by its name in what may be an object.
func textIn(object any, name string) (text string, ok bool) {
	switch object := object.(type) {
	case map[string]any:
		text, ok = object[name].(string)
	case *formNode:
		if value := object.children[name]; value != nil {
			text, ok = value.text, value.isText
		}
	}
	return text, ok
}
