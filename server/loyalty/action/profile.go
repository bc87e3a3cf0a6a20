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

// profile changes what is known of a customer. With opt_in true it enrols one
// who is new or inactive.
var profile = engine.Action[events.ProfileData]{
	Name:    "profile",
	Creates: func(d events.ProfileData) bool { return deref(d.OptIn) },
	Needs: func(d events.ProfileData, n *loyalty.CustomerNeeds) {
		n.Names = externalNames(d.ExternalIds)
	},
	Apply: func(r *engine.Run, d events.ProfileData) error {
		// who is enrolled already sends opt_in with each profile: that changes nothing and is no error
		if deref(d.OptIn) && (r.Customer.Status == loyalty.None || r.Customer.Status == loyalty.Inactive) {
			if err := r.Move("opt_in"); err != nil {
				return err
			}
		}
		p := &r.Customer.Profile
		for _, field := range loyalty.ProfileTexts {
			// null is as good as absent; an empty text is what clears a field
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
	// null takes an attribute away, as it does with external ids
	maps.DeleteFunc(custom, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	r.Customer.Profile.Custom = custom
	return engine.AffordCustom(r.Programme, custom)
}

// externalNames lists the external ids that an event would claim.
func externalNames(changes *events.ExternalIDChanges) []loyalty.Name {
	if changes == nil {
		return nil
	}
	var names []loyalty.Name
	for name, value := range *changes {
		if value != nil {
			names = append(names, loyalty.ExternalName(name, *value))
		}
	}
	return names
}

// setExternalIDs writes the external ids that were sent; null removes one. Each
// pair belongs to one customer.
func setExternalIDs(r *engine.Run, changes *events.ExternalIDChanges) error {
	if changes == nil {
		return nil
	}
	ids := maps.Clone(r.Customer.Profile.ExternalIDs)
	if ids == nil {
		ids = map[string]string{}
	}
	// sorted: names are claimed in one order on every node, and the same one is at fault each time
	for _, name := range slices.Sorted(maps.Keys(*changes)) {
		if err := setExternalID(r, ids, name, (*changes)[name]); err != nil {
			return err
		}
	}
	r.Customer.Profile.ExternalIDs = ids
	return nil
}

// setExternalID changes one pair. The old value is given up before the new one is claimed,
// so that two customers can exchange theirs by two events of one bulk.
func setExternalID(r *engine.Run, ids map[string]string, name string, value *string) error {
	at := "data.external_ids." + name
	invalid := loyalty.ErrPropertyInvalid.With("property", "external_ids").With("reason", "external_name").At(at)
	// filters name an external id as name:value
	if name == "" || strings.Contains(name, ":") {
		return invalid
	}
	old, had := ids[name]
	if had && (value == nil || *value != old) {
		r.Free(loyalty.ExternalName(name, old))
		delete(ids, name)
	}
	if value == nil || (had && *value == old) {
		return nil
	}
	if !loyalty.Addressable(name) {
		return invalid // one from before can still be removed
	}
	if err := loyalty.CheckName("external_ids", *value); err != nil {
		return err
	}
	if !r.Claim(loyalty.ExternalName(name, *value)) {
		return loyalty.ErrExternalIDTaken.With("name", name).At(at)
	}
	ids[name] = *value
	return nil
}
