// Package logs implements `tandem logs`: the log of one process or session, or those of several
// merged.
package logs

import (
	"bytes"
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

const (
	// logPage is how many bytes of a log to request at once, logMatches how many matching lines.
	logPage    = 1 << 20
	logMatches = 1000
	// logWait is how long one call waits for more output.
	logWait = 30 * time.Second
	// logPause is the delay before the next call if the log has more but returned nothing.
	logPause = 50 * time.Millisecond
)

type flags struct {
	follow, raw    bool
	times          bool
	project        bool
	sessions       bool // sessions too, with project
	lines, context int
	since          int64
	grep, stream   string
}

// NewLogs returns the command logs.
func NewLogs(f *factory.Factory) *cobra.Command {
	var opts flags
	cmd := &cobra.Command{
		Use:   "logs [ID…|--project [--sessions]] [-f] [-n N] [--grep RE [--context N]] [--stream S]",
		Short: "Print the output of processes and sessions",
		Long: "Prints the output of a process or session, from the oldest line kept, as a terminal\n" +
			"would show each line: without colours, and without text that was overwritten later.\n" +
			"--raw prints the bytes. With -f it follows the log until the process exits. With --grep it\n" +
			"prints the lines whose text matches, or the last -n of them, and exits with 1 if there\n" +
			"are none. A match longer than 16 KiB is cut, with a note. If standard output and error\n" +
			"are logged separately, each is printed to the same stream of this command; --json prints\n" +
			"only standard output, unless --stream is given.\n\n" +
			"The logs of several processes, or of a --project, are merged in the order of time,\n" +
			"to a tenth of a second. Each line comes after its process's name, with ! instead of\n" +
			"| for standard error. A line whose time is not known comes right after the one\n" +
			"before it in its log; output from before the engine's last start comes first. -n\n" +
			"applies to each process, but with --grep to all together; --context shows the lines\n" +
			"around a match in the merged output, from whichever process they are. -f reports when\n" +
			"a process exits, and ends when all have; with --project it waits for `tandem up` if\n" +
			"nothing is started yet. --json prints one object per line. --stream both merges the\n" +
			"two streams of one process in the same way.",
		Example: "tandem logs web -n 20 -f\ntandem logs web api db -f\ntandem logs --project -f -n 10\n" +
			"tandem logs web --grep 'error|panic' --context 3\ntandem logs web --times -n 50",
		ValidArgsFunction: f.CompleteProcesses(factory.AnyProcess),
		Annotations:       factory.Several.Naming(factory.AllNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.check(cmd, args); err != nil {
				return err
			}
			return printLogs(f, cmd, args, opts)
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "follow new output")
	cmd.Flags().IntVarP(&opts.lines, "lines", "n", -1, "only the last `number` of lines")
	cmd.Flags().Int64Var(&opts.since, "since", 0, "begin at this `offset` in bytes; negative counts from the end")
	cmd.Flags().StringVar(&opts.grep, "grep", "", "only lines that match this regular `expression`")
	cmd.Flags().IntVar(&opts.context, "context", 0, "`lines` around each match")
	cmd.Flags().StringVar(&opts.stream, "stream", "", "`stream` to print if logged separately: stdout, stderr, or both merged")
	cmd.Flags().BoolVarP(&opts.times, "times", "t", false, "show when each line was written, if known")
	cmd.Flags().BoolVar(&opts.raw, "raw", false, "print the bytes as they were written")
	cmd.Flags().BoolVar(&opts.project, "project", false, "all processes, but no sessions, of the project file here or above")
	cmd.Flags().BoolVar(&opts.sessions, "sessions", false, "with --project, include its sessions")
	cmd.Flags().Lookup("lines").DefValue = "0"
	_ = cmd.RegisterFlagCompletionFunc("stream", cobra.FixedCompletions([]string{"stdout", "stderr", streamBoth}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// isMerged reports whether the lines of several streams are printed as one log.
func (opts *flags) isMerged(args []string) bool {
	return opts.project || len(args) > 1 || opts.stream == streamBoth
}

// streamBoth is the --stream for standard output and error, merged by time.
const streamBoth = "both"

func (opts *flags) check(cmd *cobra.Command, args []string) error {
	if _, err := regexp.Compile(opts.grep); err != nil {
		return output.Usagef(cmd, "read --grep: %v", err)
	}
	switch {
	case opts.sessions && !opts.project:
		return output.Usagef(cmd, "--sessions needs --project")
	case opts.project && len(args) > 0:
		return output.Usagef(cmd, "logs takes ids or --project, not both")
	case !opts.project && len(args) == 0:
		return output.Usagef(cmd, "which process? Give an id or name, or --project.")
	case opts.isMerged(args) && opts.since > 0:
		return output.Usagef(cmd, "read --since %d: merged logs need a negative number, which counts from the end of each", opts.since)
	case cmd.Flags().Changed("lines") && opts.lines < 0:
		return output.Usagef(cmd, "read -n %d: must be 0 or more lines", opts.lines)
	case cmd.Flags().Changed("lines") && cmd.Flags().Changed("since"):
		return output.Usagef(cmd, "-n and --since cannot be combined; give one of the two")
	case opts.context < 0:
		return output.Usagef(cmd, "read --context %d: must be 0 or more lines", opts.context)
	case opts.times && opts.grep != "" && !opts.isMerged(args):
		return output.Usagef(cmd, "--times cannot be used with --grep, except in merged logs")
	case opts.context > 0 && opts.grep == "":
		return output.Usagef(cmd, "--context needs --grep")
	case opts.stream != "" && opts.stream != "stdout" && opts.stream != "stderr" && opts.stream != streamBoth:
		return output.Usagef(cmd, "read --stream %s: must be stdout, stderr or both", output.Visible(opts.stream))
	}
	return nil
}

// A logReader prints one log.
type logReader struct {
	flags
	conn    *retry.Conn
	out     output.Printer
	in      api.ProcessLogInput
	text    logText
	matches *matchPrinter // nil without --grep
	until   int64         // without --follow, the end of the log at first; output after it is not printed
	inLine  bool          // the last line printed has no newline yet
	found   bool          // a line has matched --grep
	all     answers       // with --json but not --follow
}

func printLogs(f *factory.Factory, cmd *cobra.Command, ids []string, opts flags) error {
	ctx := cmd.Context()
	if opts.follow {
		reading, release := output.WhileRead(ctx, f.Out.Stdout)
		defer release()
		ctx = reading
	}
	var err error
	if opts.isMerged(ids) {
		err = merge(ctx, f, opts, cmd, ids)
	} else {
		err = printOne(ctx, f, cmd, ids[0], opts)
	}
	if errors.Is(err, context.Canceled) {
		// The cause is the exit status for a closed output pipe.
		err = context.Cause(ctx)
	}
	return err
}

func printOne(ctx context.Context, f *factory.Factory, cmd *cobra.Command, id string, opts flags) error {
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	if opts.follow {
		f.AnnounceWaits(p)
	}
	// A name may be reused once the process has exited, so use its id from here on.
	process, err := api.ProcessGet.Call(ctx, p, api.IDInput{ID: id})
	if err != nil {
		return err
	}
	if process.Kind == api.KindSession && !opts.raw && !f.Out.JSON {
		return merge(ctx, f, opts, cmd, []string{process.ID})
	}
	split := process.Supervision != nil && process.Supervision.SplitLog
	if opts.stream != "" || !split || f.Out.JSON {
		r := newLogReader(cmd, p, f.Out, process.ID, opts)
		return opts.grepStatus(r.read(ctx), r)
	}
	opts.stream = "stdout"
	stdout := newLogReader(cmd, p, f.Out, process.ID, opts)
	opts.stream = "stderr"
	second, err := retry.Connect(ctx, f.Dial) // each reader blocks on its own calls
	if err != nil {
		return err
	}
	defer second.Close()
	if opts.follow {
		second.Away = func() {} // the other connection prints the note
	}
	beside := f.Out
	beside.Stdout = f.Stderr
	stderr := newLogReader(cmd, second, beside, process.ID, opts)
	return opts.grepStatus(readBoth(ctx, stdout, stderr), stdout, stderr)
}

// readBoth prints both streams of a process: at the same time when following, else one after the
// other.
func readBoth(ctx context.Context, stdout, stderr *logReader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !stdout.follow {
		if err := stdout.read(ctx); err != nil {
			return err
		}
		return stderr.read(ctx)
	}
	done := make(chan error, 1)
	go func() {
		err := stderr.read(ctx)
		if err != nil {
			cancel()
		}
		done <- err
	}()
	err := stdout.read(ctx)
	if err != nil {
		cancel()
	}
	// Report the error of the failed stream, not the cancellation of the other one.
	if errStderr := <-done; err == nil || errStderr != nil && !errors.Is(errStderr, context.Canceled) {
		err = errStderr
	}
	return err
}

// grepStatus returns exit status 1 if --grep matched nothing, and err otherwise.
func (opts *flags) grepStatus(err error, readers ...*logReader) error {
	if err != nil || opts.grep == "" {
		return err
	}
	for _, r := range readers {
		if r.found {
			return nil
		}
	}
	return &output.ExitError{Status: output.StatusFailed}
}

func newLogReader(cmd *cobra.Command, conn *retry.Conn, out output.Printer, id string, opts flags) *logReader {
	r := &logReader{conn: conn, out: out, flags: opts, text: logText{out: out, raw: opts.raw}}
	r.setFirstInput(cmd, id)
	return r
}

// setFirstInput sets the input of the first call.
func (r *logReader) setFirstInput(cmd *cobra.Command, id string) {
	r.in = api.ProcessLogInput{ID: id, Stream: r.stream, Max: logPage, Grep: r.grep, Context: r.context, Exact: r.raw || !r.out.JSON, Times: r.times}
	if cmd.Flags().Changed("since") {
		r.in.Since = &r.since
	}
	if r.grep != "" {
		r.matches = newMatchPrinter(r.out, r.grep, r.raw, r.context > 0)
		r.in.Limit = logMatches
	}
	switch {
	case r.lines == 0:
		end := int64(math.MaxInt64)
		r.in.Since = &end
	case r.lines > 0 && r.grep != "":
		r.in.Backward, r.in.Limit = true, r.lines
	case r.lines > 0:
		r.in.Tail = r.lines
	}
}

// read prints the log up to its end, and with --follow beyond it until the process exits.
func (r *logReader) read(ctx context.Context) error {
	for {
		out, err := api.ProcessLog.Call(ctx, r.conn, r.in)
		if err != nil {
			return err
		}
		r.dropNewer(&out)
		if err := r.print(out); err != nil {
			return err
		}
		moved := r.in.Since == nil || out.NextCursor > *r.in.Since
		atEnd := r.in.Backward || out.NextCursor >= out.End || !moved && out.State.Ended()
		if (atEnd && (!r.follow || out.State.Ended())) || (!r.follow && !moved) {
			return r.print(api.ProcessLogOutput{})
		}
		if !atEnd && !moved {
			if err := sleep.For(ctx, logPause); err != nil {
				return err
			}
		}
		r.setNextInput(out)
	}
}

// dropNewer removes from an answer what was written after the first call. Otherwise the end of a
// log that grows fast might never be reached.
func (r *logReader) dropNewer(out *api.ProcessLogOutput) {
	if r.follow {
		return
	}
	if r.until == 0 {
		r.until = out.End
	}
	out.End = min(out.End, r.until)
	out.Matches = slices.DeleteFunc(out.Matches, func(m api.LogMatch) bool { return m.Offset >= r.until })
}

// setNextInput sets the input of the call after out.
func (r *logReader) setNextInput(out api.ProcessLogOutput) {
	since := out.NextCursor
	if r.in.Backward {
		since = out.End
	}
	r.in.Since, r.in.Tail, r.in.Backward = &since, 0, false
	if r.grep != "" {
		r.in.Limit = logMatches
	}
	if r.follow {
		r.in.WaitMS = int(logWait.Milliseconds())
	}
}

// print prints an answer. The zero value marks the end of the log.
func (r *logReader) print(out api.ProcessLogOutput) error {
	end := out.State == ""
	r.found = r.found || len(out.Matches) > 0
	if r.out.JSON {
		return r.printJSON(out)
	}
	r.warnGap(out)
	if r.matches != nil {
		return r.out.Print(r.matches.add(out.Matches))
	}
	text, err := out.Bytes()
	if err != nil {
		return err
	}
	// rest may end within a character, so round up.
	if rest := out.End - out.Start; !r.follow && int64(len(text)) > rest {
		text = text[:runeEnd(text, int(max(rest, 0)))]
	}
	if r.times {
		text = r.addTimes(text, out)
	}
	if r.in.Exact && !r.raw {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return r.out.Print(r.text.add(string(text), end))
}

// runeEnd returns n, or the end of the character around n.
func runeEnd(text []byte, n int) int {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// addTimes inserts the time before each line.
func (r *logReader) addTimes(text []byte, out api.ProcessLogOutput) []byte {
	var b []byte
	at := out.Start
	for line := range bytes.Lines(text) {
		if !r.inLine {
			b = append(b, timeText(out.Times, at)...)
		}
		b = append(b, line...)
		r.inLine = line[len(line)-1] != '\n'
		at += int64(len(line))
	}
	return b
}

// timeText formats the time of writing at an offset, or the same number of blanks if it is unknown.
func timeText(times []api.LogTime, offset int64) string {
	text := strings.Repeat(" ", len(time.DateTime))
	for _, t := range times {
		if t.Offset <= offset {
			text = t.At.Local().Format(time.DateTime)
		}
	}
	return text + " "
}

// warnGap prints a note about output dropped because of the log's size limit.
func (r *logReader) warnGap(out api.ProcessLogOutput) {
	asked := int64(0)
	switch {
	case r.in.Since != nil:
		asked = *r.in.Since
	case r.in.Tail > 0:
		if out.WithinLine {
			r.out.Tell("the first line is longer than 1 MiB; only its end is printed")
		}
		return
	}
	if gone := out.Dropped - asked; asked >= 0 && gone > 0 && !r.in.Backward {
		r.out.Tell("%d earlier bytes are gone: the log has a size limit", gone)
	}
}

// printJSON prints each answer as one line when following, else all answers as one at the end.
func (r *logReader) printJSON(out api.ProcessLogOutput) error {
	switch end := out.State == ""; {
	case r.follow && (end || (out.Data == "" && out.DataBytes == "" && len(out.Matches) == 0)):
		return nil
	case r.follow:
		return r.out.PrintJSON(out, "")
	case end:
		return r.out.Answer(r.all.answer(), nil)
	}
	return r.all.add(out)
}
