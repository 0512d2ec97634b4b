package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"tandem/engine/api"
	"tandem/ui/cli/output"
	"tandem/ui/cli/retry"

	"github.com/spf13/cobra"
)

// recFlags are the flags of rec.
type recFlags struct {
	output, since string
	overwrite     bool
	idle          duration
}

// A recorded is what rec has made.
type recorded struct {
	Path    string  `json:"path"`
	Session string  `json:"session"`
	Seconds float64 `json:"seconds"`
	Events  int     `json:"events"`
	Guessed int64   `json:"bytes_without_times"`
}

func (a *app) recCommand() *cobra.Command {
	var f recFlags
	cmd := &cobra.Command{
		Use:   "rec ID [-o FILE] [--since start] [--idle-limit D] | rec [-o FILE] -- CMD…",
		Short: "Record a session as an asciicast",
		Long: "Records what a session shows as a file of asciicast v2, which `tandem play` and the\n" +
			"players of asciinema show. It goes on until the session ends or you press ctrl+c; with\n" +
			"--since start it writes all that is kept of the session so far, with the times at which\n" +
			"it was printed as far as the engine saw that. With a command it runs that in this terminal\n" +
			"and records it. What you type is recorded only where the program shows it.",
		Example: "tandem rec build\ntandem rec build --since start -o build.cast\ntandem rec --idle-limit 2s -- vim notes.md",

		DisableFlagsInUseLine: true,
		Args:                  a.recArgs,
		ValidArgsFunction:     a.completeSession(whatever),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.since != "" && f.since != "start" && f.since != "now" {
				return output.Usagef(cmd, "read --since %s: want start or now", output.Visible(f.since))
			}
			if cmd.ArgsLenAtDash() == 0 {
				if f.since != "" {
					return output.Usagef(cmd, "--since goes with a session, not with a command")
				}
				return a.recordCommand(cmd, args, f)
			}
			return a.recordSession(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` to write, or - (default: named after the session)")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace a file that is there")
	flags.StringVar(&f.since, "since", "", "from `when` on: start is what is kept so far, now what comes (default)")
	flags.Var(&f.idle, "idle-limit", "longest pause that players show")
	offer(cmd, "since", "start", "now")
	return cmd
}

func (a *app) recArgs(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() == 0 {
		return a.atLeast(1, "record which command? give one behind --")(cmd, args)
	}
	return a.exactly(1, "record which session? give an id or a name, or a command behind --")(cmd, args)
}

// recordSession records a session that there is.
func (a *app) recordSession(ctx context.Context, id string, f recFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	client, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	p, err := api.SessionGet.Call(ctx, client, api.IDInput{ID: id})
	client.Close()
	if err != nil {
		return err
	}
	r, err := a.newRecorder(p.Name, f)
	if err != nil {
		return err
	}
	r.process = p
	if f.since != "start" {
		a.out.Tell("recording %s to %s; ctrl+c ends that", output.Visible(p.Name), output.Visible(r.path))
	}
	err = r.run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // it was asked for
	}
	return r.finish(err)
}

// recordCommand runs a command in this terminal, or without one unseen, and
// records it.
func (a *app) recordCommand(cmd *cobra.Command, command []string, f recFlags) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	in, err := a.startInput(cmd, newFlags{}, command)
	if err != nil {
		return err
	}
	r, err := a.newRecorder(filepath.Base(command[0]), f)
	if err != nil {
		return err
	}
	p, err := call(ctx, a, api.SessionStart, in)
	if err != nil {
		return r.finish(err)
	}
	r.process, r.since = p, new(int64)
	recording, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.run(recording) }()
	_, reads := output.Terminal(a.Stdin)
	_, shows := output.Terminal(a.Stdout)
	if reads && shows {
		err = a.attach(cmd, p.ID, false)
		if now, errNow := call(ctx, a, api.SessionGet, api.IDInput{ID: p.ID}); errNow != nil || !now.State.Ended() {
			cancel() // left: the recording ends here, the session does not
		}
	}
	if errRec := <-done; err == nil && !errors.Is(errRec, context.Canceled) {
		err = errRec
	}
	return r.finish(err)
}

// A recorder writes what a session shows.
type recorder struct {
	app     *app
	process api.Process
	path    string // "-" for standard output
	file    io.WriteCloser
	idle    duration
	time    timeline
	cast    *castWriter
	since   *int64 // where it goes on; nil at the present
	whole   bool   // it ends where the log ends, though the session goes on
}

// newRecorder makes the file of a recording, which is named after name unless
// the flags tell.
func (a *app) newRecorder(name string, f recFlags) (*recorder, error) {
	r := &recorder{app: a, path: f.output, idle: f.idle, whole: f.since == "start"}
	if r.whole {
		r.since = new(int64)
	} else {
		began := time.Now()
		r.time.live = func() time.Duration { return time.Since(began) }
	}
	var err error
	switch r.path {
	case "-":
		if _, ok := output.Terminal(a.Stdout); ok {
			return nil, api.Errorf(api.CodeInvalid, "record to the terminal: a recording is for players").WithHint("give a file with -o, or pipe it somewhere")
		}
		r.file = keepOpen{a.Stdout}
	case "":
		r.path, r.file, err = createNamed(name)
	default:
		r.file, err = createRecording(r.path, f.overwrite)
	}
	return r, err
}

// keepOpen is a stream that others go on to use.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// createNamed makes a file that is named after a session and was not there.
func createNamed(name string) (string, io.WriteCloser, error) {
	base := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.TrimLeft(name, ".-"))
	if base == "" {
		base = "session"
	}
	for n := 1; ; n++ {
		path := base + ".cast"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.cast", base, n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return path, f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", nil, fmt.Errorf("create recording: %w", err)
		}
	}
}

func createRecording(path string, overwrite bool) (io.WriteCloser, error) {
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !overwrite {
		how |= os.O_EXCL
	}
	f, err := os.OpenFile(path, how, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, api.Errorf(api.CodeConflict, "create recording: %s is there already", path).WithHint("--overwrite replaces it")
	}
	if err != nil {
		return nil, fmt.Errorf("create recording: %w", err)
	}
	return f, nil
}

// run records until the session has ended, or its log when that is what was
// asked for.
func (r *recorder) run(ctx context.Context) error {
	p, err := retry.Connect(ctx, r.app.Connect)
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		in := api.SessionRecordInput{ID: r.process.ID, Since: r.since, Max: logPage}
		if !r.whole {
			in.WaitMS = int(logWait.Milliseconds())
		}
		out, err := retry.Call(ctx, p, api.SessionRecord, in)
		if err != nil {
			return err
		}
		if err := r.write(out); err != nil {
			return err
		}
		moved := r.since == nil || out.NextCursor > *r.since
		r.since = &out.NextCursor
		atEnd := out.NextCursor >= out.End || r.whole && !moved
		if atEnd && (r.whole || out.State.Ended()) {
			return nil
		}
		if !atEnd && !moved {
			if err := retry.Pause(ctx, logPause); err != nil {
				return err
			}
		}
	}
}

// write adds an answer to the recording, which it begins with the first one.
func (r *recorder) write(out api.SessionRecordOutput) error {
	if r.cast == nil {
		if r.since != nil && out.Dropped > 0 {
			r.app.out.Tell("%d bytes before this are gone: the log is bounded", out.Dropped)
		}
		var err error
		if r.cast, err = newCastWriter(r.file, r.header(out)); err != nil {
			return fmt.Errorf("write recording: %w", err)
		}
	}
	for _, e := range r.time.events(out) {
		if err := r.cast.add(e); err != nil {
			return fmt.Errorf("write recording: %w", err)
		}
	}
	if err := r.cast.flush(); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

func (r *recorder) header(out api.SessionRecordOutput) castHeader {
	began := time.Now()
	if r.whole && len(out.Times) > 0 {
		began = out.Times[0].At
	}
	h := castHeader{
		Width: 80, Height: 24, Timestamp: began.Unix(), IdleLimit: time.Duration(r.idle).Seconds(),
		Title: r.process.Name, Command: r.process.Command, Env: map[string]string{"TERM": "xterm-256color"},
	}
	if len(out.Sizes) > 0 {
		h.Width, h.Height = out.Sizes[0].Cols, out.Sizes[0].Rows
	}
	return h
}

// finish closes the file and tells what became of it; err is why the recording
// ended, if that was a mistake.
func (r *recorder) finish(err error) error {
	if r.cast == nil && r.path != "-" {
		r.file.Close()
		os.Remove(r.path) // nothing was written
		return err
	}
	if errClose := r.file.Close(); err == nil && errClose != nil {
		err = fmt.Errorf("write recording: %w", errClose)
	}
	if r.cast == nil {
		return err
	}
	if r.time.guessed > 0 {
		r.app.out.Tell("nobody knows when %d bytes were printed: they follow each other in small steps", r.time.guessed)
	}
	if err != nil || r.path == "-" {
		return err
	}
	made := recorded{r.path, r.process.ID, r.cast.last.Seconds(), r.cast.n, r.time.guessed}
	return r.app.out.Answer(made, func() string {
		return fmt.Sprintf("recorded %v of %s: %s\n", r.cast.last.Round(100*time.Millisecond), output.Visible(r.process.Name), output.Visible(r.path))
	})
}
