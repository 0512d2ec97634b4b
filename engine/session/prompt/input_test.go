package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
)

func TestCheckExecSetsDefaultsAndRejectsInvalidInput(t *testing.T) {
	for _, c := range []struct {
		in    api.SessionExecInput
		typed bool
		want  string // of the error, or the command
	}{
		{api.SessionExecInput{}, true, "the command is empty"},
		{api.SessionExecInput{ID: "a\x1b", Command: " \t\r\n"}, false, `run in "a\x1b": the command is empty`},
		{api.SessionExecInput{Command: "a\x03"}, true, "has control characters"},
		{api.SessionExecInput{Command: "a\x1b[A"}, true, "has control characters"},
		{api.SessionExecInput{Command: "a\x00"}, true, "has control characters"},
		{api.SessionExecInput{Command: "a\x1b[A"}, false, "a\x1b[A"},
		{api.SessionExecInput{Command: "a", TimeoutMS: -1}, true, "cannot be negative"},
		{api.SessionExecInput{Command: "a", MaxOutput: -1}, true, "cannot be negative"},
		{api.SessionExecInput{Command: "\r\n\na\r\nb\tä\n"}, true, "a\nb\tä\n"},
		{api.SessionExecInput{Command: "a", TimeoutMS: 1 << 40, MaxOutput: 1 << 40}, true, "a"},
	} {
		in := c.in
		err := CheckExec(&in, c.typed)
		switch {
		case err != nil && (!errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v", c.in.Command, err)
		case err == nil && (in.Command != c.want || in.TimeoutMS <= 0 || in.TimeoutMS > 300_000 || in.MaxOutput <= 0 || in.MaxOutput > maxOutput):
			t.Errorf("%q: %+v", c.in.Command, in)
		}
	}
}

func TestCommandIsTypedSoThatItsShellRunsItUnchanged(t *testing.T) {
	const once = "0123"
	for name, c := range map[string]struct {
		kind   Kind
		paste  bool // the program has bracketed paste enabled
		reader []string
		plain  bool
		marker bool
		before string // the cursor's row
		in     string
		want   string
	}{
		"bash, one line":               {kind: Bash, in: "ls", want: "ls\r"},
		"bash, pasted":                 {kind: Bash, paste: true, in: "ls", want: "\x1b[200~ls\x1b[201~\r"},
		"bash, several lines":          {kind: Bash, in: "a\nb", want: "{\ra\rb\r}\r"},
		"bash, several lines pasted":   {kind: Bash, paste: true, in: "a\nb", want: "\x1b[200~a\nb\x1b[201~\r"},
		"bash, history reference":      {kind: Bash, in: "echo a!b 'x'", want: `eval $'echo a\041b \'x\''` + "\r"},
		"bash, harmless mark":          {kind: Bash, in: "echo a! b; [ 1 != 2 ]", want: "echo a! b; [ 1 != 2 ]\r"},
		"bash, caret":                  {kind: Bash, in: "x\n^a^b", want: `eval $'x\n^a^b'` + "\r"},
		"bash, tab":                    {kind: Bash, in: "a\tb\\", want: `eval $'a\tb\\'` + "\r"},
		"bash, tab pasted":             {kind: Bash, paste: true, in: "a\tb", want: "\x1b[200~a\tb\x1b[201~\r"},
		"zsh, history reference":       {kind: Zsh, paste: true, in: "echo !!", want: "\x1b[200~" + `eval $'echo \041\041'` + "\x1b[201~\r"},
		"dash, history reference":      {kind: POSIX, in: "echo !!", want: "echo !!\r"},
		"python, several lines":        {kind: Python, paste: true, in: "a\nb", want: pythonLine("a\nb") + "\r"},
		"python, one line":             {kind: Python, paste: true, in: "1+1", want: "1+1\r"},
		"python in a shell":            {kind: Bash, reader: []string{"python3"}, plain: true, before: ">>> ", in: "a\nb", want: pythonLine("a\nb") + "\r"},
		"question of python":           {kind: Bash, reader: []string{"python3"}, plain: true, before: "Name: ", in: "a\nb", want: "a\rb\r"},
		"no shell":                     {kind: Bash, reader: []string{"psql"}, plain: true, before: "db=# ", in: "select !x", want: "select !x\r"},
		"unmarked shell":               {kind: Bash, reader: []string{"sh"}, marker: true, in: "ls", want: strings.ReplaceAll(markerLines("ls", once, false), "\n", "\r") + "\r"},
		"unmarked fish":                {kind: Bash, reader: []string{"/usr/bin/fish"}, marker: true, in: "ls", want: strings.ReplaceAll(markerLines("ls", once, true), "\n", "\r") + "\r"},
		"unmarked bash, history":       {kind: None, reader: []string{"-bash"}, marker: true, in: "!!", want: strings.ReplaceAll(markerLines(`eval $'\041\041'`, once, false), "\n", "\r") + "\r"},
		"paste cannot be left by text": {kind: POSIX, paste: true, in: "a\x1b[201~b", want: string(keys.EncodePaste(nil, "a\x1b[201~b", keys.Modes{BracketedPaste: true})) + "\r"},
	} {
		term := newScreen(t, screenOptions{kind: c.kind})
		if c.paste {
			term.print("\x1b[?2004h")
		}
		e := &execution{s: term.shell, in: api.SessionExecInput{Command: c.in}, reader: c.reader, plain: c.plain, marker: c.marker, before: c.before}
		e.s.marks.once.word = once
		if got := string(e.encodeInput()); got != c.want {
			t.Errorf("%s: typed %q, want %q", name, got, c.want)
		}
	}
}

func TestPythonLineQuotesItsText(t *testing.T) {
	for text, want := range map[string]string{
		"a":           `"a"`,
		"a\"b\\c":     `"a\"b\\c"`,
		"a\n\tb\n":    `"a\n\tb\n"`,
		"'ä' \u2028€": "\"'ä' \u2028€\"",
	} {
		if got := pythonString(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestEchoIsRemovedFromTheOutput(t *testing.T) {
	for _, c := range []struct{ text, command, want string }{
		{"ls -l\nfile\n", "ls -l", "file\n"},
		{"ls\n -l  \nfile\n", "ls -l", "file\n"}, // wrapped by the line editor
		{"a\nb\nout\n", "a\nb", "out\n"},
		{"b\nout\n", "a\nb", "out\n"}, // only the last line is echoed
		{"something else\nout\n", "ls", "out\n"},
		{"ls", "ls", ""},
		{"", "ls", ""},
		{"ä ö\nout\n", "ä ö", "out\n"},
		{"ls file", "ls", ""},
	} {
		if got := trimEcho(c.text, c.command); got != c.want {
			t.Errorf("trimEcho(%q, %q) = %q, want %q", c.text, c.command, got, c.want)
		}
	}
	for _, c := range []struct{ text, typed, want string }{
		{"1+1\n2\n", "1+1", "2\n"},
		{">>> a\n... b\nout\n", "a\nb\n", "out\n"},
		{"a \nout\n", "a  ", "out\n"},
		{"out\n", "a", "out\n"},
		{"a", "a", "a"}, // not sent yet
		{"", "a", ""},
		{"a\nb\n", "a\n\nb", "b\n"},
	} {
		if got := trimTyped(c.text, c.typed); got != c.want {
			t.Errorf("trimTyped(%q, %q) = %q, want %q", c.text, c.typed, got, c.want)
		}
	}
}

func TestEndsLikePromptRecognizesPrompts(t *testing.T) {
	for _, c := range []struct {
		row            string
		prompt, symbol bool
	}{
		{"$ ", true, true}, {"user@host:~$ ", true, true}, {"root# ", true, true}, {"% ", true, true}, {"~ ❯ ", true, true}, {"dir> ", false, true},
		{"db=# ", false, true}, {"db-# ", false, true}, {"db(# ", false, true}, {"db'# ", false, true}, {"db*# ", false, true}, {"db!$", false, true},
		{"", false, false}, {"   ", false, false}, {"Password: ", false, false}, {"really? ", false, false}, {"[y/N] ", false, false}, {"text", false, false},
		{"50%", true, true}, {"ä", false, false}, {"\xff", false, false}, {"(y) ", false, false}, {"»", false, true},
	} {
		if got := endsLikePrompt(c.row); got != c.prompt {
			t.Errorf("%q ends like a prompt: %v", c.row, got)
		}
		if got := endsInSymbol(c.row); got != c.symbol {
			t.Errorf("%q ends in a symbol: %v", c.row, got)
		}
	}
	if got := stripDigits("In [12]: ä3"); got != "In []: ä" {
		t.Errorf("stripped %q", got)
	}
}

func TestIsInteractiveDistinguishesShellsFromScripts(t *testing.T) {
	for argv, want := range map[string]bool{
		"bash": true, "-bash": true, "/bin/sh -i": true, "bash --rcfile x": true, "bash -o vi -i": true, "fish -C source": true, "zsh +o x": true,
		"busybox sh": true, "ksh": true, "bash --norc": true,
		"": false, "bash script": false, "bash -c ls": false, "bash -lc ls": false, "sh -": true, "busybox": false, "busybox ls": false, "vim": false, "bashful": false,
		"ssh": false, "bash --rcfile": true,
	} {
		if got := isInteractive(strings.Fields(argv)); got != want {
			t.Errorf("%q: %v", argv, got)
		}
	}
	for argv, want := range map[string]bool{"ssh host": true, "/usr/bin/sudo -i": true, "docker exec": true, "": false, "sshd": false, "bash": false} {
		if got := isRelay(strings.Fields(argv)); got != want {
			t.Errorf("%q relays: %v", argv, got)
		}
	}
}

func TestOutputIsCleanedAsATerminalShowsIt(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain\r\ntext\r\n", "plain\ntext\n"},
		{"a\r\r\nb", "a\nb"},
		{"10%\r20%\rdone\r\n", "done\n"},
		{"\x1b[1mbold\x1b[m ä\r\n", "bold ä\n"},
		{"abc\b\bX\r\n", "aXc\n"},
		{"\xff\r\n", "\uFFFD\n"},
		{strings.Repeat("x", 25) + "\r\n", strings.Repeat("x", 25) + "\n"},
		{"\x1b[31m" + strings.Repeat("x", 25) + "\r\n", strings.Repeat("x", 25) + "\n"}, // wrapped, joined again
		{"before\r\n\x1b[?1049hfull screen\x1b[?1049lafter\r\n", "before\nafter\n"},
		{"before\r\n\x1b[?1049hfull screen", "before\n"},
		{"a\r\n\x1b[2Cb\r\n\r\n\r\nc", "a\n  b\n\n\nc"},
		{"a\x00\x07b", "ab"},
		{"prompt> ", "prompt> "},
	} {
		if got := cleanOutput([]byte(c.in), 20, 5); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	many := slices.Repeat([]string{"\x1b[1mline"}, 12_000)
	if got := cleanOutput([]byte(strings.Join(many, "\r\n")), 20, 5); strings.Count(got, "line") != 12_000 || strings.Count(got, "\n") != 11_999 {
		t.Errorf("%d lines of many", strings.Count(got, "line"))
	}
}

func TestLineOfAMarkIsEscaped(t *testing.T) {
	for _, line := range []string{"ls", "a;b", `back\slash`, "two\nlines\t", "\x1b]0;x\a", "ä \x7f", "\xff"} {
		term := newScreen(t, screenOptions{})
		var got string
		term.event = func(line string) { got = line }
		term.print(fmt.Sprintf("\x1b]633;E;%s;n\a", escapeLine(line)))
		if got != line && line != "\xff" {
			t.Errorf("%q became %q", line, got)
		}
		if text := escapeLine(line); strings.ContainsAny(text, ";\x1b\a\n") {
			t.Errorf("%q is escaped as %q", line, text)
		}
	}
}

func TestPlainTextOfAStreamSkipsSequences(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb":                       "ab",
		"a\x1b]0;title\ab":                 "ab",
		"a\x1b]0;title\x1b\\b":             "ab",
		"a\x1bPdata\x1b\\b":                "ab",
		"a\x1b]0;cut off\x18b":             "ab",
		"a\x1b[3\x18text\x1bP\x1ab":        "atextb",
		"a\x1bPq\a\x1b[1mdone":             "adone",
		"a\x1b[3\x1b[1mb":                  "ab",
		"a\x1b(Bb":                         "ab",
		"10%\r20%\r\nx":                    "10%\n20%\nx",
		"a\b\x7f\x00b":                     "ab",
		"ä\u2028€":                         "ä\u2028€",
		"a\x1b]0;not ended\x1b[1mdone\r\n": "adone\n",
	} {
		b := newPlainWindow(5)
		b.addOutput([]byte(in))
		if string(b.text) != want || b.at != 5+int64(len(in)) || len(b.ends) != len(b.text) {
			t.Errorf("%q: %q at %d, want %q", in, b.text, b.at, want)
		}
	}
	b := newPlainWindow(0)
	for range 20 {
		b.addOutput([]byte(strings.Repeat("x", 16<<10)))
	}
	if len(b.text) > maxPlainWindow+logChunk || b.ends[len(b.ends)-1] != 20*16<<10 {
		t.Errorf("it holds %d bytes up to %d", len(b.text), b.ends[len(b.ends)-1])
	}
}
