package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/store"
)

var commandLine = admin.Call{KeyID: admin.CommandLine}

func newKeys(s *settings) *cobra.Command {
	keys := &cobra.Command{
		Use: "keys", Short: "Make, list, rotate and revoke access keys",
		Long: "Make, list, rotate and revoke access keys. A running server sees the change within a second.",
	}
	keys.AddCommand(newKeysCreate(s), newKeysList(s), newKeysRotate(s), newKeysRevoke(s), newRotateMaster(s))
	return keys
}

// keyFlags are the rights of a new key.
type keyFlags struct {
	label, expiresAt string
	apis, addresses  []string
	readOnly         bool
	rateLimit        int
}

func (k *keyFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&k.label, "label", "", "what the key is for")
	f.StringSliceVar(&k.apis, "apis", nil,
		"APIs it may use, separated by commas (default: all): "+strings.Join(openapi.Names(), ", "))
	f.BoolVar(&k.readOnly, "read-only", false, "it may only read")
	f.StringSliceVar(&k.addresses, "addresses", nil, "addresses or networks it may be used from (default: any)")
	f.IntVar(&k.rateLimit, "rate-limit", 0, "requests a minute (default: the server's)")
	f.StringVar(&k.expiresAt, "expires-at", "",
		"its last day in the programme's zone, such as 2030-01-31, or the instant when it ends (default: never)")
}

func (k *keyFlags) change() (admin.KeyChange, error) {
	c := admin.KeyChange{Label: &k.label, APIs: &k.apis, ReadOnly: &k.readOnly,
		Addresses: &k.addresses, RateLimit: &k.rateLimit}
	if k.expiresAt != "" {
		if _, err := calendar.ReadEnd(k.expiresAt, time.UTC); err != nil {
			return c, coded{codeUsage, fmt.Errorf("--expires-at: %w", err)}
		}
		c.ExpiresAt = &k.expiresAt
	}
	return c, nil
}

func newKeysCreate(s *settings) *cobra.Command {
	var rights keyFlags
	asJSON := false
	cmd := &cobra.Command{
		Use: "create", Short: "Make an access key and show its secret, this once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			change, err := rights.change()
			if err != nil {
				return err
			}
			return use(cmd.Context(), s.open, func(db *store.Store) error {
				done, err := adminOf(db).CreateKey(cmd.Context(), commandLine, change)
				if err != nil {
					return told(err)
				}
				return s.show(cmd.OutOrStdout(), done.Value, asJSON)
			})
		},
	}

	rights.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print key_id, secret and region as JSON")
	return cmd
}

func newKeysRotate(s *settings) *cobra.Command {
	overlap, asJSON := 24*time.Hour, false
	cmd := &cobra.Command{
		Use: "rotate KEY_ID", Short: "Give an access key a new secret; the old one stays valid for the overlap",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				done, err := adminOf(db).RotateKey(cmd.Context(), commandLine, args[0], overlap)
				if err != nil {
					return told(err)
				}
				return s.show(cmd.OutOrStdout(), done.Value, asJSON)
			})
		},
	}

	cmd.Flags().DurationVar(&overlap, "overlap", overlap, "how long the old secret stays valid, at most 720h")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print key_id, secret and region as JSON")
	return cmd
}

func newKeysRevoke(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY_ID", Short: "Revoke an access key for good", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				if _, err := adminOf(db).RevokeKey(cmd.Context(), commandLine, args[0]); err != nil {
					return told(err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), "Revoked", args[0])
				return nil
			})
		},
	}
}

func newKeysList(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the access keys, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return use(cmd.Context(), s.openExisting, func(db *store.Store) error {
				keys, err := adminOf(db).Keys(cmd.Context())
				if err != nil {
					return told(err)
				}
				return listKeys(cmd.OutOrStdout(), keys)
			})
		},
	}
}

// told is a refusal as a message, with its field.
func told(err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) || e.Kind == loyalty.Internal || e.Kind == loyalty.Unavailable {
		return coded{codeFailed, err}
	}
	catalogue, loading := i18n.Load()
	if loading != nil {
		return coded{codeFailed, errors.Join(err, loading)}
	}
	text := catalogue.Message(i18n.Default, e.Name, e.Args)
	for _, d := range e.Details {
		text = d.Field + ": " + text
	}
	return coded{codeFailed, errors.New(text)}
}

// show prints a key with its new secret.
func (s *settings) show(w io.Writer, k loyalty.AccessKey, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			KeyID  string `json:"key_id"`
			Secret string `json:"secret"`
			Region string `json:"region"`
		}{k.ID, k.Secrets[0].Value, s.region})
	}
	_, err := fmt.Fprintf(w, "key id   %s\nsecret   %s\nregion   %s\nThe secret is shown only this once: store it now.\n",
		k.ID, k.Secrets[0].Value, s.region)
	return err
}

func listKeys(w io.Writer, keys []loyalty.AccessKey) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY ID\tSTATE\tLABEL\tAPIS\tRIGHTS\tADDRESSES\tREQUESTS/MIN\tCREATED\tLAST USED")
	for _, k := range keys {
		rights, limit := "read, write", "default"
		if k.ReadOnly {
			rights = "read"
		}
		if k.RateLimit > 0 {
			limit = fmt.Sprint(k.RateLimit)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, state(k), k.Label, orAll(k.APIs), rights,
			orAll(k.Addresses), limit, when(k.CreatedAt), when(k.LastUsedAt))
	}

	return table.Flush()
}

func state(k loyalty.AccessKey) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + when(k.RevokedAt)
	case k.ExpiresAt.IsZero():
		return "in force"
	case k.ExpiresAt.After(time.Now()):
		return "until " + when(k.ExpiresAt)
	}
	return "expired " + when(k.ExpiresAt)
}

func orAll(list []string) string {
	if len(list) == 0 {
		return "all"
	}
	return strings.Join(list, ",")
}

func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
