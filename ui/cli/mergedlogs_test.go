package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

var logged = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// mergeRig returns a rig with two processes: web with one log, and db with two.
func mergeRig(t *testing.T, state api.State) *rig {
	r := newRig(t)
	r.processes = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "web", State: state, ExitCode: code(7)},
		{ID: "bbbbbbbbbbbb", Name: "database", State: state, ExitCode: code(0), Supervision: &api.Supervision{SplitLog: true}},
	}
	web := "old\r\nweb 1\r\nweb 2\r\n\x1b[2Jweb 3"
	at := func(offset int64, seconds int) api.LogTime {
		return api.LogTime{Offset: offset, At: logged.Add(time.Duration(seconds) * time.Second)}
	}
	logs := map[string]struct {
		text  string
		times []api.LogTime
	}{
		"aaaaaaaaaaaa":       {web, []api.LogTime{at(5, 0), at(12, 2), at(19, 4)}},
		"bbbbbbbbbbbbstdout": {"db 1\n", []api.LogTime{at(0, 1)}},
		"bbbbbbbbbbbbstderr": {"err 2\n", []api.LogTime{at(0, 3)}},
	}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		log, ok := logs[in.ID+in.Stream]
		if !ok || !in.Exact || !in.Times {
			t.Errorf("asked for %+v", in)
		}
		out, err := logOf(log.text, api.StateExited)(in)
		out.Times = log.times
		return out, err
	}
	return r
}

func TestLogsMergeSeveralProcessesByTime(t *testing.T) {
	r := mergeRig(t, api.StateExited)
	all := "web      | old\nweb      | web 1\ndatabase | db 1\nweb      | web 2\ndatabase ! err 2\nweb      | web 3\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, all},
		{[]string{"-f"}, all},
		{[]string{"-n", "0"}, ""},
		{[]string{"--raw"}, strings.Replace(all, "web 3", "\x1b[2Jweb 3", 1)},
		{[]string{"--grep", "2$"}, "web      | web 2\ndatabase ! err 2\n"},
		{[]string{"--grep", "2$", "-n", "1"}, "database ! err 2\n"},
		{[]string{"--grep", "old|3", "--context", "1"}, "web      | old\nweb      | web 1\n--\ndatabase ! err 2\nweb      | web 3\n"},
		{[]string{"--grep", "old|3", "--context", "1", "-n", "1"}, "database ! err 2\nweb      | web 3\n"},
	} {
		if got := r.succeeds(append([]string{"logs", "web", "database"}, c.args...)...); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if stdout, _, status := r.run("logs", "web", "database", "--grep", "never"); stdout != "" || status != 1 {
		t.Errorf("without a match: status %d, %q", status, stdout)
	}
	if got := r.succeeds("logs", "database", "--stream", "both"); got != "database | db 1\ndatabase ! err 2\n" {
		t.Errorf("both streams of one: %q", got)
	}
	for n, want := range map[string]string{"1": "database ! err 2\n", "2": "database | db 1\ndatabase ! err 2\n", "9": "database | db 1\ndatabase ! err 2\n"} {
		if got := r.succeeds("logs", "database", "--stream", "both", "-n", n); got != want {
			t.Errorf("the last %s lines of both streams: %q", n, got)
		}
	}
	if got := r.succeeds("logs", "web", "aaaaaaaaaaaa", "-n", "1"); got != "web | web 3\n" {
		t.Errorf("one twice: %q", got)
	}
}

func TestMergedLogsAsJSONHaveOneObjectPerLine(t *testing.T) {
	r := mergeRig(t, api.StateExited)
	want := `{"name":"web","id":"aaaaaaaaaaaa","text":"old"}
{"name":"web","id":"aaaaaaaaaaaa","time":"2026-11-20T10:00:00Z","text":"web 1"}
{"name":"database","id":"bbbbbbbbbbbb","stream":"stdout","time":"2026-11-20T10:00:01Z","text":"db 1"}
`
	got := r.succeeds("logs", "web", "database", "--json")
	lines := strings.SplitAfter(got, "\n")
	for i, line := range strings.SplitAfter(strings.TrimSuffix(want, "\n"), "\n") {
		if i >= len(lines) {
			t.Fatalf("%q", got)
		}
		want, got := readJSON(t, line).(map[string]any), readJSON(t, lines[i]).(map[string]any)
		for key, value := range want {
			if at, err := time.Parse(time.RFC3339, value.(string)); key == "time" && err == nil {
				if is, err := time.Parse(time.RFC3339, got[key].(string)); err != nil || !is.Equal(at) {
					t.Errorf("line %d: %v", i, got)
				}
			} else if got[key] != value || len(got) != len(want) {
				t.Errorf("line %d: %v, want %v", i, got, want)
			}
		}
	}
}

// Lines arrive complete even if written in pieces, and each exit is reported.
func TestMergedLogsFollowUntilAllProcessesExit(t *testing.T) {
	r := newRig(t)
	running := []api.Process{{ID: "aaaaaaaaaaaa", Name: "web", State: api.StateRunning}, {ID: "bbbbbbbbbbbb", Name: "api", State: api.StateRunning}}
	r.processes = running
	written := map[string][]string{
		"aaaaaaaaaaaa": {"a\nhal", "a\nhal", "a\nhalf\n"},
		"bbbbbbbbbbbb": {"", "b\nno e", "b\nno end"},
	}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		texts := written[in.ID]
		if len(texts) == 1 {
			return logOf(texts[0], api.StateExited)(in)
		}
		written[in.ID] = texts[1:]
		return logOf(texts[0], api.StateRunning)(in)
	}
	r.current = nil
	stdout, stderr, status := r.run("logs", "-f", "web", "api")
	for _, line := range []string{"web | a\n", "web | half\n", "api | b\n", "api | no end\n"} {
		if strings.Count(stdout, line) != 1 {
			t.Errorf("%q is not once in %q", line, stdout)
		}
	}
	if status != 0 || strings.Count(stdout, "\n") != 4 {
		t.Errorf("status %d, %q", status, stdout)
	}
	if strings.Count(stderr, "web exited") != 1 || strings.Count(stderr, "api exited") != 1 {
		t.Errorf("told %q", stderr)
	}
}

func TestSessionLogsPrintText(t *testing.T) {
	const raw = "\x1b[?2004h\x1b[32m$\x1b[0m make teh\b\b\x1b[Khe\r\nok\r\n"
	r := newRig(t)
	r.processes = []api.Process{
		{ID: "aaaaaaaaaaaa", Kind: api.KindSession, Name: "shell", State: api.StateExited, ExitCode: code(0)},
		{ID: "bbbbbbbbbbbb", Kind: api.KindProcess, Name: "web", State: api.StateExited, ExitCode: code(0)},
	}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if in.ID == "bbbbbbbbbbbb" {
			return logOf("\x1b[32mserving\n", api.StateExited)(in)
		}
		return logOf(raw, api.StateExited)(in)
	}
	for line, want := range map[string]string{
		"logs shell":                        "$ make the\nok\n",
		"logs shell -f":                     "$ make the\nok\n",
		"logs shell --grep ^..make.the":     "$ make the\n",
		"logs shell --raw":                  raw,
		"logs shell web":                    "shell | $ make the\nshell | ok\nweb   | serving\n",
		"logs shell web --raw":              "shell | " + strings.Replace(strings.ReplaceAll(raw, "\r", ""), "\nok", "\nshell | ok", 1) + "web   | \x1b[32mserving\n",
		"logs shell web --grep make --json": `{"name":"shell","id":"aaaaaaaaaaaa","text":"$ make the"}` + "\n",
	} {
		if stdout, stderr, status := r.run(strings.Fields(line)...); status != 0 || stdout != want || stderr != "" {
			t.Errorf("%s: status %d, %q, %q, want %q", line, status, stdout, stderr, want)
		}
	}
	if stdout, _, status := r.run("logs", "shell", "--grep", "teh"); status != 1 || stdout != "" {
		t.Errorf("text that was erased is found: status %d, %q", status, stdout)
	}
}

func TestProjectLogsIncludeSessionsOnRequest(t *testing.T) {
	r := newRig(t)
	t.Chdir(shortDir(t))
	if err := os.WriteFile("tandem.yaml", []byte("sessions: {shell: sh}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("tandem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r.processes = []api.Process{{ID: "aaaaaaaaaaaa", Kind: api.KindSession, Name: "shell", State: api.StateExited, ExitCode: code(0),
		Project: &api.ProjectEntry{File: file, Name: "shell"}}}
	r.log = logOf("\x1b[1mbold\x1b[0m\r\n", api.StateExited)
	if stdout, stderr, status := r.run("logs", "--project", "--sessions"); status != 0 || stdout != "shell | bold\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if _, stderr, status := r.run("logs", "--project"); status != 1 || !strings.Contains(stderr, "hint: add --sessions") {
		t.Errorf("without --sessions: status %d, %q", status, stderr)
	}
	if _, stderr, status := r.run("logs", "shell", "--sessions"); status != 2 || !strings.Contains(stderr, "--sessions needs --project") {
		t.Errorf("without --project: status %d, %q", status, stderr)
	}
}

// Processes of the project that start later are followed too. Exited processes, and those of no
// project, are not.
func TestProjectLogsFollowProcessesStartedLater(t *testing.T) {
	r := newRig(t)
	t.Chdir(shortDir(t))
	if err := os.WriteFile("tandem.yaml", []byte("processes:\n  web: serve\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("tandem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) *api.ProjectEntry { return &api.ProjectEntry{File: file, Name: name} }
	r.processes = []api.Process{
		{ID: "000000000000", Name: "web", State: api.StateExited, Project: of("web")},
		{ID: "aaaaaaaaaaaa", Name: "web", State: api.StateRunning, Project: of("web")},
		{ID: "cccccccccccc", Name: "other", State: api.StateRunning},
		{ID: "dddddddddddd", Kind: api.KindSession, Name: "editor", State: api.StateRunning, Project: of("editor")},
	}
	r.events = make(chan api.Event, 1)
	r.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: "bbbbbbbbbbbb", Name: "late", State: api.StateRunning, Project: of("late")}}
	heard := false
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		switch in.ID {
		case "aaaaaaaaaaaa":
			if heard {
				return logOf("web\n", api.StateExited)(in)
			}
			return logOf("web\n", api.StateRunning)(in)
		case "bbbbbbbbbbbb":
			heard = true
			return logOf("late\n", api.StateExited)(in)
		}
		t.Errorf("asked for %+v", in)
		return logOf("", api.StateExited)(in)
	}
	stdout, stderr, status := r.run("logs", "--project", "-f")
	if status != 0 || stdout != "web | web\nlate | late\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestProjectLogsFailIfNothingWasStarted(t *testing.T) {
	r := newRig(t)
	t.Chdir(shortDir(t))
	if err := os.WriteFile("Procfile", []byte("web: serve\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := r.run("logs", "--project"); status != 1 || !strings.Contains(stderr, "tandem up") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestMergedLogsHaveColoursOnATerminal(t *testing.T) {
	for _, c := range []struct {
		env  string
		want bool
	}{{"A=b", true}, {"NO_COLOR=1", false}} {
		r := mergeRig(t, api.StateExited)
		master, slave := openTerminal(t)
		read := make(chan string)
		go func() {
			b, _ := io.ReadAll(master) // reading ends with EIO once the terminal is closed
			read <- string(b)
		}()
		o := r.options
		var stderr bytes.Buffer
		o.Stdout, o.Stderr, o.Environ = slave, &stderr, append(o.Environ, c.env)
		if status := Main(t.Context(), o, []string{"logs", "web", "database"}); status != 0 {
			t.Fatalf("status %d, %q", status, &stderr)
		}
		slave.Close()
		got := <-read
		names := map[string]bool{}
		for line := range strings.Lines(got) {
			if tint, rest, ok := strings.Cut(line, "m"); ok && strings.HasPrefix(tint, "\x1b[") {
				name, _, _ := strings.Cut(rest, "\x1b")
				names[tint+name] = true
			}
		}
		if want := map[bool]int{true: 2}[c.want]; len(names) != want || strings.Contains(got, "\x1b") != c.want {
			t.Errorf("%s: %q", c.env, got)
		}
	}
}
