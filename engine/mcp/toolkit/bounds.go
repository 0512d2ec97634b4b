package toolkit

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"tandem/engine/api"
)

const (
	// Bulk is how many bytes of text a result has unless more is asked for: under
	// ten thousand tokens.
	Bulk = 32 << 10
	// BulkMost is how much can be asked for.
	BulkMost = 16 << 20
	// OutputMost is how much output of a command is given as it is, endMost how much of the
	// head and of the tail of more, and lineMost how much of one line.
	OutputMost = 8000
	endMost    = 2000
	lineMost   = 1000
	// noteMost is room for the note on what was left out.
	noteMost = 256

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

// HeadAndTail is a text of at most so many bytes: the beginning and the end of
// one that is longer, with a note between them of what is left out and how to get
// it. Lines stay whole where they are not too long for that.
func HeadAndTail(text string, most int, how string) string {
	if len(text) <= most {
		return text
	}
	half := max(most-noteMost, 0) / 2
	head, tail := text[:half], text[len(text)-half:]
	if end := strings.LastIndexByte(head, '\n') + 1; end > half/2 {
		head = head[:end]
	}
	if begin := strings.IndexByte(tail, '\n') + 1; begin > 0 && begin < half/2 {
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
