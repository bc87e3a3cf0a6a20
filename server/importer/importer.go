// Package importer imports members, points and purchases from another system's CSV files: it reads such a file without
// guessing, reports what is wrong with it and what it would import, and proves afterwards that all of it arrived. A
// bulk operation processes the rows (server/loyalty/job).
package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// File is a file of one kind.
type File struct {
	Kind, Path string
	Open       func() io.ReadCloser // instead of Path
}

// Options are the facts about files that cannot be known from them.
type Options struct {
	Dates     string `json:"dates,omitempty"`      // order of numeric days: dmy, mdy, or empty: only year first
	Decimal   string `json:"decimal,omitempty"`    // . or ,; empty: the point in files with commas, else required
	Encoding  string `json:"encoding,omitempty"`   // utf-8, windows-1250 or windows-1252; empty: utf-8
	SameEmail bool   `json:"same_email,omitempty"` // several members may have one e-mail
	// Columns map the names of columns in a kind of file to ours; an empty text skips a column. A column without a
	// mapping keeps its name, or is skipped if there is a mapping for *.
	Columns map[string]map[string]string `json:"columns,omitempty"`
	// Flag is the prefix of options in findings: -- on the command line.
	Flag string `json:"-"`
}

// Check names an invalid option.
func (o Options) Check() error {
	for _, c := range []struct {
		name, value string
		legal       []string
	}{
		{"dates", o.Dates, []string{"", "dmy", "mdy"}}, {"decimal", o.Decimal, []string{"", ".", ","}},
		{"encoding", o.Encoding, []string{"", "utf-8", "windows-1250", "windows-1252"}},
	} {
		if !slices.Contains(c.legal, c.value) {
			return fmt.Errorf("%s: %q must be one of %q", c.name, c.value, c.legal[1:])
		}
	}
	return o.CheckColumns()
}

// mostColumns bounds the names of columns together, in bytes: every list of imports reads them.
const mostColumns = 64 << 10

// CheckColumns reports a mapping to an unknown column, or too many names.
func (o Options) CheckColumns() error {
	size := 0
	for file, columns := range o.Columns {
		for theirs, ours := range columns {
			size += len(file) + len(theirs) + len(ours)
		}
	}

	if size > mostColumns {
		return loyalty.ErrTooLarge.With("property", "columns").At("columns")
	}

	for _, file := range slices.Sorted(maps.Keys(o.Columns)) {
		k := kindOf(file)
		if k == nil {
			return loyalty.ErrPropertyUnknown.With("property", file).At("columns." + file)
		}
		for _, theirs := range slices.Sorted(maps.Keys(o.Columns[file])) {
			if ours := o.Columns[file][theirs]; ours != "" && (theirs == others || !k.knows(ours)) {
				return loyalty.ErrPropertyUnknown.With("property", ours).At("columns." + file + "." + theirs)
			}
		}
	}

	return nil
}

// Map maps a column of a file to one of ours: FILE:THEIRS=OURS, such as members:Member No.=customer. Without ours the
// column is skipped. The last = counts, so that theirs may contain one.
func (o *Options) Map(text string) error {
	file, rest, named := strings.Cut(text, ":")
	at := strings.LastIndex(rest, "=")
	if !named || at < 1 {
		return fmt.Errorf("map: %q is not FILE:THEIRS=OURS, such as members:Member No.=customer", text)
	}
	if o.Columns == nil {
		o.Columns = map[string]map[string]string{}
	}
	if o.Columns[file] == nil {
		o.Columns[file] = map[string]string{}
	}
	o.Columns[file][rest[:at]] = rest[at+1:]
	return nil
}

// others stands in a mapping for all columns without a mapping of their own. They can only be skipped.
const others = "*"

// mapped is the mapping of a file's columns, by their names in small letters.
func (o *Options) mapped(file string) map[string]string {
	all := make(map[string]string, len(o.Columns[file]))
	for _, theirs := range slices.Sorted(maps.Keys(o.Columns[file])) {
		name := strings.ToLower(trimmed(theirs))
		if _, there := all[name]; !there {
			all[name] = o.Columns[file][theirs]
		}
	}
	return all
}

// World is what files are checked against.
type World struct {
	Store     loyalty.ImportStore
	Programme *programme.Programme
	Contract  loyalty.Contract
	// Lists are the existing customer lists.
	Lists map[string]bool
	Now   time.Time
}

// Digest identifies files and the way of reading them.
func Digest(files []File, o Options) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %s\n", o.Dates, o.Decimal, o.Encoding)
	if len(o.Columns) > 0 {
		fmt.Fprintf(sum, "%s\n", loyalty.JSON(o.Columns)) // in the order of the names
	}
	for _, f := range files {
		fmt.Fprintf(sum, "%s\n", f.Kind)
		if err := open(f, func(r io.Reader) error { _, err := io.Copy(sum, r); return err }); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func open(f File, read func(io.Reader) error) error {
	if f.Open != nil {
		file := f.Open()
		defer func() { _ = file.Close() }() // only read
		return read(file)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Kind, err)
	}
	defer func() { _ = file.Close() }() // only read
	return read(file)
}

// InOrder returns the files in the order of import: members first.
func InOrder(paths map[string]string) (files []File) {
	for _, k := range kinds {
		if path := paths[k.name]; path != "" {
			files = append(files, File{Kind: k.name, Path: path})
		}
	}
	return files
}

// stagedAtOnce is how many rows one transaction stores.
const stagedAtOnce = 500

// Stage stores the rows of files as items of an import, without those that an earlier attempt stored. The files are
// checked already.
func Stage(ctx context.Context, w World, files []File, o Options, i loyalty.Import) (loyalty.Import, error) {
	var rows []loyalty.ImportRow
	place := int64(0)
	emails, err := emailsOf(ctx, w, files, o)
	if err != nil {
		return i, err
	}

	keep := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := w.Store.StageImport(ctx, i, rows); err != nil {
			return err
		}
		i.Staged += int64(len(rows))
		rows = rows[:0]
		return nil
	}

	for _, f := range files {
		err := eachRow(source{f, o, w.Programme.Location, emails}, func(s *sheet) error {
			if place++; place <= i.Staged {
				return nil
			}

			row, findings := s.kind.row(s)
			if wrong := faults(findings); len(wrong) > 0 {
				return fmt.Errorf("%s line %d: %w", f.Kind, s.line, wrong[0].Words)
			}
			if row.Action == importAction {
				row.Data = withImport(row.Data, i.ID, f.Kind, s.line)
			}

			row.File, row.Line = f.Kind, s.line
			if rows = append(rows, row); len(rows) == stagedAtOnce {
				return keep()
			}

			return ctx.Err()
		}, wrongNow)
		if err != nil {
			return i, err
		}
	}

	return i, keep()
}

// wrongNow fails for a fault in a file that was checked before.
func wrongNow(f Finding) error {
	if f.Warning {
		return nil
	}
	return fmt.Errorf("%s line %d: %w", f.File, f.Line, f.Words)
}
