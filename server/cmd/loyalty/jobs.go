package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

func newJobs(s *settings) *cobra.Command {
	jobs := &cobra.Command{Use: "jobs", Short: "Run the timed jobs now, or show when they ran"}
	jobs.AddCommand(
		&cobra.Command{
			Use: "run NAME", Short: "Run one job now and say what it did", Args: cobra.ExactArgs(1), ValidArgs: job.JobNames(),
			Long: "Run one job now, whether it is due or not, and say what it did. A server may run meanwhile:\nonly one process runs a job at a time, and nothing is done twice.\nExit code 0: all of it was done. 1: something failed, or another process is running the job.",
			RunE: func(cmd *cobra.Command, args []string) error { return s.runJob(cmd, args[0]) },
		},
		&cobra.Command{
			Use: "list", Short: "List the jobs and their last runs", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return s.withJobs(cmd, func(jobs *job.Jobs, _ *admin.Admin) error {
					list, err := jobs.List(cmd.Context())
					if err != nil {
						return coded{codeFailed, err}
					}
					return printJobs(cmd.OutOrStdout(), list)
				})
			},
		})

	return jobs
}

// withJobs wires the jobs on an existing database.
func (s *settings) withJobs(cmd *cobra.Command, work func(*job.Jobs, *admin.Admin) error) error {
	ctx, logger := cmd.Context(), slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	return use(ctx, s.openExisting, func(db *store.Store) error {
		h := &app{store: db, logger: logger}
		if err := s.wire(ctx, h); err != nil {
			return err
		}
		defer h.engine.Close()
		return work(h.jobs, adminOf(db))
	})
}

func (s *settings) runJob(cmd *cobra.Command, name string) error {
	return s.withJobs(cmd, func(jobs *job.Jobs, a *admin.Admin) error {
		note := func(ctx context.Context) error { return admin.NoteJob(ctx, a, commandLine, name) }
		done, err := jobs.Run(cmd.Context(), name, note)
		switch {
		case errors.Is(err, loyalty.ErrJobUnknown):
			return coded{codeUsage, fmt.Errorf("there is no job %q; the jobs are: %v", name, job.JobNames())}
		case errors.Is(err, loyalty.ErrJobRunning):
			return coded{codeFailed, fmt.Errorf("%s is being run by another process; try again later", name)}
		case err != nil:
			return coded{codeFailed, err}
		}

		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d done, %d failed\n", name, done.Done, done.Failed)
		if done.Failed > 0 {
			return coded{codeFailed, fmt.Errorf("%s: %s", name, done.Result)}
		}

		return nil
	})
}

func printJobs(w io.Writer, list []job.Job) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "JOB\tEVERY\tLAST RUN\tDONE\tFAILED\tNEXT")
	for _, j := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\n", j.Name, j.Interval, instantText(j.FinishedAt), j.Done,
			j.Failed, instantText(j.NextAt))
	}
	return table.Flush()
}
