package logs

import (
	"bytes"
	"strings"

	"tandem/engine/rendered"
	"tandem/ui/cli/output"
)

// maxPartial bounds the part of a line that is held back.
const maxPartial = 1 << 20

// A logText converts a log, piece by piece, to the text that a terminal shows for it.
type logText struct {
	raw     bool   // print pieces as they are
	partial []byte // the unfinished last line
	printed int    // bytes of it that have been printed
}

// add returns the text to print for a piece. The last line may be unfinished unless end is set.
// An unfinished line is printed at once if it is plain text, such as a prompt; with carriage
// returns or escape sequences it is held until it is whole.
func (l *logText) add(s string, end bool) string {
	if l.raw {
		return s
	}
	l.partial = append(l.partial, s...)
	whole := bytes.LastIndexByte(l.partial, '\n') + 1
	if end || len(l.partial) > maxPartial {
		whole = len(l.partial)
	}
	var b strings.Builder
	for line := range bytes.Lines(l.partial[:whole]) {
		text, isWhole := bytes.CutSuffix(line, []byte{'\n'})
		b.WriteString(l.rest(text))
		if isWhole {
			b.WriteByte('\n')
		}
		l.printed = 0
	}
	l.partial = append(l.partial[:0], l.partial[whole:]...)
	if n := len(l.partial); n > l.printed && l.partial[n-1] != '\r' && rendered.IsPlain(l.partial) {
		b.WriteString(output.Escape(string(l.partial[l.printed:]), "\t"))
		l.printed = n
	}
	return b.String()
}

// rest returns the text of a line, or what follows the part that has been printed. If that part
// was overwritten, the text begins a line of its own.
func (l *logText) rest(line []byte) string {
	text := rendered.AppendText(nil, line)
	rest, ok := bytes.CutPrefix(text, line[:l.printed])
	if !ok {
		return "\n" + output.Escape(string(text), "\t")
	}
	return output.Escape(string(rest), "\t")
}
