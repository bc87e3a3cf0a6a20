package store_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLoadsWalkNoTable: on SQLite, whose planner does not know how many rows a table has, each statement of a load
// begins with the named customer, and looks everything else up by key.
func TestLoadsWalkNoTable(t *testing.T) {
	l := newLedger(t, storetest.SQLite(t))
	var all loyalty.CustomerNeeds
	asksForAll(t, reflect.ValueOf(&all).Elem())
	all.Names = []loyalty.Name{{Kind: loyalty.NameExternal, Value: "shop:7"}}
	for _, named := range []loyalty.CustomerNeeds{{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: "ada"}}, {ID: l.ada.c.ID}, {Match: "ada@example.com"}} {
		for _, everything := range []bool{false, true} {
			for lots := range loyalty.UsedLots + 1 {
				l.exec(t, `UPDATE balances SET due_at = 1`)
				one := all
				one.Ref, one.ID, one.Match, one.Everything, one.Lots = named.Ref, named.ID, named.Match, everything, lots
				needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{one}, Answers: []loyalty.AnswerKey{{AccessKey: "k", Key: "k"}},
					Items: []loyalty.BulkKey{{Batch: l.ada.c.ID}}, Version: true, Now: time.Now(), Due: 5}
				require.NoError(t, l.store.Within(t.Context(), needs, func(*loyalty.Loaded) (*loyalty.Writes, error) { return &loyalty.Writes{}, nil }))
			}
		}
	}

	loads := 0
	for _, text := range l.store.Prepared() {
		if !strings.HasPrefix(text, "WITH v(") {
			continue
		}
		loads++
		rows, err := l.raw.Query("EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...)
		require.NoError(t, err, text)
		for _, step := range planSteps(t, rows) {
			table, whole := strings.CutPrefix(step.text, "SCAN ")
			table, _, _ = strings.Cut(table, " ")
			assert.False(t, whole && !bounded[table], "%s: %s", step.text, text)
		}
	}

	require.Greater(t, loads, 40, "so many have been prepared")
}

// TestWalksByIDSortNothing: a page of customers by id is read from where the last one ended.
func TestWalksByIDSortNothing(t *testing.T) {
	raw := storetest.Raw(t, storetest.SQLite(t))
	for name, text := range store.WalksByID() {
		rows, err := raw.Query("EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...)
		require.NoError(t, err, name)
		plan := planSteps(t, rows)
		require.NotEmpty(t, plan, name)
		for _, step := range plan {
			assert.NotContains(t, step.text, "TEMP B-TREE", name)
		}
	}
}

// bounded is what may be read from its beginning to its end: the row that asks, and a piece that has
// been limited before.
var bounded = map[string]bool{"v": true, "1": true, "CONSTANT": true, "k": true}

// asksForAll sets everything that a need can ask for.
func asksForAll(t *testing.T, v reflect.Value) {
	t.Helper()

	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("x")
		case reflect.Map:
			f.Set(reflect.ValueOf(map[string]int{"x": 1}))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
			f.SetUint(1<<(8*f.Type().Size()-1) - 1) // all bits but the highest
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			f.SetInt(1)
		case reflect.Struct, reflect.Array: // the name of a customer: set by the test
		default:
			t.Fatalf("how to ask for %s?", v.Type().Field(i).Name)
		}
	}
}
