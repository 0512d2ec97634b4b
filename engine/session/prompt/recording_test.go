package prompt

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/system/pty"
)

// A recording is what a shell's terminal printed and received, in order. Its text has one event in
// each line:
//
//	scripts bash 5a2c0e17  the kind of shell, and the checksum of the scripts that it read
//	out "text"             a program in the terminal printed this
//	type "text"            the terminal received this
//	do "remove it"         the test did something outside the terminal
//	shell marked bash "-l" the arguments of the session's process; marked: its environment has a nonce
//	child cat              the arguments of another program that has the terminal
//	look reads own polls   what the system reports about the foreground program; see lookFlags
//	exit 3                 the session's process exited; without a number, a signal killed it
//
// shell, child and look are those of the moment before the next input.
type recording []recorded

type recorded struct {
	verb  string
	words []string
}

// An observation is what the system reports about the programs in a terminal.
type observation struct {
	shell   []string // arguments of the session's process
	marked  bool     // its environment has a nonce
	child   []string // arguments of another program that has the terminal; nil: none has
	look    pty.Look // with shellPID or childPID
	signals bool     // the terminal turns ctrl+c into a signal
}

// lines returns the lines that lead from one observation to another.
func (o observation) lines(before observation) (lines recording) {
	if !slices.Equal(o.shell, before.shell) || o.marked != before.marked {
		words := o.shell
		if o.marked {
			words = append([]string{"marked"}, words...)
		}
		lines = append(lines, recorded{"shell", words})
	}
	if !slices.Equal(o.child, before.child) {
		lines = append(lines, recorded{"child", o.child})
	}
	if o.look != before.look || o.signals != before.signals {
		lines = append(lines, recorded{"look", lookWords(o)})
	}
	return lines
}

var lookFlags = [...]struct {
	word string
	of   func(o *observation) *bool
}{
	{"reads", func(o *observation) *bool { return &o.look.Reads }},
	{"hidden", func(o *observation) *bool { return &o.look.Hidden }},
	{"own", func(o *observation) *bool { return &o.look.Own }},
	{"polls", func(o *observation) *bool { return &o.look.Polls }},
	{"alone", func(o *observation) *bool { return &o.look.Alone }},
	{"canonical", func(o *observation) *bool { return &o.look.Canonical }},
	{"signals", func(o *observation) *bool { return &o.signals }},
}

func lookWords(o observation) (words []string) {
	for _, f := range lookFlags {
		if *f.of(&o) {
			words = append(words, f.word)
		}
	}
	if o.look.PID == childPID {
		words = append(words, "child")
	}
	return words
}

// apply changes the observation as a line says.
func (o *observation) apply(line recorded) {
	switch line.verb {
	case "shell":
		o.shell, o.marked = line.words, line.words[0] == "marked"
		if o.marked {
			o.shell = line.words[1:]
		}
	case "child":
		o.child = line.words
	case "look":
		o.look, o.signals = pty.Look{PID: shellPID}, false
		for _, f := range lookFlags {
			*f.of(o) = slices.Contains(line.words, f.word)
		}
		if slices.Contains(line.words, "child") {
			o.look.PID = childPID
		}
	}
}

// isText reports whether a line is a part of what was printed or typed.
func (line recorded) isText() bool { return line.verb == "out" || line.verb == "type" }

var plainWord = regexp.MustCompile(`^[a-z0-9]+$`)

func (r recording) text() []byte {
	var b bytes.Buffer
	for _, line := range r {
		if line.isText() {
			for part := range strings.Lines(line.words[0]) {
				fmt.Fprintf(&b, "%s %q\n", line.verb, part)
			}
			continue
		}
		b.WriteString(line.verb)
		for _, word := range line.words {
			if !plainWord.MatchString(word) {
				word = strconv.Quote(word)
			}
			b.WriteString(" " + word)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func parseRecording(text string) (r recording, err error) {
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at := recorded{verb: verb}
		for rest != "" {
			word, after, _ := strings.Cut(rest, " ")
			if rest[0] == '"' {
				if word, err = strconv.QuotedPrefix(rest); err != nil {
					return nil, fmt.Errorf("%s: %v", line, err)
				}
				after = strings.TrimPrefix(rest[len(word):], " ")
				word, _ = strconv.Unquote(word)
			}
			at.words, rest = append(at.words, word), after
		}
		// Consecutive lines are one text.
		if n := len(r) - 1; n >= 0 && r[n].verb == verb && at.isText() {
			r[n].words[0] += at.words[0]
			continue
		}
		r = append(r, at)
	}
	return r, nil
}

// scriptsOf returns the line for the scripts that a shell of a kind reads.
func scriptsOf(t *testing.T, kind Kind) recorded {
	t.Helper()
	names := map[Kind][]string{
		Bash: {"bash.sh"}, Zsh: {"zshenv.zsh", "marks.zsh"}, Fish: {"marks.fish"}, POSIX: {"env.sh"}, Python: {"startup.py"},
	}[kind]
	var all []byte
	for _, name := range names {
		text, err := scripts.ReadFile("scripts/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return recorded{"scripts", []string{string(kind), fmt.Sprintf("%08x", crc32.ChecksumIEEE(all))}}
}

func recordingPath(t *testing.T) string {
	return filepath.Join("testdata", "shells", filepath.FromSlash(t.Name())+".txt")
}

// readRecording reads the test's recording. It must have been made with the scripts of today.
func readRecording(t *testing.T, kind Kind) recording {
	t.Helper()
	text, err := os.ReadFile(recordingPath(t))
	if err != nil {
		t.Fatalf("%v; make it with -record", err)
	}
	r, err := parseRecording(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := scriptsOf(t, kind); len(r) == 0 || !slices.Equal(r[0].words, want.words) {
		t.Fatalf("%s was made with other scripts; make it again with -record", recordingPath(t))
	}
	return r[1:]
}

func (r recording) write(t *testing.T) {
	path := recordingPath(t)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, r.text(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
