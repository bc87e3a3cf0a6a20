package backup

import (
	"context"
	"os"
	"time"
)

// A copy goes to the disk a little at a time, while it is written and after it, and behind each
// piece the disk is left to others for some times as long as it took. Where all of it is brought
// there at once, a server that commits on the same disk waits meanwhile.
const (
	flushPiece = 1 << 20 // octets
	flushRest  = 4       // times
	flushLook  = 10 * time.Millisecond
)

// flushed brings what is written to a file onto the disk until finish, which waits for the rest.
// It gives up when ctx ends. What was written twice, and the file's length, is left to f.Sync.
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
			last = true // before the size is read: nothing is missed
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
