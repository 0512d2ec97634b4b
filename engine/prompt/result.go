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
	if !e.plain && e.editsLines() && mustQuote(command, modes.BracketedPaste) {
		command = "eval " + quoteAll(command)
		e.typed = command
	}
	several := strings.Contains(command, "\n")
	switch {
	case e.plain && several && e.atPythonPrompt():
		command = pythonLine(command)
		e.in.Command = command // its echo is no output
	case e.plain:
	case e.marker:
		command = markerLines(command, e.s.marks.word(), e.program() == fishShell)
	case !several:
	case e.s.o.Kind == Python:
		command = pythonLine(command)
	case !modes.BracketedPaste:
		command = "{\n" + command + "\n}"
	}
	e.lines = 1 + strings.Count(command, "\n")
	if modes.BracketedPaste && (e.plain || e.s.o.Kind != Python) {
		return append(keys.EncodePaste(nil, command, modes), '\r')
	}
	modes.BracketedPaste = false
	return append(keys.EncodePaste(nil, command, modes), '\r')
}

// editsLines reports whether the shell is one that changes lines before it reads them:
// it expands its history in them, and completes words where they have tabs.
func (e *execution) editsLines() bool {
	name := e.program()
	return name == "bash" || name == "zsh"
}

// program returns the name of the program that reads the terminal.
func (e *execution) program() string {
	if e.reader == nil {
		return string(e.s.o.Kind)
	}
	return programOf(e.reader)
}

// mustQuote reports whether such a shell would change a command: ! names a line of the
// history unless blanks, = or ( follow (bash(1), HISTORY EXPANSION), as ^ does where a
// line begins.
func mustQuote(command string, pasted bool) bool {
	if !pasted && strings.Contains(command, "\t") {
		return true
	}
	for line := range strings.Lines(command) {
		if strings.HasPrefix(line, "^") {
			return true
		}
		for i := 0; i+1 < len(line); i++ {
			if line[i] == '!' && strings.IndexByte(" \t\n=(", line[i+1]) < 0 {
				return true
			}
		}
	}
	return false
}

// quoteAll writes text as one word on one line, of bash and zsh.
func quoteAll(text string) string {
	return "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "!", `\041`).Replace(text) + "'"
}

// markerLines puts lines around a command that print marks. The shell reads all
// of it before it runs anything, so what it echoes comes before the first mark.
func markerLines(command, word string, fish bool) string {
	if fish {
		return " begin; printf '\\033]133;C;aid=" + word + "\\007'\n" + command + "\nend; printf '\\033]133;D;%s;aid=" + word + "\\007' $status"
	}
	return " { printf '\\033]133;C;aid=" + word + "\\007'\n" + command + "\n}; printf '\\033]133;D;%s;aid=" + word + "\\007' \"$?\""
}

// atPythonPrompt reports whether the program that reads is Python at its usual prompt.
func (e *execution) atPythonPrompt() bool {
	return strings.TrimSpace(e.before) == ">>>" && isPython(programOf(e.reader))
}

// pythonLine writes several lines of Python as one, which runs them as typed statements: the
// values of expressions are shown, and blank lines end nothing. 1024 is ast.PyCF_ONLY_AST.
func pythonLine(command string) string {
	return "exec(compile(__import__(\"ast\").Interactive(compile(" + pythonString(command+"\n") +
		", \"<stdin>\", \"exec\", 1024).body), \"<stdin>\", \"single\"))"
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
		switch {
		case seen.lost:
			out.Method = "none"
		case e.marker:
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
	text = strings.TrimPrefix(text, e.before+e.prompt)
	if e.plain {
		text = withoutTyped(text, e.in.Command)
	} else if !seen.begun && !(seen.continued > 0 && e.s.o.Kind == POSIX) { // its terminal has echoed all of it before
		text = withoutEcho(text, e.in.Command)
	}
	out.Dropped, out.Waits = dropped, string(e.waits)
	if out.Output = text; e.waits != NeedNothing {
		out.Output, out.Question = e.question(text)
	}
	return out, err
}

// question takes off an output what the program has asked: the line that it has not
// ended. A full-screen program asks in other ways.
func (e *execution) question(text string) (output, question string) {
	if e.s.t.Modes().Alt {
		return text, ""
	}
	at := strings.LastIndexByte(text, '\n') + 1
	return text[:at], strings.TrimRight(text[at:], " ")
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
	lead := e.before + e.prompt // columns count from there
	text = cleanOutput(append([]byte(lead), p...), cols, rows)
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

// withoutTyped takes off an output the lines that a program has echoed of a text,
// each behind a prompt for more if it has drawn one.
func withoutTyped(text, typed string) string {
	for line := range strings.Lines(typed) {
		first, rest, ok := strings.Cut(text, "\n")
		line = strings.TrimRight(line, " \t\n")
		if !ok || line == "" || !strings.HasSuffix(strings.TrimRight(first, " "), line) {
			break
		}
		text = rest
	}
	return text
}
