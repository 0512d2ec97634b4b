package prompt

import (
	"bytes"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/keys"
)

// text is what is typed.
func (e *execution) text() []byte {
	modes := e.s.t.Modes().Modes
	command := e.in.Command
	several := strings.Contains(command, "\n")
	switch {
	case e.marker:
		command = markerLines(command, e.s.marks.word())
	case !several:
	case e.s.o.Kind == Python:
		command = "exec(" + pythonString(command+"\n") + ")"
	case !modes.BracketedPaste:
		command = "{\n" + command + "\n}"
	}
	if modes.BracketedPaste && e.s.o.Kind != Python {
		return append(keys.EncodePaste(nil, command, modes), '\r')
	}
	modes.BracketedPaste = false
	return append(keys.EncodePaste(nil, command, modes), '\r')
}

// markerLines puts lines around a command that print marks. The shell reads all
// of it before it runs anything, so what it echoes comes before the first mark.
func markerLines(command, word string) string {
	return " { printf '\\033]133;C;aid=" + word + "\\007'\n" + command + "\n}; printf '\\033]133;D;%s;aid=" + word + "\\007' \"$?\""
}

// pythonString writes text as a literal on one line.
func pythonString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// result makes the answer from what was seen.
func (e *execution) result(timedOut bool) (api.SessionExecOutput, error) {
	s := e.s
	seen := s.marks.seen(e.watch)
	ended := s.isOver()
	out := api.SessionExecOutput{Alive: !ended, Start: e.start, TimedOut: timedOut && !seen.ended && !ended, Method: "none"}
	from, to := seen.start, seen.end
	if !seen.begun {
		from = e.echoEnd(seen)
	}
	end := s.t.Log().End()
	if !ended {
		end = s.t.Shown()
	}
	began, until := seen.began, seen.endedAt
	if began.IsZero() {
		began = e.typedAt
	}
	switch {
	case seen.ended:
		out.Method, out.ExitCode = "marks", seen.exit
		if e.marker {
			out.Method = "marker"
		}
		out.NextCursor = max(seen.end, seen.cursor)
		if e.marker {
			out.NextCursor = end
		}
	default:
		to, until, out.NextCursor = end, time.Now(), end
		if ended {
			out.Method, out.ExitCode = "exit", s.t.ExitCode()
		}
	}
	out.DurationMS = float64(max(0, until.Sub(began)).Microseconds()) / 1000
	out.CWD = s.t.CWD()
	text, dropped, err := e.output(from, to, seen.ended)
	if !seen.begun && !(seen.continued > 0 && e.s.o.Kind == POSIX) { // its terminal has echoed all of it before
		text = withoutEcho(text, e.in.Command)
	}
	out.Output, out.Dropped = text, dropped
	return out, err
}

// echoEnd is where the output of a command begins in a shell that does not
// tell: behind the last prompt, if it asked for more, or what was typed.
func (e *execution) echoEnd(seen commandWatch) int64 {
	if seen.continued > 0 {
		return seen.more
	}
	return e.start
}

// output reads and cleans what was printed from one offset to another.
func (e *execution) output(from, to int64, ended bool) (text string, dropped int64, err error) {
	most := max(shellRawLeast, outputPerResult*e.in.MaxOutput)
	p, start, err := readRange(e.s.t.Log(), from, to, most)
	if err != nil {
		return "", 0, api.Errorf(api.CodeUnavailable, "read output of %s: %v", e.name, err)
	}
	if i := bytes.LastIndex(p, []byte("\x1b]133;")); i >= 0 && ended { // the mark of the end
		p = p[:i]
	}
	cols, rows := e.s.t.Size()
	text = cleanOutput(p, cols, rows)
	dropped = max(0, start-from)
	if cut := len(text) - e.in.MaxOutput; cut > 0 {
		dropped += int64(cut)
		text = strings.ToValidUTF8(text[cut:], "")
	}
	return text, dropped, nil
}

// withoutEcho takes what was typed off the beginning of an output. A line
// editor may have wrapped it, so blanks and ends of lines do not count.
func withoutEcho(text, command string) string {
	lines := strings.Split(command, "\n")
	rest := text
	for _, want := range [...]string{command, lines[len(lines)-1]} {
		at, ok := 0, true
		for _, r := range want {
			if r == ' ' || r == '\t' || r == '\n' {
				continue
			}
			for at < len(rest) && strings.IndexByte(" \t\n", rest[at]) >= 0 {
				at++
			}
			if !strings.HasPrefix(rest[at:], string(r)) {
				ok = false
				break
			}
			at += len(string(r))
		}
		if ok {
			rest = rest[at:]
			return rest[lineEnd([]byte(rest)):]
		}
	}
	return text[lineEnd([]byte(text)):]
}
