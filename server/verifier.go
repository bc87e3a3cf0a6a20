package server

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/signing"
)

// verifier caches the signature check for the acceptance window in force.
type verifier struct {
	scheme  signing.Scheme
	current atomic.Pointer[windowed]
	making  sync.Mutex
}

type windowed struct {
	window time.Duration
	*signing.Verifier
}

// at returns the verifier for a window; a changed window gets a new one.
func (v *verifier) at(window time.Duration) (*signing.Verifier, error) {
	if window == 0 {
		window = signing.DefaultWindow
	}
	if w := v.current.Load(); w != nil && w.window == window {
		return w.Verifier, nil
	}

	v.making.Lock()
	defer v.making.Unlock()
	if w := v.current.Load(); w != nil && w.window == window {
		return w.Verifier, nil
	}

	scheme := v.scheme
	scheme.Window = window
	made, err := signing.NewVerifier(scheme)
	if err != nil {
		return nil, err
	}

	v.current.Store(&windowed{window, made})
	return made, nil
}
