package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"tandem/tests/harness"
	"tandem/tests/needs"
	"tandem/tests/places"
	"tandem/tests/wait"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A multiplexer runs commands of tmux's command line, with tmux or with tandem.
type multiplexer struct {
	argv     []string
	env      []string
	dir      string
	resident *harness.Resident // runs argv without its program, if set
}

// A result is the output and exit status of a command.
type result struct {
	Status      int
	Out, Failed string
}

// noServer matches tmux's messages without a server. The last is of a server that is just exiting.
var noServer = regexp.MustCompile(`(no server running on|error connecting to) .*|server exited unexpectedly`)

func (m multiplexer) run(t *testing.T, args []string) result {
	t.Helper()
	if m.resident != nil {
		stdout, stderr, status := m.resident.Run(append(m.argv[1:len(m.argv):len(m.argv)], args...)...)
		return result{status, stdout, noServer.ReplaceAllString(stderr, "no server")}
	}
	cmd := exec.CommandContext(t.Context(), m.argv[0], append(m.argv[1:len(m.argv):len(m.argv)], args...)...)
	cmd.Env, cmd.Dir = m.env, m.dir
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), noServer.ReplaceAllString(failed.String(), "no server")}
}

// splitWords splits a line like a shell, with only the quoting used in the table.
func splitWords(line string) (all []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if rest, ok := strings.CutPrefix(line, "'"); ok {
			word, after, _ := strings.Cut(rest, "'")
			all, line = append(all, word), after
			continue
		}
		word, after, _ := strings.Cut(line, " ")
		all, line = append(all, word), after
	}
	return all
}

// tmuxEnv returns the environment of a tandem with its own data folder, outside any tmux.
// Everything it starts is stopped after the test.
func tmuxEnv(t *testing.T) (program string, env []string, dir string) {
	places.Take(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "td"); err != nil {
		t.Fatal(err)
	}
	env = []string{harness.AsProgram + "=1", "TANDEM_DATA_DIR=" + filepath.Join(dir, "d"), "TERM=xterm-256color", "SHELL=/bin/sh", "HOME=" + dir}
	for _, pair := range os.Environ() {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "TANDEM_DATA_DIR", "TERM", "SHELL", "HOME", "TMUX", "TMUX_PANE", "TANDEM_SESSION_ID", "XDG_CONFIG_HOME":
		default:
			env = append(env, pair)
		}
	}
	t.Cleanup(func() {
		end := exec.Command(program, "shutdown", "--all", "--yes")
		end.Env = env
		if out, err := end.CombinedOutput(); err != nil {
			t.Errorf("shut down: %v\n%s", err, out)
		}
		os.RemoveAll(dir)
	})
	return program, env, dir
}

// realTmux returns the path of the tmux to compare with, or skips the test.
func realTmux(t *testing.T) string {
	t.Helper()
	real := needs.Program(t, "tmux", "tmux")
	if version, _ := exec.Command(real, "-V").Output(); string(version) != "tmux 3.3a\n" {
		needs.Package(t, "tmux", fmt.Sprintf("tmux 3.3a (this is %s)", bytes.TrimSpace(version)))
	}
	return real
}

func TestTmuxCommandsPrintTheSameAsTmux(t *testing.T) {
	t.Parallel()
	compareCommands(t, "all commands", "testdata/tmux/commands.txt")
}

// Runs the tmux commands of known programs. Each section holds the calls of one program, below
// its name and their position in its source. A line beginning with ! is a call that tandem
// rejects by name, and the program handles that.
func TestProgramsThatCallTmuxGetItsAnswers(t *testing.T) {
	t.Parallel()
	compareCommands(t, "", "testdata/tmux/callers.txt")
}

// compareCommands runs the command lines of a file in tmux and in tandem. Each section has its
// own server.
func compareCommands(t *testing.T, section, file string) {
	real := realTmux(t)
	table, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	program, env, dir := tmuxEnv(t)
	resident := harness.StartResident(t, env, dir)
	var theirs, ours multiplexer
	var servers []multiplexer
	defer func() {
		for _, server := range servers {
			server.run(t, []string{"kill-server"})
		}
	}()
	begin := func(name string) {
		section = name
		socket := filepath.Join(dir, strings.Trim(regexp.MustCompile(`\W+`).ReplaceAllString(name, "-"), "-"))
		theirs = multiplexer{argv: []string{real, "-S", socket, "-f", "/dev/null"}, env: env, dir: dir}
		ours = multiplexer{argv: []string{program, "tmux", "-S", socket}, resident: resident}
		servers = append(servers, theirs)
	}
	if section != "" {
		begin(section)
	}
	for line := range strings.Lines(string(table)) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			name, _, _ = strings.Cut(name, ":")
			begin(name)
			continue
		}
		args := splitWords(line)
		switch {
		case len(args) == 0:
		case args[0] == "!":
			if got := ours.run(t, args[1:]); got.Status == 0 || !strings.Contains(got.Failed, " is not supported by tandem") {
				t.Errorf("%s: %s: tandem tmux: %+v, want not supported", section, strings.TrimSpace(line), got)
			}
		default:
			if slices.Contains(args, "pipe-pane") { // because pipe-pane needs the real program, not the test binary
				ours.run(t, []string{"set-environment", "-g", harness.AsProgram, "1"})
			}
			compare := func() (diff string, same bool) {
				diff = cmp.Diff(theirs.run(t, args), ours.run(t, args))
				return diff, diff == ""
			}
			if strings.Contains(line, "#{pane_current_") { // known after the pane's shell has started the program
				wait.Poll(t, section+": the same for "+strings.TrimSpace(line), compare)
			} else if diff, same := compare(); !same {
				t.Errorf("%s: %s: tmux (-), tandem tmux (+):\n%s", section, strings.TrimSpace(line), diff)
			}
		}
	}
}

// Captured screens and pasted text must have the same blanks and line ends as in tmux.
func TestTmuxCapturesAndPastesTheSameBytesAsTmux(t *testing.T) {
	t.Parallel()
	real := realTmux(t)
	program, env, dir := tmuxEnv(t)
	theirs := multiplexer{argv: []string{real, "-S", filepath.Join(dir, "tmux"), "-f", "/dev/null"}, env: env, dir: dir}
	ours := multiplexer{argv: []string{program, "tmux"}, resident: harness.StartResident(t, env, dir)}
	defer func() { theirs.run(t, []string{"kill-server"}) }()
	for _, m := range []multiplexer{theirs, ours} { // a session to keep the server running while others come and go
		m.run(t, []string{"new-session", "-d", "-s", "base", "cat"})
	}
	for name, tt := range map[string]struct {
		prints string   // an argument of printf; # marks its end
		paste  []string // command that pastes two lines
		shows  string   // the screen afterwards
	}{
		"blanks at the end":            {prints: `short   \r\n\r\n   \r\nnone\r\n\tx \r\n#`},
		"coloured blanks":              {prints: `\033[31mred   \033[0m\r\n\033[44mblue  \033[0m  \r\n#`},
		"a line of the width":          {prints: `0123456789012345678901234567890123456789\r\nnext\r\n#`},
		"a wrapped line":               {prints: `0123456789012345678901234567890123456789wrapped  \r\n#`},
		"wrapped within blanks":        {prints: `01234567890123456789012345678901234567          9\r\n#`},
		"wrapped in history":           {prints: `012345678901234567890123456789012345678901234\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n#`},
		"wide characters":              {prints: `漢字  \r\n#`},
		"paste":                        {prints: `#`, paste: []string{"paste-buffer"}, shows: "b^M"},
		"paste -p":                     {prints: `#`, paste: []string{"paste-buffer", "-p"}, shows: "b^M"},
		"paste -p to one that asks":    {prints: `\033[?2004h#`, paste: []string{"paste-buffer", "-p"}, shows: "201~"},
		"paste -p -s":                  {prints: `#`, paste: []string{"paste-buffer", "-p", "-s", "+"}, shows: "b+"},
		"paste -p -r to one that asks": {prints: `\033[?2004h#`, paste: []string{"paste-buffer", "-p", "-r"}, shows: "201~"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]result{}
			for _, m := range []multiplexer{theirs, ours} {
				if got := m.run(t, []string{"new-session", "-d", "-s", "work", "-x", "40", "-y", "8", "stty raw -echo; printf '" + tt.prints + "'; exec cat -v"}); got.Status != 0 {
					t.Fatalf("new-session: %+v", got)
				}
				shows := func(text string) {
					wait.Poll(t, "the pane to show "+text, func() (string, bool) {
						out := m.run(t, []string{"capture-pane", "-p", "-t", "work"}).Out
						return out, strings.Contains(out, text)
					})
				}
				shows("#")
				if tt.paste != nil {
					m.run(t, []string{"set-buffer", "a\nb\n"})
					m.run(t, append(tt.paste, "-t", "work"))
					shows(tt.shows)
				}
				for _, flags := range []string{"-p", "-pJ", "-pN", "-pJN", "-peJ"} {
					if strings.Contains(flags, "e") && strings.Contains(tt.prints, "033") {
						continue // same colours, different sequences
					}
					got := m.run(t, []string{"capture-pane", flags, "-S", "-", "-t", "work"})
					if want, there := seen[flags]; !there {
						seen[flags] = got
					} else if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("capture-pane %s: tmux (-), tandem tmux (+):\n%s", flags, diff)
					}
				}
				m.run(t, []string{"kill-session", "-t", "work"})
			}
		})
	}
}

func TestTmuxKeepsNoEnvironmentOfItsCaller(t *testing.T) {
	t.Parallel()
	program, env, dir := tmuxEnv(t)
	with := func(value string) multiplexer {
		return multiplexer{argv: []string{program, "tmux"}, env: append(env[:len(env):len(env)], "PROBE="+value), dir: dir}
	}
	with("of-the-first").run(t, []string{"new-session", "-d", "-s", "work", "cat"})
	got := with("of-the-second").run(t, []string{"new-window", "-t", "work", "printenv PROBE; exec cat"})
	if diff := cmp.Diff(result{}, got); diff != "" {
		t.Fatalf("new-window (+):\n%s", diff)
	}
	for shown := ""; !strings.Contains(shown, "of-the-second"); shown = with("").run(t, []string{"capture-pane", "-p", "-t", "work:1"}).Out {
		if t.Context().Err() != nil {
			t.Fatalf("the pane shows %q", shown)
		}
	}
	with("").run(t, []string{"set-environment", "-g", "SET", "on-purpose"})
	kept, err := os.ReadFile(filepath.Join(dir, "d", "tmux", "default.json"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"of-the-first": false, "of-the-second": false, "on-purpose": true} {
		if bytes.Contains(kept, []byte(text)) != want {
			t.Errorf("server file contains %q: %t, want %t\n%s", text, !want, want, kept)
		}
	}
	if got := with("mine").run(t, []string{"show-environment", "-g", "PROBE"}); got.Out != "PROBE=mine\n" {
		t.Errorf("show-environment -g PROBE: %+v", got)
	}
}

// libtmuxProgram is a script for Debian's python3-libtmux.
const libtmuxProgram = `
import libtmux, sys, time
server = libtmux.Server()
session = server.new_session(session_name="work", x=100, y=30, window_command="sh")
assert server.has_session("work")
assert [s.name for s in server.sessions if s.name == "work"], server.sessions
window = session.new_window(window_name="logs", attach=True, window_shell="sh")
assert [w.name for w in session.windows][-1] == "logs", session.windows
pane = window.split_window(vertical=False, shell="sh")
assert len(window.panes) == 2, window.panes
pane.send_keys("echo he''llo", enter=True)
def shown():
    return any(line.endswith("hello") for line in pane.capture_pane())
for _ in range(400):
    if shown():
        break
    time.sleep(0.05)
assert shown(), pane.capture_pane()
window.rename_window("tail")
window.select_layout("even-vertical")
assert window.name == "tail", window.name
session.set_option("base-index", 1)
assert session.show_option("base-index") == 1
session.set_environment("A", "b")
assert session.getenv("A") == "b"
session.rename_session("play")
assert server.has_session("play")
pane.resize_pane(height=5)
pane.refresh()
assert pane.pane_height == "5", pane.pane_height
window.kill_window()
assert len(session.windows) == 1
session.kill_session()
assert not server.has_session("play")
print("done")
`

// The libtmux script gives the same results with tandem as with tmux.
func TestLibtmuxActsOnTandemAsOnTmux(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	real := realTmux(t)
	if err := exec.Command(python, "-c", "import libtmux; assert libtmux.__version__.startswith('0.21.')").Run(); err != nil {
		needs.Package(t, "python3-libtmux", "libtmux 0.21")
	}
	program, env, dir := tmuxEnv(t)
	script, err := filepath.Abs("testdata/tmux/script.py")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(dir)
	theirs := multiplexer{argv: []string{python, script, name}, env: append(env[:len(env):len(env)], "PATH="+filepath.Dir(real)+":"+os.Getenv("PATH")), dir: dir}
	ours := multiplexer{argv: []string{program, "with-tmux", "--", python, script, name}, env: env, dir: dir}
	want, got := theirs.run(t, nil), ours.run(t, nil)
	if want.Status != 0 || strings.Count(want.Out, "\n") < 80 || strings.Contains(want.Out, "never came") {
		t.Fatalf("with tmux: %+v", want)
	}
	if diff := cmp.Diff(strings.Split(want.Out, "\n"), strings.Split(got.Out, "\n")); diff != "" || got.Status != 0 || got.Failed != want.Failed {
		t.Errorf("tmux (-), tandem (+): status %d, %s:\n%s", got.Status, got.Failed, diff)
	}
}

// Claude Code's tmux commands for a team of agents give the same results as with tmux, step by
// step.
func TestClaudeCodeTeamBehavesAsWithTmux(t *testing.T) {
	t.Parallel()
	real := realTmux(t)
	program, env, dir := tmuxEnv(t)
	script, err := filepath.Abs("testdata/tmux/team.sh")
	if err != nil {
		t.Fatal(err)
	}
	within := func(report string) []string {
		return []string{"sh", "-c", "sh " + script + " >" + report + ".part 2>&1; mv " + report + ".part " + report + "; exec cat"}
	}
	want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
	theirs := multiplexer{argv: []string{real, "-S", filepath.Join(dir, "tmux"), "-f", "/dev/null"}, env: append(env[:len(env):len(env)], "TMUX_TMPDIR="+dir), dir: dir}
	defer func() { theirs.run(t, []string{"kill-server"}) }()
	if began := theirs.run(t, append([]string{"new-session", "-d", "-s", "lead", "-x", "80", "-y", "24"}, within(want)...)); began.Status != 0 {
		t.Fatalf("tmux: %+v", began)
	}
	ours := multiplexer{argv: []string{program}, env: env, dir: dir}
	if began := ours.run(t, append([]string{"new", "--name", "lead", "--size", "80x24", "--", "env", harness.AsProgram + "=1", program, "with-tmux", "--"}, within(got)...)); began.Status != 0 {
		t.Fatalf("tandem: %+v", began)
	}
	reports := make([]string, 2)
	for i, report := range []string{want, got} {
		wait.File(t, report)
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		reports[i] = string(text)
	}
	if !strings.HasSuffix(reports[0], "\nend\n") || strings.Count(reports[0], "\n") < 100 {
		t.Fatalf("with tmux:\n%s", reports[0])
	}
	if diff := cmp.Diff(strings.Split(reports[0], "\n"), strings.Split(reports[1], "\n")); diff != "" {
		t.Errorf("tmux (-), tandem (+):\n%s", diff)
	}
}

func TestLibtmuxRunsThroughWithTmux(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import libtmux").Run(); err != nil {
		needs.Package(t, "python3-libtmux", "libtmux")
	}
	program, env, dir := tmuxEnv(t)
	got := multiplexer{argv: []string{program, "with-tmux", "--"}, env: env, dir: dir}.run(t, []string{python, "-c", libtmuxProgram})
	if diff := cmp.Diff(result{0, "done\n", ""}, got); diff != "" {
		t.Errorf("the script's result (+):\n%s", diff)
	}
}
