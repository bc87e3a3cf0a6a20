package signing

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// maxForms is the greatest number of canonical requests computed for one request.
const maxForms = 36

// work is the memory of one verification, pooled so that a request that matches the first form allocates next to
// nothing.
type work struct {
	in                    Incoming
	authorizations, dates []string // the values of the two headers
	path                  string
	query                 string
	hasQuery              bool
	auth                  authorization
	date                  [len(condensed)]byte
	shape                 *shape // of the header, where it is cached; nil: the header is parsed
	plain                 bool   // the target is cached: its path needs no cleaning, and it has no query
	want                  [32]byte
	names                 []string   // signed header names, sorted; read-only where a cached shape shares them
	read                  []string   // memory for parsed names
	values                [][]string // the request's values of each
	signed                string     // the same, joined
	host, length          [1]string  // put back among the headers

	params  []param
	arena   []byte
	canon   []byte // the canonical request
	text    []byte // the string to sign
	method  string
	body    [sha256.Size]byte
	common  *common               // of the current form; nil: its canonical request is written out
	hash    [sha256.Size]byte     // of the canonical request
	hex     [2 * sha256.Size]byte // buffer for a hash in hex
	sum     []byte
	digest  digest
	keys    []triedKey
	matched *signingKey // the key that made the signature over the first form; nil: another form, or no match
	cold    int         // keys that were derived because the cache had none
}

var workPool = sync.Pool{New: func() any { return &work{digest: newDigest()} }}

// release returns the memory to the pool without keeping references to the request.
func (w *work) release() {
	clear(w.read)
	clear(w.values)
	clear(w.keys)
	w.names, w.read, w.values, w.keys, w.cold = nil, w.read[:0], w.values[:0], w.keys[:0], 0
	w.in, w.auth, w.authorizations, w.dates, w.shape, w.common, w.matched, w.plain = Incoming{}, authorization{}, nil,
		nil, nil, nil, nil, false
	w.path, w.query, w.signed, w.method, w.host[0] = "", "", "", "", ""
	if cap(w.arena) > 64<<10 || cap(w.params) > 64 {
		w.arena, w.params = nil, nil
	}
	workPool.Put(w)
}

// hashBody sets what every form shares. It hashes the body once.
func (w *work) hashBody() {
	w.method = strings.ToUpper(w.in.Method)
	w.body = sha256.Sum256(w.in.Body)
}

// first writes the form that most requests match: the path as sent, the query by name, blanks collapsed.
func (w *work) first() {
	if w.shape != nil {
		if w.common = w.shape.common.Load(); w.common.fits(w) {
			return
		}
		w.common = nil
	}

	path := w.path
	if !w.plain {
		path = cleanPath(path)
	}

	w.start(path)
	w.canon = append(w.textQuery(w.canon), '\n')
	w.canon = w.appendHeaders(w.canon, w.in.Host, false)
	w.finish()
}

// form writes the canonical request of step 1 from its parts.
func (w *work) form(path, query, headers string) {
	w.start(path)
	w.canon = append(append(w.canon, query...), '\n')
	w.canon = append(w.canon, headers...)
	w.finish()
}

func (w *work) start(path string) {
	w.canon = append(append(w.canon[:0], w.method...), '\n')
	w.canon = append(append(w.canon, path...), '\n')
}

func (w *work) finish() {
	w.canon = append(append(append(w.canon, '\n'), w.signed...), '\n')
	w.canon = appendHex(w.canon, &w.body)
}

// hashCanonical hashes the current canonical request.
func (w *work) hashCanonical() {
	if w.common == nil {
		w.hash = sha256.Sum256(w.canon)
		return
	}
	w.digest.from(w.common.canonical, appendHex(w.hex[:0], &w.body), w.hash[:0])
}

// setText writes the string to sign of the current canonical request, which must be hashed already.
func (w *work) setText(algorithm, scope string) {
	w.text = appendText(w.text[:0], algorithm, scope, w.date[:], &w.hash)
}

// setSum sets the signature of the current canonical request under a key. The request must be hashed already.
func (w *work) setSum(v *Verifier, key *signingKey) {
	if w.common != nil && w.common.key == key {
		w.sum = key.sum(w.digest, w.sum[:0], w.common.text, appendHex(w.hex[:0], &w.hash))
		return
	}
	w.setText(v.algorithm, v.scheme.Scope)
	w.sum = key.sum(w.digest, w.sum[:0], key.inner, w.text)
}

// each computes the accepted forms one by one, at most maxForms, that of first at the beginning. Duplicate parts are
// removed before they are combined, and parts cannot run into each other, so every form comes once.
func (w *work) each(legacyPlus bool, try func() bool) {
	paths, queries, headers := w.paths(), w.queries(legacyPlus), w.headers()
	count := 0

	for _, query := range queries {
		for _, path := range paths {
			for _, header := range headers {
				if count == maxForms {
					return
				}
				count++
				w.form(path, query, header)
				if !try() {
					return
				}
			}
		}
	}
}
