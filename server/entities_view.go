package server

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// entityList is a page of entities with their fields as stored.
type entityList struct {
	Data     []json.RawMessage `json:"data"`
	Next     *string           `json:"next"`
	Previous *string           `json:"previous"`
	Time     float64           `json:"time"`
}

// recordOf is record with the status that is shown; empty if there is none.
func recordOf(module, entity string, e *loyalty.Entity, status string) json.RawMessage {
	own := marshal(struct {
		ID         string          `json:"id"`
		Module     string          `json:"module"`
		Entity     string          `json:"entity"`
		CreatedAt  common.Instant  `json:"created_at"`
		UpdatedAt  common.Instant  `json:"updated_at"`
		ArchivedAt *common.Instant `json:"archived_at,omitempty"`
		Status     string          `json:"status,omitempty"`
	}{e.ID, module, entity, common.Instant(e.CreatedAt), common.Instant(e.UpdatedAt), instantOrNil(e.ArchivedAt), status})
	return joinObjects(own, e.Data)
}
