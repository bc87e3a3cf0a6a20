package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// questionsPerMinute is how often a user who may not see personal data may look up a customer by a complete e-mail
// address or external id. It is enough for a service desk, and too little to try a list of addresses.
const questionsPerMinute = 30

// tries are the operations that only ask what rules would do. For a user who may not see personal data, conditions on
// it count as unknown there.
var tries = map[string]bool{"previewEvent": true, "previewCampaigns": true, "quoteOffers": true, "startBacktest": true}

// askQuestion restricts a user who may not see personal data to questions that do not reveal it.
func askQuestion(s *Server, c *gin.Context) {
	r := api.RequestOf(c)
	if !r.PersonalHidden() || r.Operation == nil {
		return
	}

	q := questions{personal: customType(c, r.Operation) == programme.TypeCustomer}
	if err := q.read(c, r); err != nil {
		s.fail(c, err)
		return
	}

	if len(q.asked) > 0 && !mayAsk(s, c, r, &q) {
		return
	}

	switch name := r.Operation.Route.Operation.OperationID; {
	case tries[name]:
		tryRules(s, c, r)
	case r.Operation.Reads: // lists of what a customer may have depend on segments, whose conditions may read masked facts
		c.Request = c.Request.WithContext(loyalty.WithUnseen(c.Request.Context(), unseenBy(s)))
	}
}

// mayAsk counts questions on their user and records them.
func mayAsk(s *Server, c *gin.Context, r *api.Request, q *questions) bool {
	switch {
	case !r.Caller.Role.Covers(loyalty.RoleOperator):
		s.fail(c, loyalty.ErrRoleNeeded.With("role", string(loyalty.RoleOperator)).At(q.asked[0]))
		return false
	case len(q.asked) > questionsPerMinute:
		s.fail(c, loyalty.ErrPersonalNeeded.At(q.asked[questionsPerMinute]))
		return false
	}

	verdict, err := s.limiter.Allow(c.Request.Context(), "questions "+r.Key.ID, questionsPerMinute, len(q.asked))
	switch {
	case err != nil:
		s.fail(c, err)
		return false
	case !verdict.Allowed:
		s.tooMany(c, verdict)
		return false
	}

	return noteQuestion(s, c, r, admin.SearchNoted, slices.Compact(slices.Sorted(slices.Values(q.asked))))
}

// tryRules makes the rules of a preview treat conditions on personal data as unknown. A backtest of a campaign with
// such a condition is refused: figures without it would mislead.
func tryRules(s *Server, c *gin.Context, r *api.Request) {
	unseen := unseenBy(s)
	if r.Operation.Route.Operation.OperationID == "startBacktest" && contract.Properties(r.Tree)["campaign"] == nil {
		tried, known := campaign.Campaigns.Of(s.programme())[c.Param("campaign_id")]
		if known && slices.ContainsFunc(tried.Holds.Guarded(), unseen) {
			s.fail(c, loyalty.ErrPersonalNeeded.At(api.ConditionProperty))
			return
		}
	}
	if noteQuestion(s, c, r, admin.PreviewNoted, nil) {
		c.Request = c.Request.WithContext(loyalty.WithUnseen(c.Request.Context(), unseen))
	}
}

// unseenBy reports which facts are hidden from a user who may not see personal data.
func unseenBy(s *Server) func(fact string) bool {
	p := s.programme()
	return func(fact string) bool { return masks(p, s.vocabulary, fact) }
}

// noteQuestion records a question in the audit trail, with the operation and the names of the sent properties, without
// values.
func noteQuestion(s *Server, c *gin.Context, r *api.Request, action string, asked []string) bool {
	seen := admin.Seen{Operation: r.Operation.Route.Operation.OperationID, Query: asked}
	err := admin.NoteQuestion(api.Plain(c), s.admin, admin.Call{KeyID: r.Key.ID}, action, r.Operation.Route.Path, seen)
	if err != nil {
		s.fail(c, err)
	}
	return err == nil
}

// questions are the parameters and properties of a request that look up persons by complete values: one name for each
// value.
type questions struct {
	personal bool // the list is of customers
	asked    []string
}

func (q *questions) add(name string, times int) {
	for range times {
		q.asked = append(q.asked, name)
	}
}

// read collects them. It refuses what would reveal a value letter by letter or from a list.
func (q *questions) read(c *gin.Context, r *api.Request) error {
	for _, p := range r.Query {
		if err := q.parameter(p); err != nil {
			return err
		}
	}

	for _, p := range c.Params {
		if strings.HasPrefix(p.Key, "customer") || q.personal {
			q.add(p.Key, external(p.Value))
		}
	}

	if r.Operation.Body != nil && !ofProgramme(c, r.Operation) {
		q.body(r.Tree, "")
	}

	return nil
}

func (q *questions) parameter(p list.Pair) error {
	name, operator := list.SplitOperator(p.Name)
	sorted := p.Ordered()
	switch {
	case personalNames[sorted], q.personal && contract.IsCustom(sorted):
		return loyalty.ErrPersonalNeeded.At(p.Name)
	case q.personal && name == "search":
		if !strings.Contains(p.Value, "@") { // names and attributes are shared by many people
			return loyalty.ErrPersonalNeeded.At(p.Name)
		}
		q.add(p.Name, 1)
	case name == "email" && operator == loyalty.Eq:
		q.add(p.Name, 1)
	case personalNames[name], q.personal && contract.IsCustom(name):
		return loyalty.ErrPersonalNeeded.At(p.Name)
	case strings.Contains(name, "customer"), q.personal && name == "id":
		q.add(p.Name, external(p.Value))
	}

	return nil
}

// external counts the external ids among references to customers, name:value.
func external(refs string) (n int) {
	for ref := range strings.SplitSeq(refs, ",") {
		if strings.Contains(ref, ":") {
			n++
		}
	}
	return n
}

// references are the properties that refer to a customer.
var references = map[string]bool{"customer": true, "customers": true,
	"referrer": true, "into": true, "from": true, "to": true}

// body collects the questions of a body: a refused address or external id reveals that another customer has it. at is
// the name of the property.
func (q *questions) body(v any, at string) {
	switch v := v.(type) {
	case map[string]any:
		if at == "external_ids" {
			for _, ids := range v {
				list, _ := ids.([]any)
				q.add(at, max(1, len(list)))
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			q.body(v[name], name)
		}

	case []any:
		for _, element := range v {
			q.body(element, at)
		}

	case string:
		switch {
		case v == "":
		case at == "email", at == "external_id":
			q.add(at, 1)
		case references[at] && strings.Contains(v, ":"):
			if _, err := loyalty.ParseInstant(v); err != nil { // elsewhere from and to are instants
				q.add(at, 1)
			}
		}
	}
}
