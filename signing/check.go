package signing

import (
	"strings"
	"time"
)

// read does all checks that come before the key and gives the request's date.
func (v *Verifier) read(w *work) (time.Time, error) {
	if err := v.checkSize(w); err != nil {
		return time.Time{}, err
	}
	if err := v.checkHeader(w); err != nil {
		return time.Time{}, err
	}
	at, err := v.checkDate(w)
	if err != nil {
		return time.Time{}, err
	}
	return at, w.checkSigned(v)
}

func (v *Verifier) checkSize(w *work) error {
	if n := len(w.in.Method); n == 0 || n > 32 || !all(w.in.Method, token) {
		return &RequestError{"method", "is not an HTTP method"}
	}

	w.authorizations = w.in.Header[v.authKey]
	for _, value := range w.authorizations {
		if len(value) > maxAuthorization {
			return &RequestError{v.scheme.AuthHeader, "is longer than 4 KiB"}
		}
	}

	if v.targets.has(w.in.Target) {
		w.path, w.query, w.hasQuery, w.plain = w.in.Target, "", false, true
		return nil
	}

	return w.checkTarget()
}

// checkHeader reads the header of step 4 and compares algorithm and scope, byte for byte.
func (v *Verifier) checkHeader(w *work) error {
	name := v.scheme.AuthHeader
	if len(w.authorizations) == 0 && strings.Contains(w.query, "X-"+v.scheme.VendorKey+"-Signature=") {
		return malformed("%s is missing; presigned URLs are not accepted", name)
	}
	if len(w.authorizations) != 1 {
		return malformed("%s must be present exactly once", name)
	}
	if v.recall(w) {
		return nil
	}

	var wrong string
	if w.auth, wrong = parseAuthorization(w.authorizations[0], &w.want); wrong != "" {
		return malformed("%s: %s", name, wrong)
	}

	switch {
	case w.auth.algorithm != v.algorithm:
		return &Error{Code: CodeScope, Reason: name + ": the algorithm must be " + v.algorithm}
	case len(w.auth.signature) != 2*len(w.want):
		return malformed("%s: Signature must be 64 lower-case hex digits", name)
	case w.auth.scope != v.scheme.Scope:
		return &Error{Code: CodeScope, Reason: name + ": the scope must be " + v.scheme.Scope}
	}

	return nil
}

// checkDate reads the date and compares it with the credential's day and the clock. It ignores the server's own day,
// or requests would fail at midnight.
func (v *Verifier) checkDate(w *work) (time.Time, error) {
	w.dates = w.in.Header[v.dateKey]
	if len(w.dates) != 1 {
		return time.Time{}, malformed("%s must be present exactly once", v.scheme.DateHeader)
	}

	date, at, ok := v.readDate(w.dates[0])
	if !ok {
		return time.Time{}, malformed("%s must be YYYYMMDDTHHMMSSZ, an HTTP date, or ISO 8601 with an offset",
			v.scheme.DateHeader)
	}

	w.date = date
	if w.auth.day != string(w.date[:8]) {
		return at, &Error{Code: CodeScope,
			Reason: v.scheme.AuthHeader + ": the day in Credential must be that of " + v.scheme.DateHeader}
	}

	now := v.now()
	if distance := now.Unix() - at.Unix(); max(distance, -distance) > int64(v.scheme.Window/time.Second) {
		return at, &Error{
			Code: CodeDate, Reason: v.scheme.DateHeader + " is outside the accepted window",
			ServerTime: now.UTC().Truncate(time.Second), RequestTime: at, Window: v.scheme.Window,
		}
	}

	return at, nil
}
