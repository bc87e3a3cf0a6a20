package engine

import (
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RefusalOf tells what the programme refuses from what went wrong, or has to be
// loaded first.
func RefusalOf(err error) (refused, fault error) {
	var e *loyalty.Error
	if errors.As(err, &e) && e.Kind == loyalty.Refused {
		return err, nil
	}
	return nil, err
}
