package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// floorDatabase holds the yardstick: what PostgreSQL itself needs for an event, without rules and without a program
// around it.
const floorDatabase = "floor"

//go:embed sql/floor.sql
var floorSchema string

//go:embed sql/cte.sql
var floorStatement string

// floor drives the yardstick's database.
type floor struct {
	cluster   *cluster
	machine   *machine
	customers int
	window    time.Duration
	pool      *pgxpool.Pool // of 16 connections
}

func newFloor(ctx context.Context, o options, m *machine, c *cluster) (*floor, error) {
	if err := c.exec(ctx, "postgres", "CREATE DATABASE "+floorDatabase); err != nil {
		return nil, err
	}
	fill := fmt.Sprintf("INSERT INTO customers(id) SELECT generate_series(1, %d)", o.customers)
	if err := c.exec(ctx, floorDatabase, floorSchema, fill, "VACUUM ANALYZE customers"); err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, c.url(floorDatabase)+"&pool_max_conns=16&pool_min_conns=16")
	if err != nil {
		return nil, err
	}
	return &floor{cluster: c, machine: m, customers: o.customers, window: o.window(), pool: pool}, nil
}

// empty removes the records of the last measurement.
func (f *floor) empty(ctx context.Context) error {
	_, err := f.pool.Exec(ctx, "TRUNCATE events, ledger")
	return err
}

func (f *floor) last(hot bool) int {
	if hot {
		return 1
	}
	return f.customers
}

// direct measures a Go program that calls the database without HTTP, from some goroutines over the pool's 16
// connections.
func (f *floor) direct(ctx context.Context, goroutines int, hot bool, post post) (sample, error) {
	if err := f.empty(ctx); err != nil {
		return sample{}, err
	}

	latencies, failures := make([][]time.Duration, goroutines), make([]error, goroutines)
	var all sync.WaitGroup
	f.machine.rest(ctx, f.window)
	watch := f.machine.watch()
	for i := range goroutines {
		all.Go(func() {
			for sent := time.Now(); (len(latencies[i]) == 0 || sent.Sub(watch.began) < f.window) && failures[i] == nil; {
				failures[i] = post(ctx, f.pool, 1+rand.IntN(f.last(hot)), 1+rand.IntN(500))
				answered := time.Now()
				latencies[i] = append(latencies[i], answered.Sub(sent))
				sent = answered
			}
		})
	}

	all.Wait()
	watch.stop()
	return watch.sample(slices.Concat(latencies...), 1), errors.Join(failures...)
}

// post records one event of the yardstick.
type post func(ctx context.Context, pool *pgxpool.Pool, customer, points int) error

var oneStatement = strings.NewReplacer(":customer", "$1", ":points", "$2").Replace(floorStatement)

// postOnce is F's statement.
func postOnce(ctx context.Context, pool *pgxpool.Pool, customer, points int) error {
	var balance int64
	return pool.QueryRow(ctx, oneStatement, customer, points).Scan(&balance)
}

// floorData is the document that F's statement records.
var floorData = regexp.MustCompile(`'(\{.*\})'`).FindStringSubmatch(floorStatement)[1]

// postSeparately does the same with one statement for each step, in a transaction.
func postSeparately(ctx context.Context, pool *pgxpool.Pool, customer, points int) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var balance, score, version, event int64
		err := tx.QueryRow(ctx, "SELECT balance, score, version FROM customers WHERE id = $1 FOR UPDATE", customer).
			Scan(&balance, &score, &version)
		if err != nil {
			return err
		}

		err = tx.QueryRow(ctx,
			"INSERT INTO events(customer_id, action, data) VALUES ($1, 'checkout', $2::text::jsonb) RETURNING id",
			customer, floorData).Scan(&event)
		if err != nil {
			return err
		}

		balance += int64(points)
		_, err = tx.Exec(ctx,
			"INSERT INTO ledger(customer_id, event_id, delta, kind, balance_after) VALUES ($1, $2, $3, 'earn', $4)",
			customer, event, points, balance)
		if err != nil {
			return err
		}

		_, err = tx.Exec(ctx, "UPDATE customers SET balance = $2, score = $3, version = $4 WHERE id = $1",
			customer, balance, score+int64(points), version+1)
		return err
	})
}
