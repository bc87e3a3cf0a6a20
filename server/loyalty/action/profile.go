package action

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// profile changes the profile of a customer. With opt_in true it enrols a customer who is new or inactive.
var profile = engine.Action[events.ProfileData]{
	Name:    "profile",
	Creates: func(d events.ProfileData) bool { return deref(d.OptIn) },
	Needs: func(d events.ProfileData, n *loyalty.CustomerNeeds) {
		n.Names = d.ExternalIds.Names()
	},
	Apply: func(r *engine.Run, d events.ProfileData) error {
		// callers send opt_in with each profile of an enrolled customer, which changes nothing and is no error
		if deref(d.OptIn) && (r.Customer.Status == loyalty.None || r.Customer.Status == loyalty.Inactive) {
			if err := r.Move("opt_in"); err != nil {
				return err
			}
		}

		p := &r.Customer.Profile
		for _, field := range loyalty.ProfileTexts {
			// null counts as absent; an empty text clears a field
			if raw, sent := r.Data[field.Name]; sent && string(raw) != "null" {
				set(field.Of(p), new(loyalty.TextOf(raw)))
			}
		}

		if d.Labels != nil {
			p.Labels = slices.Clone(d.Labels)
		}
		if err := keepCustom(r); err != nil {
			return err
		}

		return setExternalIDs(r, d.ExternalIds)
	},
}

// set takes a text that was sent; empty text clears.
func set(field *string, sent *string) {
	if sent != nil {
		*field = strings.TrimSpace(*sent)
	}
}

// keepCustom keeps the attributes that the contract does not declare, as many as a
// customer may have (loyalty.ErrAttributesTooLarge), and marks
// the profile as changed.
func keepCustom(r *engine.Run) error {
	r.Customer.UpdatedAt = r.Now
	own := r.Undeclared()
	if len(own) == 0 {
		return nil
	}

	custom := maps.Clone(r.Customer.Profile.Custom)
	if custom == nil {
		custom = make(map[string]json.RawMessage, len(own))
	}

	maps.Copy(custom, own)
	// null removes an attribute, as it does with external ids
	maps.DeleteFunc(custom, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	r.Customer.Profile.Custom = custom
	return engine.AffordCustom(r.Programme, custom)
}
