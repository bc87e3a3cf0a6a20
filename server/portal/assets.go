package portal

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// asset answers a file that pages load. Large ones are stored compressed.
func asset(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	packed, err := files.ReadFile(name + ".gz")
	if err != nil {
		http.ServeFileFS(w, r, files, name)
		return
	}

	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(packed)))
		_, _ = w.Write(packed) // the reader may be gone
		return
	}

	// gzip ends with the size
	h.Set("Content-Length", strconv.Itoa(int(binary.LittleEndian.Uint32(packed[len(packed)-4:]))))
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		_, _ = io.Copy(w, plain) //nolint:gosec // it was packed by us
	}
}
