package main

// What LOYALTY_DOCS can be.
const (
	docsOff  = "off"
	docsRead = "read"
	docsTry  = "try"
)
