// Package signing signs HTTP requests and verifies signed ones by the scheme of the specification, section
// "Authentication": a canonical request, a string to sign, and an HMAC-SHA256 under a key derived from the secret,
// the day and the scope. It is the Escher protocol with the prefix SERVICE, so stock Escher clients work unchanged.
//
// A client uses Scheme.Sign or Transport; a server makes one Verifier and calls Verify for every request.
package signing

import (
	"fmt"
	"strings"
	"time"
)

// DefaultWindow is the greatest distance between a request's date and the server's clock, both ways, inclusive.
const DefaultWindow = 300 * time.Second

// Scheme is the configuration that both sides must share. It is a plain value; Default gives the specification's.
type Scheme struct {
	// AlgorithmPrefix begins the algorithm's name (SERVICE-HMAC-SHA256) and is put before the secret in key derivation.
	AlgorithmPrefix string
	// VendorKey names the parameters of presigned URLs. These are refused, so it only serves to recognise them.
	VendorKey string
	// Scope is the credential scope without its day: "<region>/api/service_request".
	Scope string
	// DateHeader and AuthHeader name the headers that carry the date and the signature.
	DateHeader, AuthHeader string
	// Window is the accepted distance from the server's clock, inclusive, in whole seconds.
	Window time.Duration
	// LegacyPlus also accepts the form of old PHP clients, which sign %2B in a query as a blank. Such a signature
	// cannot tell a plus from a blank, so it is off by default.
	LegacyPlus bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Credential is an access key: its id, sent with every request, and its secret, never sent.
type Credential struct{ KeyID, Secret string }

// Default is the specification's scheme for a region, such as "eu".
func Default(region string) Scheme {
	return Scheme{
		AlgorithmPrefix: "SERVICE",
		VendorKey:       "SERVICE",
		Scope:           region + "/api/service_request",
		DateHeader:      "Date",
		AuthHeader:      "Authorization",
		Window:          DefaultWindow,
	}
}

// Validate names the field of the scheme that cannot be used, or gives nil.
func (s Scheme) Validate() error {
	switch {
	case s.AlgorithmPrefix == "" || !all(s.AlgorithmPrefix, algChar):
		return fmt.Errorf("signing: AlgorithmPrefix %q must be letters, digits and hyphens", s.AlgorithmPrefix)
	case s.Scope == "" || !all(s.Scope, scopeChar) || strings.HasPrefix(s.Scope, "/"):
		return fmt.Errorf("signing: Scope %q must be <region>/api/service_request", s.Scope)
	case s.DateHeader == "" || !all(strings.ToLower(s.DateHeader), headerName):
		return fmt.Errorf("signing: DateHeader %q is not a header name", s.DateHeader)
	case s.AuthHeader == "" || !all(strings.ToLower(s.AuthHeader), headerName):
		return fmt.Errorf("signing: AuthHeader %q is not a header name", s.AuthHeader)
	case strings.EqualFold(s.AuthHeader, s.DateHeader):
		return fmt.Errorf("signing: AuthHeader and DateHeader are both %q", s.AuthHeader)
	case s.Window < 0:
		return fmt.Errorf("signing: Window %s is negative", s.Window)
	}

	return nil
}

func (s Scheme) algorithm() string { return s.AlgorithmPrefix + "-HMAC-SHA256" }

func (s Scheme) clock() func() time.Time {
	if s.Now == nil {
		return time.Now
	}
	return s.Now
}

// appendText appends the string to sign, step 2 of the specification. date is the condensed date-time, canonicalHash
// the SHA-256 of the canonical request in binary.
func appendText(dst []byte, algorithm, scope string, date []byte, canonicalHash *[32]byte) []byte {
	dst = append(append(dst, algorithm...), '\n')
	dst = append(append(dst, date...), '\n')
	dst = append(append(dst, date[:8]...), '/')
	dst = append(append(dst, scope...), '\n')
	return appendHex(dst, canonicalHash)
}
