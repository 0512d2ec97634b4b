package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/output"
	"tandem/ui/cli/retry"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// playFlags are the flags of play.
type playFlags struct {
	speed   float64
	idle    duration
	history int64
}

func (a *app) playCommand() *cobra.Command {
	f := playFlags{speed: 1}
	cmd := &cobra.Command{
		Use:   "play FILE|ID [--speed N] [--idle-limit D] | play --history ROW",
		Short: "Play a recording, or what a session has shown",
		Long: "Plays a recording (asciicast v2 or v3) in this terminal, or all that is kept of a\n" +
			"session, or with --history what a command printed, by its number in `tandem history --json`.\n" +
			"While it plays: space pauses, . goes on to the next output of a pause, + and - change the\n" +
			"speed, q ends it. What was printed reaches this terminal as it was, but for what would make it\n" +
			"answer.",
		Example: "tandem play build.cast\ntandem play build --speed 4 --idle-limit 1s\ntandem play --history 4711",

		DisableFlagsInUseLine: true,
		Args:                  a.playArgs,
		ValidArgsFunction:     a.completePlay,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(f.speed > 0 && f.speed <= 1000) {
				return output.Usagef(cmd, "read --speed %v: want a factor above 0, such as 0.5 or 4", f.speed)
			}
			return a.play(cmd, args, f)
		},
	}
	flags := cmd.Flags()
	flags.Float64VarP(&f.speed, "speed", "s", 1, "how many `times` as fast")
	flags.Var(&f.idle, "idle-limit", "longest pause (default: what the recording says)")
	flags.Int64Var(&f.history, "history", 0, "play the output of the command with this `number`")
	return cmd
}

func (a *app) playArgs(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("history") {
		return a.exactly(0, "")(cmd, args)
	}
	return a.exactly(1, "play what? give a file, a session or --history")(cmd, args)
}

// completePlay offers sessions beside files.
func (a *app) completePlay(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, _ := a.completeSession(whatever)(cmd, args, toComplete)
	return found, cobra.ShellCompDirectiveDefault
}

// A castSource gives the events of what is played, at the end io.EOF.
type castSource interface {
	next(ctx context.Context) (castEvent, error)
}

func (a *app) play(cmd *cobra.Command, args []string, f playFlags) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	if f.history != 0 {
		return a.playRow(ctx, f)
	}
	file, err := os.Open(args[0])
	if err != nil && (strings.ContainsRune(args[0], '/') || strings.HasSuffix(args[0], ".cast")) {
		return fmt.Errorf("open recording: %w", err)
	}
	if err != nil {
		return a.playSession(ctx, api.SessionRecordInput{ID: args[0], Since: new(int64)}, f)
	}
	defer file.Close()
	r, err := newCastReader(file)
	if err != nil {
		return fmt.Errorf("read recording %s: %w", output.Visible(args[0]), err)
	}
	if f.idle == 0 {
		f.idle = duration(r.header.IdleLimit * float64(time.Second))
	}
	err = a.playFrom(ctx, fileCast{r}, r.header.Width, r.header.Height, f)
	if err != nil {
		return fmt.Errorf("play %s: %w", output.Visible(args[0]), err)
	}
	return nil
}

type fileCast struct{ *castReader }

func (c fileCast) next(context.Context) (castEvent, error) { return c.castReader.next() }

// playRow plays what a command of the history printed.
func (a *app) playRow(ctx context.Context, f playFlags) error {
	row, err := a.historyRow(ctx, f.history)
	if err != nil {
		return err
	}
	if row.Process == "" || row.Kind != "process" && row.LogEnd <= row.LogStart {
		return api.Errorf(api.CodeInvalid, "play command %d: its output is not known to be in the log of a session", row.ID).
			WithHint("commands that were typed in sessions and have ended can be played, and sessions")
	}
	return a.playSession(ctx, api.SessionRecordInput{ID: row.Process, Since: &row.LogStart, Until: row.LogEnd}, f)
}

// historyRow finds a row by its number.
func (a *app) historyRow(ctx context.Context, id int64) (api.Command, error) {
	client, err := a.Connect(ctx)
	if err != nil {
		return api.Command{}, err
	}
	defer client.Close()
	in := api.HistorySearchInput{Limit: 1000}
	for {
		out, err := api.HistorySearch.Call(ctx, client, in)
		if err != nil {
			return api.Command{}, err
		}
		for _, row := range out.Rows {
			if row.ID == id {
				return row.Command, nil
			}
		}
		if in.Offset += len(out.Rows); len(out.Rows) == 0 || in.Offset >= out.Total {
			return api.Command{}, api.Errorf(api.CodeNotFound, "play command %d: there is none with this number", id).
				WithHint("`tandem history --json` tells the numbers")
		}
	}
}

// playSession plays a part of a session's log.
func (a *app) playSession(ctx context.Context, in api.SessionRecordInput, f playFlags) error {
	p, err := retry.Connect(ctx, a.Connect)
	if err != nil {
		return err
	}
	defer p.Close()
	in.Max = logPage
	c := &logCast{p: p, in: in}
	if err := c.page(ctx); err != nil {
		return err
	}
	if c.dropped > *in.Since {
		a.out.Tell("what is older is gone: the log is bounded")
	}
	return a.playFrom(ctx, c, c.time.cols, c.time.rows, f)
}

// A logCast is the log of a session as a recording, read as it is played.
type logCast struct {
	p       *retry.Conn
	in      api.SessionRecordInput
	time    timeline
	events  []castEvent
	dropped int64
	ended   bool
}

func (c *logCast) next(ctx context.Context) (castEvent, error) {
	for len(c.events) == 0 {
		if c.ended {
			return castEvent{}, io.EOF
		}
		if err := c.page(ctx); err != nil {
			return castEvent{}, err
		}
	}
	e := c.events[0]
	c.events = c.events[1:]
	return e, nil
}

func (c *logCast) page(ctx context.Context) error {
	out, err := retry.Call(ctx, c.p, api.SessionRecord, c.in)
	if err != nil {
		return err
	}
	c.events, c.dropped = c.time.events(out), out.Dropped
	c.ended = out.NextCursor >= out.End || out.NextCursor <= *c.in.Since && len(out.Data) == 0 ||
		c.in.Until > 0 && out.NextCursor >= c.in.Until
	c.in.Since = &out.NextCursor
	return nil
}

// playFrom plays on the terminal that this runs in, if it does.
func (a *app) playFrom(ctx context.Context, source castSource, cols, rows int, f playFlags) error {
	p := &player{out: a.Stdout, speed: f.speed, idle: time.Duration(f.idle)}
	if screen, ok := output.Terminal(a.Stdout); ok {
		if c, r, err := term.GetSize(screen.Fd()); err == nil && (c < cols || r < rows) {
			a.out.Tell("it was recorded on %d columns and %d rows; here are %d and %d", cols, rows, c, r)
		}
		p.screen = true
		if in, ok := output.Terminal(a.Stdin); ok {
			return p.onTerminal(ctx, source, in)
		}
	}
	return p.ended(p.play(ctx, source, nil))
}

// ended restores the terminal, and tells whether the end was a mistake.
func (p *player) ended(err error) error {
	p.restore()
	if errors.Is(err, context.Canceled) || errors.Is(err, errQuit) {
		return nil
	}
	return err
}
