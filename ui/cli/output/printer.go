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

// A Printer prints what a verb has to say.
type Printer struct {
	Stdout, Stderr io.Writer
	JSON           bool // the answer was asked for as JSON
	Colour         bool // a terminal may be given colours

	Host   string  // the machine whose answer it is, where several are asked
	Gather *Gather // takes its tables then; else nil
}

// A failure is an error as --json prints it.
type failure struct {
	Host    string   `json:"host,omitempty"` // of several machines, the one that it concerns
	Code    api.Code `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint"`
}

const (
	codeUsage  api.Code = "usage"  // the command line is wrong
	codeFailed api.Code = "failed" // anything else that the engine has no code for
)

// Error prints an error by the rules of this package, and nothing of one without words.
func (p Printer) Error(err error) {
	if err.Error() == "" {
		return
	}
	f := failure{Host: p.Host, Code: codeFailed, Message: err.Error()}
	var usage *usageError
	var wire *api.Error
	switch {
	case errors.As(err, &usage):
		f.Code, f.Hint = codeUsage, usage.Hint
	case errors.As(err, &wire):
		f.Code, f.Hint = wire.Code, wire.Hint
	}
	if p.JSON {
		p.Stdout = p.Stderr
		_ = p.PrintJSON(f, "") // if that fails there is nobody to tell
		return
	}
	text := "tandem: " + VisibleLines(f.Message) + "\n"
	if f.Hint != "" {
		text += "hint: " + VisibleLines(f.Hint) + "\n"
	}
	fmt.Fprint(p.Stderr, text) // if that fails there is nobody to tell
}

// Print writes to standard output and says when that fails, as on a full disk.
func (p Printer) Print(text string) error {
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// Answer prints v as JSON if that was asked for, else what text makes.
func (p Printer) Answer(v any, text func() string) error {
	if !p.JSON {
		return p.Print(text())
	}
	return p.PrintJSON(v, "  ")
}

// AnswerList prints a list as JSON if that was asked for, else what text makes of
// it, or tells that there is none.
func AnswerList[T any](p Printer, list []T, none string, text func() string) error {
	if len(list) > 0 {
		return p.Answer(list, text)
	}
	if !p.JSON {
		p.Tell("%s", none)
		return nil
	}
	return p.PrintJSON([]T{}, "  ")
}

// PrintJSON prints v as JSON, on one line without an indent. What a terminal
// would obey, and what nobody would see there, is escaped as JSON has it;
// programs get the bytes as they are.
func (p Printer) PrintJSON(v any, indent string) error {
	b, err := json.MarshalIndent(v, "", indent)
	if indent == "" {
		b, err = json.Marshal(v)
	}
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	text := string(b)
	if _, ok := Terminal(p.Stdout); ok {
		text = escapeJSON(text)
	}
	return p.Print(text + "\n")
}

// Tell writes a line to standard error.
func (p Printer) Tell(format string, args ...any) {
	fmt.Fprintln(p.Stderr, VisibleLines(fmt.Sprintf(format, args...))) // if that fails there is nobody to tell
}

// Terminal is the file behind a stream if that is a terminal.
func Terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	if !ok || f == nil || !term.IsTerminal(f.Fd()) {
		return nil, false
	}
	return f, true
}

// A Tint is a colour of the terminal's own palette, which suits its background.
type Tint string

const (
	Plain  Tint = ""
	Green  Tint = "32"
	Yellow Tint = "33"
	Red    Tint = "31"
	Faint  Tint = "2"
	Strong Tint = "1"
)

// Painter returns the function that colours text for standard output.
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

// AnswerAll prints what came out of several calls, each of which has an answer
// or an error, in their order.
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
	return p.AnswerEach(answers, failed, b.String)
}

// AnswerEach prints what went well, and what failed but the last, which is the
// verb's own error.
func (p Printer) AnswerEach(answers any, failed []error, text func() string) error {
	for _, err := range failed[:max(len(failed)-1, 0)] {
		p.Error(err)
	}
	err := p.Answer(answers, text)
	if len(failed) > 0 {
		return errors.Join(err, failed[len(failed)-1])
	}
	return err
}
