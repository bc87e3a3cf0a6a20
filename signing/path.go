package signing

import "strings"

// paths gives the accepted spellings of the path without duplicates: cleaned with its octets as sent (the stock
// clients), cleaned with every segment encoded anew (the specification's text), and exactly as sent.
func (w *work) paths() []string {
	clean := cleanPath(w.path)
	return appendNew(appendNew([]string{clean}, encodePath(clean)), w.path)
}

// cleanPath removes dot segments (RFC 3986, 5.2.4) and merges slashes. Encoded dots and slashes are data, never
// structure.
func cleanPath(path string) string {
	if !needsCleaning(path) {
		return path
	}

	segments := strings.Split(path[1:], "/")
	kept, slash := segments[:0:0], false
	for _, segment := range segments {
		slash = true
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept, slash = append(kept, segment), false
		}
	}

	if slash && len(kept) > 0 {
		kept = append(kept, "")
	}

	return "/" + strings.Join(kept, "/")
}

// needsCleaning tells whether a segment is empty or begins with a dot.
func needsCleaning(path string) bool {
	for i := 1; i < len(path); i++ {
		if path[i-1] == '/' && (path[i] == '/' || path[i] == '.') {
			return true
		}
	}
	return false
}

// encodePath decodes and encodes every segment once. A plus sign in a path is itself.
func encodePath(path string) string {
	if all(path, pathChar) {
		return path
	}
	var out, segment []byte
	for rest, more := path[1:], true; more; {
		var raw string
		raw, rest, more = strings.Cut(rest, "/")
		segment = decode(segment[:0], raw, '+')
		out = encode(append(out, '/'), segment, unreserved)
	}
	return string(out)
}

// appendNew appends a form that is not in the list yet.
func appendNew(list []string, form string) []string {
	for _, have := range list {
		if have == form {
			return list
		}
	}
	return append(list, form)
}
