package server

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// refusePersonalRules refuses a user who may not see personal data a rule that asks for it. A campaign that is tried on
// a customer or on the past, a segment, or a webhook's filter answers its condition, and a few dozen conditions on days
// reveal a birth date. A condition that the entity has already, word for word, may be sent back.
func refusePersonalRules(
	inForce func() *programme.Programme, vocabulary *contract.Vocabulary, fail func(*gin.Context, error),
) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := api.RequestOf(c)
		if !r.PersonalHidden() || r.Operation == nil || r.Operation.Body == nil || !makesRules(c, r.Operation) {
			return
		}

		p := inForce()
		asked := asksAlready(p)
		w := api.RuleWalk{Visit: func(of api.EntityRef, at, name, source string) error {
			if !asked[of][source] &&
				slices.ContainsFunc(looksInto(name, source), func(fact string) bool { return masks(p, vocabulary, fact) }) {
				return loyalty.ErrPersonalNeeded.At(at)
			}
			return nil
		}}

		if err := w.In(r.Tree, "", entityOf(c)); err != nil {
			fail(c, err)
		}
	}
}

// makesRules reports whether the bodies of an operation are rules of the programme.
func makesRules(c *gin.Context, o *api.Operation) bool {
	return o.API == "entities" || o.API == "automation-campaigns" ||
		strings.HasPrefix(c.FullPath(), "/admin/configuration")
}

// entityOf is the entity that a path names.
func entityOf(c *gin.Context) api.EntityRef {
	if id := c.Param("campaign_id"); id != "" {
		return api.EntityRef{Kind: campaign.Campaigns.Type, ID: id}
	}
	return api.EntityRef{Kind: c.Param("module") + "/" + c.Param("entity"), ID: c.Param("entity_id")}
}

// looksInto lists the facts in a condition or a sum that may be personal. One that does not compile is refused
// elsewhere.
func looksInto(name, source string) []string {
	if name == api.SumProperty {
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
	return c.Guarded()
}

// masks reports whether a fact is hidden from users who may not see personal data. An attribute of events is visible if
// actions declare it, and none of them as personal.
func masks(p *programme.Programme, vocabulary *contract.Vocabulary, fact string) bool {
	_, attribute, sent := strings.Cut(fact, ".data.")
	if !sent {
		return true // a fact of a customer, or the attributes as a whole
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

// asksAlready are the conditions and sums of the rules in force, by entity.
func asksAlready(p *programme.Programme) map[api.EntityRef]map[string]bool {
	asked := map[api.EntityRef]map[string]bool{}
	for _, c := range campaign.Campaigns.Of(p) {
		asked[api.EntityRef{Kind: campaign.Campaigns.Type, ID: c.ID}] = map[string]bool{c.Condition: true}
	}

	for _, s := range programme.Segments.Of(p) {
		asked[api.EntityRef{Kind: programme.Segments.Type, ID: s.ID}] = map[string]bool{s.Condition: true}
	}

	for _, c := range challenge.Challenges.Of(p) {
		of := map[string]bool{}
		for _, k := range c.Criteria {
			of[k.Condition], of[k.Sum] = true, true
		}
		asked[api.EntityRef{Kind: challenge.Challenges.Type, ID: c.ID}] = of
	}

	return asked
}
