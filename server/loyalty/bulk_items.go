package loyalty

import (
	"encoding/json"
	"fmt"
)

// StoredError keeps a failure so that it can be worded in any language later.
func StoredError(err error) json.RawMessage {
	e := *AsError(err)
	e.cause = nil
	return JSON(e)
}

// Failure gives the failure that ended a refused item.
func (i *BulkItem) Failure() error {
	var e Error
	if err := json.Unmarshal(i.Error, &e); err != nil {
		return fmt.Errorf("the error of item %d: %w", i.Seq, err)
	}
	return &e
}
