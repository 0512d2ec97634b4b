package vt

import (
	"bytes"
	"strings"

	"tandem/engine/screen/vt/scan"
)

// maxCommandLine is the maximum length of a reported command line, in bytes.
const maxCommandLine = 64 << 10

// Option returns the value of an option of the mark; "" if missing.
func (e PromptEvent) Option(name string) string {
	for option := range strings.SplitSeq(e.Options, ";") {
		if key, value, ok := strings.Cut(option, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// parsePromptMark handles OSC 133 (FinalTerm, with options from per-bothner's semantic prompts
// proposal): A prompt, B command, C output, D end with its exit status, P another part of the
// prompt.
func (t *host) parsePromptMark(b []byte) {
	if len(b) == 0 || (b[0] < 'A' || b[0] > 'D') && b[0] != 'P' || len(b) > 1 && b[1] != ';' {
		return
	}
	e := PromptEvent{Mark: b[0]}
	rest := b[min(len(b), 2):]
	if e.Mark == 'D' {
		if n, options := splitNumber(rest); n >= 0 {
			e.Exit, rest = &n, options
		}
	}
	t.reportMark(e, rest)
}

// parseCodeMark handles OSC 633 (Visual Studio Code): the marks of OSC 133, E with the escaped
// command line and a nonce, and the working directory property of P.
func (t *host) parseCodeMark(b []byte) {
	if path, ok := bytes.CutPrefix(b, []byte("P;Cwd=")); ok && len(path) <= maxText {
		t.reportWorkingPath([]byte(scan.UnescapeLine(path)))
		return
	}
	rest, ok := bytes.CutPrefix(b, []byte("E;"))
	if !ok {
		if len(b) > 0 && b[0] != 'P' { // here P is a property, not a prompt
			t.parsePromptMark(b)
		}
		return
	}
	line, options, _ := bytes.Cut(rest, []byte{';'})
	if len(line) > maxCommandLine {
		return
	}
	t.reportMark(PromptEvent{Mark: 'E', Line: scan.UnescapeLine(line)}, options)
}

// reportMark records a prompt mark and sends its event, also during a replay.
func (t *host) reportMark(e PromptEvent, options []byte) {
	t.trackCommand(e.Mark, t.quiet && bytes.HasPrefix(options, []byte("at=")))
	t.page.markRow(e.Mark)
	if t.o.Event == nil {
		return
	}
	e.Options = scan.Clean(options, maxText)
	e.Remaining, e.Replay = t.remaining, t.quiet
	t.o.Event(e)
}
