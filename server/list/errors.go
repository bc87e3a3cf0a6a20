package list

import "github.com/loyalty-platform/loyalty/server/loyalty"

// The errors of filters and order in the Loyalty Read API, which refuses what it cannot read; the Display API finds
// nothing instead.
var (
	errFilterField    = loyalty.NewError(loyalty.Refused, 190200, "filter_field", "field")
	errFilterOperator = loyalty.NewError(loyalty.Refused, 190201, "filter_operator", "field", "operator")
	errFilterValue    = loyalty.NewError(loyalty.Refused, 190202, "filter_value", "field", "reason")
	errFilterForm     = loyalty.NewError(loyalty.Refused, 190203, "filter_form", "parameter")
	errSortField      = loyalty.NewError(loyalty.Refused, 190204, "sort_field", "field")
	errSortDirection  = loyalty.NewError(loyalty.Refused, 190205, "sort_direction", "direction")
	errSortNothing    = loyalty.NewError(loyalty.Refused, 190340, "sort_nothing", "field")
)
