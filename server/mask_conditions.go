package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The properties of rules that say what is looked at: a condition, and what a criterion of a challenge sums up.
const (
	conditionProperty = "condition"
	sumProperty       = "sum"
)

// compareWhole refuses a user who may not see personal data a rule that would tell it: a campaign that is tried on the past, or a
// segment, whose condition asks whether an e-mail address begins with a letter tells the address letter by letter. Conditions
// compare what is masked as a whole, as filters do. What the programme asks already, word by word, may be sent back.
func compareWhole(inForce func() *programme.Programme, vocabulary *contract.Vocabulary, fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := requestOf(c)
		if !r.sightless() || r.operation == nil || r.operation.body == nil || r.operation.reads || !makesRules(c, r.operation) {
			return
		}
		p := inForce()
		asked := asksAlready(p)
		err := eachRule(r.tree, "", func(at, name, source string) error {
			if !asked[source] && slices.ContainsFunc(looksInto(name, source), func(fact string) bool { return masks(p, vocabulary, fact) }) {
				return loyalty.ErrPersonalNeeded.At(at)
			}
			return nil
		})
		if err != nil {
			fail(c, err)
		}
	}
}

// makesRules reports whether bodies of an operation are rules of the programme.
func makesRules(c *gin.Context, o *operation) bool {
	return o.api == "entities" || o.api == "automation-campaigns" || strings.HasPrefix(c.FullPath(), "/admin/configuration")
}

// eachRule visits the conditions and sums in a body, with their places in it.
func eachRule(body any, at string, visit func(at, name, source string) error) error {
	switch body := body.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(body)) {
			place := strings.TrimPrefix(at+"."+name, ".")
			if source, text := body[name].(string); text && (name == conditionProperty || name == sumProperty) {
				if err := visit(place, name, source); err != nil {
					return err
				}
			} else if err := eachRule(body[name], place, visit); err != nil {
				return err
			}
		}
	case []any:
		for i := range body {
			if err := eachRule(body[i], fmt.Sprintf("%s[%d]", at, i), visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// looksInto lists the facts that a condition or a sum looks into. One that does not compile is refused elsewhere.
func looksInto(name, source string) []string {
	if name == sumProperty {
		record, attribute, sent := strings.Cut("event."+strings.TrimPrefix(source, "event."), ".data.")
		first, _, _ := strings.Cut(attribute, ".")
		if !sent {
			return nil
		}
		return []string{record + ".data." + first}
	}
	c, err := programme.CompileCondition(name, source)
	if err != nil {
		return nil
	}
	return c.Probes()
}

// masks reports whether a fact is masked to who may not see personal data. An attribute of events is told where actions declare
// it, and none of them as personal.
func masks(p *programme.Programme, vocabulary *contract.Vocabulary, fact string) bool {
	_, attribute, sent := strings.Cut(fact, ".data.")
	if !sent {
		return true // of a customer, or the attributes as a whole
	}
	told := false
	for _, action := range p.Recorded() {
		shape, _ := vocabulary.Told(action)
		for _, of := range shapesIn(shape) {
			a, declared := of.Attributes[attribute]
			if a.Personal {
				return true
			}
			told = told || declared
		}
	}
	return !told
}

// shapesIn are the shapes of an action's data and of the lines in it.
func shapesIn(shape *loyalty.Shape) []*loyalty.Shape {
	if shape == nil {
		return nil
	}
	all := []*loyalty.Shape{shape}
	for _, a := range shape.Attributes {
		if a.Items != nil {
			all = append(all, a.Items)
		}
	}
	return all
}

// asksAlready are the conditions and sums of the rules in force.
func asksAlready(p *programme.Programme) map[string]bool {
	asked := map[string]bool{}
	for _, c := range campaign.Campaigns.Of(p) {
		asked[c.Condition] = true
	}
	for _, s := range programme.Segments.Of(p) {
		asked[s.Condition] = true
	}
	for _, c := range challenge.Challenges.Of(p) {
		for _, k := range c.Criteria {
			asked[k.Condition], asked[k.Sum] = true, true
		}
	}
	return asked
}
