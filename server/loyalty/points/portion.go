package points

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Portion is the part of a lot that a reservation or a burn took.
type Portion struct {
	Lot    ID
	Points int64
}

// portionText is a portion in JSON, with the lot's id as a UUID.
type portionText struct {
	Lot    string `json:"lot"`
	Points int64  `json:"points"`
}

// MarshalJSON writes {"lot": "…", "points": n}.
func (p Portion) MarshalJSON() ([]byte, error) {
	h := hex.EncodeToString(p.Lot[:])
	id := strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	return json.Marshal(portionText{id, p.Points})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Portion) UnmarshalJSON(data []byte) error {
	var text portionText
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	id, err := hex.DecodeString(strings.ReplaceAll(text.Lot, "-", ""))
	if err != nil || len(id) != len(p.Lot) {
		return fmt.Errorf("not the id of a lot: %q", text.Lot)
	}
	copy(p.Lot[:], id)
	p.Points = text.Points
	return nil
}
