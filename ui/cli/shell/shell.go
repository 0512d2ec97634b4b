package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/charmbracelet/x/term"
	"mvdan.cc/sh/v3/syntax"

	"tandem/ui/cli/output"
)

// A Shell reads lines and runs each as a verb.
type Shell struct {
	Out    *output.Printer
	Stdin  io.Reader
	Env    func(name string) string
	Verb   func(ctx context.Context, stdin io.Reader, words []string) error // runs one
	Prompt string
	First  []string // run before anything is read
	Nonce  string   // of its marks; "" outside a session
}

// Loop runs lines until there are no more. An interrupt ends a verb, or the
// line that is being typed, and not the shell.
func (s *Shell) Loop(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for _, line := range s.First {
		if _, leave := s.run(ctx, interrupts, line); leave {
			return nil
		}
	}
	input := bufio.NewReader(s.Stdin)
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
			return s.Out.Print(s.afterEnd())
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
	}
}

// afterEnd ends the prompt's line when the input has ended on a terminal.
func (s *Shell) afterEnd() string {
	if f, ok := s.Stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return "\n"
	}
	return ""
}

// runMarked runs one line that was typed, and marks where its output begins and
// ends.
func (s *Shell) runMarked(ctx context.Context, interrupts <-chan os.Signal, line string) (leave bool, err error) {
	if err := s.Out.Print(s.begun(line)); err != nil {
		return false, err
	}
	code, leave := s.run(ctx, interrupts, line)
	return leave, s.Out.Print(s.ended(code))
}

// run runs one line, and tells the exit status that it would have as a command;
// leave tells that it was the last one.
func (s *Shell) run(ctx context.Context, interrupts <-chan os.Signal, line string) (code int, leave bool) {
	typed, err := words(line, s.Env)
	if err != nil {
		err = unreadable(err)
		s.Out.Error(err)
		return output.ExitStatus(err), false
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
		err = output.UsageError("this is the shell already", "help lists the commands")
	default:
		return s.runVerb(ctx, interrupts, typed), false
	}
	if err != nil {
		s.Out.Error(err)
	}
	return output.ExitStatus(err), false
}

// unreadable says what is wrong with a line.
func unreadable(err error) error {
	text := err.Error()
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		text = wrong.Text
	}
	return output.UsageError("read the line: "+text, "a line is one command with its arguments; quote blanks and special characters")
}

// runVerb runs a verb, which an interrupt ends; then there is no error to tell.
func (s *Shell) runVerb(ctx context.Context, interrupts <-chan os.Signal, words []string) (code int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdin := s.Stdin
	if _, typed := output.Terminal(stdin); !typed {
		stdin = strings.NewReader("") // what is there are the shell's lines
	}
	ended := make(chan int, 1)
	go func() {
		err := s.Verb(ctx, stdin, words)
		if err != nil && ctx.Err() == nil {
			s.Out.Error(err)
		}
		ended <- output.ExitStatus(err)
	}()
	for {
		select {
		case <-interrupts:
			cancel()
			_ = s.Out.Print("\n") // behind the ^C that the terminal shows
		case code := <-ended:
			return code
		}
	}
}

// folder changes or tells the folder that verbs start programs in.
func (s *Shell) folder(words []string) error {
	if words[0] == "pwd" {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find the folder: %w", err)
		}
		return s.Out.Answer(dir, func() string { return output.Visible(dir) + "\n" })
	}
	to := s.Env("HOME")
	switch len(words) {
	case 1:
	case 2:
		to = words[1]
	default:
		return output.UsageError("cd takes one folder", "quote a name with blanks")
	}
	if err := os.Chdir(to); err != nil {
		return fmt.Errorf("go to %s: %w", to, errors.Unwrap(err))
	}
	return nil
}
