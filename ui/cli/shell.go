package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"tandem/ui/cli/output"
)

const shellPrompt = "tandem> "

func (a *app) shellCommand() *cobra.Command {
	s := &verbShell{app: a}
	var list bool
	cmd := &cobra.Command{
		Use:   "shell [--prompt P] [--run LINE]…",
		Short: "Type verbs at a prompt",
		Long: "Reads lines and runs each as a verb with its arguments, quoted as in a shell.\n" +
			"cd and pwd are there too; help lists the verbs, exit or ctrl+d leaves.",
		Example: "tandem shell\ntandem shell --run ps --run 'logs web -n 20'",

		DisableFlagsInUseLine: true,
		Args:                  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return a.out.Print(strings.Join(shellVerbs(cmd.Root()), "\n") + "\n")
			}
			s.takeNonce()
			return s.loop(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&s.prompt, "prompt", shellPrompt, "the `text` that asks for a line")
	cmd.Flags().StringArrayVar(&s.first, "run", nil, "run this `line` first")
	cmd.Flags().BoolVar(&list, "commands", false, "list what can be typed, and end")
	return cmd
}

// shellVerbs are the words that a line of the shell may begin with.
func shellVerbs(root *cobra.Command) []string {
	words := []string{"cd", "pwd", "exit", "help"}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "shell" && c.Name() != "completion" {
			words = append(words, c.Name())
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// A verbShell reads lines and runs each as a verb.
type verbShell struct {
	app    *app
	prompt string
	first  []string // run before anything is read
	nonce  string   // of its marks; "" outside a session
}

// loop runs lines until there are no more. An interrupt ends a verb, or the
// line that is being typed, and not the shell.
func (s *verbShell) loop(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for _, line := range s.first {
		if _, leave := s.run(ctx, interrupts, line); leave {
			return nil
		}
	}
	input := bufio.NewReader(s.app.Stdin)
	for {
		line, err := s.read(ctx, interrupts, input)
		if line != "" {
			leave, wrong := s.runMarked(ctx, interrupts, line)
			if leave || wrong != nil {
				return wrong
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.app.out.Print(s.afterEnd())
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
	}
}

// afterEnd ends the prompt's line when the input has ended on a terminal.
func (s *verbShell) afterEnd() string {
	if f, ok := s.app.Stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return "\n"
	}
	return ""
}

// runMarked runs one line that was typed, and marks where its output begins and
// ends.
func (s *verbShell) runMarked(ctx context.Context, interrupts <-chan os.Signal, line string) (leave bool, err error) {
	if err := s.app.out.Print(s.begun(line)); err != nil {
		return false, err
	}
	code, leave := s.run(ctx, interrupts, line)
	return leave, s.app.out.Print(s.ended(code))
}

// run runs one line, and tells the exit status that it would have as a command;
// leave tells that it was the last one.
func (s *verbShell) run(ctx context.Context, interrupts <-chan os.Signal, line string) (code int, leave bool) {
	typed, err := words(line, s.app.env)
	if err != nil {
		err = unreadable(err)
		s.app.out.Error(err)
		return output.Status(err), false
	}
	if len(typed) > 0 && typed[0] == "tandem" {
		typed = typed[1:]
	}
	if len(typed) == 0 || strings.HasPrefix(typed[0], "#") {
		return 0, false
	}
	switch typed[0] {
	case "exit", "quit":
		return 0, true
	case "cd", "pwd":
		err = s.folder(typed)
	case "shell":
		err = output.Misused("this is the shell already", "help lists the verbs")
	default:
		return s.verb(ctx, interrupts, typed), false
	}
	if err != nil {
		s.app.out.Error(err)
	}
	return output.Status(err), false
}

// unreadable says what is wrong with a line.
func unreadable(err error) error {
	text := err.Error()
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		text = wrong.Text
	}
	return output.Misused("read the line: "+text, "a line is one verb with its arguments; quote what has blanks or signs")
}

// verb runs a verb, which an interrupt ends; then there is no error to tell.
func (s *verbShell) verb(ctx context.Context, interrupts <-chan os.Signal, words []string) (code int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := s.app.Options
	if _, typed := output.Terminal(o.Stdin); !typed {
		o.Stdin = strings.NewReader("") // what is there are the shell's lines
	}
	ended := make(chan int, 1)
	go func() {
		root := newRoot(o)
		root.SetArgs(words)
		err := root.ExecuteContext(ctx)
		if err != nil && ctx.Err() == nil {
			s.app.out.Error(err)
		}
		ended <- output.Status(err)
	}()
	for {
		select {
		case <-interrupts:
			cancel()
			_ = s.app.out.Print("\n") // behind the ^C that the terminal shows
		case code := <-ended:
			return code
		}
	}
}

// folder changes or tells the folder that verbs start programs in.
func (s *verbShell) folder(words []string) error {
	if words[0] == "pwd" {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find the folder: %w", err)
		}
		return s.app.out.Print(output.Visible(dir) + "\n")
	}
	to := s.app.env("HOME")
	switch len(words) {
	case 1:
	case 2:
		to = words[1]
	default:
		return output.Misused("cd takes one folder", "quote a name with blanks")
	}
	if err := os.Chdir(to); err != nil {
		return fmt.Errorf("go to %s: %w", to, errors.Unwrap(err))
	}
	return nil
}
