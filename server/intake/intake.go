// Package intake takes over members, points and purchases from another system's CSV files: how such
// a file is read without a guess, what is wrong with it, what it would bring, and whether all of it
// came in. The rows are done by a bulk operation (server/loyalty/job).
package intake

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
	Open       func() io.ReadCloser // in the place of Path
}

// Options say how files are read, where that cannot be known from them.
type Options struct {
	Dates     string `json:"dates,omitempty"`      // order of a day written with numbers: dmy, mdy, or empty: only year first
	Decimal   string `json:"decimal,omitempty"`    // the decimal separator, . or ,; empty: the point in files with commas, else it is asked for
	Encoding  string `json:"encoding,omitempty"`   // utf-8, windows-1250 or windows-1252; empty: utf-8
	SameEmail bool   `json:"same_email,omitempty"` // several members may have one e-mail
	// Columns are what the columns of a kind of file are, by their names in it; an empty text
	// passes a column over, one that is not named keeps its name, or is passed over where * is.
	Columns map[string]map[string]string `json:"columns,omitempty"`
	// Flag stands before the names of options where findings tell of them: -- on the command line.
	Flag string `json:"-"`
}

// Check says which option cannot be used.
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

// mostColumns is how many bytes the names of columns may have together: they are read with
// every list of imports.
const mostColumns = 64 << 10

// CheckColumns says which column is mapped to none of ours, or that they are too much.
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

// Map has a column of a file taken for one of ours: FILE:THEIRS=OURS, such as
// members:Member No.=customer. Without ours it is left out. The last = counts, so that theirs may
// have one.
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

// others stands in a mapping for all columns that it does not name. They can only be passed over.
const others = "*"

// mapped is what the columns of a file are, by their names there in small letters.
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

// World is what files are held against.
type World struct {
	Store     loyalty.ImportStore
	Programme *programme.Programme
	Contract  loyalty.Contract
	// Lists says which customer lists there are.
	Lists map[string]bool
	Now   time.Time
}

// Digest tells files, and how they are read, from others.
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
		defer func() { _ = file.Close() }() // it was read only
		return read(file)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Kind, err)
	}
	defer func() { _ = file.Close() }() // it was read only
	return read(file)
}

// InOrder gives the files in the order in which they are taken over: members first.
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

// Stage stores the rows of files as items of an import; what an earlier try stored is not
// stored again. The files were checked.
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

// wrongNow fails for what is wrong with a file that was checked.
func wrongNow(f Finding) error {
	if f.Warning {
		return nil
	}
	return fmt.Errorf("%s line %d: %w", f.File, f.Line, f.Words)
}
