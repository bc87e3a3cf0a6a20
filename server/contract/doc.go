// Package contract applies the OpenAPI documents: it reads bodies, JSON or forms, and checks them against the schemas
// of the documents and the declarations of the programme. It does not know gin. README.md says what belongs here.
package contract
