package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/loyalty-platform/loyalty/store"
)

// Dump writes every row of the programme, as it is at one instant, into a new file that only its owner can read. It
// does not overwrite a file, and removes one that it could not finish.
func Dump(ctx context.Context, db *store.Store, path string, told func(Progress)) (*Manifest, error) {
	if _, err := os.Stat(path); err == nil {
		return nil, &fs.PathError{Op: "dump", Path: path, Err: fs.ErrExist}
	}

	partial := path + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}

	out := bufio.NewWriterSize(f, 1<<20)
	m, err := write(ctx, db, db.Still, out, told)
	if err == nil {
		err = errors.Join(out.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(partial))
	}

	return m, nil
}

// write writes an archive of one snapshot.
func write(
	ctx context.Context, db *store.Store, still func(context.Context, func(*store.Still) error) error,
	out io.Writer, told func(Progress),
) (*Manifest, error) {
	m := &Manifest{Format: formatName, Version: formatVersion, MasterKey: db.MasterKeyFingerprint()}
	z := zip.NewWriter(out)
	err := still(ctx, func(s *store.Still) error {
		m.Schema = s.Schema
		progress, err := total(s, told)
		if err != nil {
			return err
		}

		for _, t := range s.Tables {
			// Without a time, so that the same rows give the same file.
			entry, err := z.CreateHeader(&zip.FileHeader{Name: entryName(t.Name), Method: zip.Deflate})
			if err != nil {
				return err
			}
			written, err := lines(s, t, entry, progress, m.note(t))
			if err != nil {
				return err
			}
			m.Tables = append(m.Tables, written)
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	entry, err := z.CreateHeader(&zip.FileHeader{Name: manifestName, Method: zip.Deflate})
	if err != nil {
		return nil, err
	}

	encoder := json.NewEncoder(entry)
	encoder.SetIndent("", " ")
	return m, errors.Join(encoder.Encode(m), z.Close())
}

// total counts the rows to be written, if the caller shows the progress.
func total(s *store.Still, told func(Progress)) (*meter, error) {
	m := &meter{told: told}
	if told == nil {
		return m, nil
	}
	for _, t := range s.Tables {
		n, err := s.Count(t)
		if err != nil {
			return nil, err
		}
		m.Of += n
	}
	return m, nil
}

// lines writes the rows of a table and computes their sum.
func lines(s *store.Still, t store.Table, out io.Writer, progress *meter, note func([]any)) (Table, error) {
	written, sum := Table{Table: t}, sha256.New()
	into := bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16)
	var line []byte
	err := s.Rows(t, func(row []any) (err error) {
		if line, err = appendLine(line[:0], t, row); err != nil {
			return err
		}
		if _, err = into.Write(line); err != nil {
			return err
		}
		note(row)
		written.Rows++
		written.Bytes += int64(len(line))
		written.Longest = max(written.Longest, int64(len(line)))
		progress.row()
		return nil
	})

	if err = errors.Join(err, into.Flush()); err != nil {
		return written, err
	}

	written.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return written, nil
}

// note collects the manifest's facts on the journal from its rows.
func (m *Manifest) note(t store.Table) func([]any) {
	at := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == "recorded_at" })
	action := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == "action" })
	if t.Name != "events" || at < 0 || action < 0 {
		return func([]any) {}
	}

	return func(row []any) {
		recorded, _ := row[at].(int64)
		if m.Journal.Events == 0 || recorded < m.Journal.First {
			m.Journal.First = recorded
		}
		m.Journal.Events++
		m.Journal.Last = max(m.Journal.Last, recorded)
		if row[action] == "opt_out" {
			m.OptOuts.Count++
			m.OptOuts.Last = max(m.OptOuts.Last, recorded)
		}
	}
}
