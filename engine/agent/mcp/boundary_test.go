package mcp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
)

// secretWords is the content of a file off limits to the agents of this test.
const secretWords = "what nobody is told"

// A coverage describes how the test attacks a tool: the calls that could get past an agent's
// bounds.
type coverage struct {
	writes bool // changes something: not offered to read-only agents
	files  bool // takes paths, all of which must be in a root

	// attempts returns calls trying to write outside and to read the secret.
	attempts func(b *boundsRig) []object
	// changes returns calls changing a session, and typings calls typing a line into it.
	changes func(id string) []object
	typings func(id, line string) []object
}

// toolCoverage returns the coverage of every tool. The test fails for a tool missing here, so that
// its author considers its bounds.
func toolCoverage() map[string]coverage {
	reads, on, runs := coverage{attempts: emptyCall}, changeByID("id"), coverage.withLines
	return map[string]coverage{
		"exec": runs(coverage{}, func(line string) []object {
			return []object{{"command": line}, {"command": line, "sandbox": object{"filesystem": object{"allowWrite": []string{"/"}}}},
				{"command": line, "env": object{"PATH": os.Getenv("PATH")}}}
		}),
		"process_start":    runs(coverage{}, lineArgument("command", nil)),
		"process_list":     reads,
		"process_get":      {attempts: onProcess("id")},
		"process_log":      {attempts: onProcess("id")},
		"process_wait":     {attempts: func(b *boundsRig) []object { return []object{{"id": b.job, "timeout_ms": 1}} }},
		"process_restart":  {writes: true, attempts: onProcess("id"), changes: on},
		"process_stop":     {writes: true, attempts: onProcess("id"), changes: on},
		"process_stop_all": {writes: true, attempts: emptyCall},
		"session_start":    runs(coverage{}, lineArgument("command", nil)),
		"session_exec":     {writes: true, typings: typeLine("command")},
		"session_write":    {writes: true, changes: changeWith("id", object{"text": "x"}), typings: typeLineWith("text", object{"enter": true})},
		"session_read":     {attempts: onSession("id")},
		"session_screen":   {attempts: onSession("id")},
		"session_wait":     {attempts: func(b *boundsRig) []object { return []object{{"id": b.session, "timeout_ms": 1}} }},
		"session_resize":   {writes: true, attempts: func(b *boundsRig) []object { return []object{{"id": b.session, "cols": 90, "rows": 20}} }, changes: changeWith("id", object{"cols": 90, "rows": 20})},
		"session_kill":     {writes: true, changes: on},
		"session_list":     reads,
		"agent_list":       reads,
		"agent_wait":       {attempts: func(b *boundsRig) []object { return []object{{"ids": []string{b.session}, "timeout_ms": 1}} }},
		"agent_prompt":     {writes: true, typings: typeLine("text")},
		"agent_transcript": {attempts: onSession("id")},
		"history":          reads,
		"output_search":    {attempts: func(*boundsRig) []object { return []object{{"pattern": "x"}} }},
		"machine_list":     reads,
		"read":             fileCoverage(false, nil),
		"read_json":        fileCoverage(false, nil),
		"write":            fileCoverage(true, object{"content": "x"}),
		"edit":             fileCoverage(true, object{"edits": []object{{"search": "x", "replace": "y"}}}),
		"write_output": {writes: true, attempts: func(*boundsRig) []object {
			return []object{{"name": "report", "content": "x"}, {"name": "../../made", "content": "x"}}
		}},
		"grep":                      fileCoverage(false, object{"pattern": "."}),
		"find":                      fileCoverage(false, object{"pattern": "*"}),
		"ls":                        fileCoverage(false, nil),
		"env_get":                   {attempts: oneCall(object{"key": "HOME"})},
		"env_set":                   {writes: true, attempts: oneCall(object{"key": "BASH_ENV", "value": "/nowhere"})},
		"env_unset":                 {writes: true, attempts: oneCall(object{"key": "BASH_ENV"})},
		"execute-command":           runs(coverage{}, commandArgument),
		"start-command-async":       runs(coverage{}, commandArgument),
		"check-command-status":      {attempts: onProcess("processId")},
		"stop-command":              {writes: true, attempts: onProcess("processId")},
		"list-background-processes": reads,
		"get-command-history":       reads,
		"clear-command-history":     {writes: true, attempts: emptyCall},
		"save-to-file": {writes: true, files: true, attempts: func(b *boundsRig) []object {
			return []object{{"absolutePath": b.outsidePath("saved")}, {"absolutePath": b.outsidePath("there"), "overwrite": true}}
		}},
		"load-from-file": {writes: true, files: true, attempts: func(b *boundsRig) []object {
			return []object{{"absolutePath": b.secret}, {"absolutePath": b.outsidePath("there")}}
		}},
		"local_run_shell":        runs(coverage{}, lineArgument("command", nil)),
		"termux_run_shell":       runs(coverage{}, lineArgument("command", nil)),
		"local_shell_session":    {writes: true, attempts: (*boundsRig).plainSessionCalls},
		"termux_shell_session":   {writes: true, attempts: oneCall(object{"action": "list"}), changes: shellChanges, typings: shellTypes},
		"termux_fs":              {writes: true, files: true, attempts: (*boundsRig).fileActionCalls},
		"device_api":             {writes: true, attempts: oneCall(object{"action": "termux.status"})},
		"shell_cmd":              runs(coverage{}, lineArgument("command", nil)),
		"stop_daemon":            {writes: true, attempts: oneCall(object{"pid": os.Getpid()})},
		"get_daemon_output":      {attempts: oneCall(object{"pid": os.Getpid()})},
		"run_terminal_command":   runs(coverage{}, lineArgument("command", nil)),
		"format_terminal_output": {attempts: oneCall(object{"content": "x"})},
		"start_interactive_shell": runs(coverage{}, func(line string) []object {
			return []object{{"startup_commands": []string{line}}}
		}),
	}
}

func oneCall(args object) func(*boundsRig) []object {
	return func(*boundsRig) []object { return []object{args} }
}

func emptyCall(*boundsRig) []object { return []object{{}} }

func onProcess(field string) func(*boundsRig) []object {
	return func(b *boundsRig) []object { return []object{{field: b.job}} }
}

func onSession(field string) func(*boundsRig) []object {
	return func(b *boundsRig) []object { return []object{{field: b.session}} }
}

// withLines sets the attempts of a tool running shell lines.
func (w coverage) withLines(calls func(line string) []object) coverage {
	w.writes = true
	w.attempts = func(b *boundsRig) []object { return calls(b.attackLine()) }
	return w
}

func lineArgument(field string, more object) func(string) []object {
	return func(line string) []object { return []object{withField(more, field, line)} }
}

func commandArgument(line string) []object { return []object{{"command": []string{"sh", "-c", line}}} }

// fileCoverage covers a tool taking a path: files outside the roots and the secret, directly and
// through links.
func fileCoverage(writes bool, more object) coverage {
	return coverage{writes: writes, files: true, attempts: func(b *boundsRig) []object {
		return []object{withField(more, "path", b.outsidePath("there")), withField(more, "path", b.outsidePath("made")), withField(more, "path", b.outsidePath("")), withField(more, "path", b.secret),
			withField(more, "path", b.home+"/link/there"), withField(more, "path", b.home+"/link/made"), withField(more, "path", b.home+"/door")}
	}}
}

func changeByID(field string) func(string) []object { return changeWith(field, nil) }

func changeWith(field string, more object) func(string) []object {
	return func(id string) []object { return []object{withField(more, field, id)} }
}

func typeLine(field string) func(id, line string) []object { return typeLineWith(field, nil) }

func typeLineWith(field string, more object) func(id, line string) []object {
	return func(id, line string) []object { return []object{withField(withField(more, "id", id), field, line)} }
}

func shellChanges(id string) []object {
	return append(shellTypes(id, "true"), object{"action": "resize", "session_id": id, "cols": 90, "rows": 20}, object{"action": "kill", "session_id": id})
}

func shellTypes(id, line string) []object {
	return []object{{"action": "write", "session_id": id, "input": line + "\n"}, {"action": "exec", "session_id": id, "command": line}}
}

func withField(more object, field string, value any) object {
	args := object{field: value}
	maps.Copy(args, more)
	args[field] = value
	return args
}

// A boundsRig is an agent of a real engine. It has a home folder, and may neither write outside of
// it nor read a secret inside it.
type boundsRig struct {
	*rig
	outside string
	secret  string
	session string // started by the agent
	job     string
	theirs  string   // a session of the user's
	kept    []string // ids of running processes not to wait for
}

func (b *boundsRig) outsidePath(name string) string { return filepath.Join(b.outside, name) }

// attackLine returns a shell line trying everything.
func (b *boundsRig) attackLine() string {
	return fmt.Sprintf("cat %s %s/door; echo x >%[3]s/made; rm -f %[3]s/there; mv %[1]s %[2]s/moved && cat %[2]s/moved", b.secret, b.home, b.outside)
}

func (b *boundsRig) plainSessionCalls() []object {
	id := b.callObject("local_shell_session", object{"action": "start"})["session_id"]
	return []object{{"action": "exec", "session_id": id, "command": b.attackLine()}, {"action": "kill", "session_id": id}}
}

func (b *boundsRig) fileActionCalls() []object {
	var all []object
	for _, path := range []string{b.outsidePath("there"), b.secret, b.home + "/link/there", b.home + "/door"} {
		for _, action := range []string{"read", "list", "write", "mkdir", "delete"} {
			if path == b.secret && action == "delete" {
				continue // writing there is allowed, only reading is not
			}
			all = append(all, object{"action": action, "path": path, "content": "x"})
		}
	}
	return all
}

func newBounds(t *testing.T) *boundsRig {
	b := &boundsRig{rig: newRig(t, toolkit.All), outside: t.TempDir()}
	b.tools = append(b.tools, selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}})...)
	b.secret = filepath.Join(b.home, "secret", "x")
	for path, text := range map[string]string{b.secret: secretWords, b.outsidePath("there"): "x"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": b.outside, "door": b.secret} {
		if err := os.Symlink(to, filepath.Join(b.home, link)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := api.SessionStart.Call(t.Context(), b.userClient(), api.SessionStartInput{Command: []string{"sh"}, Name: "theirs", CWD: b.outside})
	if err != nil {
		t.Fatal(err)
	}
	b.theirs = p.ID
	b.reportAgent(b.theirs)
	return b
}

// reportAgent reports a coding agent in a session.
func (b *boundsRig) reportAgent(id string) {
	b.Helper()
	if _, err := api.AgentReport.Call(b.Context(), b.userClient(), api.AgentReportInput{ID: id, State: api.AgentIdle, Agent: "bot"}); err != nil {
		b.Fatal(err)
	}
}

// startOwn gives the agent a session and a process.
func (b *boundsRig) startOwn() {
	b.Helper()
	s := b.call("session_start", object{"command": "sh"})
	p := b.call("process_start", object{"command": "sleep 1000"})
	if s.Failed || p.Failed {
		b.Fatalf("%s %s", resultText(s), resultText(p))
	}
	b.session, b.job, b.kept = s.Process, p.Process, append(b.kept, s.Process, p.Process)
	b.reportAgent(b.session)
}

// checkOutside fails if anything outside has changed.
func (b *boundsRig) checkOutside(by string) {
	b.Helper()
	entries, err := os.ReadDir(b.outside)
	if err != nil {
		b.Fatal(err)
	}
	text, _ := os.ReadFile(b.outsidePath("there"))
	if len(entries) != 1 || string(text) != "x" {
		b.Errorf("%s: outside there is %v, and there says %q", by, entries, text)
		for _, e := range entries {
			os.RemoveAll(b.outsidePath(e.Name()))
		}
		if err := os.WriteFile(b.outsidePath("there"), []byte("x"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// checkSecret fails if text contains the secret.
func (b *boundsRig) checkSecret(by, text string) {
	b.Helper()
	if strings.Contains(text, secretWords) {
		b.Errorf("%s: result contains the secret: %q", by, text)
	}
}

// waitForOutput waits for the processes started by the agent and returns their output.
func (b *boundsRig) waitForOutput() string {
	b.Helper()
	out, err := api.ProcessList.Call(context.Background(), b.userClient(), api.ProcessListInput{})
	if err != nil {
		b.Fatal(err)
	}
	var printed strings.Builder
	for _, p := range out.Processes {
		if p.Owner == nil || slices.Contains(b.kept, p.ID) {
			continue
		}
		if !strings.HasPrefix(p.Command, "bash") { // of start_interactive_shell; has run its line
			b.waitForExit(p.ID)
		}
		log, err := api.ProcessLog.Call(context.Background(), b.userClient(), api.ProcessLogInput{ID: p.ID, Max: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		printed.WriteString(log.Data)
	}
	return printed.String()
}

func TestEveryToolStaysWithinItsBounds(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	known := toolCoverage()
	seen := map[string]bool{}
	for _, profile := range toolkit.Profiles() {
		free, reading := selectTools(toolkit.Options{Profiles: []toolkit.Profile{profile}}), selectTools(toolkit.Options{Profiles: []toolkit.Profile{profile}, ReadOnly: true})
		for _, one := range free {
			w, ok := known[one.Name]
			if !ok {
				t.Errorf("%s: not in toolCoverage", one.Name)
			}
			offered := slices.ContainsFunc(reading, func(o toolkit.Tool) bool { return o.Name == one.Name })
			if offered == w.writes {
				t.Errorf("%s, writes %v: offered to read-only agents: %v", one.Name, w.writes, offered)
			}
			seen[one.Name] = true
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("there is no tool %s", name)
		}
	}
	b := newBounds(t)
	b.startOwn()
	t.Run("roots", b.testRoots)
	t.Run("keyboard lock", b.testKeyboardLock)
	t.Run("policy", b.testDenyAll)
	t.Run("variables", b.testVariables)
	t.Run("sandbox", b.testSandbox)
}

// Without a sandbox, roots limit only tools working on files.
func (b *boundsRig) testRoots(t *testing.T) {
	for name, w := range toolCoverage() {
		if !w.files {
			continue
		}
		for _, args := range w.attempts(b) {
			if strings.Contains(fmt.Sprint(args), b.home) && !strings.Contains(fmt.Sprint(args), "/link/") {
				continue // inside the roots
			}
			if got := b.call(name, args); !got.Failed && !strings.Contains(resultText(got), `"status":"error"`) {
				t.Errorf("%s %v: %s", name, args, resultText(got))
			}
		}
		b.checkOutside(name)
	}
}

// With the keyboard lock on, agents may not change a session.
func (b *boundsRig) testKeyboardLock(t *testing.T) {
	take := func(taken bool) {
		if _, err := api.SessionKeyboard.Call(t.Context(), b.userClient(), api.SessionKeyboardInput{ID: b.theirs, Take: taken}); err != nil {
			t.Fatal(err)
		}
	}
	take(true)
	defer take(false)
	for name, w := range toolCoverage() {
		calls := []object{}
		if w.changes != nil {
			calls = w.changes(b.theirs)
		}
		if w.typings != nil {
			calls = append(calls, w.typings(b.theirs, "echo x >made")...)
		}
		for _, args := range calls {
			if got := b.call(name, args); !strings.Contains(resultText(got), "locked_by_user") {
				t.Errorf("%s %v: %s", name, args, resultText(got))
			}
		}
	}
	if got := b.call("process_stop_all", object{}); got.Failed {
		t.Error(resultText(got)) // it does not stop sessions
	}
	if p := b.getProcess(b.theirs); p.State.Ended() {
		t.Error("it has ended")
	}
	b.checkOutside("a session whose keyboard is taken")
	b.startOwn() // everything was stopped
}

// A policy denying everything denies every tool.
func (b *boundsRig) testDenyAll(t *testing.T) {
	b.writePolicy(`default = "deny"`)
	defer b.writePolicy(`default = "allow"`)
	session := b.serveClient(nil)
	for name, w := range toolCoverage() {
		var calls []object
		switch {
		case w.attempts != nil && name != "local_shell_session":
			calls = w.attempts(b)
		case w.changes != nil:
			calls = w.changes(b.session)
		default:
			calls = []object{{"action": "start"}}
		}
		for _, args := range calls {
			text, failed := b.callAsClient(session, name, args)
			wrong := strings.Contains(text, " argument \"") || strings.Contains(text, "DAEMON_NOT_FOUND") // nothing to deny
			if !failed || !wrong && !strings.HasPrefix(text, "call "+name+": not allowed: ") {
				t.Errorf("%s %v: %s", name, args, text)
			}
		}
	}
	b.checkOutside("what was denied")
}

// The policy judges programs together with variables affecting which program runs.
func (b *boundsRig) testVariables(t *testing.T) {
	b.writePolicy("[[rule]]\ndecision = \"deny\"\ncommand = [\"env LD_PRELOAD=*\"]")
	defer b.writePolicy(`default = "allow"`)
	session := b.serveClient(nil)
	for _, tool := range b.tools {
		if !slices.Contains(toolkit.FieldNames(tool.In), "env") {
			continue
		}
		args := object{"command": "true", "env": object{"LD_PRELOAD": "x.so"}}
		if slices.Contains(toolkit.FieldNames(tool.In), "action") {
			args = object{"action": "start", "env": args["env"]}
		}
		if text, failed := b.callAsClient(session, tool.Name, args); !failed || !strings.Contains(text, "LD_PRELOAD=x.so") {
			t.Errorf("%s: %s", tool.Name, text)
		}
	}
}

// A sandbox applies to everything done for the agent: by its programs, by others and by the engine.
func (b *boundsRig) testSandbox(t *testing.T) {
	b.agent.Options.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{
		AllowWrite: []string{b.home}, DenyRead: []string{filepath.Dir(b.secret)}, DenyWrite: []string{}}}
	b.agent.Options.Roots = []string{b.home, b.outside} // which alone would let it out
	b.agent.Roots = b.agent.Options.Roots
	b.reconnect()
	b.startOwn()
	names := slices.Sorted(maps.Keys(toolCoverage()))
	for _, name := range names {
		w := toolCoverage()[name]
		if w.attempts == nil || w.changes != nil || name == "process_stop_all" {
			continue
		}
		for _, args := range w.attempts(b) {
			b.checkSecret(fmt.Sprint(name, args), resultText(b.call(name, args)))
			b.checkOutside(fmt.Sprint(name, args))
		}
	}
	for _, name := range names {
		types := toolCoverage()[name].typings
		if types == nil {
			continue
		}
		for _, args := range types(b.theirs, b.attackLine()) {
			if got := resultText(b.call(name, args)); !strings.Contains(got, "outside the agents' sandbox") {
				t.Errorf("%s %v into the user's session: %s", name, args, got)
			}
		}
		for _, args := range types(b.session, b.attackLine()) {
			if got := b.call(name, args); strings.Contains(resultText(got), "outside the agents' sandbox") {
				t.Errorf("%s %v into its own: %s", name, args, resultText(got))
			}
		}
	}
	// The line typed above has run by then.
	b.checkSecret("its own session", resultText(b.call("session_exec", object{"id": b.session, "command": "echo done"})))
	for _, name := range []string{"get-command-history", "history"} {
		b.checkSecret(name, resultText(b.call(name, object{})))
	}
	b.checkSecret("what it has started", b.waitForOutput())
	b.checkOutside("what it has started")
}
