package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestShellRunsCommandsLineByLine(t *testing.T) {
	r := newRig(t)
	t.Chdir(t.TempDir())
	r.options.Stdin = strings.NewReader(strings.Join([]string{
		"cd /", "pwd", "", "# nothing", "tandem pwd", "wat", `"open`, "ls | cat", "cd a b", "cd /nowhere", "shell",
		"send 'a b' 'it''s' $SHELL", "exit", "pwd",
	}, "\n"))
	stdout, stderr, status := r.run("shell", "--prompt", "> ", "--run", "pwd", "--run", "cd /usr")
	if status != 0 || strings.Count(stdout, "> ") != 13 || !strings.Contains(stdout, "> > /\n> > > /\n> ") {
		t.Errorf("status %d\n%s", status, stdout)
	}
	want := strings.Join([]string{
		`tandem: unknown command "wat"`, "hint: did you mean `tandem wait`?",
		"tandem: read the line: reached EOF without closing quote `\"`", "hint: a line is one command with its arguments; quote blanks and special characters",
		"tandem: read the line: `|` is not a valid word", "hint: a line is one command with its arguments; quote blanks and special characters",
		"tandem: cd takes one folder", "hint: quote a name with blanks",
		"tandem: go to /nowhere: no such file or directory",
		"tandem: this is already the shell", "hint: help lists the commands", "",
	}, "\n")
	if diff := cmp.Diff(want, stderr); diff != "" {
		t.Error(diff)
	}
	if len(r.written) != 1 || r.written[0].ID != "a b" || r.written[0].Text != "its /bin/sh" {
		t.Errorf("typed was %+v", r.written)
	}
}

func TestShellExitsAtTheEndOfInput(t *testing.T) {
	r := newRig(t)
	r.options.Stdin = strings.NewReader("pwd")
	if stdout := r.succeeds("shell"); !strings.HasPrefix(stdout, "tandem> /") || strings.Count(stdout, "tandem> ") != 1 {
		t.Errorf("%q", stdout)
	}
	words := strings.Fields(r.succeeds("shell", "--commands"))
	for _, verb := range []string{"cd", "exit", "help", "ls", "start", "stop"} {
		if !strings.Contains(" "+strings.Join(words, " ")+" ", " "+verb+" ") {
			t.Errorf("%s is not among %v", verb, words)
		}
	}
}

func TestCommandsDoNotReadTheShellsInput(t *testing.T) {
	r := newRig(t)
	r.execution = api.ExecOutput{Process: api.Process{ExitCode: code(0)}, Stdout: "out\n"}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString("exec cat\nconfig check -\nexec cat\n" + strings.Repeat("\n", 8<<10)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	var checked []string
	r.options.Config.Check = func(text []byte) error { checked = append(checked, string(text)); return nil }
	r.options.Stdin = in
	stdout, stderr, status := r.run("shell")
	if strings.Count(stdout, "out\n") != 2 || stderr != "" || status != 0 || !slices.Equal(checked, []string{""}) {
		t.Errorf("status %d, %q, %q, checked %q", status, stdout, stderr, checked)
	}
}

func TestShellMarksPromptsAndCommandsInASession(t *testing.T) {
	t.Chdir(t.TempDir()) // its cd changes the whole process
	r := newRig(t)
	r.options.Environ = []string{"TANDEM_SHELL_NONCE=n"}
	r.options.Stdin = strings.NewReader("cd /\npwd; x\nexit\n")
	stdout, _, _ := r.run("shell", "--prompt", "> ")
	prompt := "\x1b]133;A;aid=n\a> \x1b]133;B;aid=n\a"
	want := prompt + "\x1b]633;E;cd /;n\a\x1b]133;C;aid=n\a\x1b]133;D;0;aid=n\a" +
		prompt + "\x1b]633;E;pwd\\x3b x;n\a\x1b]133;C;aid=n\a\x1b]133;D;2;aid=n\a" +
		prompt + "\x1b]633;E;exit;n\a\x1b]133;C;aid=n\a\x1b]133;D;0;aid=n\a"
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Error(diff)
	}
}
