package cast

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// NewPlay returns the command play.
func NewPlay(f *factory.Factory) *cobra.Command {
	var o PlayOptions
	cmd := &cobra.Command{
		Use:   "play FILE|ID [--speed N] [--idle-limit D] [--svg FILE] | play --history ROW",
		Short: "Play a recording, or a session's output",
		Long: "Plays a recording (asciicast v2 or v3) in this terminal. With the id of a session it plays all\n" +
			"of its output that is kept; with --history, what a command printed. The command is given by its\n" +
			"number in `tandem history --json`. Space pauses and continues, . shows the next output during a\n" +
			"pause, + and - change the speed, q quits. Output is passed on unchanged, except for sequences\n" +
			"that make the terminal reply. With --svg it writes an animated picture instead, for a browser or\n" +
			"a README.",
		Example:           "tandem play build.cast\ntandem play build --speed 4 --idle-limit 1s\ntandem play demo.cast --svg demo.svg\ntandem play --history 4711",
		Annotations:       factory.One.Annotations(),
		Args:              playArgs,
		ValidArgsFunction: completePlay(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Stdin, o.Pictures = f.Stdin, f.Settings().Pictures
			switch {
			case !(o.Speed > 0 && o.Speed <= 1000):
				return output.Usagef(cmd, "read --speed %v: must be a factor above 0, such as 0.5 or 4", o.Speed)
			case f.Out.JSON && (o.SVG == "" || o.SVG == "-"):
				return output.Usagef(cmd, "--json needs --svg FILE: play shows the recording on the terminal")
			case o.SVG != "":
				return drawRecording(f, cmd, args, o)
			}
			return runPlay(f, cmd, args, o)
		},
	}
	flags := cmd.Flags()
	flags.Float64VarP(&o.Speed, "speed", "s", 1, "play this many `times` as fast")
	flags.Var((*factory.Duration)(&o.Idle), "idle-limit", "longest pause (default: the recording's)")
	flags.StringVar(&o.SVG, "svg", "", "write an animated SVG to this `file`; - is standard output")
	flags.Int64Var(&o.History, "history", 0, "play the output of the command with this `number`")
	return cmd
}

func playArgs(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("history") {
		return factory.Exactly(0, "")(cmd, args)
	}
	return factory.Exactly(1, "play what? Give a file, a session or --history.")(cmd, args)
}

func completePlay(f *factory.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := f.CompleteSession(factory.AnyProcess)(cmd, args, toComplete)
		return found, cobra.ShellCompDirectiveDefault
	}
}

// drawRecording draws a recording to the SVG file o.SVG. It writes the file only once the drawing
// is complete.
func drawRecording(f *factory.Factory, cmd *cobra.Command, args []string, o PlayOptions) error {
	if o.SVG == "-" && term.IsTerminal(os.Stdout.Fd()) {
		return output.Usagef(cmd, "draw to the terminal: a terminal cannot show this picture; give a file")
	}
	var movie bytes.Buffer
	o.Movie = &movie
	if err := runPlay(f, cmd, args, o); err != nil {
		return err
	}
	if o.SVG == "-" {
		_, err := f.Stdout.Write(movie.Bytes())
		return err
	}
	if err := os.WriteFile(o.SVG, movie.Bytes(), 0o644); err != nil {
		return fmt.Errorf("draw recording: %w", err)
	}
	return f.Out.Answer(output.PictureFile{File: o.SVG}, func() string { return "" })
}

func runPlay(f *factory.Factory, cmd *cobra.Command, args []string, o PlayOptions) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	if o.History != 0 {
		return playRow(ctx, f, o.History, o)
	}
	// A file wins over a session of the same name. An argument with a slash or .cast is always a
	// file.
	file, err := os.Open(args[0])
	if err != nil && (strings.ContainsRune(args[0], '/') || strings.HasSuffix(args[0], ".cast")) {
		return fmt.Errorf("open recording: %w", err)
	}
	if err != nil {
		return PlaySession(ctx, f.Out, f.Dial, api.SessionRecordInput{ID: args[0], Since: new(int64)}, o)
	}
	defer file.Close()
	return PlayFile(ctx, f.Out, file, args[0], o)
}

// playRow plays the output of a command in the history, by its number.
func playRow(ctx context.Context, f *factory.Factory, number int64, o PlayOptions) error {
	row, err := findRow(ctx, f, number)
	if err != nil {
		return err
	}
	if row.Process == "" || row.Kind != "process" && row.LogEnd <= row.LogStart {
		return api.Errorf(api.CodeInvalid, "play command %d: its output was not recorded", row.ID).
			WithHint("only sessions, and finished commands typed in them, can be played")
	}
	return PlaySession(ctx, f.Out, f.Dial, api.SessionRecordInput{ID: row.Process, Since: &row.LogStart, Until: row.LogEnd}, o)
}

// findRow finds a row by its id.
func findRow(ctx context.Context, f *factory.Factory, id int64) (api.Command, error) {
	in := api.HistorySearchInput{Limit: 1000}
	for {
		out, err := factory.Call(ctx, f, api.HistorySearch, in)
		if err != nil {
			return api.Command{}, err
		}
		for _, row := range out.Rows {
			if row.ID == id {
				return row.Command, nil
			}
		}
		if in.Offset += len(out.Rows); len(out.Rows) == 0 || in.Offset >= out.Total {
			return api.Command{}, api.Errorf(api.CodeNotFound, "play command %d: no such number", id).
				WithHint("`tandem history --json` shows the numbers")
		}
	}
}
