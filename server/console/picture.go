package console

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// picture is a QR code as one path of SVG, dark on light.
type picture struct {
	Size int    `json:"size"` // of a side, in modules, with the margin
	Path string `json:"path"`
}

// margin is the light border that readers need, in modules.
const margin = 4

// drawn makes the QR code of a text here, so that no other host sees the text.
func drawn(text string) (picture, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return picture{}, err
	}

	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+margin, y+margin, x-from, x-from)
			}
		}
	}

	return picture{code.Size + 2*margin, path.String()}, nil
}
