package loyalty

import (
	"encoding/json"
	"fmt"
)

// final says whether an error would come again.
func final(err error) bool {
	kind := AsError(err).Kind
	return kind != Internal && kind != Unavailable
}

// storedError keeps a failure so that it can be worded in any language later.
func storedError(err error) json.RawMessage {
	e := *AsError(err)
	e.cause = nil
	return marshal(e)
}

// Failure gives the failure that ended a refused item.
func (i *BulkItem) Failure() error {
	var e Error
	if err := json.Unmarshal(i.Error, &e); err != nil {
		return fmt.Errorf("the error of item %d: %w", i.Seq, err)
	}
	return &e
}
