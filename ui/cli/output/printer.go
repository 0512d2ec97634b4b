package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tandem/engine/api"

	"github.com/charmbracelet/x/term"
)

// A Printer prints the results of a command.
type Printer struct {
	Stdout, Stderr io.Writer
	JSON           bool // print answers and errors as JSON
	Colour         bool // allow colours on a terminal

	Host   string  // machine that the answer comes from, if there are several
	Gather *Gather // collects the tables of several machines; else nil
}

// A failure is the JSON form of an error.
type failure struct {
	Host    string     `json:"host,omitempty"` // machine concerned, if there are several
	Code    api.Code   `json:"code"`
	Reason  api.Reason `json:"reason,omitempty"`
	Message string     `json:"message"`
	Hint    string     `json:"hint"`
}

const (
	codeUsage  api.Code = "usage"  // the command line is wrong
	codeFailed api.Code = "failed" // any other error without a code of the engine
)

// Error prints an error by the rules of this package. For an ExitError without an error it prints
// nothing.
func (p Printer) Error(err error) {
	var exit *ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		return
	}
	f := failure{Host: p.Host, Code: codeFailed, Message: err.Error()}
	var usage *usageError
	var wire *api.Error
	switch {
	case errors.As(err, &usage):
		f.Code, f.Hint = codeUsage, usage.Hint
	case errors.As(err, &wire):
		f.Code, f.Reason, f.Hint = wire.Code, wire.Reason, wire.Hint
	}
	if p.JSON {
		p.Stdout = p.Stderr
		_ = p.PrintJSON(f, "") // a failure cannot be reported anywhere
		return
	}
	text := "tandem: " + VisibleLines(f.Message) + "\n"
	if f.Hint != "" {
		text += "hint: " + VisibleLines(f.Hint) + "\n"
	}
	fmt.Fprint(p.Stderr, text) // a failure cannot be reported anywhere
}

// Print writes to standard output. The error names the stream, as for a full disk.
func (p Printer) Print(text string) error {
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// Answer prints v as JSON with --json, else the result of text.
func (p Printer) Answer(v any, text func() string) error {
	if !p.JSON {
		return p.Print(text())
	}
	return p.PrintJSON(v, "  ")
}

// AnswerList prints a list as JSON with --json, else the result of text. If the list is empty and
// JSON is not wanted, it prints emptyNote to standard error.
func AnswerList[T any](p Printer, list []T, emptyNote string, text func() string) error {
	if len(list) > 0 {
		return p.Answer(list, text)
	}
	if !p.JSON {
		p.Tell("%s", emptyNote)
		return nil
	}
	return p.PrintJSON([]T{}, "  ")
}

// PrintJSON prints v as JSON, on one line if indent is empty. On a terminal, control and invisible
// characters are escaped; programs get them unchanged.
func (p Printer) PrintJSON(v any, indent string) error {
	b, err := json.MarshalIndent(v, "", indent)
	if indent == "" {
		b, err = json.Marshal(v)
	}
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	text := string(b)
	// JSON may contain raw bidirectional controls, and they could disguise text on a terminal.
	if _, ok := Terminal(p.Stdout); ok {
		text = escapeJSON(text)
	}
	return p.Print(text + "\n")
}

// Tell prints a line to standard error.
func (p Printer) Tell(format string, args ...any) {
	fmt.Fprintln(p.Stderr, VisibleLines(fmt.Sprintf(format, args...))) // a failure cannot be reported anywhere
}

// Terminal returns the file of a stream if it is a terminal.
func Terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	if !ok || f == nil || !term.IsTerminal(f.Fd()) {
		return nil, false
	}
	return f, true
}

// A Tint is a colour or style from the terminal's own palette, which suits its background.
type Tint string

const (
	Plain  Tint = ""
	Green  Tint = "32"
	Yellow Tint = "33"
	Red    Tint = "31"
	Faint  Tint = "2"
	Strong Tint = "1"
)

// Painter returns a function to colour text for standard output.
func (p Printer) Painter() func(Tint, string) string {
	if _, isTerminal := Terminal(p.Stdout); !isTerminal || !p.Colour {
		return func(_ Tint, s string) string { return s }
	}
	return func(t Tint, s string) string {
		if t == Plain || s == "" {
			return s
		}
		return "\x1b[" + string(t) + "m" + s + "\x1b[0m"
	}
}

// AnswerAll prints the results of several calls, each with an answer or an error, in order. If all
// failed, it prints no empty list.
func AnswerAll[Out any](p Printer, outs []Out, errs []error, text func(Out) string) error {
	answers, failed := []Out{}, []error{}
	var b strings.Builder
	for i, err := range errs {
		if err != nil {
			failed = append(failed, err)
			continue
		}
		answers = append(answers, outs[i])
		b.WriteString(text(outs[i]))
	}
	if len(answers) == 0 && len(failed) > 0 {
		return p.AnswerEach(nil, failed, nil)
	}
	return p.AnswerEach(answers, failed, b.String)
}

// AnswerEach prints the answers of successful calls, and all errors but the last. It returns the
// last one as the command's own error. If answers is nil, it prints only errors.
func (p Printer) AnswerEach(answers any, failed []error, text func() string) error {
	for _, err := range failed[:max(len(failed)-1, 0)] {
		p.Error(err)
	}
	var err error
	if answers != nil {
		err = p.Answer(answers, text)
	}
	if len(failed) > 0 {
		return errors.Join(err, failed[len(failed)-1])
	}
	return err
}
