package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxAnswer bounds an answer's body, in bytes.
const maxAnswer = 16 << 20

// answers reads HTTP/1.1 answers from a kept connection. It knows only enough of the protocol to find the end of an
// answer, so that measuring costs little: Content-Length and chunked bodies.
type answers struct {
	r    *bufio.Reader
	drop bool   // drop the bodies of answers with status 200
	body []byte // of the last answer; valid until the next
	skip bool   // drop the body of this answer
}

// next reads one answer and returns its status.
func (a *answers) next() (status int, err error) {
	line, err := a.line()
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, fmt.Errorf("not an answer: %.40q", line)
	}

	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("status %.40q", line)
		}
		status = 10*status + int(c-'0')
	}

	if status < 200 {
		return 0, fmt.Errorf("status %.40q", line)
	}

	length, chunked, err := a.headers()
	if err != nil {
		return status, err
	}

	a.body, a.skip = a.body[:0], a.drop && status == 200
	switch {
	case chunked:
		return status, a.chunks()
	case length >= 0:
		return status, a.read(length)
	case status == 204 || status == 304:
		return status, nil
	}

	return status, errors.New("the answer has no length")
}

// headers reads to the blank line. length is -1 without a Content-Length.
func (a *answers) headers() (length int, chunked bool, err error) {
	length = -1
	for {
		line, err := a.line()
		if err != nil || len(line) == 0 {
			return length, chunked, err
		}

		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return 0, false, fmt.Errorf("header %.40q", line)
		}
		if !tells(name) {
			continue
		}

		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = size(string(value), 10); err != nil {
				return 0, false, fmt.Errorf("Content-Length: %w", err)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Connection")) && bytes.EqualFold(value, []byte("close")):
			return 0, false, errors.New("the server closes the connection")
		}
	}
}

// tells reports whether a header may tell where the answer ends: the three that do have names of 10, 14 and 17 bytes.
func tells(name []byte) bool { return len(name) == 10 || len(name) == 14 || len(name) == 17 }

func (a *answers) chunks() error {
	for {
		line, err := a.line()
		if err != nil {
			return err
		}

		digits, _, _ := bytes.Cut(line, []byte(";"))
		n, err := size(string(bytes.TrimSpace(digits)), 16)
		if err != nil {
			return fmt.Errorf("chunk: %w", err)
		}

		if n == 0 {
			_, _, err = a.headers() // the trailer
			return err
		}

		if err := a.read(n); err != nil {
			return err
		}
		if line, err = a.line(); err != nil || len(line) != 0 {
			return errors.Join(errors.New("a chunk does not end where it said"), err)
		}
	}
}

// read appends n octets to the body.
func (a *answers) read(n int) error {
	if a.skip {
		_, err := a.r.Discard(n)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}

	from := len(a.body)
	if from+n > maxAnswer {
		return fmt.Errorf("an answer of more than %d octets", maxAnswer)
	}
	if cap(a.body) < from+n {
		a.body = append(make([]byte, 0, 2*(from+n)), a.body...)
	}

	a.body = a.body[:from+n]
	_, err := io.ReadFull(a.r, a.body[from:])
	return err
}

// line reads a line of at most the buffer's size, without its end.
func (a *answers) line() ([]byte, error) {
	line, err := a.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

func size(digits string, base int) (int, error) {
	n, err := strconv.ParseUint(digits, base, 31)
	return int(n), err
}
