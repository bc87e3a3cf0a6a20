package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// view shows the customer that a path names as the rules see one, with what is due
// applied, and records nothing. look may be called more than once and returns the
// run's errors as they are.
func (s *Server) view(ctx context.Context, ref string, n loyalty.CustomerNeeds, look func(*loyalty.Run) error) error {
	name, err := s.exactName(plain(ctx), ref)
	if err != nil {
		return err
	}
	n.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: name}
	return s.engine.View(plain(ctx), n, look)
}
