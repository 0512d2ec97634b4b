// Package scrub implements `tandem scrub`: printed text is overwritten wherever Tandem keeps it.
package scrub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// restartTimeout is how long to wait for the engine's restart.
const restartTimeout = time.Minute

// copies names places beyond the reach of a scrub.
const copies = "Copies may still be in your shell's history file, the scrollback of your terminal, the clipboard,\n" +
	"recordings, transcripts of agents, other machines, and backups.\n"

type flags struct {
	match      string
	fixed, yes bool
	last       bool
	in         api.ScrubInput
}

// NewScrub returns the command scrub.
func NewScrub(f *factory.Factory) *cobra.Command {
	var opts flags
	cmd := &cobra.Command{
		Use:   "scrub {--last [SESSION] | --match RE {ID… | --all}}",
		Short: "Overwrite printed text, such as a password, wherever Tandem keeps it",
		Long: "Overwrites text with x in the logs, screens and records of sessions and processes, in the\n" +
			"history, the agents' calls and Tandem's other files. Sizes stay the same. It says where the\n" +
			"text is and asks first. The engine restarts, so private sessions lose their scrollback.\n\n" +
			"--last is for the last command that has ended in a session, by default this one: its line and\n" +
			"its output. --match takes a regular expression (RE2) of text in one line, with -F plain text;\n" +
			"\"-\" reads it from standard input, without showing it, so that no shell keeps it. Ids limit it to\n" +
			"the output, records and commands of these sessions and processes.",
		Example:           "tandem scrub --last\ntandem scrub --match 'ghp_[A-Za-z0-9]+' --all\ntandem scrub -F --match - build",
		Annotations:       factory.Here.Annotations(),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.CompleteProcesses(factory.AnyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.read(cmd, f, args); err != nil {
				return err
			}
			return run(cmd.Context(), f, opts)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&opts.last, "last", false, "the last command of a session")
	fs.StringVar(&opts.match, "match", "", "a regular expression, `RE`; - reads it from standard input")
	fs.BoolVarP(&opts.fixed, "fixed", "F", false, "the expression is plain text")
	fs.BoolVar(&opts.in.All, "all", false, "in all sessions and processes")
	fs.BoolVarP(&opts.yes, "yes", "y", false, "do not ask")
	factory.CompleteFlag(cmd, "match")
	return cmd
}

// read completes the input.
func (opts *flags) read(cmd *cobra.Command, f *factory.Factory, args []string) error {
	given := cmd.Flags().Changed("match")
	switch own := f.Env(factory.OwnSession); {
	case given == opts.last:
		return output.Usagef(cmd, "what to overwrite? Give either --last or --match.")
	case opts.last && (opts.in.All || len(args) > 1):
		return output.Usagef(cmd, "--last is for one session")
	case opts.last && len(args) == 0 && own == "":
		return output.Usagef(cmd, "of which session? This is none; give its id or name.")
	case opts.last:
		opts.in.Last = own
		if len(args) > 0 {
			opts.in.Last = args[0]
		}
		return nil
	case opts.in.All == (len(args) > 0):
		return output.Usagef(cmd, "where? Give ids or names, or --all.")
	}
	opts.in.IDs = args
	text, err := opts.expression(f)
	if err != nil {
		return err
	}
	if _, err := regexp.Compile(text); err != nil && !opts.fixed {
		return output.Usagef(cmd, "read --match: %v", err)
	}
	switch {
	case text == "":
		return output.Usagef(cmd, "what to overwrite? The expression is empty.")
	case opts.fixed:
		opts.in.Texts = []string{text}
	default:
		opts.in.Match = text
	}
	return nil
}

// expression returns the value of --match, or a line of standard input.
func (opts *flags) expression(f *factory.Factory) (string, error) {
	if opts.match != "-" {
		return opts.match, nil
	}
	if tty, ok := output.Terminal(f.Stdin); ok {
		fmt.Fprint(f.Stderr, "Text to overwrite (not shown): ")
		line, err := term.ReadPassword(tty.Fd())
		f.Out.Tell("")
		return string(line), err
	}
	line, err := bufio.NewReader(f.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSuffix(line, "\n"), err
}

func run(ctx context.Context, f *factory.Factory, opts flags) error {
	conn, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := api.ScrubFind.Call(ctx, conn, opts.in)
	if err != nil {
		return err
	}
	if found.Count() == 0 {
		return &output.ExitError{Status: output.StatusFailed, Err: errors.New("scrub: nothing found, so nothing was changed")}
	}
	if !opts.yes {
		if !f.Out.JSON {
			fmt.Fprint(f.Stderr, placesText(f.Out, found))
		}
		if err := f.Confirm("scrub", "Overwrite this for good?"); err != nil {
			return err
		}
	}
	done, err := overwrite(ctx, conn, opts.in)
	if err != nil {
		return err
	}
	return f.Out.Answer(done, func() string {
		return fmt.Sprintf("overwritten in %s\n", places(done.Count())) + copies
	})
}

// attempts is how often to overwrite remaining text: it may be printed again meanwhile, or a killed
// engine may not have begun.
const attempts = 3

// overwrite overwrites text until nothing is left.
func overwrite(ctx context.Context, e api.Engine, in api.ScrubInput) (first api.ScrubOutput, err error) {
	for n := 1; ; n++ {
		before, err := api.EngineInfo.Call(ctx, e, api.Empty{})
		if err != nil {
			return first, err
		}
		done, err := api.ScrubRun.Call(ctx, e, in)
		if err != nil {
			return first, err
		}
		if n == 1 {
			first = done
		}
		if done.Count() == 0 { // it is gone already
			return first, nil
		}
		if err := awaitRestart(ctx, e, before); err != nil {
			return first, err
		}
		left, err := api.ScrubFind.Call(ctx, e, in)
		switch {
		case err != nil:
			return first, err
		case in.Last == "" && left.Count() == 0, in.Last != "" && strings.Trim(left.Command, "x") == "":
			return first, nil
		case n == attempts:
			return first, fmt.Errorf("scrub: %s left: it is printed again and again, or cannot be overwritten; see engine.log", places(left.Count()))
		}
	}
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return strconv.Itoa(n) + " places"
}

// awaitRestart waits until another engine serves.
func awaitRestart(ctx context.Context, e api.Engine, before api.Info) error {
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	for {
		now, err := api.EngineInfo.Call(ctx, e, api.Empty{})
		if err == nil && !now.StartedAt.Equal(before.StartedAt) {
			return nil
		}
		if sleep.For(ctx, 20*time.Millisecond) != nil {
			return errors.New("scrub: the engine did not restart in time; `tandem doctor` says why")
		}
	}
}

// placesText lists places.
func placesText(out output.Printer, found api.ScrubOutput) string {
	t := out.Table("WHERE", "OF", "PLACES", "LINE")
	for _, p := range found.Places {
		of := p.Name
		if of == "" {
			of = p.ID
		}
		t.Add(output.Text(p.Where), output.Text(output.Visible(of)), output.Text(fmt.Sprint(p.Count)), output.Text(output.Visible(p.Sample)))
	}
	return t.String()
}
