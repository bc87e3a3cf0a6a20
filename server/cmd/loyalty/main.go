// Command loyalty is the loyalty platform as one program: the server and its operators' commands. It wires the other
// packages together and decides nothing itself.
package main

import (
	"context"
	_ "embed" // for the examples
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // programmes name their time zone, and a container may have no zone data

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/openapi"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process. It returns the exit code; every failure is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	c := codedBy(cmd, err)
	if c.error != nil {
		fmt.Fprintln(stderr, "loyalty:", oneLine(c.Error()))
	}
	return c.code
}

func newRoot() *cobra.Command {
	s := &settings{}
	serve := newServe(s)
	root := &cobra.Command{
		Use:   "loyalty",
		Short: "A loyalty platform: points, purchases and members behind signed HTTP APIs",
		Long: "A loyalty platform: points, purchases and members behind signed HTTP APIs.\nWithout a command it serves. Settings are flags, or environment variables of the same name:\n--database-url is LOYALTY_DATABASE_URL. Secrets can also be read from a file that\nLOYALTY_…_FILE names.\n" +
			"Exit code 2: a setting, a flag or an argument is wrong, or there is no database: nothing was done. A command that\ngives 2 another meaning says so.",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          serve.RunE,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return s.read(cmd.Flags(), os.LookupEnv)
		},
	}

	s.flags(root.PersistentFlags())
	root.AddCommand(serve, newBackup(s), newConfig(s), newDemo(s), newDoctor(s), newDump(s), newExport(s),
		newHealthcheck(s), newImport(s), newJobs(s), newKeys(s), newLedger(s), newRebuild(s), newMigrate(s), newOpenAPI(),
		newPrint(), newRestore(s), newSign(s), newUsers(s), newVersion())
	completeValues(root)
	root.InitDefaultCompletionCmd("completion")
	exemplify(root)
	strict(root)
	s.known = variables(root)
	return root
}

//go:embed examples.txt
var examples string

// exemplify gives the commands their examples: the indented lines after each name.
func exemplify(root *cobra.Command) {
	cmd := root
	for line := range strings.Lines(examples) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "  "):
			cmd, _, _ = root.Find(strings.Fields(line)) // a test checks that it exists
		case cmd.Example == "":
			cmd.Example = line
		default:
			cmd.Example += "\n" + line
		}
	}
}

// completeValues tells the shell the known values of flags.
func completeValues(root *cobra.Command) {
	type known struct {
		command []string
		flag    string
		values  cobra.CompletionFunc
	}

	oneOf := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	all := []known{
		{[]string{"keys", "create"}, "apis", listOf(openapi.Names())},
		{[]string{"export"}, "format", oneOf("csv", "ndjson")},
		{[]string{"users", "create"}, "role", oneOf("viewer", "editor", "operator", "owner")},
		{[]string{"config", "export"}, "format", oneOf("yaml", "json")},
	}

	for _, step := range []string{"check", "plan", "apply", "reconcile"} {
		all = append(all, known{[]string{"import", step}, "dates", oneOf("dmy", "mdy")},
			known{[]string{"import", step}, "encoding", oneOf("utf-8", "windows-1250", "windows-1252")})
	}

	for _, c := range all {
		if cmd, _, err := root.Find(c.command); err == nil {
			_ = cmd.RegisterFlagCompletionFunc(c.flag, c.values) // a test checks that the flag exists
		}
	}
}

// listOf completes the last word of a comma-separated list with values that the list lacks. No blank follows, so that
// the list can go on.
func listOf(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		named := strings.Split(before, ",")
		var next []cobra.Completion
		for _, v := range values {
			if !slices.Contains(named, v) && strings.HasPrefix(before+v, typed) {
				next = append(next, before+v)
			}
		}
		return next, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
