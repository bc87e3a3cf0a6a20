package list

import "github.com/loyalty-platform/loyalty/server/loyalty"

// What can be wrong with the filters and the order of the Loyalty Read API, which refuses
// what it cannot read where the Display API finds nothing.
var (
	errFilterField    = failure(loyalty.Refused, 190200, "filter_field")    // {field}
	errFilterOperator = failure(loyalty.Refused, 190201, "filter_operator") // {field} {operator}
	errFilterValue    = failure(loyalty.Refused, 190202, "filter_value")    // {field} {reason}
	errFilterForm     = failure(loyalty.Refused, 190203, "filter_form")     // {parameter}
	errSortField      = failure(loyalty.Refused, 190204, "sort_field")      // {field}
	errSortDirection  = failure(loyalty.Refused, 190205, "sort_direction")  // {direction}
	errSortNothing    = failure(loyalty.Refused, 190340, "sort_nothing")    // {field}
)

func failure(kind loyalty.Kind, code int, name string) *loyalty.Error {
	return &loyalty.Error{Kind: kind, Code: code, Name: name}
}
