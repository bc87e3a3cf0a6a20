package programme

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// Segment is a group of customers, defined by a condition (segments/segment).
type Segment struct {
	ID        string               `json:"-"`
	Name      string               `json:"name"`
	Condition string               `json:"condition"`
	Is        *condition.Condition `json:"-"`
}

// Segments are the groups of customers of the programme.
var Segments = &EntityType[*Segment]{Type: "segments/segment", Module: "", Read: readSegment}

func readSegment(p *Programme, e loyalty.Entity) (*Segment, error) {
	s := &Segment{ID: e.ID}
	err := Decode(e, s)
	if err != nil {
		return nil, err
	}
	if s.Is, err = CompileCondition("condition", s.Condition); err != nil {
		return nil, err
	}
	if s.Is == nil { // a segment of every customer is none
		return nil, Fault("condition", loyalty.ErrPropertyEmpty.Name, nil)
	}

	// Membership is evaluated for a customer at an instant, without any event.
	for _, fact := range []string{"event.action", "event.data", "event.points", "transaction", "item"} {
		if s.Is.Uses(fact) {
			return nil, Fault("condition", "condition_fact", map[string]any{"fact": fact})
		}
	}

	return s, nil
}

// KnownSegments refuses the id of a segment that is not in force.
func (p *Programme) KnownSegments(ids []string) error {
	for _, id := range ids {
		if Segments.Of(p)[id] == nil {
			return Missing("segments", "segments/segment", id)
		}
	}
	return nil
}
