package backup

import (
	"context"
	"os"
	"time"
)

// A copy is flushed to the disk in small pieces, while it is written and after it, with a pause after each piece of
// some times its duration. Flushing all at once would block a server that commits on the same disk.
const (
	flushPiece = 1 << 20 // bytes
	flushRest  = 4       // times
	flushLook  = 10 * time.Millisecond
)

// flushed flushes what is written to a file until finish, which waits for the rest. It stops when ctx ends. f.Sync is
// still needed for parts that were written twice, and for the file's length.
func flushed(ctx context.Context, f *os.File) (finish func() error) {
	whole, came := make(chan struct{}), make(chan error, 1)
	go func() { came <- flushAlong(ctx, f, whole) }()
	return func() error {
		close(whole)
		return <-came
	}
}

func flushAlong(ctx context.Context, f *os.File, whole <-chan struct{}) error {
	for at := int64(0); ctx.Err() == nil; {
		last := false
		select {
		case <-whole:
			last = true // set before the size is read, so that nothing is missed
		default:
		}

		info, err := f.Stat()
		if err != nil {
			return err
		}

		n := min(flushPiece, info.Size()-at)
		switch {
		case last && n <= 0:
			return nil
		case !last && n < flushPiece:
			time.Sleep(flushLook)
			continue
		}

		began := time.Now()
		if err := flush(f, at, n); err != nil {
			return err
		}

		at += n
		time.Sleep(flushRest * time.Since(began))
	}

	return nil
}
