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

// A Shell reads lines and runs each as a command.
type Shell struct {
	Out    *output.Printer
	Stdin  io.Reader
	Env    func(name string) string
	Verb   func(ctx context.Context, stdin io.Reader, words []string) error // runs a command
	Prompt string
	First  []string // lines to run first
	Nonce  string   // for its marks; "" outside a session
}

// Loop runs lines until the input ends. An interrupt stops a command or discards the current line,
// but does not exit the shell.
func (s *Shell) Loop(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for _, line := range s.First {
		if _, leave := s.runLine(ctx, interrupts, line); leave {
			return nil
		}
	}
	input := bufio.NewReader(s.Stdin)
	for {
		line, err := s.readInput(ctx, interrupts, input)
		// The last line may end without a newline, together with the input.
		if line != "" {
			leave, wrong := s.runMarked(ctx, interrupts, line)
			if leave || wrong != nil {
				return wrong
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.Out.Print(s.lastNewline())
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
	}
}

// lastNewline returns a newline to end the prompt's line if the input was a terminal.
func (s *Shell) lastNewline() string {
	if f, ok := s.Stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return "\n"
	}
	return ""
}

// runMarked runs a line typed by the user, between the marks of its output.
func (s *Shell) runMarked(ctx context.Context, interrupts <-chan os.Signal, line string) (leave bool, err error) {
	if err := s.Out.Print(s.markStart(line)); err != nil {
		return false, err
	}
	code, leave := s.runLine(ctx, interrupts, line)
	return leave, s.Out.Print(s.markEnd(code))
}

// runLine runs a line and returns its exit status; leave is true for exit and quit.
func (s *Shell) runLine(ctx context.Context, interrupts <-chan os.Signal, line string) (code int, leave bool) {
	typed, err := splitWords(line, s.Env)
	if err != nil {
		err = syntaxError(err)
		s.Out.Error(err)
		return output.ExitStatus(err), false
	}
	// A full command line works too.
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
		err = s.changeFolder(typed)
	case "shell":
		err = output.UsageError("this is already the shell", "help lists the commands")
	default:
		return s.runVerb(ctx, interrupts, typed), false
	}
	if err != nil {
		s.Out.Error(err)
	}
	return output.ExitStatus(err), false
}

// syntaxError explains a line that cannot be parsed.
func syntaxError(err error) error {
	text := err.Error()
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		text = wrong.Text
	}
	return output.UsageError("read the line: "+text, "a line is one command with its arguments; quote blanks and special characters")
}

// runVerb runs a command. An interrupt cancels it, without an error message.
func (s *Shell) runVerb(ctx context.Context, interrupts <-chan os.Signal, words []string) (code int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdin := s.Stdin
	if _, typed := output.Terminal(stdin); !typed {
		// Otherwise the command would read the shell's next lines.
		stdin = strings.NewReader("")
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
			_ = s.Out.Print("\n") // after the ^C shown by the terminal
		case code := <-ended:
			return code
		}
	}
}

// changeFolder implements cd and pwd.
func (s *Shell) changeFolder(words []string) error {
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
