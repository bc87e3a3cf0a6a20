package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Archive is an archive opened for reading.
type Archive struct {
	Manifest Manifest
	zip      *zip.ReadCloser
}

// Open opens an archive and reads its manifest. It fails with ErrDamaged if the file is no archive, or incomplete.
func Open(path string) (*Archive, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%s: %w: it is not a zip file, or it is incomplete", path, ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	a := &Archive{zip: z}
	if err := a.readManifest(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), z.Close())
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

func (a *Archive) readManifest() error {
	f, err := a.zip.Open(manifestName)
	if err != nil {
		return fmt.Errorf("%w: it has no %s: is it one of loyalty dump?", ErrDamaged, manifestName)
	}
	defer func() { _ = f.Close() }() // only read

	m := &a.Manifest
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1)) // to the end, so that the zip's checksum is checked
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	if len(text) > maxManifest {
		return fmt.Errorf("%w: %s is larger than %d MiB", ErrDamaged, manifestName, maxManifest>>20)
	}
	if err := json.Unmarshal(text, m); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}

	switch {
	case m.Format != formatName:
		return fmt.Errorf("%w: it is not one of loyalty dump", ErrDamaged)
	case m.Version != formatVersion:
		return fmt.Errorf("the archive is of version %d, and this program reads version %d", m.Version, formatVersion)
	}

	return nil
}

// maxManifest and maxLine bound the memory for reading an archive, whatever its manifest says: a few megabytes of zip
// can hold gigabytes. No row of the programme comes near maxLine: the largest value is a body of 16 MiB, in hex digits.
const (
	maxManifest = 4 << 20
	maxLine     = 64 << 20
)

// Verify reads the whole archive and checks it against the sums of its manifest. It fails with ErrDamaged.
func (a *Archive) Verify(ctx context.Context, told func(Progress)) error {
	progress := &meter{Progress{Of: a.Manifest.rows()}, told}
	for _, t := range a.Manifest.Tables {
		rows, err := a.rows(t)
		if err != nil {
			return err
		}

		for {
			if _, err = rows.line(); err != nil {
				break
			}
			progress.row()
			if progress.Done%tellEvery == 0 && ctx.Err() != nil {
				err = ctx.Err()
				break
			}
		}

		if closed := rows.close(); errors.Is(err, io.EOF) {
			err = closed
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// rows are the rows of a table, read one by one.
type rows struct {
	table  Table
	reader *lineReader
	file   io.Closer
	in     *bufio.Reader
	sum    hash.Hash
	count  int64
	bytes  int64
	long   []byte
}

func (a *Archive) rows(t Table) (*rows, error) {
	f, err := a.zip.Open(entryName(t.Name))
	if err != nil {
		return nil, fmt.Errorf("%w: table %s is missing", ErrDamaged, t.Name)
	}
	sum := sha256.New()
	reader, err := newLineReader(t.Table)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &rows{table: t, reader: reader, file: f, in: bufio.NewReaderSize(io.TeeReader(f, sum), 1<<16), sum: sum}, nil
}

func (r *rows) close() error { return r.file.Close() }

// next returns the values of the next row, and io.EOF after the last one, if count and sum are those of the manifest.
func (r *rows) next() ([]any, error) {
	line, err := r.line()
	if err != nil {
		return nil, err
	}
	row, err := r.reader.read(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return row, nil
}

// line returns the next line, which is valid until the following one is read. It fails with ErrDamaged if the table has
// more or longer lines than the manifest says.
func (r *rows) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && int64(len(r.long)) <= r.longest() {
			line, err = r.in.ReadSlice('\n')
			r.long = append(r.long, line...)
		}
		line = r.long
	}

	r.bytes += int64(len(line))
	switch {
	case int64(len(line)) > r.longest():
		return nil, fmt.Errorf("%w: table %s has a line of more than %d octets", ErrDamaged, r.table.Name, r.longest())
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, r.end()
	case errors.Is(err, io.EOF): // io.EOF itself means that the table is complete
		return nil, fmt.Errorf("%w: table %s ends inside line %d", ErrDamaged, r.table.Name, r.count+1)
	case err != nil:
		return nil, fmt.Errorf("%w: table %s: %w", ErrDamaged, r.table.Name, err)
	case r.bytes > r.table.Bytes:
		return nil, fmt.Errorf("%w: table %s has more than the %d octets of the manifest",
			ErrDamaged, r.table.Name, r.table.Bytes)
	}

	r.count++
	return line, nil
}

// longest is the longest allowed line of the table, in bytes.
func (r *rows) longest() int64 { return min(r.table.Longest, maxLine) }

func (r *rows) end() error {
	if r.bytes != r.table.Bytes {
		return fmt.Errorf("%w: table %s has %d octets and should have %d", ErrDamaged, r.table.Name, r.bytes, r.table.Bytes)
	}
	if r.count != r.table.Rows {
		return fmt.Errorf("%w: table %s has %d rows and should have %d", ErrDamaged, r.table.Name, r.count, r.table.Rows)
	}
	if sum := hex.EncodeToString(r.sum.Sum(nil)); sum != r.table.SHA256 {
		return fmt.Errorf("%w: the checksum of table %s has changed since it was written", ErrDamaged, r.table.Name)
	}
	return io.EOF
}
