package api

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/loyalty-platform/loyalty/server/contract"
)

// ParseBody reads a body by its media type. A missing one counts as {}.
func ParseBody(h http.Header, body []byte) (any, error) {
	media, err := MediaType(h, len(body))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, nil
	}
	if media == FormType {
		return contract.ParseForm(body)
	}
	return contract.ParseJSON(body)
}

const FormType = "application/x-www-form-urlencoded"

// coded is the content coding of a body as sent; empty if there is none. identity counts as none, however often it is
// repeated.
func coded(h http.Header) string {
	all := strings.Join(h.Values("Content-Encoding"), ", ")
	for one := range strings.SplitSeq(all, ",") {
		if one = strings.TrimSpace(one); one != "" && !strings.EqualFold(one, "identity") {
			return all
		}
	}
	return ""
}

// MediaType returns application/json or the form's type; anything else is 415, including another
// character set and a content coding.
func MediaType(h http.Header, size int) (string, error) {
	if coding := coded(h); coding != "" {
		return "", ErrCoding.With("coding", coding)
	}

	switch header := h.Get("Content-Type"); header { // the usual ones, without parsing
	case "application/json", FormType:
		return header, nil
	case "":
		if size > 0 {
			return "", ErrMediaType.With("media_type", "")
		}
		return FormType, nil

	default:
		media, params, err := mime.ParseMediaType(header)
		charset, named := params["charset"]
		if err != nil || media != "application/json" && media != FormType || named && !strings.EqualFold(charset, "utf-8") {
			return "", ErrMediaType.With("media_type", header)
		}
		return media, nil
	}
}
