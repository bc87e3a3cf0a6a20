package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/server/observe"
	"github.com/loyalty-platform/loyalty/server/systemd"
)

func newPrint() *cobra.Command {
	print := &cobra.Command{Use: "print", Short: "Print what goes with a server: a board, alerts, a unit, the manual",
		PersistentPreRunE: noSettings}
	output := print.PersistentFlags().String("output", "-", "file to write; - is standard output")
	of := func(name, short string, text func(*cobra.Command) ([]byte, error)) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				out, err := text(cmd)
				if err != nil {
					return err
				}

				out = []byte(strings.TrimSuffix(string(out), "\n") + "\n")
				if *output == "-" {
					_, err = cmd.OutOrStdout().Write(out)
				} else {
					err = os.WriteFile(*output, out, 0o644) //nolint:gosec // it holds no secret
				}

				if err != nil {
					return coded{codeFailed, err}
				}

				return nil
			},
		}
	}

	print.AddCommand(
		of("grafana", "Print a board for Grafana, as JSON",
			func(*cobra.Command) ([]byte, error) { return observe.Grafana() }),
		of("alerts", "Print rules for Prometheus, as YAML",
			func(*cobra.Command) ([]byte, error) { return observe.Alerts, nil }),
		of("systemd", "Print a unit for systemd", func(*cobra.Command) ([]byte, error) { return systemd.Unit, nil }),
		of("man", "Print the manual of all commands, for man: loyalty print man | man -l -",
			func(cmd *cobra.Command) ([]byte, error) { return manual(cmd.Root()), nil }))

	return print
}

// manual is a man page with all commands and settings.
func manual(root *cobra.Command) []byte {
	var b strings.Builder
	fmt.Fprintf(&b,
		".TH LOYALTY 1\n.SH NAME\nloyalty \\- %s\n.SH SYNOPSIS\n.B loyalty\n[command] [flags]\n.SH DESCRIPTION\n",
		roff(root.Short))
	paragraphs(&b, root.Long)
	b.WriteString(".SH SETTINGS\n")
	flagsOf(&b, root.PersistentFlags())
	b.WriteString(".SH COMMANDS\n")
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}

			fmt.Fprintf(&b, ".SS %s\n", roff(strings.TrimSuffix(sub.UseLine(), " [flags]")))
			if sub.Long != "" {
				paragraphs(&b, sub.Long)
			} else {
				paragraphs(&b, sub.Short+".")
			}

			flagsOf(&b, sub.LocalNonPersistentFlags())
			if sub.Example != "" {
				b.WriteString(".PP\n.nf\n")
				for line := range strings.Lines(sub.Example) {
					fmt.Fprintln(&b, roff(strings.TrimSpace(line)))
				}
				b.WriteString(".fi\n")
			}

			walk(sub)
		}
	}

	walk(root)
	return []byte(b.String())
}

func flagsOf(b *strings.Builder, f *pflag.FlagSet) {
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" {
			fmt.Fprintf(b, ".TP\n.B \\-\\-%s\n%s\n", roff(flag.Name), roff(flag.Usage))
		}
	})
}

// paragraphs writes lines with their line breaks.
func paragraphs(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s\n.br\n", roff(strings.TrimSuffix(line, "\n")))
	}
}

// roff escapes text so that none of it is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
