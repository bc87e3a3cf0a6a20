package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store"
)

// exportPiece is how many rows are read at once.
const exportPiece = 2000

// exportFlags select what is exported of a table, and how.
type exportFlags struct {
	format, from, to, after, output string
	personal                        bool
}

func (e *exportFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&e.format, "format", string(export.CSV), "csv or ndjson (one JSON object a line)")
	f.StringVar(&e.from, "from", "", "rows from this day or instant on (a day begins at midnight UTC)")
	f.StringVar(&e.to, "to", "", "rows before this day or instant")
	f.StringVar(&e.after, "after", "", "the key of the last row that you have: continue after it")
	f.StringVar(&e.output, "output", "-", "file to write, which must not exist; - is standard output")
	f.BoolVar(&e.personal, "personal", false, "also personal data; the audit trail notes it")
}

func newExport(s *settings) *cobra.Command {
	var e exportFlags
	var lines strings.Builder
	for _, table := range export.Tables() {
		fmt.Fprintf(&lines, "  %s:", table)
		for _, c := range export.Columns(table, true) {
			personal := ""
			if c.Personal {
				personal = "*"
			}
			fmt.Fprintf(&lines, " %s%s", c.Name, personal)
		}
		lines.WriteString("\n")
	}

	cmd := &cobra.Command{
		Use: "export TABLE", Short: "Write a table as CSV or as lines of JSON", Args: cobra.ExactArgs(1),
		ValidArgs: export.Tables(),
		Long: "Write a table as CSV or as lines of JSON, read piece by piece while a server may run.\n" +
			"A text that a spreadsheet would take for a formula gets an apostrophe in CSV.\n" +
			"Columns; those with * are personal and need --personal:\n" + lines.String() +
			"Exit code 0: all of it was written. 1: not all; the message names the last row, to continue with --after.",
		RunE: func(cmd *cobra.Command, args []string) error { return exportTable(cmd, s, args[0], e) },
	}

	e.flags(cmd.Flags())
	return cmd
}

func (e *exportFlags) ask(table string) (ask export.Ask, form export.Form, err error) {
	ask, form = export.Ask{Table: table, After: e.after, Personal: e.personal}, export.Form(e.format)
	if form != export.CSV && form != export.NDJSON {
		return ask, form, coded{codeUsage, fmt.Errorf("--format: %q must be csv or ndjson", e.format)}
	}

	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"from", e.from, &ask.From}, {"to", e.to, &ask.Before}} {
		if bound.text == "" {
			continue
		}
		if *bound.at, err = loyalty.ParseInstant(bound.text); err != nil {
			return ask, form, coded{codeUsage, fmt.Errorf("--%s: %w", bound.flag, err)}
		}
	}

	return ask, form, nil
}

func exportTable(cmd *cobra.Command, s *settings, table string, e exportFlags) error {
	ask, form, err := e.ask(table)
	if err != nil {
		return err
	}

	return use(cmd.Context(), s.openExisting, func(db *store.Store) (err error) {
		from, err := export.Open(db, ask)
		switch {
		case errors.Is(err, export.ErrTable):
			return coded{codeUsage,
				fmt.Errorf("there is no table %q; the tables are: %s", table, strings.Join(export.Tables(), ", "))}
		case err != nil:
			return coded{codeUsage, fmt.Errorf("--after: %w", err)}
		}

		out := cmd.OutOrStdout()
		if e.output != "-" {
			file, err := os.OpenFile(e.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return coded{codeUsage, fmt.Errorf("--output: %w", err)}
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			out = file
		}

		if ask.Personal {
			noted := admin.Exported{From: ask.From, To: ask.Before, After: ask.After, Format: e.format}
			if err := adminOf(db).NoteExport(cmd.Context(), commandLine, table, noted); err != nil {
				return told(err)
			}
		}

		rows, err := writeTable(cmd, out, from, form, ask)
		if err == nil && e.output != "-" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows\n", table, rows)
		}

		return err
	})
}

// writeTable writes all rows and returns their number.
func writeTable(
	cmd *cobra.Command, out io.Writer, from *export.Reader, form export.Form, ask export.Ask,
) (rows int, err error) {
	buffer := bufio.NewWriter(out)
	last := ask.After
	broken := func(err error) error {
		if last != "" {
			err = fmt.Errorf("%w; continue with --after '%s'", err, last)
		}
		return coded{codeFailed, err}
	}

	if ask.After == "" {
		if _, err := buffer.Write(export.Header(form, ask.Table, ask.Personal)); err != nil {
			return 0, broken(err)
		}
	}

	for {
		piece, err := from.Next(cmd.Context(), exportPiece)
		if err != nil {
			return rows, broken(errors.Join(err, buffer.Flush()))
		}

		_, err = buffer.Write(piece.Text(form))
		if err = errors.Join(err, buffer.Flush()); err != nil {
			return rows, broken(err)
		}

		rows += piece.Rows
		if key := piece.Last(); key != "" {
			last = key
		}
		if !piece.More {
			return rows, nil
		}
	}
}
