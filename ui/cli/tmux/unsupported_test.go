package tmux

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api/client"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A feature of tmux that Tandem does not support must fail with an error that names it, and with
// tmux's exit status for errors.
func TestUnsupportedFeaturesAreRejectedByName(t *testing.T) {
	const suffix = " is not supported by tandem"
	t.Setenv("TANDEM_DATA_DIR", t.TempDir())
	for line, want := range map[string]string{
		"-C attach":                  "control mode (tmux -C) is not supported by tandem; to start a Procfile, run `tandem up`",
		"-CC new-session":            "control mode (tmux -C) is not supported by tandem; to start a Procfile, run `tandem up`",
		"-f /dev/null ls":            "tmux -f" + suffix + "; use set-option",
		"-l ls":                      "tmux -l" + suffix,
		"copy-mode":                  "copy-mode" + suffix,
		"copy-":                      "copy-mode" + suffix,
		"popup cat":                  "popup" + suffix,
		"next-window":                "next-window" + suffix + "; use select-window -t INDEX",
		"list-clients":               "list-clients" + suffix + "; dashboards are not clients",
		"source-file x":              "source-file" + suffix + "; use set-option",
		"refresh-client -C 80x24":    "refresh-client" + suffix + "; dashboards are not clients",
		"save-buffer x":              "save-buffer" + suffix + "; use show-buffer >FILE",
		"send-keys -N 3 x":           "send-keys -N" + suffix + "; write out the keys or the text",
		"send-keys -X cancel":        "send-keys -X" + suffix,
		"new-session -t other":       "new-session -t" + suffix,
		"select-window -n":           "select-window -n" + suffix + "; use select-window -t INDEX",
		"ls ; kill-pane --help":      "kill-pane --" + suffix,
		"list-sessions -é":           "list-sessions -é" + suffix,
		"split-window -:":            "split-window -:" + suffix,
		"prev":                       "prev" + suffix + "; use select-window -t INDEX",
		"frobnicate":                 "unknown command: frobnicate",
		"list-s -F":                  "command list-sessions: -F expects an argument",
		"list-":                      "ambiguous command: list-, could be: list-buffers, list-clients, list-commands, list-keys, list-panes, list-sessions, list-windows",
		"rename-window":              "command rename-window: too few arguments (need at least 1)",
		"rename-window a b":          "command rename-window: too many arguments (need at most 1)",
		"ls ; rename-window a b ; x": "command rename-window: too many arguments (need at most 1)",
	} {
		var stdout, stderr bytes.Buffer
		status := Main(t.Context(), Options{Stdout: &stdout, Stderr: &stderr}, strings.Fields(line))
		if status != 1 || stderr.String() != want+"\n" || stdout.Len() > 0 {
			t.Errorf("tmux %s: status %d, %q, %q; want %q", line, status, stdout.String(), stderr.String(), want)
		}
	}
}

// newServer returns a call of a locked server whose session work has a window of two panes.
func newServer(t *testing.T, stdout *bytes.Buffer) *call {
	t.Helper()
	offline := func(context.Context) (*client.Client, error) { return nil, errors.New("offline") }
	c := newCall(t.Context(), Options{Connect: offline, Stdout: stdout}, filepath.Join(t.TempDir(), "default"))
	if err := c.lock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.file.Release() })
	panes := []*server.Pane{{ID: 0, Adopted: true}, {ID: 1, Adopted: true}}
	window := &server.Window{Name: "one", Layout: cells.Arrange("even-vertical", []int{0, 1}, 80, 24, cells.MainSize{}), Panes: panes, Preset: -1}
	c.file.Sessions = []*server.Session{{Name: "work", Windows: []*server.Window{window}, W: 80, H: 24}}
	return c
}

func TestUnsupportedFeaturesOfARunningServerAreRejectedByName(t *testing.T) {
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"list-panes", "-F", "#{=3:pane_id}"}, "format modifier =3 is not supported by tandem; use plain variables"},
		{[]string{"list-panes", "-f", "#{m:a*,#S}"}, "format modifier m is not supported by tandem; use plain variables"},
		{[]string{"display-message", "-p", "#(date)"}, "format #(…) is not supported by tandem; use plain variables"},
		{[]string{"display-message", "-p", "at %H:%M"}, "format %H is not supported by tandem; use date(1)"},
		{[]string{"pipe-pane", "cat >%Y"}, "format %Y is not supported by tandem; use date(1)"},
		{[]string{"select-pane", "-t", "{last}"}, "target {last} is not supported by tandem; use an index, name or id"},
		{[]string{"select-window", "-t", "work:+1"}, "target +1 is not supported by tandem; use an index, name or id"},
		{[]string{"set-option", "-g", "mouse"}, "set-option mouse without a value is not supported by tandem; give the value"},
		{[]string{"set-option", "-g", "user-keys[1]", "x"}, "option user-keys[1]: indexes are not supported by tandem; set the whole option"},
		{[]string{"select-layout", "b25d,80x24,0,0,0"}, "a layout of another number of panes (1 instead of 2) is not supported by tandem; add or kill panes first: b25d,80x24,0,0,0"},
		{[]string{"if-shell", "-F", "1", "display-message $HOME"}, "$ in a text of commands is not supported by tandem; quote it with ''"},
		{[]string{"run-shell", "-C", "if-shell -F 1 { kill-server }"}, "{ in a text of commands is not supported by tandem; quote it with ''"},
	} {
		var stdout bytes.Buffer
		c := newServer(t, &stdout)
		sequence, err := c.table.parseArguments(step.args)
		if err == nil {
			err = c.runSequence(sequence)
		}
		if err == nil || err.Error() != step.want {
			t.Errorf("%q: %v, want %s", step.args, err, step.want)
		}
	}
}

func TestTextOfCommandsIsSplitAtSemicolonsOutsideOfQuotes(t *testing.T) {
	sequence, err := newTable(&call{}).parseText("display-message -p 'a; b'\nsend-keys \"x y\" c\\;d ';' ; ls")
	if err != nil {
		t.Fatal(err)
	}
	got := [][]string{}
	for _, cmd := range sequence {
		got = append(got, append([]string{cmd.name}, cmd.args...))
	}
	want := [][]string{{"display-message", "a; b"}, {"send-keys", "x y", "c;d", ";"}, {"list-sessions"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if _, err := newTable(&call{}).parseText("display-message 'a"); err == nil {
		t.Error("an open quote is accepted")
	}
}

func TestSetOptionFlagsSelectServerSessionWindowOrPane(t *testing.T) {
	var stdout bytes.Buffer
	c := newServer(t, &stdout)
	run := func(line string) {
		t.Helper()
		sequence, err := c.table.parseArguments(strings.Fields(line))
		if err == nil {
			err = c.runSequence(sequence)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{
		"set -g @own global", "set @own session", "setw @own window", "set -p -t %1 @own pane",
		"set remain-on-exit on", "set -p -t %1 remain-on-exit off",
	} {
		run(line)
	}
	run("list-panes -F #{@own},#{remain-on-exit}")
	run("show -gv @own ; show -v @own ; show -wv @own ; show -p -t %1 ; show -wA remain-on-exit")
	const want = "window,on\npane,off\nglobal\nsession\nwindow\n@own pane\nremain-on-exit off\nremain-on-exit* on\n"
	if got := stdout.String(); got != want {
		t.Errorf("printed\n%s, want\n%s", got, want)
	}
}
