package list

import "github.com/loyalty-platform/loyalty/server/loyalty"

// What can be wrong with the filters and the order of the Loyalty Read API, which refuses
// what it cannot read where the Display API finds nothing.
var (
	errFilterField    = refusal(190200, "filter_field")    // {field}
	errFilterOperator = refusal(190201, "filter_operator") // {field} {operator}
	errFilterValue    = refusal(190202, "filter_value")    // {field} {reason}
	errFilterForm     = refusal(190203, "filter_form")     // {parameter}
	errSortField      = refusal(190204, "sort_field")      // {field}
	errSortDirection  = refusal(190205, "sort_direction")  // {direction}
	errSortNothing    = refusal(190340, "sort_nothing")    // {field}
)

func refusal(code int, name string) *loyalty.Error {
	return &loyalty.Error{Kind: loyalty.Refused, Code: code, Name: name}
}
