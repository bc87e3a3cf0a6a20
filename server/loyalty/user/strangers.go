package user

import (
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// mostStrangers limits the unknown logins that are counted.
const mostStrangers = 10_000

// strangers counts failed sign-ins of unknown logins as those of users are counted: a login that never had to wait
// would reveal that it is unknown. Each node counts its own, so that strangers write no rows.
type strangers struct {
	mu    sync.Mutex
	users map[string]*loyalty.User
}

// judge treats an unknown login like a known one with a wrong password.
func (s *strangers) judge(u *Users, login string, at origin) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted, known := s.users[login]
	if !known {
		for other := range s.users { // any one: a flood then loses its own counts
			if len(s.users) < mostStrangers {
				break
			}
			delete(s.users, other)
		}
		counted = &loyalty.User{}
		s.users[login] = counted
	}

	return u.judge(counted, false, "", at)
}

// waits reports whether a login has to wait.
func (s *strangers) waits(at origin, login string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted, known := s.users[login]
	return known && at.waits(counted, now)
}
