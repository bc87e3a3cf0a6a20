package action_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/stretchr/testify/require"
)

// BenchmarkCampaigns records a checkout of three lines without campaigns, with
// twenty that look at it and give nothing, and with twenty others that it does not
// concern; then with two that give something, alone and among two hundred: half of the
// others wait for another action, half for purchases of another kind.
func BenchmarkCampaigns(b *testing.B) {
	twenty := func(trigger string) (all things) {
		for i := range 20 {
			all = append(all, loyaltytest.AnyCampaign(fmt.Sprint("c", i), fmt.Sprintf(
				`"trigger":"%s","condition":"transaction.total > %d and customer.score > 100000 and any(transaction.items, .product_category == \"shoes\")","effects":[{"type":"points","points":1}]`,
				trigger, i)))
		}
		return all
	}

	var two, many things
	for i := range 2 {
		two = append(two, loyaltytest.AnyCampaign(fmt.Sprint("gives", i), `"trigger":"checkout","condition":"transaction.total > 1","effects":[{"type":"points","points":1}]`))
	}

	for i := range 198 {
		trigger, condition := "visit", fmt.Sprint("customer.score > ", i)
		if i%2 == 0 {
			trigger, condition = "checkout", fmt.Sprintf(`any(transaction.items, .product_category == \"shoes %d\")`, i)
		}
		many = append(many, loyaltytest.AnyCampaign(fmt.Sprint("c", i), fmt.Sprintf(`"trigger":"%s","condition":"%s","effects":[{"type":"points","points":1}]`, trigger, condition)))
	}

	for _, c := range []struct {
		name string
		all  things
	}{{"none", nil}, {"looking", twenty("checkout")}, {"other", twenty("visit")}, {"two", two}, {"two of 200", append(many, two...)}} {
		b.Run(c.name, func(b *testing.B) {
			e := benchEngine(b, c.all)
			_, err := e.Submit(context.Background(), loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test"}`))
			require.NoError(b, err)
			const line = `{"product_id":"p-%d","product_name":"n","product_url":"https://shop.test/","quantity":1,"subtotal":10,"product_category":"hats"}`
			for n := 0; b.Loop(); n++ {
				buy := loyaltytest.Event("ada", "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":30,"items":[`+line+`,`+line+`,`+line+`]}`, n, 1, 2, 3))
				if _, err := e.Submit(context.Background(), buy); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
