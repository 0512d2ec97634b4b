package sessions

import (
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/screen/passthrough"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewScreen returns the command screen.
func NewScreen(f *factory.Factory) *cobra.Command {
	var in api.SessionScreenInput
	var png, svg string
	cmd := &cobra.Command{
		Use:   "screen ID [--ansi] [--scrollback N] [--png FILE | --svg FILE]",
		Short: "Print or draw what a session shows now",
		Example: `tandem screen build
tandem screen build --scrollback 200 | grep error
tandem screen build --png build.png`,
		Annotations:       factory.One.Naming(1),
		Args:              factory.Exactly(1, "which session? Give an id or name."),
		ValidArgsFunction: f.CompleteSession(factory.AnyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Scrollback < 0 {
				return output.Usagef(cmd, "read --scrollback %d: must be 0 or more lines", in.Scrollback)
			}
			in.ID = args[0]
			switch {
			case png != "" && svg != "":
				return output.Usagef(cmd, "give --png or --svg, not both")
			case png != "":
				return drawScreen(f, cmd, in, "png", png)
			case svg != "":
				return drawScreen(f, cmd, in, "svg", svg)
			}
			screen, err := factory.Call(cmd.Context(), f, api.SessionScreen, in)
			if err != nil {
				return err
			}
			return f.Out.Answer(screen, func() string {
				text := screenText(f.Out, screen, in.ANSI)
				// Even styled text may contain sequences with side effects; a terminal gets only
				// safe ones.
				if _, ok := output.Terminal(f.Stdout); ok && in.ANSI {
					text = string(new(passthrough.Replay).Pass([]byte(text)))
				}
				return text
			})
		},
	}
	cmd.Flags().BoolVar(&in.ANSI, "ansi", false, "keep colours and styles")
	cmd.Flags().IntVar(&in.Scrollback, "scrollback", 0, "`lines` of scrollback above the screen")
	cmd.Flags().StringVar(&png, "png", "", "draw the screen to a PNG `file`; - is standard output")
	cmd.Flags().StringVar(&svg, "svg", "", "draw the screen to an SVG `file`; - is standard output")
	return cmd
}

// drawScreen writes a picture of a session's screen to the file at path.
func drawScreen(f *factory.Factory, cmd *cobra.Command, in api.SessionScreenInput, format, path string) error {
	if path == "-" && term.IsTerminal(os.Stdout.Fd()) {
		return output.Usagef(cmd, "draw to the terminal: a terminal cannot show this picture; give a file")
	}
	if path == "-" && f.Out.JSON {
		return output.Usagef(cmd, "--json and a picture cannot both go to standard output; give a file")
	}
	in.Picture = format
	screen, err := factory.Call(cmd.Context(), f, api.SessionScreen, in)
	if err != nil {
		return err
	}
	if path == "-" {
		_, err = f.Stdout.Write(screen.Picture)
		return err
	}
	if err := os.WriteFile(path, screen.Picture, 0o644); err != nil {
		return fmt.Errorf("draw screen: %w", err)
	}
	return f.Out.Answer(output.PictureFile{File: path}, func() string { return "" })
}

// screenText returns the screen's lines down to the last one with text.
func screenText(out output.Printer, s api.Screen, ansi bool) string {
	var b strings.Builder
	lines := s.Lines
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		// Reset the style, so that a coloured line does not colour the next one.
		if ansi {
			b.WriteString(line + "\x1b[0m\n")
		} else {
			b.WriteString(out.Escape(line, "") + "\n")
		}
	}
	return b.String()
}
