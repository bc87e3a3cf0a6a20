package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: a bar is for terminals, and for what takes longer than a moment.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	elsewhere := newProgress(&out, "dump")
	elsewhere.begun = time.Now().Add(-time.Minute)
	elsewhere.show(1, 2, "rows")
	stop := elsewhere.during()
	elsewhere.step("copying")
	elsewhere.aside(func() { fmt.Fprint(&out, "a line\n") })
	stop()
	elsewhere.end()
	require.Equal(t, "a line\n", out.String())

	out.Reset()
	bar := &progress{out: &out, what: "dump", begun: time.Now()}
	bar.show(1, 2, "rows")
	require.Empty(t, out.String(), "it takes a moment only")
	bar.begun = time.Now().Add(-10 * time.Second)
	bar.show(1, 4, "rows")
	require.Equal(t, "\rdump [==========                              ]  25 %  1 of 4 rows, 30s left", out.String())
	bar.show(2, 4, "rows")
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\r")), "it does not move so often")
	out.Reset()
	bar.aside(func() { fmt.Fprint(&out, "a line\n") })
	require.Regexp(t, `^\r +\ra line\n$`, out.String())
	bar.end()

	out.Reset()
	bar = &progress{out: &out, what: "backup", begun: time.Now().Add(-10 * time.Second)}
	bar.step("copying the database")
	stop = bar.during()
	time.Sleep(3 * progressEvery)
	stop()
	require.Regexp(t, `^(\rbackup, 1\ds: copying the database)+\r +\r$`, out.String())
}
