package docs

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
		path: "/docs", title: "The loyalty platform", section: "/docs", summary: "Three steps to the first event.", text: string(text),
		trial: &trial{Method: "GET", Target: "/customers?limit=1"},
	})
	return nil
}

// addHowToSend writes the page about facts that have no action of their own.
func (b *book) addHowToSend(*contract) error {
	text, err := files.ReadFile("assets/how-to-send.md")
	if err != nil {
		return err
	}
	b.add(&page{
		path: "/docs/how-to-send", title: "How to send what is no action of its own", section: "/docs",
		summary: "An exchange, what a return takes back, an order cancelled by mistake, currencies.", text: string(text),
	})
	return nil
}

// addImporting writes the page about importing files of another system.
func (b *book) addImporting(*contract) error {
	text, err := files.ReadFile("assets/importing.md")
	if err != nil {
		return err
	}
	b.add(&page{
		path: "/docs/importing", title: "Importing from another system", section: "/docs",
		summary: "Members, points, purchases, tiers and coupons from CSV files.", text: string(text),
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
		path: "/docs/signing", title: "Signing", section: "/docs/signing", summary: "How a request is signed, step by step, and a client for each language.",
		text: w.String(), trial: &trial{Method: "GET", Target: "/customers?limit=1"},
	})

	return nil
}
