package cast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/x/term"
)

// PlayOptions configures playback.
type PlayOptions struct {
	Stdin io.Reader     // provides the keys, if it is a terminal
	Speed float64       // factor
	Idle  time.Duration // maximum pause; 0 for the recording's own limit

	Pictures string // how to show pictures, as in the configuration; "" for as well as possible
	History  int64  // number of a command in the history to play; 0 for none
	SVG      string // file to draw to instead of playing; "-" for standard output

	Movie io.Writer // if not nil, receives the recording as an animated SVG instead of playing it
}

// A source returns the events to play, and io.EOF at the end.
type source interface {
	Next(ctx context.Context) (Event, error)
}

// PlayFile plays a recording. name is the file's name, for errors.
func PlayFile(ctx context.Context, out output.Printer, file io.Reader, name string, o PlayOptions) error {
	r, err := NewReader(file)
	if err != nil {
		return fmt.Errorf("read recording %s: %w", output.Visible(name), err)
	}
	if o.Idle == 0 {
		o.Idle = time.Duration(r.Header.IdleLimit * float64(time.Second))
	}
	if err := playSource(ctx, out, fileSource{r}, r.Header.Width, r.Header.Height, o); err != nil {
		return fmt.Errorf("play %s: %w", output.Visible(name), err)
	}
	return nil
}

type fileSource struct{ *Reader }

func (c fileSource) Next(context.Context) (Event, error) { return c.Reader.Next() }

// PlaySession plays a part of a session's log.
func PlaySession(ctx context.Context, out output.Printer, connect func(context.Context) (*client.Client, error), in api.SessionRecordInput, o PlayOptions) error {
	p, err := retry.Connect(ctx, connect)
	if err != nil {
		return err
	}
	defer p.Close()
	in.Max = pageSize
	c := &logSource{p: p, in: in}
	if err := c.readPage(ctx); err != nil {
		return err
	}
	if c.dropped > *in.Since {
		out.Tell("older output is gone: the log has a size limit")
	}
	return playSource(ctx, out, c, c.time.cols, c.time.rows, o)
}

// A logSource reads a session's log as events during playback.
type logSource struct {
	p       *retry.Conn
	in      api.SessionRecordInput
	time    timeline
	events  []Event
	dropped int64
	ended   bool
}

func (c *logSource) Next(ctx context.Context) (Event, error) {
	for len(c.events) == 0 {
		if c.ended {
			return Event{}, io.EOF
		}
		if err := c.readPage(ctx); err != nil {
			return Event{}, err
		}
	}
	e := c.events[0]
	c.events = c.events[1:]
	return e, nil
}

func (c *logSource) readPage(ctx context.Context) error {
	out, err := api.SessionRecord.Call(ctx, c.p, c.in)
	if err != nil {
		return err
	}
	c.events, c.dropped = c.time.events(out), out.Dropped
	c.ended = out.NextCursor >= out.End || out.NextCursor <= *c.in.Since && len(out.Data) == 0 ||
		c.in.Until > 0 && out.NextCursor >= c.in.Until
	c.in.Since = &out.NextCursor
	return nil
}

// playSource plays on this program's terminal, if it has one.
func playSource(ctx context.Context, out output.Printer, source source, cols, rows int, o PlayOptions) error {
	if o.Movie != nil {
		return writeMovie(ctx, o.Movie, source, cols, rows, o)
	}
	p := &player{out: out.Stdout, speed: o.Speed, idle: o.Idle}
	if screen, ok := output.Terminal(out.Stdout); ok {
		// The recording still plays, but lines may wrap differently.
		if c, r, err := term.GetSize(screen.Fd()); err == nil && (c < cols || r < rows) {
			out.Tell("it was recorded at %d columns and %d rows; this terminal has %d and %d", cols, rows, c, r)
		}
		p.onTerminal = true
		p.terminal = newScreen(screen, o.Pictures)
		if in, ok := output.Terminal(o.Stdin); ok {
			return p.playWithKeys(ctx, source, in)
		}
	}
	return p.finish(p.play(ctx, source, nil))
}

// finish restores the terminal. It returns err, unless the user ended the playback.
func (p *player) finish(err error) error {
	p.restore()
	if errors.Is(err, context.Canceled) || errors.Is(err, errQuit) {
		return nil
	}
	return err
}
