package cli

// The rules for what a person reads:
//
//   - What was asked for goes to standard output, everything else to standard
//     error.
//   - An error is "tandem: " and what was tried on what, and why not, in lower
//     case without a full stop. What to do follows on a line of its own that
//     begins with "hint: ".
//   - What comes from programs, names, titles, paths, commands, is shown with
//     its control characters made visible, never raw.
//   - Colour only repeats what words say, and only on a terminal without
//     NO_COLOR.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"tandem/engine/api"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// A usageError is about the words of the command line.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

// usagef makes the error for a verb that was not used as it should be.
func usagef(cmd *cobra.Command, format string, args ...any) *usageError {
	return &usageError{fmt.Sprintf(format, args...), "see `" + cmd.CommandPath() + " --help`"}
}

// An exitError carries an exit status. Its message may be empty.
type exitError struct {
	status  int
	message string
}

func (e *exitError) Error() string { return e.message }

// printError prints err by the rules above.
func printError(o Options, err error) {
	hint := ""
	var usage *usageError
	var wire *api.Error
	switch {
	case errors.As(err, &usage):
		hint = usage.hint
	case errors.As(err, &wire):
		hint = wire.Hint
	}
	if err.Error() == "" {
		return
	}
	text := "tandem: " + visibleLines(err.Error()) + "\n"
	if hint != "" {
		text += "hint: " + visibleLines(hint) + "\n"
	}
	fmt.Fprint(o.Stderr, text) // if that fails there is nobody to tell
}

// print writes to standard output and says when that fails, as on a full disk.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.Stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// answer prints v as JSON if that was asked for, else what text makes.
func (a *app) answer(v any, text func() string) error {
	if !a.json {
		return a.print(text())
	}
	return a.printJSON(v, "  ")
}

// printJSON prints v as JSON, on one line without an indent. What a terminal
// would obey, and what nobody would see there, is escaped as JSON has it;
// programs get the bytes as they are.
func (a *app) printJSON(v any, indent string) error {
	b, err := json.MarshalIndent(v, "", indent)
	if indent == "" {
		b, err = json.Marshal(v)
	}
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	text := string(b)
	if _, ok := terminal(a.Stdout); ok {
		text = escapeJSON(text)
	}
	return a.print(text + "\n")
}

// escapeJSON writes the characters that do not show, all of which are within
// strings, as \u and four digits of UTF-16.
func escapeJSON(text string) string {
	hidden := func(r rune) bool { return r != '\n' && r != utf8.RuneError && isInvisible(r) }
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// tell writes a line to standard error.
func (a *app) tell(format string, args ...any) {
	fmt.Fprintln(a.Stderr, visibleLines(fmt.Sprintf(format, args...))) // if that fails there is nobody to tell
}

// visible shows control characters, text that runs backwards and bytes that are
// no UTF-8 as what they are: "^[", "^M", "\u202e", "\x9b".
func visible(s string) string { return escape(s, "") }

// visibleLines is visible for text of several lines.
func visibleLines(s string) string { return escape(s, "\n") }

func escape(s, keep string) string {
	return escapeAllBut(s, func(r rune) bool { return printed(r) || strings.ContainsRune(keep, r) })
}

// exact shows text of several lines that somebody allows: no character goes
// unseen, and none looks like a space that is none.
func exact(s string) string {
	return escapeAllBut(s, func(r rune) bool { return r == '\n' || !isInvisible(r) })
}

// exactLine is exact on one line.
func exactLine(s string) string { return strings.ReplaceAll(exact(s), "\n", "^J") }

// escapeAllBut shows all but plain characters as what they are.
func escapeAllBut(s string, isPlain func(rune) bool) string {
	plain := func(r rune) bool { return r != utf8.RuneError && isPlain(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case plain(r):
			b.WriteString(s[:n])
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r < 0x20 || r == 0x7f:
			b.WriteByte('^')
			b.WriteRune(r ^ 0x40)
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// printed reports whether a terminal shows a character and does not obey it.
// Characters for private use are the symbols of prompts and icons.
func printed(r rune) bool {
	const joiner = '\u200d' // of emoji
	return r == joiner || unicode.IsPrint(r) || unicode.In(r, unicode.Co, unicode.Zs)
}

// isInvisible says that a character controls, shows nothing, looks like a space
// and is none, or differs from font to font.
func isInvisible(r rune) bool {
	const brailleBlank = '\u2800'
	return r == brailleBlank || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// terminal is the file behind a stream if that is a terminal.
func terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	if !ok || f == nil || !term.IsTerminal(f.Fd()) {
		return nil, false
	}
	return f, true
}

func (a *app) env(name string) string {
	value, _ := a.lookupEnv(name)
	return value
}

func (a *app) lookupEnv(name string) (value string, ok bool) {
	for i := len(a.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// A tint is a colour of the terminal's own palette, which suits its background.
type tint string

const (
	plain  tint = ""
	green  tint = "32"
	yellow tint = "33"
	red    tint = "31"
	faint  tint = "2"
	strong tint = "1"
)

// painter returns the function that colours text for standard output.
func (a *app) painter() func(tint, string) string {
	_, isTerminal := terminal(a.Stdout)
	if !isTerminal || a.env("NO_COLOR") != "" || a.env("TERM") == "dumb" || a.env("TERM") == "" {
		return func(_ tint, s string) string { return s }
	}
	return func(t tint, s string) string {
		if t == plain || s == "" {
			return s
		}
		return "\x1b[" + string(t) + "m" + s + "\x1b[0m"
	}
}
