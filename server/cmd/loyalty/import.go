package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/importer"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/spreadsheet"
	"github.com/loyalty-platform/loyalty/store"
)

// importFlags select the files to import, and how to read them.
type importFlags struct {
	paths   map[string]*string
	options importer.Options
	mapping string   // a file
	columns []string // further mappings
	errors  string
	asJSON  bool
}

func (i *importFlags) flags(f *pflag.FlagSet) {
	i.paths = map[string]*string{}
	i.options.Flag = "--"
	for _, kind := range importer.Kinds() {
		i.paths[kind] = f.String(kind, "", "CSV file with the columns "+importer.Columns(kind))
	}
	f.StringVar(&i.options.Dates, "dates", "",
		"order of days whose year comes last: dmy or mdy (2026-03-01 needs nothing)")
	f.StringVar(&i.options.Decimal, "decimal", "", "the decimal separator: . or , (files separated by commas: .)")
	f.StringVar(&i.options.Encoding, "encoding", "", "utf-8, windows-1250 or windows-1252 (default: utf-8)")
	f.BoolVar(&i.options.SameEmail, "allow-same-email", false, "let several members share an e-mail address")
	f.StringArrayVar(&i.columns, "map", nil,
		"another name for a column, FILE:THEIRS=OURS, such as members:Email=email; without OURS the column is left out; may be repeated")
	f.StringVar(&i.mapping, "mapping", "",
		"YAML or JSON file with columns, dates, decimal, encoding and allow_same_email, as POST /admin/imports takes them")
	f.StringVar(&i.errors, "errors", "", "CSV file to write the findings to: file, line, column, value, message")
	f.BoolVar(&i.asJSON, "json", false, "print the result as JSON")
}

// mapped adds --mapping and --map to the options.
func (i *importFlags) mapped() error {
	if i.mapping != "" {
		if err := i.options.ReadMapping(i.mapping); err != nil {
			return coded{codeUsage, fmt.Errorf("--mapping: %w", err)}
		}
	}

	for _, text := range i.columns {
		if err := i.options.Map(text); err != nil {
			return coded{codeUsage, fmt.Errorf("--%w", err)}
		}
	}

	if err := i.options.CheckColumns(); err != nil {
		return coded{codeUsage, fmt.Errorf("--map: %w", told(err))}
	}

	return nil
}

func newImport(s *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import", Short: "Take over members, points and purchases from another system's files",
		Long: "Take over members, lots of points with their own dates, purchases, tiers, coupons and members of lists from\n" +
			"CSV files. Separators (comma, semicolon, tab) are recognised; days, decimals and encodings are asked for, never\n" +
			"guessed. Nothing is given for what is taken over: no campaign, challenge or referral reacts to it.",
	}

	for _, c := range []struct {
		use, short, long string
		run              func(*importing) error
	}{
		{
			"check", "Read the files and say what is wrong with them",
			"Read the files whole, compare them with each other and with the programme, and write nothing.\nExit code 0: they can be taken over. 1: they cannot; each fault is named.", (*importing).check,
		},
		{
			"plan", "Show what the files would bring",
			"Show what the files would bring: members, points, and the liability by month. Nothing is written.\nExit code 0: they can be taken over. 1: they cannot.", (*importing).planned,
		},
		{
			"apply", "Take the files over",
			"Take the files over, once: the same files a second time are the same import. An interrupted run continues\nwhere it stopped, also in a running server. Exit code 0: all of it was done. 1: the files have faults, or rows were refused.", (*importing).apply,
		},
		{
			"reconcile", "Compare an import with the ledger, line by line",
			"Compare what was taken over with the ledger, line by line, and report sums.\nExit code 0: all that was not refused is there as the files have it, and nothing was refused. 1: something differs.", (*importing).reconcile,
		},
	} {
		var flags importFlags
		sub := &cobra.Command{
			Use: c.use, Short: c.short, Long: c.long, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return runImport(cmd, s, &flags, c.run) },
		}
		flags.flags(sub.Flags())
		cmd.AddCommand(sub)
	}

	return cmd
}

// importing is an import being run.
type importing struct {
	*importFlags
	cmd      *cobra.Command
	ctx      context.Context
	app      *app
	world    importer.World
	files    []importer.File
	findings int           // printed, or suppressed
	likes    map[alike]int // how often each occurred
	repeated []alike       // those that were not all printed
	errorLog *csv.Writer   // nil: not wanted
	texts    *i18n.Catalogue
}

func runImport(cmd *cobra.Command, s *settings, flags *importFlags, run func(*importing) error) error {
	paths := map[string]string{}
	for kind, path := range flags.paths {
		paths[kind] = *path
	}

	files := importer.InOrder(paths)
	if len(files) == 0 {
		return coded{codeUsage, fmt.Errorf("name at least one file: --%s", strings.Join(importer.Kinds(), ", --"))}
	}
	if err := flags.mapped(); err != nil {
		return err
	}
	if err := flags.options.Check(); err != nil {
		return coded{codeUsage, fmt.Errorf("--%w", err)}
	}

	return use(cmd.Context(), s.openExisting, func(db *store.Store) (err error) {
		h := &app{store: db, logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))}
		if err := s.wire(cmd.Context(), h); err != nil {
			return err
		}
		defer h.engine.Close()

		lists, err := listIDs(cmd.Context(),
			admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: db,
				Directory: h.directory, APIs: openapi.Names()}))
		if err != nil {
			return told(err)
		}

		texts, err := i18n.Load()
		if err != nil {
			return coded{codeFailed, err}
		}

		i := &importing{importFlags: flags, texts: texts, cmd: cmd, ctx: cmd.Context(), app: h, files: files,
			likes: map[alike]int{}, world: importer.World{
				Store: db, Programme: h.directory.Programme(), Contract: h.vocabulary, Lists: lists, Now: h.engine.Now(),
			}}
		if flags.errors != "" {
			file, err := os.Create(flags.errors)
			if err != nil {
				return coded{codeUsage, fmt.Errorf("--errors: %w", err)}
			}
			i.errorLog = csv.NewWriter(file)
			_ = i.errorLog.Write([]string{"file", "line", "column", "value", "message"}) // Error returns the error at the end
			defer func() {
				i.errorLog.Flush()
				err = errors.Join(err, i.errorLog.Error(), file.Close())
			}()
		}

		return run(i)
	})
}

// How many findings are printed in all, and how many with the same message for the same column; the file of --errors
// has all of them.
const (
	shownFindings = 100
	shownAlike    = 3
	// counted bounds the different findings that are counted.
	counted = 1_000
)

// alike is the common part of findings that differ only in line and value.
type alike struct{ file, column, message string }

func (i *importing) tell(f importer.Finding) {
	message := f.Text(i.say)
	if i.errorLog != nil {
		// Error returns the error at the end
		_ = i.errorLog.Write([]string{f.File, strconv.Itoa(f.Line), spreadsheet.Guard(f.Column), spreadsheet.Guard(f.Value),
			spreadsheet.Guard(message)})
	}

	kind := alike{f.File, f.Column, message}
	if _, known := i.likes[kind]; known || len(i.likes) < counted {
		if i.likes[kind]++; i.likes[kind] > shownAlike {
			if i.likes[kind] == shownAlike+1 {
				i.repeated = append(i.repeated, kind)
			}
			return
		}
	}

	if i.findings++; i.findings > shownFindings {
		return
	}

	word := ""
	if f.Warning {
		word = "warning: "
	}

	at := f.File
	if f.Line > 0 {
		at += " line " + strconv.Itoa(f.Line)
	}
	if f.Column != "" {
		at += " " + f.Column
	}
	if f.Value != "" {
		at += fmt.Sprintf(" %q", f.Value)
	}

	fmt.Fprintf(i.cmd.ErrOrStderr(), "%s: %s%s\n", at, word, message)
}

// say renders a text of the catalogue. A reason is a name too, if the catalogue knows it.
func (i *importing) say(name string, args map[string]any) string {
	if reason, is := args["reason"].(string); is {
		if text := i.texts.Message(i18n.Default, "reason."+reason, nil); text != "reason."+reason {
			args = maps.Clone(args)
			args["reason"] = text
		}
	}
	return i.texts.Message(i18n.Default, name, args)
}

// rest reports how many findings were not printed.
func (i *importing) rest() {
	more := max(i.findings-shownFindings, 0)
	for n, kind := range i.repeated {
		again := i.likes[kind] - shownAlike
		if n >= shownFindings {
			more += again
			continue
		}
		fmt.Fprintf(i.cmd.ErrOrStderr(),
			"%s: %d more: %s\n", strings.TrimSpace(kind.file+" "+kind.column), again, kind.message)
	}

	switch {
	case more > 0:
		fmt.Fprintf(i.cmd.ErrOrStderr(), "and %d more; --errors FILE writes all of them\n", more)
	case len(i.repeated) > 0 && i.errorLog == nil:
		fmt.Fprintln(i.cmd.ErrOrStderr(), "--errors FILE writes all of them")
	}
}

// read checks the files and fails if they cannot be imported.
func (i *importing) read() (importer.Plan, error) {
	plan, err := importer.Check(i.ctx, i.world, i.files, i.options, i.tell)
	if err != nil {
		return plan, coded{codeFailed, err}
	}
	i.rest()
	if plan.Errors > 0 {
		return plan, coded{codeFailed, fmt.Errorf("%d faults in the files", plan.Errors)}
	}
	if plan.Total() == 0 {
		return plan, coded{codeFailed, errors.New("the files have no rows")}
	}
	return plan, nil
}

func (i *importing) check() error {
	plan, err := i.read()
	if err != nil {
		return err
	}
	fmt.Fprintf(i.cmd.OutOrStdout(), "%d rows can be taken over; %d warnings\n", plan.Total(), plan.Warnings)
	return nil
}

func (i *importing) planned() error {
	plan, failed := i.read()
	out := i.cmd.OutOrStdout()
	if i.asJSON {
		return errors.Join(failed, json.NewEncoder(out).Encode(plan))
	}

	for _, kind := range importer.Kinds() {
		if n := plan.Rows[kind]; n > 0 {
			fmt.Fprintf(out, "%-10s %d rows\n", kind, n)
		}
	}

	fmt.Fprintf(out, "members: %d new, %d known\npoints: %d\n", plan.New, plan.Known, plan.Points)
	for _, month := range slices.Sorted(maps.Keys(plan.Expiring)) {
		fmt.Fprintf(out, "  %-8s %d\n", month, plan.Expiring[month])
	}

	for _, currency := range slices.Sorted(maps.Keys(plan.Bought)) {
		fmt.Fprintf(out, "purchases: %s %s\n", plan.Bought[currency], currency)
	}

	return failed
}

// begun finds the import of the files; its Digest is always set.
func (i *importing) begun() (loyalty.Import, bool, error) {
	digest, err := importer.Digest(i.files, i.options)
	if err != nil {
		return loyalty.Import{}, false, coded{codeFailed, err}
	}
	found, there, err := i.app.store.Import(i.ctx, digest)
	if err != nil {
		return found, false, coded{codeFailed, err}
	}
	found.Digest = digest
	return found, there, nil
}

func (i *importing) apply() error {
	im, there, err := i.begun()
	if err != nil {
		return err
	}

	if im.BegunAt.IsZero() {
		plan, err := i.read()
		if err != nil {
			return err
		}

		if !there {
			now := i.app.engine.Now().UTC().Truncate(time.Millisecond)
			im = loyalty.Import{ID: loyalty.NewID(now, loyalty.ID{}), Digest: im.Digest, Total: plan.Total(), CreatedAt: now,
				KeyID: commandLine.KeyID}
		}

		if im, err = importer.Stage(i.ctx, i.world, i.files, i.options, im); err != nil {
			return coded{codeFailed, err}
		}
		if _, err = adminOf(i.app.store).BeginImport(i.ctx, commandLine, im); err != nil {
			return told(err)
		}
	}

	return i.follow(im.ID)
}

// waitForImport is how often to check whether another process has finished.
const waitForImport = time.Second

// follow does the work, or waits for the server that does it, and reports the progress.
func (i *importing) follow(id loyalty.ID) error {
	for {
		op, err := i.app.store.BulkOperation(i.ctx, id, loyalty.BulkImport)
		switch {
		case errors.Is(err, loyalty.ErrBatchNotFound):
			fmt.Fprintln(i.cmd.OutOrStdout(), "These files were taken over more than 30 days ago, as import", id)
			return nil
		case err != nil:
			return coded{codeFailed, err}
		case op.State == loyalty.BulkDone:
			fmt.Fprintf(i.cmd.OutOrStdout(), "import %s: %d rows done, %d of them refused\n", id, op.Done, op.Errors)
			if op.Errors > 0 {
				return coded{codeFailed, fmt.Errorf("%d rows were refused: loyalty import reconcile names them", op.Errors)}
			}
			return nil
		}

		fmt.Fprintf(i.cmd.ErrOrStderr(), "%d of %d rows\n", op.Done, op.Total)
		_, err = i.app.jobs.Run(i.ctx, "bulk")
		if err != nil && !errors.Is(err, loyalty.ErrJobRunning) {
			return coded{codeFailed, err}
		}

		if err != nil {
			select {
			case <-i.ctx.Done():
				return coded{codeFailed, i.ctx.Err()}
			case <-time.After(waitForImport):
			}
		}
	}
}

func (i *importing) reconcile() error {
	im, there, err := i.begun()
	if err != nil {
		return err
	}
	if !there || im.BegunAt.IsZero() {
		return coded{codeFailed, errors.New("these files were not taken over: run loyalty import apply first")}
	}

	a, err := importer.Reconcile(i.ctx, i.world, i.app.store, i.files, i.options, im, i.tell)
	if err != nil {
		return coded{codeFailed, err}
	}

	out := i.cmd.OutOrStdout()
	if i.asJSON {
		err = json.NewEncoder(out).Encode(a)
	} else {
		err = printAccount(out, &a)
	}

	switch {
	case err != nil:
		return coded{codeFailed, err}
	case !a.Exact():
		return coded{codeFailed, fmt.Errorf("the ledger differs from the files in %d lines", a.Wrong)}
	case a.Refused > 0:
		return coded{codeFailed, fmt.Errorf("%d rows were refused", a.Refused)}
	}

	return nil
}

func printAccount(w io.Writer, a *importer.Account) error {
	var b strings.Builder
	fmt.Fprintf(&b, "import %s: %s, %d rows, %d done, %d refused\n", a.Import, a.State, a.Rows, a.Done, a.Refused)
	fmt.Fprintf(&b, "%-28s %16s %16s %10s\n", "", "files", "ledger", "difference")
	line := func(name string, file, ledger int64) {
		fmt.Fprintf(&b, "%-28s %16d %16d %10d\n", name, file, ledger, ledger-file)
	}
	line("lots", a.Expected.Lots, a.Lots.Lots)
	line("points", a.Expected.Points, a.Lots.Points)
	for _, month := range slices.Sorted(maps.Keys(a.Months)) {
		line("points that expire "+month, a.Months[month][0], a.Months[month][1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}
