package action_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// BenchmarkReactions records events without rules and under the programme that
// make bench measures: 20 campaigns, 6 challenges, tiers.
func BenchmarkReactions(b *testing.B) {
	const line = `{"product_id":"p-%d","product_name":"Espresso beans 1 kg","product_url":"https://shop.test/p","quantity":2,"price":21.65,"subtotal":43.3,"product_category":"Grocery"}`
	const purchase = `{"transaction_id":"T-%d","total":129.9,"currency":"EUR","channel":"web","items":[` + line + `,` + line + `,` + line + `]}`

	for _, w := range []struct {
		name   string
		action string
		rules  things
		data   func(n int) string
		before string // what each event needs, as the data of a coupon_create
	}{
		{name: "point_add", action: "point_add", data: gift},
		{name: "point_add under rules", action: "point_add", rules: benchProgramme(b), data: gift},
		{name: "checkout", action: "checkout", data: func(n int) string { return fmt.Sprintf(purchase, n, 1001, 1002, 1003) }},
		{name: "checkout under rules", action: "checkout", rules: benchProgramme(b), data: func(n int) string { return fmt.Sprintf(purchase, n, 1001, 1002, 1003) }},
		{name: "coupon_redeem", action: "coupon_redeem", data: func(n int) string { return fmt.Sprintf(`{"code":"C-%d"}`, n) }, before: `{"code":"C-%d","type":"percentage","value":10}`},
	} {
		b.Run(w.name, func(b *testing.B) {
			e := benchMembers(b, w.rules)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if w.before != "" && n%benchCustomers == 0 {
					b.StopTimer()
					submitEach(b, e, func(i int) loyalty.Submission {
						return loyaltytest.Event(benchCustomer(i), "coupon_create", fmt.Sprintf(w.before, n+i))
					})
					b.StartTimer()
				}
				if _, err := e.Submit(context.Background(), loyaltytest.Event(benchCustomer(n), w.action, w.data(n))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func gift(n int) string {
	return fmt.Sprintf(`{"points":%d,"reason":"Spring campaign"}`, 1+n*37%500)
}

const benchCustomers = 500

func benchCustomer(n int) string { return fmt.Sprint("member-", n%benchCustomers) }

// benchProgramme is that of the command bench.
func benchProgramme(b *testing.B) (all things) {
	text, err := os.ReadFile("../../cmd/bench/programme.json")
	require.NoError(b, err)
	var lines [][2]json.RawMessage
	require.NoError(b, json.Unmarshal(text, &lines))
	for _, line := range lines {
		var kind string
		var body struct{ ID string }
		require.NoError(b, json.Unmarshal(line[0], &kind))
		require.NoError(b, json.Unmarshal(line[1], &body))
		all = append(all, [3]string{kind, body.ID, string(line[1])})
	}
	return all
}

// benchEngine is one over SQLite, under a programme that stays.
func benchEngine(b *testing.B, rules things) *engine.Engine {
	return loyaltytest.NewEngine(b, engine.EngineOptions{
		Store: storetest.Open(b, storetest.SQLite(b)), Programmes: loyaltytest.Fixed{P: loyaltytest.Compile(b, nil, rules)},
	})
}

// benchMembers is benchEngine with its customers.
func benchMembers(b *testing.B, rules things) *engine.Engine {
	e := benchEngine(b, rules)
	submitEach(b, e, func(i int) loyalty.Submission {
		return loyaltytest.Event(benchCustomer(i), "opt_in", fmt.Sprintf(`{"email":"member%d@shop.test","first_name":"Ada"}`, i))
	})
	return e
}

// submitEach sends one event for every customer, in bulk.
func submitEach(b *testing.B, e *engine.Engine, one func(i int) loyalty.Submission) {
	all := make([]loyalty.Submission, benchCustomers)
	for i := range all {
		all[i] = one(i)
	}
	for i, result := range e.SubmitAll(context.Background(), all) {
		require.NoError(b, result.Err, all[i].Action)
	}
}
