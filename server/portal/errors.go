package portal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/openapi"
)

// addErrors writes a page for each code: when it occurs and what to do.
func (b *book) addErrors(*contract) error {
	all, err := openapi.Errors()
	if err != nil {
		return err
	}

	byCode := map[int][]openapi.Error{}
	var codes []int
	for _, e := range all {
		if byCode[e.Code] == nil {
			codes = append(codes, e.Code)
		}
		byCode[e.Code] = append(byCode[e.Code], e)
	}

	slices.Sort(codes)
	for _, code := range codes {
		var w strings.Builder
		for _, e := range byCode[code] {
			fmt.Fprintf(&w, "## %s\n\nStatus %d.\n\n%s\n\n**What to do.** %s\n\n", e.Name, e.Status, e.When, e.Do)
		}
		b.add(&page{
			path: fmt.Sprintf("/docs/errors/%d", code), title: fmt.Sprintf("Error %d", code), section: "/docs/errors",
			summary: firstSentence(byCode[code][0].When), text: w.String(),
		})
	}

	b.add(&page{
		path: "/docs/errors", title: "Errors", section: "/docs/errors", summary: "Every code: when it comes and what to do.",
		text: "Every error has one form:\n\n```json\n{\n  \"error\": {\n    \"type\": \"RuleException\",\n    \"code\": 110003,\n    \"message\": \"The customer is suspended\"\n  }\n}\n```\n\n" +
			"`details`, where it is there, names each field at fault. The code does not change; the message is in the language of the request. " +
			"Every answer has an `X-Request-Id`, under which the operator's log tells more.\n\n" +
			"**When to repeat.** 429 and 503 after the seconds in `Retry-After`, with the same Idempotency-Key. Where `Retry-After` is absent (190420 without a key), look first whether the write was recorded. 500 once. Everything else would be refused again.\n\n" + b.index("/docs/errors"),
	})

	return nil
}
