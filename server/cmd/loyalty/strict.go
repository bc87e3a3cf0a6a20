package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// strict makes every command report wrong arguments. A group of commands refuses an unknown one: an answer with help
// would look like success to a timer that was to make a backup.
func strict(c *cobra.Command) {
	for _, sub := range c.Commands() {
		strict(sub)
	}

	if c.HasParent() && c.HasSubCommands() && !c.Runnable() {
		c.DisableFlagsInUseLine = true
		c.RunE = group
		return
	}

	if wants := c.Args; wants != nil && c.HasParent() {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := wants(cmd, args); err != nil {
				return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
}

// group runs a command that only has subcommands.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return coded{codeUsage, fmt.Errorf("unknown command %q for %q; the commands are: %s",
		args[0], cmd.CommandPath(), strings.Join(names, ", "))}
}
