package action

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// setExternalIDs writes the external ids that were sent: they replace those under the same name. A name without ids is
// removed. Each id belongs to one customer.
func setExternalIDs(r *engine.Run, changes loyalty.ExternalIDs) error {
	if changes == nil {
		return nil
	}

	ids := maps.Clone(r.Customer.Profile.ExternalIDs)
	if ids == nil {
		ids = loyalty.ExternalIDs{}
	}

	// sorted, so that names are claimed in one order on every node, and the same one is at fault each time
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if err := setIDs(r, ids, name, changes[name]); err != nil {
			return err
		}
	}

	r.Customer.Profile.ExternalIDs = ids
	return nil
}

// setIDs replaces the ids under one name. Old ids are freed before new ones are claimed, so that two customers can
// exchange theirs by two events of one bulk.
func setIDs(r *engine.Run, ids loyalty.ExternalIDs, name string, values []string) error {
	at := "data.external_ids." + name
	invalid := loyalty.ErrPropertyInvalid.With("property", "external_ids").With("reason", "external_name").At(at)
	// filters name an external id as name:value
	if name == "" || strings.Contains(name, ":") {
		return invalid
	}

	old := ids[name]
	delete(ids, name)
	for _, value := range old {
		if !slices.Contains(values, value) {
			r.Free(loyalty.ExternalName(name, value))
		}
	}

	if len(values) == 0 {
		return nil
	}

	if !loyalty.Addressable(name) && !slices.Equal(values, old) {
		return invalid // an old one can still be removed
	}

	for i, value := range values {
		if slices.Contains(old, value) {
			continue
		}
		if err := claimID(r, name, value); err != nil {
			return loyalty.AsError(err).At(placeOf(at, i, len(values)))
		}
	}

	ids[name] = values
	return nil
}

// claimID claims an external id for the customer.
func claimID(r *engine.Run, name, value string) error {
	if err := loyalty.CheckName("external_ids", value); err != nil {
		return err
	}
	if !r.Claim(loyalty.ExternalName(name, value)) {
		return loyalty.ErrExternalIDTaken.With("name", name)
	}
	return nil
}

// placeOf is the field of one of several ids. For a single id it is the name's field, because the id may have been sent
// as a text.
func placeOf(at string, i, of int) string {
	if of == 1 {
		return at
	}
	return at + "[" + strconv.Itoa(i) + "]"
}
