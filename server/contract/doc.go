// Package contract is the OpenAPI documents at work: it reads bodies, JSON or forms, and
// holds them against the schemas of the documents and against what the programme
// declares. It knows nothing of gin. README.md says what belongs here.
package contract
