package citus

// Tables are all tables that have a place.
func Tables() (list []string) {
	for _, p := range placements {
		list = append(list, p.table)
	}
	return list
}
