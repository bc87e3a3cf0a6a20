package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/signing"
)

// sendTimeout bounds a request including its answer.
const sendTimeout = 60 * time.Second

// signFlags describe a request to sign.
type signFlags struct {
	data, keyID, secret string
	headers             []string
	form, send          bool
}

func newSign(s *settings) *cobra.Command {
	var f signFlags
	cmd := &cobra.Command{
		Use: "sign METHOD URL", Short: "Sign a request: print its headers, or send it", Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 { // a URL
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{http.MethodGet, http.MethodPost, http.MethodDelete}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := f.request(cmd, args[0], args[1], s.region)
			if err != nil {
				return coded{codeUsage, err}
			}
			if !f.send {
				return printSigned(cmd.OutOrStdout(), request)
			}
			return send(cmd.Context(), cmd.OutOrStdout(), request)
		},
	}

	flags := cmd.Flags()
	flags.StringVar(&f.keyID, "key-id", "", "access key id")
	flags.StringVar(&f.secret, "secret", "", "the key's secret; safer in the environment")
	markEnvironment(flags)
	flags.StringVar(&f.data, "data", "", "body of the request; @file reads a file, @- standard input")
	flags.BoolVar(&f.form, "form", false, "the body is form URL encoded, not JSON")
	flags.StringArrayVar(&f.headers, "header", nil, "further header to send and sign, 'Name: value'; may be repeated")
	flags.BoolVar(&f.send, "send", false, "send the request and print the answer")
	return cmd
}

// request makes the signed request.
func (f *signFlags) request(cmd *cobra.Command, method, address, region string) (*http.Request, error) {
	switch {
	case f.keyID == "":
		return nil, errors.New("LOYALTY_KEY_ID: is missing; set it, or give --key-id")
	case f.secret == "":
		return nil, errors.New("LOYALTY_SECRET: is missing; set it, or give --secret")
	}

	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("URL: %q is not a complete http or https address", address)
	}

	body, err := f.body(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}

	request, err := http.NewRequestWithContext(cmd.Context(), strings.ToUpper(method), address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	signed, err := f.setHeaders(request, len(body) > 0)
	if err != nil {
		return nil, err
	}

	return request, signing.Default(region).
		Sign(request, body, signing.Credential{KeyID: f.keyID, Secret: f.secret}, signed...)
}

func (f *signFlags) body(stdin io.Reader) ([]byte, error) {
	name, isFile := strings.CutPrefix(f.data, "@")
	switch {
	case !isFile:
		return []byte(f.data), nil
	case name == "-":
		return io.ReadAll(stdin)
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return body, nil
}

// setHeaders returns the names of the headers to sign in addition to host and date.
func (f *signFlags) setHeaders(r *http.Request, hasBody bool) ([]string, error) {
	var names []string
	if hasBody {
		r.Header.Set("Content-Type", "application/json")
		if f.form {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		names = append(names, "Content-Type")
	}

	for _, text := range f.headers {
		name, value, ok := strings.Cut(text, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		if !ok || name == "" {
			return nil, fmt.Errorf("--header: %q is not Name: value", text)
		}
		if slices.Contains([]string{"Host", "Date", "Authorization"}, name) {
			return nil, fmt.Errorf("--header: %s is set by signing", name)
		}
		r.Header.Set(name, strings.TrimSpace(value))
		names = append(names, name)
	}

	return names, nil
}

// printSigned prints the headers that a client has to send, host first.
func printSigned(w io.Writer, r *http.Request) error {
	fmt.Fprintf(w, "Host: %s\n", r.URL.Host)
	return r.Header.Write(newlines{w})
}

// newlines turns the line ends of HTTP into those of a terminal.
type newlines struct{ io.Writer }

func (n newlines) Write(p []byte) (int, error) {
	_, err := n.Writer.Write(bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n")))
	return len(p), err
}

// shownHeaders are the headers of an answer that are shown.
var shownHeaders = []string{
	"X-Request-Id", "Content-Type", "Content-Language", "Idempotency-Replayed", "Deprecation",
	"WWW-Authenticate", "Retry-After",
	"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
}

// send sends the request and prints the answer. It follows no redirect, for which the signature would be wrong. An
// answer of 400 or more ends the program with code 1.
func send(ctx context.Context, w io.Writer, r *http.Request) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return coded{codeFailed, err}
	}
	defer func() { _ = answer.Body.Close() }() // everything was read or reading failed

	fmt.Fprintln(w, answer.Proto, answer.Status)
	for _, name := range shownHeaders {
		for _, value := range answer.Header.Values(name) {
			fmt.Fprintf(w, "%s: %s\n", name, value)
		}
	}

	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return coded{codeFailed, err}
	}

	fmt.Fprintf(w, "\n%s\n", pretty(body))
	if answer.StatusCode >= http.StatusBadRequest {
		return coded{code: codeFailed}
	}

	return nil
}

func pretty(body []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return body
	}
	return b.Bytes()
}
