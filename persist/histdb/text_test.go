package histdb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func textLines(commands []TextCommand) []string {
	lines := []string{}
	for _, c := range commands {
		lines = append(lines, c.Line)
	}
	return lines
}

// loadText returns the commands that DecodeCommands reads from a text.
func loadText(t testing.TB, text string, shells bool) []TextCommand {
	t.Helper()
	commands, _, err := DecodeCommands([]byte(text), shells, FormatAny)
	if err != nil {
		t.Fatal(err)
	}
	return commands
}

func TestDecodeCommandsReversesEncode(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("an \\\n#:;-ä\t'$\r")), 1, 12, -1)
		commands := rapid.SliceOf(line.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })).Draw(r, "commands")
		text, n := EncodeCommands(commands)
		if n != len(commands) {
			r.Fatal(n)
		}
		got, _, err := DecodeCommands(text, false, FormatAny)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(append([]string{}, commands...), textLines(got)); diff != "" {
			r.Fatal(diff)
		}
	})
}

func TestPlainFileHasOneCommandPerLine(t *testing.T) {
	b, n := EncodeCommands([]string{`echo "a\nb"`, "  ", "one\ntwo", `dir\`})
	if n != 3 {
		t.Error(n)
	}
	if want := "echo \"a\\nb\"\n$'one\\ntwo'\ndir\\\n"; string(b) != want {
		t.Errorf("%q; want %q", b, want)
	}
}

func TestDecodeCommandsSkipsBlankLinesAndAcceptsCRLF(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       {},
		"\n \n\t\n":              {},
		"ls\n\n\necho hi\n":      {"ls", "echo hi"},
		"ls\r\necho hi\r\n":      {"ls", "echo hi"},
		"\ufeffls":               {"ls"},
		"no end":                 {"no end"},
		"last\\":                 {`last\`},
		"find . \\\n -x\n":       {`find . \`, " -x"},
		`$'a\nb' c`:              {`$'a\nb' c`},
		`$'plain'`:               {`$'plain'`},
		`$'a\tb\n'`:              {`$'a\tb\n'`},
		"$'\n":                   {"$'"},
		"bad \xff byte":          {"bad \ufffd byte"},
		"# a comment\n#12 short": {"# a comment", "#12 short"},
	} {
		if diff := cmp.Diff(want, textLines(loadText(t, text, true))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestDecodeCommandsReadsShellHistories(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	for name, test := range map[string]struct {
		text string
		want []TextCommand
	}{
		"bash": {"#1700000000\nls -la\n#1700000001\nfor i in 1; do\n\necho $i; done\n#1700000002\n#1700000003\ntrue\n", []TextCommand{
			{Line: "ls -la", At: at(1700000000), Duration: -1}, {Line: "for i in 1; do\n\necho $i; done", At: at(1700000001), Duration: -1}, {Line: "true", At: at(1700000003), Duration: -1}}},
		"zsh": {": 1700000000:0;ls\n: 1700000001:61;echo a\\\nb\nplain\n: 1700000002:0;echo \xc3\x83\x84x\n: 1700000003:0;dir\\ \n", []TextCommand{
			{Line: "ls", At: at(1700000000), Duration: 0}, {Line: "echo a\nb", At: at(1700000001), Duration: 61 * time.Second}, {Line: "plain", At: time.Time{}, Duration: -1},
			{Line: "echo \u00e4x", At: at(1700000002), Duration: 0}, {Line: `dir\`, At: at(1700000003), Duration: 0}}},
		"fish": {"- cmd: ls\n  when: 1700000000\n- cmd: echo a\\nb \\\\n\n  when: 1700000001\n  paths:\n    - b\n- cmd: true\n", []TextCommand{
			{Line: "ls", At: at(1700000000), Duration: -1}, {Line: "echo a\nb \\n", At: at(1700000001), Duration: -1}, {Line: "true", At: time.Time{}, Duration: -1}}},
	} {
		if diff := cmp.Diff(test.want, loadText(t, test.text, true)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := textLines(loadText(t, "#1700000000\n: 1700000000:0;ls\n", false)); len(got) != 2 {
		t.Errorf("a plain file was taken for a shell's: %q", got)
	}
}

func TestDecodeCommandsLeavesOutDamagedLines(t *testing.T) {
	block := strings.Repeat("\x00", 512)
	for name, c := range map[string]struct {
		text    string
		format  Format
		want    []string
		damaged int
	}{
		"zsh":  {": 1700000001:0;echo one\n" + block + "\n: 1700000002:0;echo two\n", FormatAny, []string{"echo one", "echo two"}, 1},
		"bash": {"#1700000001\necho one\n" + block + "rest of a line\necho two\n", FormatBash, []string{"echo one", "echo two"}, 1},
		"fish": {"- cmd: echo one\n  when: 1700000001\n" + block + "when: 3\n- cmd: echo two\n  when: 1700000002\n", FormatAny, []string{"echo one", "echo two"}, 1},
		"text": {"echo one\necho t\x00wo\necho three\n", FormatAny, []string{"echo one", "echo three"}, 1},
	} {
		got, damaged, err := DecodeCommands([]byte(c.text), true, c.format)
		if diff := cmp.Diff(c.want, textLines(got)); diff != "" || damaged != c.damaged || err != nil {
			t.Errorf("%s: %s, %d damaged, %v", name, diff, damaged, err)
		}
	}
	for _, binary := range []string{"a\x00b", "a\x00b\nc", "\x7fELF\x00\x00\n\x00\x01\nabc\n"} {
		if got, _, err := DecodeCommands([]byte(binary), true, FormatAny); !errors.Is(err, ErrNoText) {
			t.Errorf("%q: %v, %v", binary, got, err)
		}
	}
}

func FuzzDecodeCommands(f *testing.F) {
	for _, seed := range []string{"ls\n", "#1700000000\nls\n", ": 1700000000:0;ls\\\nx\n", "- cmd: a\\nb\n  when: 1\n", "a\\\\\\\nb\\", "\x83"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range []Format{formatPlain, FormatAny, FormatBash, FormatZsh, FormatFish} {
			commands, _, err := DecodeCommands(text, format != formatPlain, format)
			if err != nil {
				if !errors.Is(err, ErrNoText) {
					t.Fatal(err)
				}
				return
			}
			lines := textLines(commands)
			encoded, n := EncodeCommands(lines)
			if n != len(lines) {
				t.Fatalf("%d of %d are not blank", n, len(lines))
			}
			again := textLines(decodeLines(splitLines(encoded)))
			// If every line ends with a carriage return, these count as part of the line ends.
			if diff := cmp.Diff(lines, again); diff != "" && !strings.Contains(string(text)+strings.Join(lines, ""), "\r") {
				t.Fatal(diff)
			}
		}
	})
}

// The files mix entry formats: times switched on later, truncated files, joined files.
func TestDecodeCommandsReadsMixedHistoriesByEntry(t *testing.T) {
	timed := func(line string, n int64) TextCommand {
		return TextCommand{Line: line, At: time.Unix(n, 0), Duration: -1}
	}
	took := func(line string, n int64) TextCommand { return TextCommand{Line: line, At: time.Unix(n, 0)} }
	plain := func(line string) TextCommand { return TextCommand{Line: line, Duration: -1} }
	for name, test := range map[string]struct {
		format Format
		text   string
		want   []TextCommand
	}{
		"bash, times later":          {FormatBash, "ls -l\n#1627034544\nls\n", []TextCommand{plain("ls -l"), timed("ls", 1627034544)}},
		"told from a later line":     {FormatAny, "ls -l\n#1627034544\nls\n", []TextCommand{plain("ls -l"), timed("ls", 1627034544)}},
		"bash, blank lines first":    {FormatBash, "\n \n#1627034544\nls\n", []TextCommand{timed("ls", 1627034544)}},
		"bash, several lines":        {FormatBash, "pwd\n#1627034544\ncat <<E\na b\n\nE\n#1627034545\nif true\nthen echo 'a\nb'\nfi\n", []TextCommand{plain("pwd"), timed("cat <<E\na b\n\nE", 1627034544), timed("if true\nthen echo 'a\nb'\nfi", 1627034545)}},
		"bash, backslash":            {FormatBash, "cat a \\\n  b\nls\n", []TextCommand{plain("cat a \\\n  b"), plain("ls")}},
		"bash, doubled backslash":    {FormatBash, "echo a\\\\\nls\n", []TextCommand{plain(`echo a\\`), plain("ls")}},
		"bash, backslash and time":   {FormatBash, "#1627034544\ncat a \\\n  b\n#1627034545\nls \\\n", []TextCommand{timed("cat a \\\n  b", 1627034544), timed("ls \\", 1627034545)}},
		"bash, a time cut in half":   {FormatBash, "34544\nls\n#1627034545\nmake\n", []TextCommand{plain("ls"), timed("make", 1627034545)}},
		"bash, a command cut":        {FormatBash, "mmit -m x\n#1627034545\nmake\n", []TextCommand{plain("mmit -m x"), timed("make", 1627034545)}},
		"bash, joined with no times": {FormatBash, "#1627034544\nls\nmake\nfor i in 1\ndo pwd\ndone\n", []TextCommand{timed("ls", 1627034544), plain("make"), plain("for i in 1\ndo pwd\ndone")}},
		"bash, joined with times":    {FormatBash, "make\n#1627034544\nls\n#1600000000\npwd\n", []TextCommand{plain("make"), timed("ls", 1627034544), timed("pwd", 1600000000)}},
		"bash, a number":             {FormatBash, "42\nls\n", []TextCommand{plain("42"), plain("ls")}},
		"zsh, times later":           {FormatZsh, "ls plain\n: 1700000000:0;make\n", []TextCommand{plain("ls plain"), took("make", 1700000000)}},
		"zsh told, times later":      {FormatAny, "ls plain\n: 1700000000:0;make\n", []TextCommand{plain("ls plain"), took("make", 1700000000)}},
		"zsh, several lines":         {FormatZsh, "for i in 1\\\ndo pwd\\\ndone\necho a\\\\\n  b\n: 1700000000:0;echo c\\\nd\n", []TextCommand{plain("for i in 1\ndo pwd\ndone"), plain("echo a\\\n  b"), took("echo c\nd", 1700000000)}},
		"zsh, a header cut in half":  {FormatZsh, "0000:3;make\n: 1700000000:0;ls\n", []TextCommand{plain("make"), took("ls", 1700000000)}},
		"zsh, less of a header":      {FormatZsh, ":3;make\n: 1700000000:0;ls\n", []TextCommand{plain("make"), took("ls", 1700000000)}},
		"zsh, blank lines first":     {FormatZsh, "\n\n: 1700000000:0;ls\n", []TextCommand{took("ls", 1700000000)}},
		"zsh and bash joined":        {FormatZsh, ": 1700000000:0;ls\n#1627034544\nmake\npwd\n", []TextCommand{took("ls", 1700000000), timed("make", 1627034544), plain("pwd")}},
		"fish, an entry cut in half": {FormatFish, "md: ls\n  when: 1700000000\n- cmd: make\n  when: 1700000001\n", []TextCommand{timed("make", 1700000001)}},
		"fish, cut and told":         {FormatAny, "  when: 1700000000\n- cmd: make\n  when: 1700000001\n", []TextCommand{timed("make", 1700000001)}},
	} {
		got, _, err := DecodeCommands([]byte(test.text), true, test.format)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
