//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
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
	directory, err := admin.NewDirectory(context.Background(), admin.DirectoryOptions{Registry: action.Registry(), Store: db})
	require.NoError(t, err)
	vocabulary, err := contract.NewVocabulary()
	require.NoError(t, err)
	e, err := engine.NewEngine(engine.EngineOptions{
		Store: db, Contract: vocabulary, Programmes: directory, Rules: action.All(), Features: action.Features(), Clock: clock,
	})
	require.NoError(t, err)
	defer e.Close()
	happen(&past{t, admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: db, Directory: directory, Clock: clock}), e})
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
