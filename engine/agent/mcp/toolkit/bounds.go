package toolkit

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

const (
	// DefaultSize is the maximum size of a result's text, in bytes, unless a call asks for more. It
	// is less than 10,000 tokens.
	DefaultSize = 32 << 10
	// DefaultBodySize is the part of DefaultSize for output. The rest is for notes.
	DefaultBodySize = DefaultSize - 2*noteSize
	// MaxSize is the largest size a call may ask for.
	MaxSize = 16 << 20
	// MaxOutput is the maximum size of a command's output returned in full. Of longer output,
	// maxEnd bytes of the head and of the tail are returned. maxOutputLine limits each line.
	MaxOutput     = 8000
	maxEnd        = 2000
	maxOutputLine = 1000
	// noteSize is the space for the note about omitted text.
	noteSize = 256
	// maxCommand is the maximum size of a command in lists and records.
	maxCommand = 1 << 10

	// maxWord is the maximum size of an argument or a variable of a program, including its
	// terminator (execve(2), MAX_ARG_STRLEN).
	maxWord = 128 << 10
	// maxPattern is the maximum length of a regular expression; parsing long ones takes time.
	maxPattern = 64 << 10
)

// CheckLine rejects a shell line and variables the system would not accept, with a clearer error than
// the system's.
// doing starts the error's message.
func CheckLine(doing, command string, env map[string]string) error {
	switch {
	case strings.TrimSpace(command) == "":
		return api.Errorf(api.CodeInvalid, "%s: the command is empty", doing)
	case len(command) >= maxWord:
		return api.Errorf(api.CodeInvalid, "%s: the command is longer than 128 KB", doing).WithHint("write it to a file and run that")
	}
	for name, value := range env {
		if err := CheckVariable(name, value); err != nil {
			return err
		}
	}
	return nil
}

// CheckVariable rejects a variable too long for any program.
func CheckVariable(name, value string) error {
	if len(name)+len("=")+len(value) >= maxWord {
		return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", Abbreviate(name)).
			WithHint("write the value to a file and give the file's path")
	}
	return nil
}

// CheckPatterns rejects invalid and overlong regular expressions.
func CheckPatterns(patterns ...string) error {
	for _, p := range patterns {
		if len(p) > maxPattern {
			return api.Errorf(api.CodeInvalid, "read pattern: it is longer than 64 KB")
		}
		var wrong *syntax.Error
		if _, err := syntax.Parse(p, syntax.Perl); errors.As(err, &wrong) {
			return api.Errorf(api.CodeInvalid, "read pattern %q: %s", Abbreviate(p), wrong.Code).
				WithHint(`it is a regular expression (RE2); escape literal characters with \`)
		}
	}
	return nil
}

// KeepEnds returns output of at most MaxOutput bytes unchanged, and only the head and tail of
// longer output. The note between them includes hint, which says how to get the rest. Long lines
// are shortened. An agent finds an error in the middle of 10 MB with 562 tokens; with the ends that
// Codex keeps, it needs 10,094 (BenchmarkTasks in bench/agents).
func KeepEnds(text, hint string) string {
	if text = ShortenLines(text); len(text) > MaxOutput {
		return HeadAndTail(text, 2*maxEnd+noteSize, hint)
	}
	return text
}

// ShortenLines removes the middle of lines longer than maxOutputLine bytes.
func ShortenLines(text string) string {
	if len(text) <= maxOutputLine {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) <= maxOutputLine {
			b.WriteString(line)
			continue
		}
		head, tail := strings.ToValidUTF8(line[:maxOutputLine/2], ""), strings.ToValidUTF8(line[len(line)-maxOutputLine/2:], "")
		fmt.Fprintf(&b, "%s[%d bytes left out]%s", head, len(line)-len(head)-len(tail), tail)
	}
	return b.String()
}

// matchMargin is how much of a long line is shown on each side of a match, in bytes.
const matchMargin = 100

// AroundMatch removes from a long line what is far from the first match of pattern. A nil pattern
// matches the beginning.
func AroundMatch(line string, pattern *regexp.Regexp) string {
	if len(line) <= 2*matchMargin {
		return line
	}
	match := []int{0, 0}
	if pattern != nil {
		if found := pattern.FindStringIndex(line); found != nil {
			match = found
		}
	}
	start := max(0, match[0]-matchMargin)
	end := min(len(line), min(match[1], match[0]+matchMargin)+matchMargin)
	shown := strings.ToValidUTF8(line[start:end], "")
	if start > 0 {
		shown = fmt.Sprintf("[%d bytes left out]", start) + shown
	}
	if end < len(line) {
		shown += fmt.Sprintf("[%d bytes left out]", len(line)-end)
	}
	return shown
}

// JSONSize returns the size of a text as a JSON string, without the quotes.
func JSONSize(text string) int {
	size := 0
	for i := 0; i < len(text); {
		n, width := runeSize(text[i:])
		size, i = size+n, i+width
	}
	return size
}

// runeSize returns the size of the first character of a text in JSON, and its width in the text.
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

// Head returns the longest prefix of a text with at most limit bytes in JSON.
func Head(text string, limit int) string {
	end, size := 0, 0
	for end < len(text) {
		n, width := runeSize(text[end:])
		if size += n; size > limit {
			break
		}
		end += width
	}
	return text[:end]
}

// Tail returns the longest suffix of a text with at most limit bytes in JSON.
func Tail(text string, limit int) string {
	begin, size := len(text), 0
	for begin > 0 {
		_, width := utf8.DecodeLastRuneInString(text[:begin])
		n, _ := runeSize(text[begin-width:])
		if size += n; size > limit {
			break
		}
		begin -= width
	}
	return text[begin:]
}

// ShortenCommand truncates a command for a list or a record.
func ShortenCommand(command string) string {
	if JSONSize(command) <= maxCommand {
		return command
	}
	head := Head(command, maxCommand-noteSize)
	return fmt.Sprintf("%s… [%d bytes left out]", head, len(command)-len(head))
}

// WholeLines cuts the beginning and the end of a text at line ends, unless that would drop half of
// them, and otherwise between characters.
func WholeLines(head, tail string) (string, string) {
	if end := strings.LastIndexByte(head, '\n') + 1; end > len(head)/2 {
		head = head[:end]
	}
	if begin := strings.IndexByte(tail, '\n') + 1; begin < len(tail)/2 {
		tail = tail[begin:]
	}
	return strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
}

// HeadAndTail returns a text with at most limit bytes in JSON. A longer text loses its middle. The
// note there states the omitted size, and hint, which says how to get the rest. Lines stay whole if
// they are short enough.
func HeadAndTail(text string, limit int, hint string) string {
	if JSONSize(text) <= limit {
		return text
	}
	half := max(limit-noteSize, 0) / 2
	head, tail := WholeLines(Head(text, half), Tail(text, half))
	omitted := text[len(head) : len(text)-len(tail)]
	note := fmt.Sprintf("[%d bytes left out", len(omitted))
	if lines := strings.Count(omitted, "\n"); lines > 1 {
		note = fmt.Sprintf("[%d lines (%d bytes) left out", lines, len(omitted))
	}
	if hint != "" {
		note += ": " + hint
	}
	return head + NewlineBetween(head, note) + note + "]\n" + tail
}
