package loyaltytest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Modules is a configuration: module names with their configuration, "off" for
// one that is off. What is not named is as in a fresh database.
type Modules map[string]string

// Compile makes a programme that is right.
func Compile(t require.TestingT, m Modules, all Things) *programme.Programme {
	p, err := CompileWith(m, all)
	require.NoError(t, err)
	return p
}

// CompileWith makes a programme; time_zone among the modules is that of its settings.
func CompileWith(m Modules, all Things) (*programme.Programme, error) {
	if zone, own := m["time_zone"]; own {
		m = maps.Clone(m)
		delete(m, "time_zone")
		return CompileZoned(m, all, zone)
	}
	return CompileZoned(m, all, "")
}

// Event is a submission of an event.
func Event(customer, action, data string) loyalty.Submission {
	return loyalty.Submission{Customer: customer, Action: action, Data: json.RawMessage(data)}
}

// Keyed makes a submission idempotent, as the server does: the stored body is
// the outcome's or the error's name.
func Keyed(sub loyalty.Submission, key string) loyalty.Submission {
	sub.Idempotency = &loyalty.Idempotency{
		AnswerKey: loyalty.AnswerKey{AccessKey: "LKSHOP", Key: key},
		Hash:      sha256.Sum256([]byte(sub.Customer + "\n" + sub.Action + "\n" + string(sub.Data))),
		Render: func(o loyalty.Outcome, err error) (int, []byte) {
			if err != nil {
				return 422, []byte(err.Error())
			}
			return 200, fmt.Appendf(nil, "%s score %d", o.Customer.Name, o.Customer.Figures.Score)
		},
	}
	return sub
}

// Things are what a programme is made of: fields by type and id. What was made
// first stands first.
type Things [][3]string

// AnyCampaign is a campaign with the given fields for every customer.
func AnyCampaign(id, fields string) [3]string {
	return [3]string{campaign.Campaigns.Type, id, `{"name":"A","status":"active",` + fields + `}`}
}

// CompileZoned is CompileWith in a time zone.
func CompileZoned(m Modules, all Things, zone string) (*programme.Programme, error) {
	snapshot := loyalty.Snapshot{Settings: loyalty.Settings{TimeZone: zone}}
	for name, config := range m {
		state := loyalty.ModuleState{Name: name, Enabled: config != "off"}
		if state.Enabled {
			state.Config = json.RawMessage(config)
		}
		snapshot.Modules = append(snapshot.Modules, state)
	}
	for _, e := range all {
		snapshot.Entities = append(snapshot.Entities, loyalty.Entity{Type: e[0], ID: e[1], Data: json.RawMessage(e[2])})
	}
	return action.Registry().Compile(snapshot)
}

// Basket is n lines as a checkout sends them; more are further attributes of each.
func Basket(n int, more string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"product_id":"p-%d","product_name":"Beans","product_url":"https://shop.test/p",`+
			`"quantity":1,"subtotal":2%s}`, i, more)
	}
	return "[" + strings.Join(lines, ",") + "]"
}

// OneLine is the items of a purchase of one line for 50.
const OneLine = `[{"product_id":"p","product_name":"a","product_url":"https://shop.test/1","quantity":1,"subtotal":50}]`

// Operation is a submission of what an operation of another API asks for.
func Operation(customer, action, data string) loyalty.Submission {
	return loyalty.Submission{Customer: customer, Action: action, Data: json.RawMessage(data), Operation: true}
}
