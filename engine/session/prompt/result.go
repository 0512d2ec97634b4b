package prompt

import (
	"bytes"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/keys"
)

// encodeInput returns the bytes that are typed for the command.
func (e *execution) encodeInput() []byte {
	modes := e.s.t.Modes().Modes
	command := e.in.Command
	if !e.plain && e.editsLines() && mustQuote(command, modes.BracketedPaste) {
		command = "eval " + quoteWord(command)
	}
	several := strings.Contains(command, "\n")
	switch {
	case e.plain && several && e.atPythonPrompt():
		command, e.translated = pythonLine(command), true
	case e.plain:
	case e.marker:
		command = markerLines(command, e.s.marks.onceNonce(), e.readerName() == fishShell)
	case !several:
	case e.s.o.Kind == Python:
		command, e.translated = pythonLine(command), true
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

// editsLines reports whether the shell changes lines before it runs them: bash and zsh expand
// history references and complete words at tabs.
func (e *execution) editsLines() bool {
	name := e.readerName()
	return name == "bash" || name == "zsh"
}

// readerName returns the name of the program that reads the terminal.
func (e *execution) readerName() string {
	if e.reader == nil {
		return string(e.s.o.Kind)
	}
	return programOf(e.reader)
}

// mustQuote reports whether bash or zsh would change a command. ! refers to a line of the history
// unless a blank, = or ( follows (bash(1), HISTORY EXPANSION), and so does ^ at the start of a
// line.
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

// quoteWord quotes text for bash or zsh, as one word on one line.
func quoteWord(text string) string {
	return "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "!", `\041`).Replace(text) + "'"
}

// markerLines adds lines to a command that print marks before and after it. The shell reads all
// lines before it runs any, so their echo precedes the first mark.
//
// The marks leave $? unchanged, for the command and for the next one, and the subshells leave $_
// unchanged in bash. An exit status other than 0 comes from a list with &&, so neither set -e nor a
// trap of ERR reacts to it.
func markerLines(command, word string, fish bool) string {
	if fish {
		return " begin; set -l s $status; printf '\\033]133;C;aid=" + word + "\\007'; command sh -c \"exit $s\"\n" + command +
			"\nend; begin; set -l s $status; printf '\\033]133;D;%s;aid=" + word + "\\007' $s; command sh -c \"exit $s\"; end"
	}
	const status = "; exit $1) 2>/dev/null && (exit 0)" // without the trace of set -x
	return ` { (set -- "$?"; printf '\033]133;C;aid=` + word + `\007'` + status + "\n" + command +
		"\n" + `}; (set -- "$?"; printf '\033]133;D;%s;aid=` + word + `\007' "$1"` + status
}

// atPythonPrompt reports whether Python is reading at its standard prompt.
func (e *execution) atPythonPrompt() bool {
	return strings.TrimSpace(e.before) == ">>>" && isPython(programOf(e.reader))
}

// pythonLine converts several lines of Python to one line with the same effect as typing them: the
// values of expressions are shown. Blank lines do not end anything. 1024 is ast.PyCF_ONLY_AST.
func pythonLine(command string) string {
	return "exec(compile(__import__(\"ast\").Interactive(compile(" + pythonString(command+"\n") +
		", \"<stdin>\", \"exec\", 1024).body), \"<stdin>\", \"single\"))"
}

// pythonString quotes text as a Python string on one line.
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

// buildResult returns the result of the command, from the marks seen so far.
func (e *execution) buildResult(timedOut bool) (api.SessionExecOutput, error) {
	s := e.s
	seen := s.marks.readWatch(e.watch)
	ended := s.isOver()
	out := api.SessionExecOutput{Alive: !ended, Start: e.start, TimedOut: timedOut && !seen.ended && !ended, Method: "none"}
	end := outputEnd(s.t, ended)
	if e.refused != "" {
		status := fishRefusal
		out.Output, out.ExitCode, out.NextCursor, out.CWD = e.refused, &status, end, s.t.CWD()
		return out, nil
	}
	from, to := seen.start, seen.end
	if !seen.begun {
		from = e.outputStart(seen, end)
	}
	out.OutputStart = from
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
	out.DurationMS = api.Milliseconds(max(0, until.Sub(began)))
	out.CWD = s.t.CWD()
	text, dropped, err := e.readOutput(from, to, seen.ended)
	text = strings.TrimPrefix(text, e.before+e.prompt)
	switch {
	case e.translated:
	case e.plain:
		text = trimTyped(text, e.in.Command)
	case !seen.begun && !(seen.continued > 0 && e.s.o.Kind == POSIX): // the terminal has echoed all of it before
		text = trimEcho(text, e.in.Command)
	}
	out.Dropped, out.Waits = dropped, string(e.waits)
	if out.Output = text; e.waits != NeedNothing {
		out.Output, out.Question = e.splitQuestion(text)
	}
	return out, err
}

// splitQuestion splits off the unfinished last line of an output, which is the program's question.
// The output of a full-screen program is not split.
func (e *execution) splitQuestion(text string) (output, question string) {
	if e.s.t.Modes().Alt {
		return text, ""
	}
	at := strings.LastIndexByte(text, '\n') + 1
	return text[:at], strings.TrimRight(text[at:], " ")
}

// outputStart returns the offset of the start of a command's output, if no mark reported it. The
// output begins after the last continuation prompt or, if there is none, after the input. If the
// command is between lines that print marks, everything up to end is echo.
func (e *execution) outputStart(seen commandWatch, end int64) int64 {
	switch {
	case e.marker:
		return end
	case e.translated:
		p, _, err := readRange(e.s.t.Log(), e.start, end, int(end-e.start))
		if err != nil {
			return end
		}
		return e.start + int64(lineEnd(p))
	case seen.continued > 0:
		return seen.more
	}
	return e.start
}

// readOutput returns the output between two offsets as plain text. It keeps the last MaxOutput
// bytes; dropped is the number of bytes left out.
func (e *execution) readOutput(from, to int64, ended bool) (text string, dropped int64, err error) {
	most := max(minRawOutput, outputPerResult*e.in.MaxOutput)
	p, start, err := readRange(e.s.t.Log(), from, to, most)
	if err != nil {
		return "", 0, api.Errorf(api.CodeUnavailable, "read output of %s: %v", e.name, err)
	}
	if i := bytes.LastIndex(p, []byte("\x1b]133;")); i >= 0 && ended { // the mark of the end
		p = p[:i]
	}
	cols, rows := e.s.t.Size()
	// This text is in front of the output in its row, and columns count from there.
	lead := e.before + e.prompt
	text = cleanOutput(append([]byte(lead), p...), cols, rows)
	dropped = max(0, start-from)
	if cut := len(text) - e.in.MaxOutput; cut > 0 {
		dropped += int64(cut)
		text = strings.ToValidUTF8(text[cut:], "")
	}
	return text, dropped, nil
}

// trimEcho removes the echo of the input from the start of an output. It ignores blanks and line
// ends, because a line editor may have wrapped the input.
func trimEcho(text, command string) string {
	lines := strings.Split(command, "\n")
	rest, ok := cutEcho(text, command)
	if !ok { // the output may begin at the last line of the input
		rest, _ = cutEcho(text, lines[len(lines)-1])
	}
	return rest[lineEnd([]byte(rest)):]
}

// cutEcho returns the part of text after typed. Blanks and line ends count in neither of them. If
// text does not begin with typed, cutEcho returns all of it, and false.
func cutEcho(text, typed string) (rest string, found bool) {
	const blanks = " \t\n"
	rest = text
	for _, r := range typed {
		if strings.ContainsRune(blanks, r) {
			continue
		}
		if rest, found = strings.CutPrefix(strings.TrimLeft(rest, blanks), string(r)); !found {
			return text, false
		}
	}
	return rest, true
}

// trimTyped removes the echo of the lines in typed from the start of an output, with the
// continuation prompts before them.
func trimTyped(text, typed string) string {
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
