package cast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/output"
)

const (
	// pageSize is how many bytes of a session's log to request at once.
	pageSize = 1 << 20
	// pageWait is how long one call waits for more output.
	pageWait = 30 * time.Second
	// pagePause is the delay before the next call if the log has more but returned nothing.
	pagePause = 50 * time.Millisecond
)

// A recordAnswer is the JSON output of rec.
type recordAnswer struct {
	Path    string  `json:"path"`
	Session string  `json:"session"`
	Seconds float64 `json:"seconds"`
	Events  int     `json:"events"`
	Guessed int64   `json:"bytes_without_times"`
}

// A Recorder writes a session's output to a recording.
type Recorder struct {
	out     output.Printer
	connect func(context.Context) (*client.Client, error)
	Process api.Process
	Path    string // "-" for standard output
	file    io.WriteCloser
	idle    time.Duration
	time    timeline
	cast    *Writer
	Since   *int64 // next offset in the log; nil for the present
	whole   bool   // stop at the end of the log, even if the session keeps running
}

// RecordOptions selects the part of a session to record, and the file.
type RecordOptions struct {
	Path      string        // "" for a new file named after the session, "-" for standard output
	Overwrite bool          // replace an existing file
	Whole     bool          // record the kept output of the session and no new output
	Idle      time.Duration // maximum pause that players show; 0 means no limit
}

// NewRecorder creates the file of a recording. Unless the options have a path, its name is derived
// from name. Notes are printed to out.
func NewRecorder(out output.Printer, connect func(context.Context) (*client.Client, error), name string, o RecordOptions) (*Recorder, error) {
	r := &Recorder{out: out, connect: connect, Path: o.Path, idle: o.Idle, whole: o.Whole}
	if r.whole {
		r.Since = new(int64)
	} else {
		began := time.Now()
		r.time.live = func() time.Duration { return time.Since(began) }
	}
	var err error
	switch r.Path {
	case "-":
		if _, ok := output.Terminal(out.Stdout); ok {
			return nil, api.Errorf(api.CodeInvalid, "record to the terminal: a terminal cannot play a recording").WithHint("give a file with -o, or pipe it to a program")
		}
		r.file = keepOpen{out.Stdout}
	case "":
		r.Path, r.file, err = createNamed(name)
	default:
		r.file, err = createRecording(r.Path, o.Overwrite)
	}
	return r, err
}

// keepOpen is a stream owned by others; Close does nothing.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// createNamed creates a new file named after a session.
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
		if f, err := createRecording(path, false); !errors.Is(err, api.CodeConflict) {
			return path, f, err
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
		return nil, api.Errorf(api.CodeConflict, "create recording: %s already exists", path).WithHint("--overwrite replaces it")
	}
	if err != nil {
		return nil, fmt.Errorf("create recording: %w", err)
	}
	return f, nil
}

// Run records until the session exits, or to the end of the log if RecordOptions.Whole is set.
func (r *Recorder) Run(ctx context.Context) error {
	p, err := retry.Connect(ctx, r.connect)
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		in := api.SessionRecordInput{ID: r.Process.ID, Since: r.Since, Max: pageSize}
		if !r.whole {
			in.WaitMS = int(pageWait.Milliseconds())
		}
		out, err := api.SessionRecord.Call(ctx, p, in)
		if err != nil {
			return err
		}
		if err := r.writeAnswer(out); err != nil {
			return fmt.Errorf("write recording: %w", err)
		}
		moved := r.Since == nil || out.NextCursor > *r.Since
		r.Since = &out.NextCursor
		// With Whole, the recording also ends when a call makes no progress.
		atEnd := out.NextCursor >= out.End || r.whole && !moved
		if atEnd && (r.whole || out.State.Ended()) {
			return nil
		}
		if !atEnd && !moved {
			if err := sleep.For(ctx, pagePause); err != nil {
				return err
			}
		}
	}
}

// writeAnswer adds an answer to the recording. The first one provides the header.
func (r *Recorder) writeAnswer(out api.SessionRecordOutput) error {
	if r.cast == nil {
		if r.Since != nil && out.Dropped > 0 {
			r.out.Tell("%d earlier bytes are gone: the log has a size limit", out.Dropped)
		}
		var err error
		if r.cast, err = NewWriter(r.file, r.newHeader(out)); err != nil {
			return err
		}
	}
	for _, e := range r.time.events(out) {
		if err := r.cast.Add(e); err != nil {
			return err
		}
	}
	// Flush after each answer, so that players can follow the file.
	return r.cast.Flush()
}

func (r *Recorder) newHeader(out api.SessionRecordOutput) Header {
	began := time.Now()
	if r.whole && len(out.Times) > 0 {
		began = out.Times[0].At
	}
	h := Header{
		Width: 80, Height: 24, Timestamp: began.Unix(), IdleLimit: r.idle.Seconds(),
		Title: r.Process.Name, Command: r.Process.Command, Env: map[string]string{"TERM": "xterm-256color"},
	}
	if len(out.Sizes) > 0 {
		h.Width, h.Height = out.Sizes[0].Cols, out.Sizes[0].Rows
	}
	return h
}

// Finish closes the file and prints the result. err is the error that ended the recording, or nil.
func (r *Recorder) Finish(err error) error {
	if r.cast == nil && r.Path != "-" {
		r.file.Close()
		os.Remove(r.Path) // nothing was written
		return err
	}
	if errClose := r.file.Close(); err == nil && errClose != nil {
		err = fmt.Errorf("write recording: %w", errClose)
	}
	if r.cast == nil {
		return err
	}
	if r.time.guessed > 0 {
		r.out.Tell("the times of %d bytes are unknown; they are played in small steps", r.time.guessed)
	}
	if err != nil || r.Path == "-" {
		return err
	}
	made := recordAnswer{r.Path, r.Process.ID, r.cast.last.Seconds(), r.cast.n, r.time.guessed}
	return r.out.Answer(made, func() string {
		return fmt.Sprintf("recorded %v of %s: %s\n", r.cast.last.Round(100*time.Millisecond), output.Visible(r.Process.Name), output.Visible(r.Path))
	})
}
