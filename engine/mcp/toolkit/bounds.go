package toolkit

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

const (
	// Bulk is how many bytes of text a result has unless more is asked for: under
	// ten thousand tokens.
	Bulk = 32 << 10
	// Body is how many of them its output may have: the rest is for notes.
	Body = Bulk - 2*noteMost
	// BulkMost is how much can be asked for.
	BulkMost = 16 << 20
	// OutputMost is how much output of a command is given as it is, endMost how much of the
	// head and of the tail of more, and lineMost how much of one line.
	OutputMost = 8000
	endMost    = 2000
	lineMost   = 1000
	// noteMost is room for the note on what was left out.
	noteMost = 256
	// commandMost is how much of a command lists and records show.
	commandMost = 1 << 10

	// wordMost is how long an argument or a variable of a program may be
	// (execve(2), MAX_ARG_STRLEN), its end included.
	wordMost = 128 << 10
	// patternMost is how long a regular expression may be: reading one takes
	// its time.
	patternMost = 64 << 10
)

// CheckLine checks a line for a shell and the variables that come with it
// before the system refuses them in fewer words.
func CheckLine(doing, command string, env map[string]string) error {
	switch {
	case strings.TrimSpace(command) == "":
		return api.Errorf(api.CodeInvalid, "%s: the command is empty", doing)
	case len(command) >= wordMost:
		return api.Errorf(api.CodeInvalid, "%s: the command is longer than 128 KB", doing).WithHint("write it to a file and run that")
	}
	for name, value := range env {
		if err := CheckVariable(name, value); err != nil {
			return err
		}
	}
	return nil
}

// CheckVariable refuses a variable with which nothing could be started.
func CheckVariable(name, value string) error {
	if len(name)+len("=")+len(value) >= wordMost {
		return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", Brief(name)).
			WithHint("write the value to a file and give the file's path")
	}
	return nil
}

// CheckPatterns refuses regular expressions that are too long or none.
func CheckPatterns(patterns ...string) error {
	for _, p := range patterns {
		if len(p) > patternMost {
			return api.Errorf(api.CodeInvalid, "read pattern: it is longer than 64 KB")
		}
		var wrong *syntax.Error
		if _, err := syntax.Parse(p, syntax.Perl); errors.As(err, &wrong) {
			return api.Errorf(api.CodeInvalid, "read pattern %q: %s", Brief(p), wrong.Code).
				WithHint(`it is a regular expression (RE2); escape what is meant as it is with \`)
		}
	}
	return nil
}

// Ends is an output of at most OutputMost bytes, or the head and tail of more; lines that are
// too long to be read are shortened.
func Ends(text, how string) string {
	if text = ShortLines(text); len(text) > OutputMost {
		return HeadAndTail(text, 2*endMost+noteMost, how)
	}
	return text
}

// ShortLines is a text without the middle of lines that are longer than lineMost bytes.
func ShortLines(text string) string {
	if len(text) <= lineMost {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) <= lineMost {
			b.WriteString(line)
			continue
		}
		head, tail := strings.ToValidUTF8(line[:lineMost/2], ""), strings.ToValidUTF8(line[len(line)-lineMost/2:], "")
		fmt.Fprintf(&b, "%s[%d bytes left out]%s", head, len(line)-len(head)-len(tail), tail)
	}
	return b.String()
}

// JSONSize returns how many bytes a text has as a string in JSON, without its quotes.
func JSONSize(text string) int {
	size := 0
	for i := 0; i < len(text); {
		n, width := runeSize(text[i:])
		size, i = size+n, i+width
	}
	return size
}

// runeSize returns how many bytes the first character of a text has in JSON, and has itself.
func runeSize(text string) (size, width int) {
	switch c := text[0]; {
	case strings.IndexByte("\"\\\n\r\t\b\f", c) >= 0:
		return 2, 1
	case c < ' ':
		return 6, 1
	case c < utf8.RuneSelf:
		return 1, 1
	}
	r, width := utf8.DecodeRuneInString(text)
	if r == '\u2028' || r == '\u2029' || r == utf8.RuneError && width == 1 {
		return 6, width
	}
	return width, width
}

// Head returns the longest beginning of a text that has at most so many bytes in JSON.
func Head(text string, most int) string {
	end, size := 0, 0
	for end < len(text) {
		n, width := runeSize(text[end:])
		if size += n; size > most {
			break
		}
		end += width
	}
	return text[:end]
}

// Tail returns the longest end of a text that has at most so many bytes in JSON.
func Tail(text string, most int) string {
	begin, size := len(text), 0
	for begin > 0 {
		_, width := utf8.DecodeLastRuneInString(text[:begin])
		n, _ := runeSize(text[begin-width:])
		if size += n; size > most {
			break
		}
		begin -= width
	}
	return text[begin:]
}

// ShortCommand returns a command for a list or a record: the beginning of a long one, with a note.
func ShortCommand(command string) string {
	if JSONSize(command) <= commandMost {
		return command
	}
	head := Head(command, commandMost-noteMost)
	return fmt.Sprintf("%s… [%d bytes left out]", head, len(command)-len(head))
}

// HeadAndTail is a text of at most so many bytes in JSON: the beginning and the end of
// one that is longer, with a note between them of what is left out and how to get
// it. Lines stay whole where they are not too long for that.
func HeadAndTail(text string, most int, how string) string {
	if JSONSize(text) <= most {
		return text
	}
	half := max(most-noteMost, 0) / 2
	head, tail := Head(text, half), Tail(text, half)
	if end := strings.LastIndexByte(head, '\n') + 1; end > len(head)/2 {
		head = head[:end]
	}
	if begin := strings.IndexByte(tail, '\n') + 1; begin > 0 && begin < len(tail)/2 {
		tail = tail[begin:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	left := text[len(head) : len(text)-len(tail)]
	note := fmt.Sprintf("[%d bytes left out", len(left))
	if lines := strings.Count(left, "\n"); lines > 1 {
		note = fmt.Sprintf("[%d lines (%d bytes) left out", lines, len(left))
	}
	if how != "" {
		note += ": " + how
	}
	return head + LineBetween(head, note) + note + "]\n" + tail
}
