package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// The first two events of a new programme: a member, then a purchase.
var firstEvents = []string{
	`{"customer":"member-1","action":"opt_in","data":{"email":"member-1@example.com","first_name":"Sample"}}`,
	`{"customer":"member-1","action":"checkout","data":{"transaction_id":"order-1","total":99.99,"currency":"EUR","items":[` +
		`{"product_id":"p-1","product_name":"Coffee","product_url":"https://shop.example.com/p-1","quantity":2,"subtotal":60},` +
		`{"product_id":"p-2","product_name":"Tea","product_url":"https://shop.example.com/p-2","quantity":1,"subtotal":39.99}]}}`,
}

// introduce shows a new key with its secret, and commands that use it, ready to paste into a shell in any folder.
func (s *settings) introduce(out io.Writer, address string, k loyalty.AccessKey) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThis is the first start. An access key was made; its secret is shown only this once:\n\n")
	fmt.Fprintf(&b, "  key id   %s\n  secret   %s\n  region   %s\n\n", k.ID, k.Secrets[0].Value, s.region)
	fmt.Fprintf(&b, "Enrol a member, then submit a purchase (from another terminal, in any folder):\n\n")
	for _, event := range firstEvents {
		fmt.Fprintf(&b, "LOYALTY_KEY_ID=%s LOYALTY_SECRET=%s LOYALTY_REGION=%s %s sign POST %s/events --send --data %s\n\n",
			k.ID, k.Secrets[0].Value, s.region, program(), address, quote(event))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// program is this program for a shell in any folder: its name if PATH finds it, else its path.
func program() string {
	if name := os.Args[0]; filepath.Base(name) == name {
		return quote(name)
	}
	path, err := os.Executable()
	if err != nil {
		return "loyalty"
	}
	return quote(path)
}

// quote makes one word of a text for a POSIX shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@+,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// logLines writes each line into the log.
type logLines struct{ logger *slog.Logger }

func (l logLines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.logger.Info(strings.TrimSpace(line))
	}
	return len(p), nil
}

// greetings is where a start prints the server's address: standard output, for people. If the log is JSON, a service
// manager or a container collects both outputs: then the greeting is a line of the log, and no start makes or shows a
// secret.
func (s *settings) greetings(logger *slog.Logger, out io.Writer) io.Writer {
	if s.collected() {
		return logLines{logger}
	}
	return out
}

// collected reports whether the output is collected by machines instead of being read at a terminal.
func (s *settings) collected() bool {
	json, err := s.logForm(&slog.HandlerOptions{})
	return err == nil && json
}

// welcome prints the address of the server. On an embedded database without any access key it makes one and shows its
// secret once.
func (s *settings) welcome(ctx context.Context, keeper *admin.Admin, addr net.Addr, out io.Writer) error {
	address := "http://" + reachable(addr)
	fmt.Fprintf(out, "Serving on %s (region %s); documentation on %s/docs\n", address, s.region, address)
	keys, err := keeper.Keys(ctx)
	if err != nil || len(keys) > 0 {
		return err
	}

	if !s.embedded() || s.collected() {
		fmt.Fprintln(out, "There is no access key yet. Make one with: loyalty keys create")
		return nil
	}

	label := "first key"
	key, made, err := keeper.CreateFirstKey(ctx, admin.Call{KeyID: admin.CommandLine}, admin.KeyChange{Label: &label})
	if err != nil || !made {
		return err
	}

	return s.introduce(out, address, key)
}
