package portal

import (
	"bytes"
	"net/http"
)

// choice is an API of the reference.
type choice struct{ API, Title string }

// reference answers the page on which Swagger UI shows the documents. Requests tried there are signed by our own script
// and sent by the relay.
func (p *Portal) reference(w http.ResponseWriter, r *http.Request) {
	b, err := p.book()
	if err != nil {
		http.Error(w, "the documents cannot be read", http.StatusInternalServerError)
		return
	}
	var page bytes.Buffer
	if err := layout.ExecuteTemplate(&page,
		"reference.html", map[string]any{"APIs": b.apis, "Region": p.region, "Try": p.try != nil}); err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	send(w, r, "text/html; charset=utf-8", page.String())
}
