package logs

import (
	"bytes"
	"strings"

	"tandem/engine/screen/rendered"
	"tandem/ui/cli/output"
)

// maxPartial is the maximum size of an unfinished line held back.
const maxPartial = 1 << 20

// A logText converts a log, piece by piece, to the text shown by a terminal.
type logText struct {
	out     output.Printer // prints the text
	raw     bool           // print pieces as they are
	partial []byte         // the unfinished last line
	printed int            // bytes of partial already printed
}

// add returns the text to print for a piece. The last line may be unfinished unless end is set. An
// unfinished line is printed immediately if it is plain text, such as a prompt. With carriage
// returns or escape sequences it is held until it is complete.
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
		b.WriteString(l.remaining(text))
		if isWhole {
			b.WriteByte('\n')
		}
		l.printed = 0
	}
	l.partial = append(l.partial[:0], l.partial[whole:]...)
	// A trailing carriage return may begin "\r\n", or the line may be overwritten.
	if n := len(l.partial); n > l.printed && l.partial[n-1] != '\r' && rendered.IsPlain(l.partial) {
		b.WriteString(l.out.Escape(string(l.partial[l.printed:]), "\t"))
		l.printed = n
	}
	return b.String()
}

// remaining returns the text of a line after its printed part. If that part was overwritten, it
// returns the whole text, on a new line.
func (l *logText) remaining(line []byte) string {
	text := rendered.AppendText(nil, line)
	rest, ok := bytes.CutPrefix(text, line[:l.printed])
	if !ok {
		return "\n" + l.out.Escape(string(text), "\t")
	}
	return l.out.Escape(string(rest), "\t")
}
