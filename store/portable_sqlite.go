package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// portableSQLite reads and fills an SQLite database.
type portableSQLite struct {
	ctx context.Context
	tx  *sql.Tx
}

func (e *sqliteEngine) still(ctx context.Context, read func(look) error) error {
	tx, err := e.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(&portableSQLite{ctx, tx})
}

func (e *sqliteEngine) fill(ctx context.Context, write func(loading) error) error {
	tx, err := e.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := write(&portableSQLite{ctx, tx}); err != nil {
		return err
	}
	return tx.Commit()
}

// monthsSince has nothing to create: the journal is one table.
func (*sqliteEngine) monthsSince(context.Context, time.Time, time.Time) error { return nil }

func (e *sqliteEngine) analyze(ctx context.Context) error {
	_, err := e.writer.ExecContext(ctx, "PRAGMA optimize")
	return err
}

func (p *portableSQLite) exec(text string) error {
	_, err := p.tx.ExecContext(p.ctx, text)
	return err
}

func (p *portableSQLite) tables() (list []string, err error) {
	err = p.rows(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version' ORDER BY name`,
		[]Column{{Kind: KindText}}, func(row []any) error {
			list = append(list, row[0].(string))
			return nil
		})
	return list, err
}

// columns reads table_info, which leaves out generated columns.
func (p *portableSQLite) columns(table string) (list []Column, err error) {
	kinds := map[string]Kind{"INTEGER": KindNumber, "INT": KindNumber, "TEXT": KindText, "BLOB": KindBytes}
	err = p.rows(`SELECT name, type, pk FROM pragma_table_info('`+table+`')`, []Column{{Kind: KindText}, {Kind: KindText}, {Kind: KindNumber}}, func(row []any) error {
		c := Column{Name: row[0].(string), Kind: kinds[row[1].(string)], key: int(row[2].(int64))}
		if c.Kind == "" {
			return fmt.Errorf("%s.%s is %s, which an archive cannot have", table, c.Name, row[1])
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

func (p *portableSQLite) rows(query string, columns []Column, take func([]any) error) error {
	rows, err := p.tx.QueryContext(p.ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}

	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := take(row); err != nil {
			return err
		}
	}

	return rows.Err()
}

// insertRows is how many rows one statement inserts.
const insertRows = 32

func (p *portableSQLite) insert(t Table, next func() ([]any, error)) error {
	values := "(" + strings.Repeat("?, ", len(t.Columns)-1) + "?)"
	text := "INSERT INTO " + t.Name + " (" + t.names() + ") VALUES " + values
	many, err := p.tx.PrepareContext(p.ctx, text+strings.Repeat(", "+values, insertRows-1))
	if err != nil {
		return err
	}
	defer func() { _ = many.Close() }() // the statement is finished, or has failed

	args := make([]any, 0, insertRows*len(t.Columns))
	for {
		row, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if args = append(args, row...); len(args) < cap(args) {
			continue
		}
		if _, err := many.ExecContext(p.ctx, args...); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}

		args = args[:0]
	}

	if rows := len(args) / len(t.Columns); rows > 0 {
		if _, err := p.tx.ExecContext(p.ctx, text+strings.Repeat(", "+values, rows-1), args...); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}

	return nil
}

// size counts, because SQLite keeps no estimate.
func (p *portableSQLite) size(table string) (int64, error) {
	there, err := p.tables()
	if err != nil || !slices.Contains(there, table) {
		return -1, err
	}
	return rowsOf(p, table)
}
