package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// portablePostgres reads and fills a PostgreSQL database.
type portablePostgres struct {
	ctx context.Context
	tx  pgx.Tx
}

func (e *postgresEngine) still(ctx context.Context, read func(look) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, e.reads, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, unhurried); err != nil {
			return err
		}
		return read(&portablePostgres{ctx, tx})
	})
}

func (e *postgresEngine) fill(ctx context.Context, write func(loading) error) error {
	return pgx.BeginFunc(ctx, e.reads, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, unhurried); err != nil {
			return err
		}
		return write(&portablePostgres{ctx, tx})
	})
}

// monthsKept is how many past months get a partition each; older events go to the default partition.
const monthsKept = 10 * 12

// monthsSince creates the months from an instant on, before the journal is filled.
func (e *postgresEngine) monthsSince(ctx context.Context, first, now time.Time) error {
	ahead := 0
	if !first.IsZero() {
		first, now = first.UTC(), now.UTC()
		ahead = max(-monthsKept, 12*(first.Year()-now.Year())+int(first.Month())-int(now.Month()))
	}
	for ; ahead < 0; ahead++ {
		m := monthOf(now, ahead)
		if err := e.patiently(ctx, func() error { return e.makeMonth(ctx, m, now) }); err != nil {
			return fmt.Errorf("journal of %s: %w", m.starts.Format("2006-01"), err)
		}
	}
	return e.extendJournal(ctx, now)
}

func (e *postgresEngine) analyze(ctx context.Context) error {
	_, err := e.schema.ExecContext(ctx, "ANALYZE")
	return err
}

func (p *portablePostgres) exec(text string) error {
	_, err := p.tx.Exec(p.ctx, text)
	return err
}

func (p *portablePostgres) tables() (list []string, err error) {
	const own = `SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'goose_db_version'
 AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass) ORDER BY 1`
	rows, err := p.tx.Query(p.ctx, own)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// portableKinds are the kinds of PostgreSQL's types.
var portableKinds = map[string]Kind{
	"bigint": KindNumber, "integer": KindNumber, "smallint": KindNumber, "boolean": KindNumber,
	"text": KindText, "uuid": KindBytes, "bytea": KindBytes,
}

func (p *portablePostgres) columns(table string) (list []Column, err error) {
	const columns = `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), coalesce(array_position(i.indkey::int2[], a.attnum), -1)
 FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
 WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''` // archives omit generated columns
	rows, err := p.tx.Query(p.ctx, columns, table)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Column, err error) {
		if err := row.Scan(&c.Name, &c.own, &c.key); err != nil {
			return c, err
		}
		c.key++ // an int2vector counts from 0
		if c.Kind = portableKinds[c.own]; c.Kind == "" {
			return c, fmt.Errorf("%s.%s is %s, which an archive cannot have", table, c.Name, c.own)
		}
		return c, nil
	})
}

func (p *portablePostgres) rows(query string, columns []Column, take func([]any) error) error {
	rows, err := p.tx.Query(p.ctx, query, pgx.QueryResultFormats{pgx.BinaryFormatCode})
	if err != nil {
		return err
	}
	defer rows.Close()

	row := make([]any, len(columns))
	for rows.Next() {
		for i, raw := range rows.RawValues() {
			if row[i], err = portableValue(rows.FieldDescriptions()[i].DataTypeOID, raw); err != nil {
				return fmt.Errorf("%s: %w", columns[i].Name, err)
			}
		}
		if err := take(row); err != nil {
			return err
		}
	}

	return rows.Err()
}

// portableValue reads a value in PostgreSQL's binary form.
func portableValue(oid uint32, raw []byte) (any, error) {
	switch {
	case raw == nil:
		return nil, nil
	case oid == pgtype.Int8OID:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case oid == pgtype.Int4OID:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case oid == pgtype.Int2OID:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	case oid == pgtype.BoolOID:
		return int64(raw[0]), nil
	case oid == pgtype.TextOID:
		return string(raw), nil
	case oid == pgtype.UUIDOID, oid == pgtype.ByteaOID:
		return raw, nil
	}

	return nil, fmt.Errorf("type %d is none that an archive has", oid)
}

func (p *portablePostgres) insert(t Table, next func() ([]any, error)) error {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}

	own, err := p.ownTypes(t)
	if err != nil {
		return err
	}

	_, err = p.tx.CopyFrom(p.ctx, pgx.Identifier{t.Name}, names, pgx.CopyFromFunc(func() ([]any, error) {
		row, err := next()
		if errors.Is(err, io.EOF) {
			return nil, nil // this ends the copy
		}
		for i := range row {
			if err == nil {
				row[i], err = ownValue(own[i], row[i])
			}
		}
		return row, err
	}))
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}

	return nil
}

// ownTypes are the types of a table's columns; the table's description may come from an archive.
func (p *portablePostgres) ownTypes(t Table) ([]string, error) {
	columns, err := p.columns(t.Name)
	if err != nil {
		return nil, err
	}
	own := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if k := slices.IndexFunc(columns, func(o Column) bool { return o.Name == c.Name }); k >= 0 {
			own[i] = columns[k].own
		}
	}
	return own, nil
}

// ownValue converts a value to the form that pgx takes for a column of the type.
func ownValue(own string, v any) (any, error) {
	switch v := v.(type) {
	case int64:
		if own == "boolean" {
			return v != 0, nil
		}
	case []byte:
		if own != "uuid" {
			return v, nil
		}
		if len(v) != 16 {
			return nil, fmt.Errorf("an id has 16 bytes, not %d", len(v))
		}
		return [16]byte(v), nil
	}

	return v, nil
}

// size is the planner's estimate for the table and its partitions. It counts the rows where there is no estimate yet,
// or the estimate is none: for a table that is spread over machines the planner never has one.
func (p *portablePostgres) size(table string) (size int64, err error) {
	const believed = `SELECT CASE WHEN to_regclass($1) IS NULL THEN -1
 WHEN (SELECT bool_or(c.reltuples < 0 AND c.relkind = 'r') FROM pg_class c JOIN pg_partition_tree(to_regclass($1)) t ON t.relid = c.oid OR c.oid = to_regclass($1)) THEN -2
 ELSE (SELECT sum(greatest(c.reltuples, 0))::bigint FROM pg_class c WHERE c.relkind = 'r'
  AND (c.oid = to_regclass($1) OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass($1))))) END`
	if err := p.tx.QueryRow(p.ctx, believed, table).Scan(&size); err != nil || size > 0 || size == -1 {
		return size, err
	}
	return rowsOf(p, table)
}
