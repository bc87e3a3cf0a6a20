package portal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// reading bounds the bodies that are read at a time. A new body is never refused: the one that has been read longest
// makes room, because a page sends its few bytes at once, and only an attacker sends them slowly.
type reading struct {
	lock  sync.Mutex
	under []*http.ResponseController // the oldest first
}

// begin makes room for a body, and returns the function that ends its reading.
func (r *reading) begin(c *http.ResponseController) (end func()) {
	_ = c.SetReadDeadline(time.Now().Add(readTimeout)) // shorter than the server's own
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.under) == readsAtOnce {
		_ = r.under[0].SetReadDeadline(time.Now())
		r.under = r.under[1:]
	}

	r.under = append(r.under, c)
	return func() {
		r.lock.Lock()
		defer r.lock.Unlock()
		for i := range r.under {
			if r.under[i] == c {
				r.under = append(r.under[:i:i], r.under[i+1:]...)
				return
			}
		}
	}
}

// of reads the request that a body describes, or returns what is wrong with the body.
func (r *reading) of(w http.ResponseWriter, sent *http.Request, into *tried) (status int, refused error) {
	end := r.begin(http.NewResponseController(w))
	body, err := io.ReadAll(http.MaxBytesReader(w, sent.Body, maxTried+maxTried/2)) // JSON makes some characters longer
	end()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, errors.New("the request to try is too large")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, errors.New("the request to try came too slowly")
	case err != nil:
		return http.StatusBadRequest, errors.New("the request to try broke off")
	}

	if err := json.Unmarshal(body, into); err != nil {
		return http.StatusBadRequest, fmt.Errorf("the request to try is not JSON: %w", err)
	}

	return 0, nil
}
