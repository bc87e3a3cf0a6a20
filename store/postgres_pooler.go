package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrPooler says that a pooler shares a session between clients without keeping their prepared statements apart.
var ErrPooler = errors.New("the pooler before PostgreSQL shares sessions and does not keep prepared statements apart: " +
	"use PgBouncer 1.21 or newer with max_prepared_statements above 0, or pool_mode = session")

// checkPooler tests whether a statement that one client prepares is visible to another. Statements are prepared once
// and sent by name, so with such a pooler every second request would fail. It ignores connection errors, which the
// next step reports.
func checkPooler(ctx context.Context, config *pgx.ConnConfig) error {
	if config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		return nil // the address switches preparation off
	}

	first, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return nil
	}
	defer func() { _ = first.Close(context.WithoutCancel(ctx)) }()

	if err := noteSession(ctx, first); err != nil || session(first) != 0 {
		return nil
	}

	name := "loyalty_" + strings.ToLower(rand.Text())
	if _, err := first.PgConn().Prepare(ctx, name, "SELECT 1", nil); err != nil {
		return nil
	}

	second, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return nil
	}
	defer func() { _ = second.Close(context.WithoutCancel(ctx)) }()

	var shared bool
	err = second.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = $1)`, pgx.QueryExecModeSimpleProtocol, name).Scan(&shared)
	if err == nil && shared {
		return ErrPooler
	}

	return nil
}
