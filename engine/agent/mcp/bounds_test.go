package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/wait"
)

// callWithin calls a tool and returns its text. The result, as sent and with its structured
// content, must have at most limit bytes, and the text must contain each of parts. The plugin
// profile counts neither escapes nor notes.
func (r *rig) callWithin(name string, args object, limit int, parts ...string) string {
	r.Helper()
	answer := r.call(name, args)
	text := resultText(answer)
	size := len(toolkit.JSONText(text)) - len(`""`)
	if !answer.SameAsText && answer.Structured != nil {
		size += len(toolkit.JSONText(answer.Structured))
	}
	if r.agent.UsesPluginFormat() {
		size = len(text) - 200
	}
	if answer.Failed || size > limit {
		r.Errorf("%s of %.200v gives %d bytes, more than %d: %.100s", name, args, size, limit, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			r.Errorf("%s gives no %q: %.100s … %s", name, part, text, text[max(0, len(text)-200):])
		}
	}
	return text
}

func (r *rig) writeText(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.home, name), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// longText returns numbered lines of more than 100,000 tokens.
func longText() string {
	var b strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", 60))
	}
	return b.String()
}

func TestResultsStayWithinMaxSize(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.writeText("lines", longText())
	r.writeText("one", strings.Repeat("long ", 100<<10))
	r.callWithin("grep", object{"pattern": "line", "path": "lines", "limit": 100_000}, toolkit.DefaultSize,
		"lines:1:line 0 x", "[Output truncated to 32768 bytes; ", " line(s) omitted. Narrow path, glob or pattern.]")
	r.callWithin("grep", object{"pattern": "long", "path": "one"}, toolkit.DefaultSize, "one:1:long long")

	r.call("session_start", object{"name": "sh", "command": "sh"})
	r.call("session_exec", object{"id": "sh", "command": "cat lines"})
	text := r.callWithin("session_screen", object{"id": "sh", "scrollback": 5000}, toolkit.DefaultSize, " left out: max_output gives more]\n", "line 7999 x")
	if more := resultText(r.call("session_screen", object{"id": "sh", "scrollback": 5000, "max_output": 1 << 20})); len(more) < 5*len(text) || strings.Contains(more, "left out") {
		t.Errorf("with max_output it gives %d bytes", len(more))
	}
	r.callWithin("session_read", object{"id": "sh", "since": 0}, toolkit.DefaultSize)
	r.callWithin("session_exec", object{"id": "sh", "command": "cat lines"}, toolkit.DefaultSize, "line 7999 x")

	r.call("process_start", object{"command": "cat lines one", "name": "cat"})
	r.waitForExit("cat")
	r.callWithin("process_log", object{"id": "cat"}, toolkit.DefaultSize, "long")
	for _, most := range []int{700, toolkit.DefaultSize} {
		text := r.callWithin("process_log", object{"id": "cat", "grep": "line", "max_output": most}, most, "0: line 0 x", "\n[more from here on: since=")
		var since int64
		if _, err := fmt.Sscanf(text[strings.LastIndex(text, "["):], "[more from here on: since=%d", &since); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(": line %d x", strings.Count(text, ": line "))
		if next := resultText(r.call("process_log", object{"id": "cat", "grep": "line", "since": since})); !strings.Contains(next[:min(30, len(next))], want) {
			t.Errorf("since %d it gives %.100s, want %s", since, next, want)
		}
	}
	r.callWithin("process_log", object{"id": "cat", "grep": "long"}, toolkit.DefaultSize, "long long")
	r.callWithin("process_wait", object{"id": "cat", "log": "long", "since": 0}, 8<<10, "Met: log")
	r.callWithin("exec", object{"command": "cat lines one >&2; cat lines one"}, toolkit.DefaultSize, "chars truncated from stdout", "chars truncated from stderr")
	r.call("exec", object{"command": ": " + strings.Repeat("y", 60<<10)})
	wait.Watch(r, "the long command in the history", r.userClient().Watch, func() (string, bool) {
		text := r.callWithin("history", nil, toolkit.DefaultSize)
		return text, strings.Contains(text, "  : yyyy") && strings.Contains(text, " bytes left out]")
	})
}

func TestMaxOutputCountsJSONBytes(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for name, line := range map[string]string{"short": "", "quotes": strings.Repeat(`"`, 90), "invalid": strings.Repeat("\xff", 90), "controls": strings.Repeat("\x01", 40) + "x"} {
		r.writeText(name, strings.Repeat(line+"\n", 60<<10))
		r.call("process_start", object{"command": "cat " + name, "name": name})
		r.waitForExit(name)
		r.callWithin("process_log", object{"id": name}, toolkit.DefaultSize)
		r.callWithin("process_log", object{"id": name, "since": 0}, toolkit.DefaultSize)
		r.callWithin("process_log", object{"id": name, "tail": 50_000}, toolkit.DefaultSize)
		r.callWithin("process_log", object{"id": name, "since": 0, "max_output": 5000}, 5000)
		r.callWithin("process_log", object{"id": name, "grep": "^", "context": 5}, toolkit.DefaultSize)
		r.callWithin("process_start", object{"command": "cat " + name, "wait": object{}}, 8<<10, "Met: exit")
		r.callWithin("grep", object{"pattern": "^", "path": name, "limit": 60 << 10}, toolkit.DefaultSize)
		r.callWithin("env_set", object{"key": "LONG", "value": strings.Repeat(line+"\n", 30<<10/(len(line)+1))}, toolkit.DefaultSize)
		r.callWithin("env_get", object{"key": "LONG"}, toolkit.DefaultSize, "left_out: ")
	}
}

func TestListsAndRecordsTruncateLongCommands(t *testing.T) {
	t.Parallel()
	long := ": " + strings.Repeat(`"`, 50<<10) + "; exec sleep 1000"
	for _, c := range []struct {
		profile toolkit.Profile
		tools   []string
	}{
		{toolkit.Native, []string{"process_list"}},
		{toolkit.Plugin, []string{"process_get", "process_list"}},
		{toolkit.Core, []string{"check-command-status", "list-background-processes"}},
	} {
		r := newSharedRig(t, c.profile)
		p, err := api.ProcessStart.Call(t.Context(), r.agent.Engine, api.ProcessStartInput{Command: []string{"sh", "-c", long}, CWD: "/", Actor: "agent:test/1"})
		if err != nil {
			t.Fatal(err)
		}
		last, err := api.ProcessStart.Call(t.Context(), r.agent.Engine, api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/", Actor: "agent:test/1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range c.tools {
			args, note := object{}, " bytes left out]"
			if tool == "process_get" || tool == "check-command-status" {
				args = object{"id": p.ID}
			}
			if c.profile == toolkit.Native && tool == "process_list" {
				note = "…"
			}
			text := r.callWithin(tool, args, 3<<10, note)
			if len(args) == 0 && !strings.Contains(text, last.ID) {
				t.Errorf("%s hides what follows a long command: %.300s", tool, text)
			}
		}
	}
}

func TestOversizedImageErrorNamesBothSizes(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for _, c := range []struct {
		size int
		want string
	}{
		{3 << 20, ""},
		{5 << 20, "Cannot show p.png: the image is 6.7MB in base64; a result holds at most 5.0MB."},
		{24 << 20, "Cannot show p.png: the image is 32.0MB in base64; a result holds at most 5.0MB."},
	} {
		r.createFile("p.png", "\x89PNG\r\n\x1a\n")
		if err := os.Truncate(filepath.Join(r.home, "p.png"), int64(c.size)); err != nil {
			t.Fatal(err)
		}
		answer := r.call("read", object{"path": "p.png"})
		if answer.Failed != (c.want != "") || c.want != "" && resultText(answer) != c.want {
			t.Errorf("%d bytes: failed %v", c.size, answer.Failed)
		}
	}
}

func TestSessionReadOfLongOutputReturnsNewestPart(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.writeText("lines", longText())
	r.callChecked("session_start", object{"name": "flood", "command": "sh -c 'cat lines; read x'"})
	r.callChecked("session_wait", object{"id": "flood"})
	r.agent.Seen.Set(r.getProcess("flood").ID, toolkit.Cursor{At: 100})
	text := r.callWithin("session_read", object{"id": "flood"}, toolkit.DefaultSize, "line 7999 x")
	var skipped, since int
	if _, err := fmt.Sscanf(text, "[%d earlier bytes left out; since %d returns them]", &skipped, &since); err != nil || since != 100 || skipped < 100_000 {
		t.Errorf("it begins with %.100q: %v", text, err)
	}
	if text := resultText(r.call("session_read", object{"id": "flood"})); !strings.HasPrefix(text, "[nothing new, ") {
		t.Errorf("it gives again %.100q", text)
	}
	r.callWithin("session_read", object{"id": "flood", "since": since}, toolkit.DefaultSize, "line 2 x")
}

func TestListsShowRunningAndLastExited(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	start := func(name string, command ...string) string {
		p, err := api.ProcessStart.Call(t.Context(), r.agent.Engine, api.ProcessStartInput{Command: command, Name: name, CWD: "/"})
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	start("runs", "sleep", "1000")
	for i := range 12 {
		r.waitForExit(start(fmt.Sprintf("gone-%d", i), "true"))
	}
	text := resultText(r.call("process_list", nil))
	if !strings.Contains(text, "  runs  running, pid ") || strings.Contains(text, "  gone-1  ") || !strings.Contains(text, "  gone-2  ") ||
		!strings.Contains(text, "  gone-11  exited, exit code 0  started 0s ago by you in /  true") || !strings.HasSuffix(text, "\n[2 exited earlier; all lists them]") {
		t.Errorf("process_list gives %s", text)
	}
	if text := resultText(r.call("process_list", object{"all": true})); strings.Count(text, "\n") != 12 || !strings.Contains(text, "  gone-0  ") {
		t.Errorf("process_list of all gives %s", text)
	}
	if text := resultText(r.call("session_list", nil)); text != "No sessions." {
		t.Errorf("session_list gives %s", text)
	}
}

func TestReadJSONReturnsPartsOfLargeFiles(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.writeText("big.json", `{"items":[`+strings.Repeat(`{"name":"x"},`, 20<<10)+`{"name":"last"}],"end":[1.0,"z"]}`)
	r.callWithin("read_json", object{"path": "big.json"}, 50<<10, `{"items":[{"name":"x"}`, `{"name":"last"}],"end":[1.0,"z"]}`, " bytes left out: pointer=/KEY/0 gives a part]")
	r.checkExact(t,
		exactCall{"read_json", object{"path": "big.json", "pointer": "/end"}, `[1.0,"z"]`, false},
		exactCall{"read_json", object{"path": "big.json", "pointer": "/items/20480/name"}, `"last"`, false},
		exactCall{"read_json", object{"path": "big.json", "pointer": "/items/20481"}, `read JSON: nothing at "20481" of pointer "/items/20481"`, true},
		exactCall{"read_json", object{"path": "big.json", "pointer": "end"}, `read JSON: pointer "end" does not begin with /`, true},
	)
	r.writeText("odd.json", `{"a/b":{"~":[null,true]}}`)
	r.checkExact(t, exactCall{"read_json", object{"path": "odd.json", "pointer": "/a~1b/~0/1"}, "true", false})
	r.writeText("quotes.json", `[`+strings.Repeat(`"x",`, 20<<10)+`"last"]`)
	r.callWithin("read_json", object{"path": "quotes.json"}, 50<<10, `"last"]`)
}

// The plugin profile has fixed limits of its own.
func TestPluginProfileKeepsItsLimits(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.writeText("lines", longText())
	r.writeText("big.json", "["+strings.Repeat(`"x",`, 50<<10)+`"last"]`)
	r.callWithin("grep", object{"pattern": "line", "path": "lines", "limit": 100_000}, 64<<10, "[Output truncated to 65536 bytes; ", " line(s) omitted.]")
	r.callWithin("read_json", object{"path": "big.json"}, 50<<10, `"last"]`, " bytes left out: pointer=/KEY/0 gives a part]")
	r.callWithin("read", object{"path": "lines"}, 50<<10, "[Showing lines 1-")
	r.call("exec", object{"command": "true"})
	if text := resultText(r.call("process_list", nil)); text != "No managed processes." {
		t.Errorf("process_list gives %s", text)
	}
	r.agent.Options.Unbounded = true
	if text := resultText(r.call("read_json", object{"path": "big.json"})); len(text) != 4*50<<10+len(`["last"]`) {
		t.Errorf("unbounded, read_json gives %d bytes", len(text))
	}
}

// Profiles other than the native one return the end of long output, with the size and place of the
// rest.
func TestOtherProfilesNameTheLogOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.All)
	much := "head -c 3000000 /dev/zero | tr '\\0' x"
	for _, c := range []struct {
		tool string
		args object
	}{
		{"run_terminal_command", object{"command": much}},
		{"local_run_shell", object{"command": much}},
	} {
		answer := r.call(c.tool, c.args)
		if text := resultText(answer); len(text) > toolkit.MaxStream+1024 || !strings.Contains(text, "[1951424 bytes before this are in "+r.dir) {
			t.Errorf("%s gives %d bytes: %.200s", c.tool, len(text), text)
		}
	}
	started := resultText(r.call("start-command-async", object{"command": []string{"sh", "-c", much}}))
	id := started[strings.LastIndex(started, " ")+1:]
	r.waitForExit(id)
	if text := resultText(r.call("check-command-status", object{"processId": id})); len(text) > 2*toolkit.MaxStream || !strings.Contains(text, " bytes before this are in ") {
		t.Errorf("check-command-status gives %d bytes: %.300s", len(text), text)
	}
	if text := resultText(r.call("shell_cmd", object{"command": "seq 100000"})); len(text) > 8<<10 || !strings.Contains(text, "truncated: true") {
		t.Errorf("shell_cmd gives %d bytes", len(text))
	}
}

func TestTruncatedTextStatesOmittedSize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"short\n", 10, "short\n"},
		{strings.Repeat("0123456\n", 100), 256 + 36, "0123456\n0123456\n[96 lines (768 bytes) left out: more]\n0123456\n0123456\n"},
		{strings.Repeat("é", 200), 256 + 7, "é\n[396 bytes left out: more]\né"},
	} {
		if got := toolkit.HeadAndTail(tc.text, tc.most, "more"); got != tc.want {
			t.Errorf("of %d bytes it leaves %q, want %q", len(tc.text), got, tc.want)
		}
	}
}
