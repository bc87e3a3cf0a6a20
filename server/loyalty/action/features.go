package action

import "github.com/loyalty-platform/loyalty/server/loyalty"

// Kinds lists the types of entities, each after those that it can name.
func Kinds() []loyalty.EntityKind {
	return []loyalty.EntityKind{
		loyalty.PlainEntityType{Type: loyalty.CustomerListType},
		loyalty.PlainEntityType{Type: loyalty.ProductType},
		loyalty.Attributes,
		loyalty.CustomActions,
		loyalty.Shops,
		loyalty.Segments,
		loyalty.Pools,
		loyalty.Rewards,
		loyalty.Offers,
		loyalty.Structures,
		loyalty.Tiers,
		loyalty.Challenges,
		loyalty.Contests,
		loyalty.Wheels,
		loyalty.Quizzes,
		loyalty.Treasures,
		loyalty.Flows,
		loyalty.Campaigns,
	}
}

// Registry is what this build of the program knows.
func Registry() *loyalty.Registry {
	var actions []string
	for _, rule := range All() {
		actions = append(actions, rule.Meta().Name)
	}
	return loyalty.NewRegistry(actions, Kinds()...)
}
