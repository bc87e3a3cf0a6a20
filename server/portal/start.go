package portal

import (
	"fmt"
	"strings"
)

// addStart writes the first page of the portal.
func (b *book) addStart(*contract) error {
	text, err := files.ReadFile("assets/start.md")
	if err != nil {
		return err
	}
	b.add(&page{
		path: "/docs", title: "The loyalty platform", section: "/docs",
		summary: "Three steps to the first event.", text: string(text),
		trial: &trial{Method: "GET", Target: "/customers?limit=1"},
	})
	return nil
}

// addSigning writes the page about the signature, with a whole client in each language.
func (b *book) addSigning(*contract) error {
	text, err := files.ReadFile("assets/signing.md")
	if err != nil {
		return err
	}

	var w strings.Builder
	w.Write(text)
	w.WriteString("\n## Clients\n")
	for _, l := range languages {
		if l.client == "" {
			continue
		}
		source, err := files.ReadFile(l.client)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w, "\n### %s\n\n```%s\n%s```\n", l.name, l.fence, source)
	}

	b.add(&page{
		path: "/docs/signing", title: "Signing", section: "/docs/signing",
		summary: "How a request is signed, step by step, and a client for each language.",
		text:    w.String(), trial: &trial{Method: "GET", Target: "/customers?limit=1"},
	})

	return nil
}
