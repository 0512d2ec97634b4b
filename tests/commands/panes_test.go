package commands

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tandem/tests/seed"
)

// A controller is a client of Tandem's or the real tmux in control mode: it takes one command per
// line and answers between two marks (tmux(1), CONTROL MODE).
type controller struct {
	*testing.T
	in     io.WriteCloser
	out    *bufio.Scanner
	output map[string]string // output of the panes, by id
}

func startControl(t *testing.T, env []string, dir string, argv ...string) *controller {
	cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], "-C", "new-session", "-x", "120", "-y", "50", "cat")...)
	cmd.Env, cmd.Dir = env, dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		fmt.Fprintln(in, "kill-server")
		in.Close()
		_ = cmd.Wait()
	})
	c := &controller{t, in, bufio.NewScanner(out), map[string]string{}}
	c.answer()
	return c
}

func (c *controller) runCommand(line string) string {
	c.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.Fatal(err)
	}
	return c.answer()
}

// answer returns the lines between the next two marks. Notifications never come between them.
func (c *controller) answer() string {
	c.Helper()
	var lines []string
	begun := false
	for c.out.Scan() {
		line := c.out.Text()
		switch mark, rest, _ := strings.Cut(line, " "); {
		case mark == "%output":
			c.recordOutput(rest)
		case mark == "%begin":
			begun = true
		case mark == "%end", mark == "%error":
			return strings.Join(lines, "\n")
		case begun:
			lines = append(lines, line)
		}
	}
	c.Fatalf("control mode ended: %v", c.out.Err())
	return ""
}

// recordOutput appends a pane's output.
func (c *controller) recordOutput(output string) {
	pane, text, _ := strings.Cut(output, " ")
	c.output[pane] += text
}

// Like overmind (start/tmux.go), the test starts windows and prints their names and panes, sizes
// the client and reads the programs' output.
func TestControlModeReportsWhatPanesPrint(t *testing.T) {
	t.Parallel()
	program, env, dir := tmuxEnv(t)
	c := startControl(t, env, dir, program, "tmux")
	for _, step := range [][2]string{
		{`neww -n web -P -F "%overmind-process #{pane_id} web" "exec cat"`, "%overmind-process %1 web"},
		{"refresh -C 100,40", ""},
		{"setw -g remain-on-exit on", ""},
		{`list-windows -F "#{window_name} #{window_width}x#{window_height}"`, "cat 100x40\nweb 100x40"},
		{`neww -d -k -t web -n web -P -F "%overmind-process #{pane_id} web" "exec cat"`, "%overmind-process %2 web"},
		{`neww -n early "echo ready; exec cat"`, ""},
		{"send-keys -t web hello Enter", ""},
	} {
		if got := c.runCommand(step[0]); got != step[1] {
			t.Errorf("%s prints %q, want %q", step[0], got, step[1])
		}
	}
	for !strings.HasPrefix(c.output["%2"], `hello\015\012`) || !strings.HasPrefix(c.output["%3"], `ready\015\012`) {
		if !c.out.Scan() {
			t.Fatalf("reported output is %q: %v", c.output, c.out.Err())
		}
		if rest, ok := strings.CutPrefix(c.out.Text(), "%output "); ok {
			c.recordOutput(rest)
		}
	}
}

// randomStep returns a command that changes the arrangement of panes in a window.
func randomStep(r *rand.Rand, panes []string) string {
	pane := func() string { return panes[r.IntN(len(panes))] }
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	n := func(limit int) string { return strconv.Itoa(1 + r.IntN(limit)) }
	switch k := r.IntN(100); {
	case k < 30 && len(panes) < 9:
		return "split-window -d -t " + pane() + one(" -h", " -v") + one("", "", " -b", " -f", " -bf") + one("", "", " -l "+n(30), " -l "+n(90)+"%") + " cat"
	case k < 50 && len(panes) > 1:
		return "kill-pane -t " + pane()
	case k < 65:
		return "resize-pane -t " + pane() + one(" -L ", " -R ", " -U ", " -D ") + n(20)
	case k < 77:
		return "resize-pane -t " + pane() + one(" -x ", " -y ") + n(70) + one("", "%")
	case k < 84:
		return "resize-window -t " + pane() + " -x " + strconv.Itoa(80+r.IntN(120)) + " -y " + strconv.Itoa(40+r.IntN(40))
	case k < 90:
		return "swap-pane -d -s " + pane() + " -t " + pane()
	case k < 94:
		return "join-pane -d -s " + pane() + " -t " + pane() + one(" -h", " -v")
	case k < 97:
		return "rotate-window -t " + pane() + one("", " -D")
	default:
		return "select-layout -t " + pane() + " " + one("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled")
	}
}

// Random splits, closes, swaps and resizes must give the same layout as in tmux. TANDEM_TMUX_STEPS
// sets their number. The window is always large enough: in a full one, tmux gives panes no height,
// or crashes.
func TestPanesLieAsInTmux(t *testing.T) {
	t.Parallel()
	real := realTmux(t)
	steps := 100
	if n, err := strconv.Atoi(os.Getenv("TANDEM_TMUX_STEPS")); err == nil {
		steps = n
	}
	program, env, dir := tmuxEnv(t)
	theirs := startControl(t, env, dir, real, "-S", filepath.Join(dir, "tmux"), "-f", "/dev/null")
	ours := startControl(t, env, dir, program, "tmux")
	r := seed.Rand(t)
	layout := theirs.runCommand("display-message -p '#{window_layout}'")
	for range steps {
		step := randomStep(r, strings.Split(theirs.runCommand("list-panes -F '#{pane_id}'"), "\n"))
		want, got := theirs.runCommand(step), ours.runCommand(step)
		if want != got {
			t.Fatalf("%s prints %q, want %q, of\n%s", step, got, want, layout)
		}
		before := layout
		layout = theirs.runCommand("display-message -p '#{window_layout}'")
		if got := ours.runCommand("display-message -p '#{window_layout}'"); got != layout {
			t.Fatalf("%s gives\n%s from\n%s, want\n%s", step, got, before, layout)
		}
	}
}
