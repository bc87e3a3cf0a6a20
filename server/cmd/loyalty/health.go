package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func newHealthcheck(s *settings) *cobra.Command {
	path := "/readyz"
	alive := false
	cmd := &cobra.Command{
		Use: "healthcheck", Short: "Check whether the server with these settings is ready", Args: cobra.NoArgs,
		Long: "Check whether the server with these settings is ready, and say so in one line. Containers need no other program\nfor that. Exit code 0: it is ready. 1: it is not, or does not answer.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if alive {
				path = "/livez"
			}
			text, err := s.healthcheck(cmd, path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}

	cmd.Flags().BoolVar(&alive, "live", false, "check whether it runs, not whether it is ready")
	return cmd
}

// healthcheck returns the first line of the answer.
func (s *settings) healthcheck(cmd *cobra.Command, path string) (string, error) {
	host, port, err := hostPort(s.listen)
	if err != nil || port == 0 {
		return "", fault("listen", "%q has no port to ask", s.listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}

	r, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet,
		"http://"+net.JoinHostPort(host, fmt.Sprint(port))+path, nil)
	if err != nil {
		return "", fault("listen", "%w", err)
	}

	client := &http.Client{Timeout: 2 * readyTime, Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	a, err := client.Do(r)
	if err != nil {
		return "", coded{codeFailed, err}
	}
	defer func() { _ = a.Body.Close() }()

	text, err := io.ReadAll(io.LimitReader(a.Body, 4<<10))
	if err != nil {
		return "", coded{codeFailed, err}
	}

	line, _, _ := strings.Cut(string(text), "\n")
	if a.StatusCode != http.StatusOK {
		return "", coded{codeFailed, errors.New(line)}
	}

	return line, nil
}
