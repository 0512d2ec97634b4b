package vt

import (
	"bytes"
	"strconv"
	"strings"

	"tandem/engine/vt/scan"
)

// maxCommandLine bounds a command line that a shell tells, in bytes.
const maxCommandLine = 64 << 10

// Option gives what a mark's options say under a name, "" if nothing.
func (e PromptEvent) Option(name string) string {
	for option := range strings.SplitSeq(e.Options, ";") {
		if key, value, ok := strings.Cut(option, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// promptMark does OSC 133 (FinalTerm, and its options from the semantic
// prompts proposal of per-bothner): A prompt, B command, C output, D end with
// its exit status, P another part of the prompt.
func (t *host) promptMark(b []byte) {
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
	t.mark(e, rest)
}

// codeMark does OSC 633 (Visual Studio Code): the marks of OSC 133, and E with
// the escaped command line and a nonce; of its properties (P) the working
// directory.
func (t *host) codeMark(b []byte) {
	if path, ok := bytes.CutPrefix(b, []byte("P;Cwd=")); ok && len(path) <= maxText {
		t.workingPath([]byte(unescapeLine(path)))
		return
	}
	rest, ok := bytes.CutPrefix(b, []byte("E;"))
	if !ok {
		if len(b) > 0 && b[0] != 'P' { // its P is a property
			t.promptMark(b)
		}
		return
	}
	line, options, _ := bytes.Cut(rest, []byte{';'})
	if len(line) > maxCommandLine {
		return
	}
	t.mark(PromptEvent{Mark: 'E', Line: unescapeLine(line)}, options)
}

// mark tells a prompt mark, in a replay too.
func (t *host) mark(e PromptEvent, options []byte) {
	t.commandMark(e.Mark)
	t.markRow(e.Mark)
	if t.o.Event == nil {
		return
	}
	e.Options = scan.Clean(options, maxText)
	e.Remaining, e.Replay = t.behind, t.quiet
	t.o.Event(e)
}

// unescapeLine undoes the escapes of Visual Studio Code: two backslashes are one,
// and \xAB is a byte in hexadecimal. What is none of these stays as it is.
func unescapeLine(b []byte) string {
	var line strings.Builder
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			i = len(b)
		}
		line.Write(b[:i])
		if b = b[i:]; len(b) > 0 {
			n, char := unescape(b)
			line.WriteByte(char)
			b = b[n:]
		}
	}
	return strings.ToValidUTF8(line.String(), "\uFFFD")
}

// unescape gives the byte that b, which starts with a backslash, stands for,
// and how many bytes of b say so.
func unescape(b []byte) (n int, char byte) {
	switch {
	case len(b) > 1 && b[1] == '\\':
		return 2, '\\'
	case len(b) > 3 && b[1] == 'x':
		if v, err := strconv.ParseUint(string(b[2:4]), 16, 8); err == nil {
			return 4, byte(v)
		}
	}
	return 1, '\\'
}
