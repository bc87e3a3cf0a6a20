package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/oasdiff/yaml"
	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store"
)

// codeDifferences is the exit code of a plan with differences.
const codeDifferences = 2

func newConfig(s *settings) *cobra.Command {
	config := &cobra.Command{
		Use: "config", Short: "Export the configuration, or apply one",
		Long: "Export the configuration of a programme as one document: settings, modules and everything it is made of,\nwithout keys, customers and purchases. Compare a document with a programme, and apply it.\nA running server sees the change within a second.",
	}
	config.AddCommand(newConfigExport(s), newConfigPlan(s), newConfigApply(s))
	return config
}

func newConfigExport(s *settings) *cobra.Command {
	format := "yaml"
	cmd := &cobra.Command{
		Use: "export", Short: "Write the configuration to standard output", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "yaml" && format != "json" {
				return coded{codeUsage, fmt.Errorf("--format: %q must be yaml or json", format)}
			}
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				document, err := adminOf(db).Configuration(cmd.Context())
				if err != nil {
					return told(err)
				}
				return writeConfiguration(cmd.OutOrStdout(), document, format)
			})
		},
	}

	cmd.Flags().StringVar(&format, "format", format, "yaml or json")
	return cmd
}

// writeConfiguration writes a document with sorted names, so that two documents can be compared line by line.
func writeConfiguration(w io.Writer, document admin.ConfigurationDocument, format string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return coded{codeFailed, err}
	}

	out := text.Bytes()
	if format == "yaml" {
		var err error
		if out, err = yaml.JSONToYAML(out); err != nil {
			return coded{codeFailed, err}
		}
	}

	if _, err := w.Write(out); err != nil {
		return coded{codeFailed, err}
	}

	return nil
}

const pruneUsage = "archive entities that the file does not have, of the types that it names"

func newConfigPlan(s *settings) *cobra.Command {
	prune := false
	cmd := &cobra.Command{
		Use: "plan FILE", Short: "Show what applying a configuration would change, without changing anything",
		Args: cobra.ExactArgs(1),
		Long: "Show what applying a configuration (YAML or JSON; - is standard input) would change, without changing anything.\nExit code 0: nothing. 2: there are differences. 1: the file or the database cannot be used.",
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := readConfiguration(cmd, args[0])
			if err != nil {
				return err
			}

			differences := 0
			err = use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				changes, err := adminOf(db).PlanConfiguration(cmd.Context(), wanted, prune)
				if err != nil {
					return toldPlaces(err)
				}
				differences = len(changes)
				return printChanges(cmd.OutOrStdout(), changes)
			})

			switch {
			case err != nil:
				return err
			case differences > 0:
				return coded{codeDifferences, nil}
			}

			return nil
		},
	}

	cmd.Flags().BoolVar(&prune, "prune", false, pruneUsage)
	return endsWith(codeFailed, cmd)
}

func newConfigApply(s *settings) *cobra.Command {
	prune := false
	cmd := &cobra.Command{
		Use: "apply FILE", Short: "Apply a configuration, all of it or nothing", Args: cobra.ExactArgs(1),
		Long: "Apply a configuration (YAML or JSON; - is standard input) in one transaction: all of it or, if something is\nwrong, nothing. What it leaves out stays as it is. Applying it again changes nothing.",
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := readConfiguration(cmd, args[0])
			if err != nil {
				return err
			}
			return use(cmd.Context(), s.open, func(db *store.Store) error {
				done, err := adminOf(db).ApplyConfiguration(cmd.Context(), commandLine, wanted, prune)
				if err != nil {
					return toldPlaces(err)
				}
				return printChanges(cmd.OutOrStdout(), done.Value)
			})
		},
	}

	cmd.Flags().BoolVar(&prune, "prune", false, pruneUsage)
	return cmd
}

// readConfiguration reads a file, or standard input.
func readConfiguration(cmd *cobra.Command, path string) (wanted admin.Configuration, err error) {
	var text []byte
	if path == "-" {
		text, err = io.ReadAll(cmd.InOrStdin())
	} else {
		text, err = os.ReadFile(path)
	}

	if err != nil {
		return wanted, coded{codeFailed, err}
	}
	if text, err = asJSON(text); err != nil {
		return wanted, coded{codeFailed, fmt.Errorf("%s: %w", path, err)}
	}

	vocabulary, err := contract.NewVocabulary()
	if err != nil {
		return wanted, coded{codeFailed, err}
	}

	reader, err := contract.NewConfigurator(vocabulary)
	if err != nil {
		return wanted, coded{codeFailed, err}
	}
	if wanted, err = reader.Read(text); err != nil {
		err = toldPlaces(err)
	}

	return wanted, err
}

// asJSON converts YAML to JSON, keeping dates as texts; JSON stays as it is.
func asJSON(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var document any
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' &&
		json.Unmarshal(trimmed, &document) == nil {
		d := json.NewDecoder(bytes.NewReader(trimmed))
		d.UseNumber()
		return trimmed, once(d)
	}
	numbers := func(d *json.Decoder) *json.Decoder { d.UseNumber(); return d }
	if _, err := yaml.Unmarshal(text, &document, yaml.DecodeOpts{DisableTimestamps: true}, numbers); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

// once reads one value of JSON and fails if an object has a name twice, because one of the values would be lost.
func once(d *json.Decoder) error {
	token, err := d.Token()
	open, nested := token.(json.Delim)
	if err != nil || !nested {
		return err
	}

	names := map[json.Token]bool{}
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if names[name] {
				return fmt.Errorf("%q appears twice, before byte %d", name, d.InputOffset())
			}
			names[name] = true
		}
		if err := once(d); err != nil {
			return err
		}
	}

	_, err = d.Token()
	return err
}

// toldPlaces is a refusal as a message, with every place that it names.
func toldPlaces(err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) || len(e.Details) < 2 {
		return told(err)
	}
	var all []error
	for _, d := range e.Details {
		all = append(all, told(&loyalty.Error{Kind: e.Kind, Code: e.Code, Name: d.Name, Args: d.Args,
			Details: []loyalty.Detail{d}}))
	}
	return coded{codeFailed, errors.Join(all...)}
}

// printChanges writes one block for each change, with the properties that differ.
func printChanges(w io.Writer, changes []admin.ConfigurationChange) error {
	var b bytes.Buffer
	for _, c := range changes {
		what := c.Section
		if c.Type != "" {
			what = c.Type
		}

		fmt.Fprintf(&b, "%s %s %s\n", c.Change, what, c.ID)
		names := slices.Sorted(maps.Keys(c.Before))
		for _, name := range slices.Sorted(maps.Keys(c.After)) {
			if _, too := c.Before[name]; !too {
				names = append(names, name)
			}
		}

		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(&b, "    %s: %s -> %s\n", name, valueText(c.Before, name), valueText(c.After, name))
		}
	}

	fmt.Fprintf(&b, "differences: %d\n", len(changes))
	if _, err := w.Write(b.Bytes()); err != nil {
		return coded{codeFailed, err}
	}

	return nil
}

func valueText(fields map[string]json.RawMessage, name string) string {
	if value, there := fields[name]; there {
		return string(value)
	}
	return "nothing"
}
