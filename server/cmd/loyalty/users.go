package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store"
)

func newUsers(s *settings) *cobra.Command {
	users := &cobra.Command{
		Use: "users", Short: "Make, list, invite and disable users of the console",
		Long: "Make, list, invite and disable users of the console. A running server sees the change with the next request.",
	}
	users.AddCommand(newUsersCreate(s), newUsersList(s), newUsersInvite(s), newUsersDisable(s))
	return users
}

func usersOf(db *store.Store) *admin.Users { return admin.UsersOf(adminOf(db)) }

func newUsersCreate(s *settings) *cobra.Command {
	role, name, email, personal := string(loyalty.RoleViewer), "", "", false
	cmd := &cobra.Command{
		Use: "create LOGIN", Short: "Make a user and print a link that signs them in once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			as := loyalty.Role(role)
			change := admin.UserChange{Name: &name, Email: &email, Role: &as, Personal: &personal}
			return use(cmd.Context(), s.open, func(db *store.Store) error {
				done, err := usersOf(db).Create(cmd.Context(), commandLine, args[0], change)
				if err != nil {
					return told(err)
				}
				return invite(cmd.Context(), cmd.OutOrStdout(), s, db, done.Value.ID.String())
			})
		},
	}

	cmd.Flags().StringVar(&role, "role", role, "what the user may do: viewer, editor, operator or owner")
	cmd.Flags().StringVar(&name, "name", "", "the name to show")
	cmd.Flags().StringVar(&email, "email", "", "an address for your own records; nothing is sent to it")
	cmd.Flags().BoolVar(&personal, "personal", false, "the user sees personal data of customers")
	return cmd
}

// consoleAddress is the address of the console, as far as the settings tell.
func consoleAddress(s *settings) string {
	return cmp.Or(s.consoleURL, "http://"+cmp.Or(consoleApart(s), s.listen))
}

// invite prints a sign-in link for a user.
func invite(ctx context.Context, out io.Writer, s *settings, db *store.Store, id string) error {
	done, err := usersOf(db).Invite(ctx, commandLine, id, admin.InvitedFor)
	if err != nil {
		return told(err)
	}
	i, elsewhere := done.Value, ""
	if s.consoleURL == "" {
		elsewhere = "; replace the address before /console/ if users reach the console under another one"
	}
	_, err = fmt.Fprintf(out, "user     %s (%s)\nlink     %s/console/#enter/%s\nThe link works once, until %s%s.\n",
		i.User.Login, i.User.Role, consoleAddress(s), i.Token, i.ExpiresAt.Format("2006-01-02 15:04 MST"), elsewhere)
	return err
}

func newUsersInvite(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "invite LOGIN", Short: "Print a new sign-in link for a user, whose password ends", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				return invite(cmd.Context(), cmd.OutOrStdout(), s, db, args[0])
			})
		},
	}
}

func newUsersDisable(s *settings) *cobra.Command {
	again := false
	cmd := &cobra.Command{
		Use: "disable LOGIN", Short: "Disable a user and end their sessions, or enable them again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				done, err := usersOf(db).Disable(cmd.Context(), commandLine, args[0], !again)
				if err != nil {
					return told(err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), map[bool]string{false: "Disabled", true: "Enabled"}[again], done.Value.Login)
				return nil
			})
		},
	}

	cmd.Flags().BoolVar(&again, "undo", false, "enable the user again")
	return cmd
}

func newUsersList(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the users of the console", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				all, err := usersOf(db).List(cmd.Context())
				if err != nil {
					return told(err)
				}
				return listUsers(cmd.OutOrStdout(), all)
			})
		},
	}
}

func listUsers(w io.Writer, all []loyalty.User) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LOGIN\tROLE\tPERSONAL DATA\tSTATE\tNAME\tCREATED")
	for _, u := range all {
		state := "invited"
		switch {
		case !u.DisabledAt.IsZero():
			state = "disabled"
		case len(u.TOTP) > 0:
			state = "password, second factor"
		case u.Password != "":
			state = "password"
		}
		fmt.Fprintf(table, "%s\t%s\t%t\t%s\t%s\t%s\n", u.Login, u.Role, u.Personal, state, u.Name,
			u.CreatedAt.Format("2006-01-02"))
	}

	return table.Flush()
}
