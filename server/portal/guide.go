package portal

import (
	"fmt"
	"regexp"
	"strings"
)

// guidePages are the pages of the guide in the order of the menu: files of assets/guide, which read as well in the
// repository.
var guidePages = []string{
	"production", "tour", "programme", "how-to-send", "importing", "operating", "postgresql", "replicas", "many-machines",
	"backups", "monitoring", "sign-in", "reports",
}

// guideLink is a link from one page of the guide to another.
var guideLink = regexp.MustCompile(`\]\(([a-z-]+)\.md(#[a-z0-9-]+)?\)`)

// addGuide writes the pages that explain a subject as a whole, for integrators and operators.
func (b *book) addGuide(*contract) error {
	index := &page{path: "/docs/guide", title: "Guide", section: "/docs/guide",
		summary: "How to send, import and run: commands, settings, databases, backups, monitoring."}
	b.add(index)

	for _, name := range guidePages {
		text, err := files.ReadFile("assets/guide/" + name + ".md")
		if err != nil {
			return err
		}

		heading, rest, found := strings.Cut(string(text), "\n")
		title, marked := strings.CutPrefix(heading, "# ")
		if !found || !marked {
			return fmt.Errorf("the guide's page %s does not begin with its title", name)
		}

		rest = strings.TrimSpace(rest)
		first, _, _ := strings.Cut(rest, "\n\n")
		b.add(&page{
			path: "/docs/guide/" + name, title: title, section: "/docs/guide", summary: firstSentence(first),
			text: guideLink.ReplaceAllString(rest, "](/docs/guide/$1$2)"),
		})
	}

	index.text += "\n" + b.index(index.path)
	return nil
}
