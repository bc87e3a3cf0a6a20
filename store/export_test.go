package store

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
)

// BatchSettings are the settings of the batches' connections.
const BatchSettings = batchSettings

// ProofSettings are those of a connection that reads the whole ledger.
const ProofSettings = readSettings + "; " + unhurried

// every fills a value with one of everything, so that every statement is asked
// for.
func every(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		every(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				every(v.Field(i))
			}
		}

	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(2)
	case reflect.Int, reflect.Int16, reflect.Int64:
		v.SetInt(1)
	}
}

// Statements are the texts that batches can send to PostgreSQL.
func Statements() []string {
	key, err := newSealer([32]byte{})
	if err != nil {
		panic(err)
	}

	var list []calls
	for _, scope := range []loyalty.LotScope{loyalty.HeldLots, loyalty.OpenLots, loyalty.UsedLots} {
		for w := range lookups {
			for _, all := range []bool{false, true} {
				n := loyalty.CustomerNeeds{Key: all, Lots: scope, Opened: []loyalty.ID{{2}}, Transactions: []string{"t"}, Reservations: []string{"t"},
					Progress: loyalty.Kinds(loyalty.ProgressTier), Claims: true, Lists: true, Past: true, Everything: all, Coupons: []string{"c"},
					Pools: map[string]int{"p": 1}, Tallies: []string{"k"}, Names: []loyalty.Name{{Kind: loyalty.NameExternal, Value: "x"}}}
				switch w {
				case byName:
					n.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: "c"}
				case byID:
					n.ID = loyalty.ID{1}
				case byEmail:
					n.Email = "a"
				case byMatch:
					n.Match = "a"
				}

				l := newLoader(loyalty.Needs{Customers: []loyalty.CustomerNeeds{n}, Answers: []loyalty.AnswerKey{{}}, Items: []loyalty.BulkKey{{}}, Due: 1, Version: true}, key)
				list = append(append(list, l.calls()...), l.take()...)
				_, find := l.find(l.plan())
				list = append(list, find...)
			}
		}
	}

	l := newLoader(loyalty.Needs{}, key)
	wanted := []rowKey{{}}
	list = l.transactions(l.lots(list, selectOpenLots[byID], wanted), selectDueTransactions, wanted)
	list = l.progress(list, selectDueProgress, wanted)

	var w loyalty.Writes
	every(reflect.ValueOf(&w).Elem())
	w.Customers[0].Before.Key, w.Customers[0].After.Status = nil, "y"
	add := func() {
		written, err := writeCalls(&w, key)
		if err != nil {
			panic(err)
		}
		list = append(list, written...)
	}

	add()
	w.Progress[0].After.Data = nil
	w.Reservations[0].After.Hold = nil
	w.Customers[0].After.MergedInto, w.Members[0].Gone = loyalty.ID{1}, false
	add()
	w.Transactions[0].After.Detail.Items = make([]loyalty.Line, 2*pieceLines) // the first row of lines changes, the second is new
	add()

	list = append(list, (&piece{}).lock()...)
	list = read(list, selectNumbered, []loyalty.ID{{1}}, nil, nil)
	list = read(list, selectUnnumbered, []arrears{{}}, nil, nil)
	list = write(write(write(list, insertTail, make([]loyalty.TailEvent, 1)), upsertNumbered, make([]coming, 1)), moveHead, make([]headMove, 1))
	list = write(write(list, advanceNumbered, make([]coming, 1)), insertNumbered, make([]coming, 1))

	var texts []string
	seen := set[string]{}
	for _, call := range list {
		b := &pgx.Batch{}
		call.queue(b)
		if text := b.QueuedQueries[0].SQL; seen.add(text) {
			texts = append(texts, text)
		}
	}

	return append(texts, lockCustomer, lockCoupon, lockPool, lockTally)
}

// VerifyRebuildBy is VerifyRebuild with pages of another size.
func (s *Store) VerifyRebuildBy(ctx context.Context, customers, events int, differ func(rebuild.Difference), told func(RebuildProgress)) error {
	return s.rebuild(ctx, &rebuilding{differ: differ, told: told, customers: customers, events: events})
}

// telling tells what PostgreSQL is asked.
type telling struct {
	engine
	tell func(sql string, parameters []any)
}

func (t telling) asked(ctx context.Context, first []question, then func() ([]question, error)) error {
	told := func(list []question) []question {
		for _, q := range list {
			t.tell(q.forPostgres())
		}
		return list
	}
	if then == nil {
		return t.engine.asked(ctx, told(first), nil)
	}
	return t.engine.asked(ctx, told(first), func() ([]question, error) {
		list, err := then()
		return told(list), err
	})
}

// OnRead has every later read told, with its parameters.
func (s *Store) OnRead(tell func(sql string, parameters []any)) error {
	s.engine = telling{s.engine, tell}
	told := func(db *gorm.DB) { tell(db.Statement.SQL.String(), slices.Clone(db.Statement.Vars)) }
	return errors.Join(
		s.read.Callback().Row().After("gorm:row").Register("test:row", told),
		s.read.Callback().Query().After("gorm:query").Register("test:query", told),
	)
}

// OnWrite has every later statement told that is not of a batch and writes, or reads in order to write.
func (s *Store) OnWrite(tell func(sql string, parameters []any)) error {
	told := func(db *gorm.DB) { tell(db.Statement.SQL.String(), slices.Clone(db.Statement.Vars)) }
	all := s.write.Callback()
	return errors.Join(
		all.Row().After("gorm:row").Register("test:row", told), all.Query().After("gorm:query").Register("test:query", told),
		all.Raw().After("gorm:raw").Register("test:raw", told), all.Update().After("gorm:update").Register("test:update", told),
	)
}

// SessionSettings are settings of one session of each pool, by the pool.
func (s *Store) SessionSettings(ctx context.Context, names ...string) map[string]map[string]string {
	e := s.postgres()
	all := map[string]map[string]string{}
	for name, p := range map[string]*pgxpool.Pool{"batches": e.batches, "reads": e.reads} {
		all[name] = map[string]string{}
		for _, setting := range names {
			var value string
			if err := p.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
				value = err.Error()
			}
			all[name][setting] = value
		}
	}
	return all
}

// postgres is the engine with the connections to PostgreSQL.
func (s *Store) postgres() *postgresEngine {
	if e, spread := s.engine.(*citusEngine); spread {
		return e.postgresEngine
	}
	return s.engine.(*postgresEngine)
}

// PlansLast sets for how long batches keep their plans, until the test ends.
func PlansLast(t testing.TB, d time.Duration) {
	before := plansLast
	plansLast = d
	t.Cleanup(func() { plansLast = before })
}

// PoolSizes is how many connections each pool may have.
func (s *Store) PoolSizes() (batches, reads int32) {
	e := s.postgres()
	return e.batches.Config().MaxConns, e.reads.Config().MaxConns
}

// NoteFull is a batch that found no space.
func (s *Store) NoteFull() { s.probe.full.Store(true) }

// LedgerQueries are the texts with which the ledger is verified, by what they find.
func LedgerQueries() map[string]string {
	texts := map[string]string{}
	for _, c := range ledgerChecks() {
		for _, q := range c.queries {
			texts[q.fault] = q.sql
		}
	}
	return texts
}

// Sealings are the columns, as table.column, of which a change of the master key knows how their values are bound.
func Sealings() []string { return slices.Sorted(maps.Keys(sealings)) }
