package loyalty

// CustomerListType is the entity type of customer lists.
const CustomerListType = "core/customer-list"

// ProductType are products, of which the programme keeps no stock and no price.
const ProductType = "products/product"

// Membership puts a customer on a list, or takes them off it. Lists say nothing
// about points and are no part of the journal.
type Membership struct {
	List     string
	Customer ID
	Gone     bool
}
