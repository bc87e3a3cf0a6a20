package campaign

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TestBacktestCounts: limits, rounding, what is given once, and merges.
func TestBacktestCounts(t *testing.T) {
	ada, ben, cleo := loyalty.ID{1}, loyalty.ID{2}, loyalty.ID{3}
	at := func(customer loyalty.ID, base int64) chance { return chance{customer: customer, base: base} }
	merge := func(source, target loyalty.ID) chance { return chance{customer: target, merged: source} }
	bought := func(customer loyalty.ID, purchase string) chance {
		return chance{customer: customer, purchase: purchase}
	}
	back := func(purchase string, line loyalty.ID) chance {
		return chance{purchase: purchase, line: line, undone: true}
	}
	var zero loyalty.ID

	for name, c := range map[string]struct {
		fields  string
		off     string // a module
		chances []chance
		want    BacktestFigures
	}{
		"no limit":       {`"effects":[{"type":"points","points":5}]`, "", []chance{at(ada, 0), at(ada, 0), at(ben, 0)}, BacktestFigures{Events: 3, Winners: 2, Points: 15}},
		"by customer":    {`"effects":[{"type":"points","points":5}],"limit":{"per_customer":1}`, "", []chance{at(ada, 0), at(ada, 0), at(ben, 0)}, BacktestFigures{Events: 2, Winners: 2, Points: 10}},
		"in all":         {`"effects":[{"type":"points","points":5}],"limit":{"total":2}`, "", []chance{at(ada, 0), at(ada, 0), at(ben, 0)}, BacktestFigures{Events: 2, Winners: 1, Points: 10}},
		"rounded down":   {`"effects":[{"type":"multiply","factor":1.5}]`, "", []chance{at(ada, 5), at(ben, 1)}, BacktestFigures{Events: 1, Winners: 1, Points: 2}},
		"nothing to get": {`"effects":[{"type":"multiply","factor":2}],"limit":{"per_customer":1}`, "", []chance{at(ada, 0), at(ada, 7)}, BacktestFigures{Events: 1, Winners: 1, Points: 7}},
		"a coupon":       {`"effects":[{"type":"coupon","coupon":{"type":"free_shipping"}},{"type":"points","points":1}]`, "", []chance{at(ada, 0), at(ada, 0)}, BacktestFigures{Events: 2, Winners: 1, Points: 2, Coupons: 2}},
		"module off":     {`"effects":[{"type":"coupon","coupon":{"type":"free_shipping"}}]`, programme.ModuleCoupons, []chance{at(ada, 0)}, BacktestFigures{}},
		"label once":     {`"effects":[{"type":"label","label":"x"}]`, "", []chance{at(ada, 0), at(ada, 0), at(ben, 0)}, BacktestFigures{Events: 2, Winners: 2}},
		"labels stay":    {`"effects":[{"type":"label","label":"x"}]`, "", []chance{at(ada, 0), merge(ada, ben), at(ben, 0), at(ben, 0)}, BacktestFigures{Events: 2, Winners: 1}},
		"two become one": {`"effects":[{"type":"points","points":1}]`, "", []chance{at(ada, 0), at(ben, 0), merge(ada, ben), at(ben, 0)}, BacktestFigures{Events: 3, Winners: 1, Points: 3}},
		"limit joined":   {`"effects":[{"type":"points","points":1}],"limit":{"per_customer":2}`, "", []chance{at(ada, 0), at(ben, 0), merge(ada, ben), at(ben, 0)}, BacktestFigures{Events: 2, Winners: 1, Points: 2}},
		"a chain":        {`"effects":[{"type":"points","points":1}]`, "", []chance{at(ada, 0), merge(ada, ben), merge(ben, cleo), at(cleo, 0), at(ada, 0)}, BacktestFigures{Events: 3, Winners: 1, Points: 3}},
		"stranger joins": {`"effects":[{"type":"points","points":1}]`, "", []chance{at(ada, 0), merge(ben, ada), merge(cleo, ada)}, BacktestFigures{Events: 1, Winners: 1, Points: 1}},
		"given back":     {`"effects":[{"type":"points","points":1}],"limit":{"per_customer":1}`, "", []chance{bought(ada, "T"), bought(ada, "U"), back("T", zero), bought(ada, "V"), bought(ada, "W")}, BacktestFigures{Events: 2, Winners: 1, Points: 2}},
		"a line back": {`"effects":[{"type":"points","points":1}],"limit":{"total":2}`, "", []chance{
			{customer: ada, purchase: "T", line: ben}, {customer: ada, purchase: "T", line: cleo}, back("T", ben), bought(ben, "U"), bought(ben, "V"), back("T", zero), bought(ben, "W"),
		}, BacktestFigures{Events: 4, Winners: 2, Points: 4}},
		"a label's use stays": {`"effects":[{"type":"label","label":"x"}],"limit":{"total":1}`, "", []chance{bought(ada, "T"), back("T", zero), bought(ben, "U")}, BacktestFigures{Events: 1, Winners: 1}},
		"given back after a merge": {`"effects":[{"type":"points","points":1}],"limit":{"per_customer":1}`, "", []chance{
			bought(ada, "T"), merge(ada, ben), bought(ben, "U"), back("T", zero), bought(ben, "V"),
		}, BacktestFigures{Events: 2, Winners: 1, Points: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := programme.NewRegistry([]string{"checkout"}).Compile(loyalty.Snapshot{Modules: []loyalty.ModuleState{{Name: c.off, Enabled: false}}[:min(1, len(c.off))]})
			require.NoError(t, err)
			campaign, err := Draft(p, "c", json.RawMessage(`{"name":"C","trigger":"checkout",`+c.fields+`}`))
			require.NoError(t, err)
			b := NewBacktest(p, campaign)
			for _, x := range c.chances {
				b.Take(x)
			}
			require.Equal(t, c.want, b.BacktestFigures)
		})
	}
}
