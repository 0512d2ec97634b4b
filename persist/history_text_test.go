package persist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func textLines(commands []TextCommand) []string {
	lines := []string{}
	for _, c := range commands {
		lines = append(lines, c.Line)
	}
	return lines
}

// loadText gives what LoadCommands makes of a text.
func loadText(t testing.TB, text string, shells bool) []TextCommand {
	t.Helper()
	path := filepath.Join(t.TempDir(), "commands")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	commands, err := LoadCommands(path, shells)
	if err != nil {
		t.Fatal(err)
	}
	return commands
}

func TestCommandsComeBackFromTheirFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("ab \\\n#:;-ä\t'")), 1, 12, -1)
		commands := rapid.SliceOf(line.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })).Draw(r, "commands")
		path := filepath.Join(dir, "f")
		n, _, err := SaveCommands(path, commands, true)
		if err != nil || n != len(commands) {
			r.Fatal(n, err)
		}
		got, err := LoadCommands(path, false)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(append([]string{}, commands...), textLines(got)); diff != "" {
			r.Fatal(diff)
		}
	})
}

func TestAPlainFileHasACommandALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if n, _, err := SaveCommands(path, []string{`echo "a\nb"`, "  ", "one\ntwo", `dir\`}, false); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	b, err := os.ReadFile(path)
	if want := "echo \"a\\nb\"\none\\\ntwo\ndir\\\\\n"; string(b) != want || err != nil {
		t.Errorf("%q, %v; want %q", b, err, want)
	}
}

func TestLoadingSkipsBlankLinesAndTakesForeignLineEnds(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       {},
		"\n \n\t\n":              {},
		"ls\n\n\necho hi\n":      {"ls", "echo hi"},
		"ls\r\necho hi\r\n":      {"ls", "echo hi"},
		"\ufeffls":               {"ls"},
		"no end":                 {"no end"},
		"last\\":                 {`last\`},
		"bad \xff byte":          {"bad \ufffd byte"},
		"# a comment\n#12 short": {"# a comment", "#12 short"},
	} {
		if diff := cmp.Diff(want, textLines(loadText(t, text, true))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestHistoriesOfShellsAreUnderstood(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	for name, test := range map[string]struct {
		text string
		want []TextCommand
	}{
		"bash": {"#1700000000\nls -la\n#1700000001\nfor i in 1; do\n\necho $i; done\n#1700000002\n#1700000003\ntrue\n", []TextCommand{
			{"ls -la", at(1700000000), -1}, {"for i in 1; do\n\necho $i; done", at(1700000001), -1}, {"true", at(1700000003), -1}}},
		"zsh": {": 1700000000:0;ls\n: 1700000001:61;echo a\\\nb\nplain\n: 1700000002:0;echo \xc3\x83\x84x\n: 1700000003:0;dir\\ \n", []TextCommand{
			{"ls", at(1700000000), 0}, {"echo a\nb", at(1700000001), 61 * time.Second}, {"plain", time.Time{}, -1},
			{"echo \u00e4x", at(1700000002), 0}, {`dir\`, at(1700000003), 0}}},
		"fish": {"- cmd: ls\n  when: 1700000000\n- cmd: echo a\\nb \\\\n\n  when: 1700000001\n  paths:\n    - b\n- cmd: true\n", []TextCommand{
			{"ls", at(1700000000), -1}, {"echo a\nb \\n", at(1700000001), -1}, {"true", time.Time{}, -1}}},
	} {
		if diff := cmp.Diff(test.want, loadText(t, test.text, true)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := textLines(loadText(t, "#1700000000\n: 1700000000:0;ls\n", false)); len(got) != 2 {
		t.Errorf("a plain file was taken for a shell's: %q", got)
	}
}

func TestSavingReplacesOnlyWhatItMay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "commands")
	if _, replaced, err := SaveCommands(path, []string{"one"}, false); replaced || err != nil {
		t.Fatal(replaced, err)
	}
	if _, _, err := SaveCommands(path, []string{"two"}, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, replaced, err := SaveCommands(link, []string{"three"}, true); !replaced || err != nil {
		t.Fatal(replaced, err)
	}
	b, _ := os.ReadFile(path)
	info, _ := os.Stat(path)
	if string(b) != "three\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v", b, info.Mode())
	}
	if _, replaced, err := SaveCommands(filepath.Join(dir, "new"), nil, true); replaced || err != nil {
		t.Error(replaced, err)
	}
	if _, _, err := SaveCommands(dir, []string{"x"}, true); err == nil {
		t.Error("a folder was replaced")
	}
	if _, _, err := SaveCommands(filepath.Join(path, "below"), []string{"x"}, false); err == nil {
		t.Error("a file was taken for a folder")
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".persist-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestWhatIsNoTextFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	fifo, binary := filepath.Join(dir, "fifo"), filepath.Join(dir, "binary")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, binary, dir, "/dev/zero"} {
		if _, err := LoadCommands(path, true); !errors.Is(err, ErrNoText) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := LoadCommands(filepath.Join(dir, "none"), true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func FuzzLoadCommands(f *testing.F) {
	for _, seed := range []string{"ls\n", "#1700000000\nls\n", ": 1700000000:0;ls\\\nx\n", "- cmd: a\\nb\n  when: 1\n", "a\\\\\\\nb\\", "\x83"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, shells := range []bool{false, true} {
			commands, err := LoadCommands(path, shells)
			if err != nil {
				if !errors.Is(err, ErrNoText) {
					t.Fatal(err)
				}
				return
			}
			lines := textLines(commands)
			encoded, n := encodeCommands(lines)
			if n != len(lines) {
				t.Fatalf("%d of %d are not blank", n, len(lines))
			}
			again := textLines(decodeLines(splitLines(encoded)))
			// A carriage return at every end of a line is taken for part of it.
			if diff := cmp.Diff(lines, again); diff != "" && !strings.Contains(string(text), "\r") {
				t.Fatal(diff)
			}
		}
	})
}
