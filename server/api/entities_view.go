package api

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// EntityList is a page of entities with their fields as stored.
type EntityList struct {
	Data     []json.RawMessage `json:"data"`
	Next     *string           `json:"next"`
	Previous *string           `json:"previous"`
	Time     float64           `json:"time"`
}

// RecordOf is record with the status that is shown; empty if there is none.
func RecordOf(module, entity string, e *loyalty.Entity, status string) json.RawMessage {
	own := Marshal(struct {
		ID         string          `json:"id"`
		Module     string          `json:"module"`
		Entity     string          `json:"entity"`
		CreatedAt  common.Instant  `json:"created_at"`
		UpdatedAt  common.Instant  `json:"updated_at"`
		ArchivedAt *common.Instant `json:"archived_at,omitempty"`
		Status     string          `json:"status,omitempty"`
	}{e.ID, module, entity, common.Instant(e.CreatedAt), common.Instant(e.UpdatedAt), InstantOrNil(e.ArchivedAt), status})
	return JoinObjects(own, e.Data)
}
