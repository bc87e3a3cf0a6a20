//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store"
)

// past is the rules and the administration at work on a database without a server, at a
// time of the test's choice, to give a programme the history that its server then finds.
type past struct {
	*testing.T
	admin  *admin.Admin
	engine *engine.Engine
}

// past lets happen what happened before a server is started; clock is nil for now.
func (g *ground) past(t *testing.T, clock func() time.Time, happen func(p *past)) {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{URL: g.url, MasterKey: testMaster})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	office := loyaltytest.NewOffice(t, db, clock)
	e := loyaltytest.NewEngine(t, engine.EngineOptions{Store: db, Programmes: office.Directory, Clock: clock})
	defer e.Close() // before its store, and before a server has the database
	happen(&past{t, office.Admin, e})
}

// entity makes a thing of the programme.
func (p *past) entity(kind, id, data string) {
	p.Helper()
	_, err := p.admin.CreateEntity(context.Background(), admin.Call{KeyID: admin.CommandLine}, admin.EntityChange{
		Type: kind, ID: id, Data: json.RawMessage(data), Check: func(fields json.RawMessage) (json.RawMessage, error) { return fields, nil },
	})
	require.NoError(p, err)
}

// module switches a module on or off; no config leaves the one it has.
func (p *past) module(name string, on bool, config string) {
	p.Helper()
	_, err := p.admin.SetModule(context.Background(), admin.Call{KeyID: admin.CommandLine}, name, admin.ModuleChange{Enabled: &on, Config: json.RawMessage(config)})
	require.NoError(p, err)
}

// submit sends events of which none may be refused.
func (p *past) submit(all []loyalty.Submission) {
	p.Helper()
	for _, r := range p.engine.SubmitAll(context.Background(), all) {
		require.NoError(p, r.Err)
	}
}

// testMaster is the master key of the servers under test.
var testMaster = [32]byte(bytes.Repeat([]byte{0xab}, 32))
