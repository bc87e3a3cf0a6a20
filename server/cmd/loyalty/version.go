package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/openapi"
)

// noSettings is for commands that need no settings, and so cannot fail on a wrong one.
func noSettings(*cobra.Command, []string) error { return nil }

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the program's version", Args: cobra.NoArgs, PersistentPreRunE: noSettings,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(cmd.OutOrStdout(), "loyalty", version(build()), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
			return nil
		},
	}
}

// builtVersion and builtRevision are set by builds without the repository, such as the Dockerfile's (-ldflags "-X
// main.builtVersion=…").
var builtVersion, builtRevision string

// build is the information on how the program was built.
func build() (info *debug.BuildInfo, ok bool) {
	info, ok = debug.ReadBuildInfo()
	if !ok {
		return info, ok
	}
	if builtVersion != "" {
		info.Main.Version = builtVersion
	}
	if builtRevision != "" {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: "vcs.revision", Value: builtRevision})
	}
	return info, ok
}

// version is the module's version and the commit it was built from.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(text, s.Value[:min(12, len(s.Value))]) {
			text += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return text
}

func newOpenAPI() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "openapi API", Short: "Print an API's OpenAPI document, complete in one file", PersistentPreRunE: noSettings,
		Args: cobra.ExactArgs(1), ValidArgs: openapi.Names(),
		Long: "Print an API's OpenAPI document, complete in one file. The APIs are: " + strings.Join(openapi.Names(), ", ") +
			".",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(openapi.Names(), args[0]) {
				return coded{codeUsage,
					fmt.Errorf("openapi: there is no API %q; the APIs are: %s", args[0], strings.Join(openapi.Names(), ", "))}
			}
			document, json, err := openapi.Bundle(args[0])
			if err != nil {
				return coded{codeFailed, err}
			}
			if asJSON {
				document = json
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.TrimSuffix(string(document), "\n"))
			return err
		},
	}

	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of YAML")
	return cmd
}
