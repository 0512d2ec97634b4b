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

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/tests/needs"
)

// secretWords are in a file that no agent of this test may read.
const secretWords = "what nobody is told"

// A way is what a tool could be used for past an agent's bounds.
type way struct {
	writes bool // it changes something: an agent that only reads is not offered it
	files  bool // its paths have to be in a root

	// tries are calls that try to write outside and to read the secret.
	tries func(b *bounds) []object
	// changes are calls that change the session with an id, and types those of
	// them that type a line into it.
	changes func(id string) []object
	types   func(id, line string) []object
}

// ways says for every tool how it is held. A tool that is not there fails the
// test: somebody has to think about it.
func ways() map[string]way {
	reads, on, runs := way{tries: empty}, changing("id"), way.running
	return map[string]way{
		"exec": runs(way{}, func(line string) []object {
			return []object{{"command": line}, {"command": line, "sandbox": object{"filesystem": object{"allowWrite": []string{"/"}}}},
				{"command": line, "env": object{"PATH": os.Getenv("PATH")}}}
		}),
		"process_start":    runs(way{}, lineIn("command", nil)),
		"process_list":     reads,
		"process_get":      {tries: ofProcess("id")},
		"process_log":      {tries: ofProcess("id")},
		"process_wait":     {tries: func(b *bounds) []object { return []object{{"id": b.job, "timeout_ms": 1}} }},
		"process_restart":  {writes: true, tries: ofProcess("id"), changes: on},
		"process_stop":     {writes: true, tries: ofProcess("id"), changes: on},
		"process_stop_all": {writes: true, tries: empty},
		"session_start":    runs(way{}, lineIn("command", nil)),
		"session_exec":     {writes: true, types: typing("command")},
		"session_write":    {writes: true, changes: changingWith("id", object{"text": "x"}), types: typingWith("text", object{"enter": true})},
		"session_read":     {tries: ofSession("id")},
		"session_screen":   {tries: ofSession("id")},
		"session_wait":     {tries: func(b *bounds) []object { return []object{{"id": b.session, "timeout_ms": 1}} }},
		"session_resize":   {writes: true, tries: func(b *bounds) []object { return []object{{"id": b.session, "cols": 90, "rows": 20}} }, changes: changingWith("id", object{"cols": 90, "rows": 20})},
		"session_kill":     {writes: true, changes: on},
		"session_list":     reads,
		"agent_list":       reads,
		"agent_wait":       {tries: func(b *bounds) []object { return []object{{"ids": []string{b.session}, "timeout_ms": 1}} }},
		"agent_prompt":     {writes: true, types: typing("text")},
		"agent_transcript": {tries: ofSession("id")},
		"history":          reads,
		"machine_list":     reads,
		"read":             file(false, nil),
		"read_json":        file(false, nil),
		"write":            file(true, object{"content": "x"}),
		"edit":             file(true, object{"edits": []object{{"search": "x", "replace": "y"}}}),
		"write_output": {writes: true, tries: func(*bounds) []object {
			return []object{{"name": "report", "content": "x"}, {"name": "../../made", "content": "x"}}
		}},
		"grep":                      file(false, object{"pattern": "."}),
		"find":                      file(false, object{"pattern": "*"}),
		"ls":                        file(false, nil),
		"env_get":                   {tries: always(object{"key": "HOME"})},
		"env_set":                   {writes: true, tries: always(object{"key": "BASH_ENV", "value": "/nowhere"})},
		"env_unset":                 {writes: true, tries: always(object{"key": "BASH_ENV"})},
		"execute-command":           runs(way{}, argv),
		"start-command-async":       runs(way{}, argv),
		"check-command-status":      {tries: ofProcess("processId")},
		"stop-command":              {writes: true, tries: ofProcess("processId")},
		"list-background-processes": reads,
		"get-command-history":       reads,
		"clear-command-history":     {writes: true, tries: empty},
		"save-to-file": {writes: true, files: true, tries: func(b *bounds) []object {
			return []object{{"absolutePath": b.out("saved")}, {"absolutePath": b.out("there"), "overwrite": true}}
		}},
		"load-from-file": {writes: true, files: true, tries: func(b *bounds) []object {
			return []object{{"absolutePath": b.secret}, {"absolutePath": b.out("there")}}
		}},
		"local_run_shell":        runs(way{}, lineIn("command", nil)),
		"termux_run_shell":       runs(way{}, lineIn("command", nil)),
		"local_shell_session":    {writes: true, tries: (*bounds).plainSession},
		"termux_shell_session":   {writes: true, tries: always(object{"action": "list"}), changes: shellChanges, types: shellTypes},
		"termux_fs":              {writes: true, files: true, tries: (*bounds).fileActions},
		"device_api":             {writes: true, tries: always(object{"action": "termux.status"})},
		"shell_cmd":              runs(way{}, lineIn("command", nil)),
		"stop_daemon":            {writes: true, tries: always(object{"pid": os.Getpid()})},
		"get_daemon_output":      {tries: always(object{"pid": os.Getpid()})},
		"run_terminal_command":   runs(way{}, lineIn("command", nil)),
		"format_terminal_output": {tries: always(object{"content": "x"})},
		"start_interactive_shell": runs(way{}, func(line string) []object {
			return []object{{"startup_commands": []string{line}}}
		}),
	}
}

func always(args object) func(*bounds) []object {
	return func(*bounds) []object { return []object{args} }
}

func empty(*bounds) []object { return []object{{}} }

func ofProcess(field string) func(*bounds) []object {
	return func(b *bounds) []object { return []object{{field: b.job}} }
}

func ofSession(field string) func(*bounds) []object {
	return func(b *bounds) []object { return []object{{field: b.session}} }
}

// running is a way on which lines for a shell are run.
func (w way) running(calls func(line string) []object) way {
	w.writes = true
	w.tries = func(b *bounds) []object { return calls(b.line()) }
	return w
}

func lineIn(field string, more object) func(string) []object {
	return func(line string) []object { return []object{and(more, field, line)} }
}

func argv(line string) []object { return []object{{"command": []string{"sh", "-c", line}}} }

// file is a way to the files outside and the secret, by their path.
func file(writes bool, more object) way {
	return way{writes: writes, files: true, tries: func(b *bounds) []object {
		return []object{and(more, "path", b.out("there")), and(more, "path", b.out("made")), and(more, "path", b.out("")), and(more, "path", b.secret),
			and(more, "path", b.home+"/link/there"), and(more, "path", b.home+"/link/made"), and(more, "path", b.home+"/door")}
	}}
}

func changing(field string) func(string) []object { return changingWith(field, nil) }

func changingWith(field string, more object) func(string) []object {
	return func(id string) []object { return []object{and(more, field, id)} }
}

func typing(field string) func(id, line string) []object { return typingWith(field, nil) }

func typingWith(field string, more object) func(id, line string) []object {
	return func(id, line string) []object { return []object{and(and(more, "id", id), field, line)} }
}

func shellChanges(id string) []object {
	return append(shellTypes(id, "true"), object{"action": "resize", "session_id": id, "cols": 90, "rows": 20}, object{"action": "kill", "session_id": id})
}

func shellTypes(id, line string) []object {
	return []object{{"action": "write", "session_id": id, "input": line + "\n"}, {"action": "exec", "session_id": id, "command": line}}
}

func and(more object, field string, value any) object {
	args := object{field: value}
	maps.Copy(args, more)
	args[field] = value
	return args
}

// A bounds is an agent of a real engine that has a folder, its home, and may
// neither write outside of it nor read a secret in it.
type bounds struct {
	*rig
	outside string
	secret  string
	session string // of the agent's own
	job     string
	theirs  string   // a session of the person's
	kept    []string // ids of what goes on
}

func (b *bounds) out(name string) string { return filepath.Join(b.outside, name) }

// line is one for a shell that tries everything.
func (b *bounds) line() string {
	return fmt.Sprintf("cat %s %s/door; echo x >%[3]s/made; rm -f %[3]s/there; mv %[1]s %[2]s/moved && cat %[2]s/moved", b.secret, b.home, b.outside)
}

func (b *bounds) plainSession() []object {
	id := b.object("local_shell_session", object{"action": "start"})["session_id"]
	return []object{{"action": "exec", "session_id": id, "command": b.line()}, {"action": "kill", "session_id": id}}
}

func (b *bounds) fileActions() []object {
	var all []object
	for _, path := range []string{b.out("there"), b.secret, b.home + "/link/there", b.home + "/door"} {
		for _, action := range []string{"read", "list", "write", "mkdir", "delete"} {
			if path == b.secret && action == "delete" {
				continue // it may write there, though not read
			}
			all = append(all, object{"action": action, "path": path, "content": "x"})
		}
	}
	return all
}

func newBounds(t *testing.T) *bounds {
	b := &bounds{rig: newRig(t, toolkit.All), outside: t.TempDir()}
	b.tools = append(b.tools, selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}})...)
	b.secret = filepath.Join(b.home, "secret", "x")
	for path, text := range map[string]string{b.secret: secretWords, b.out("there"): "x"} {
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
	p, err := api.SessionStart.Call(t.Context(), b.person(), api.SessionStartInput{Command: []string{"sh"}, Name: "theirs", CWD: b.outside})
	if err != nil {
		t.Fatal(err)
	}
	b.theirs = p.ID
	b.reported(b.theirs)
	return b
}

// reported has a session count as one with a coding agent.
func (b *bounds) reported(id string) {
	b.Helper()
	if _, err := api.AgentReport.Call(b.Context(), b.person(), api.AgentReportInput{ID: id, State: api.AgentIdle, Agent: "bot"}); err != nil {
		b.Fatal(err)
	}
}

// begin gives the agent a session and a process of its own.
func (b *bounds) begin() {
	b.Helper()
	s := b.call("session_start", object{"command": "sh"})
	p := b.call("process_start", object{"command": "sleep 1000"})
	if s.Failed || p.Failed {
		b.Fatalf("%s %s", said(s), said(p))
	}
	b.session, b.job, b.kept = s.Process, p.Process, append(b.kept, s.Process, p.Process)
	b.reported(b.session)
}

// untouched sees that nothing has got out.
func (b *bounds) untouched(by string) {
	b.Helper()
	entries, err := os.ReadDir(b.outside)
	if err != nil {
		b.Fatal(err)
	}
	text, _ := os.ReadFile(b.out("there"))
	if len(entries) != 1 || string(text) != "x" {
		b.Errorf("%s: outside there is %v, and there says %q", by, entries, text)
		for _, e := range entries {
			os.RemoveAll(b.out(e.Name()))
		}
		if err := os.WriteFile(b.out("there"), []byte("x"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// told sees that the secret was not.
func (b *bounds) told(by, text string) {
	b.Helper()
	if strings.Contains(text, secretWords) {
		b.Errorf("%s tells the secret: %q", by, text)
	}
}

// finished waits for the processes that the agent has started, and gives what
// they have printed.
func (b *bounds) finished() string {
	b.Helper()
	out, err := api.ProcessList.Call(context.Background(), b.person(), api.ProcessListInput{})
	if err != nil {
		b.Fatal(err)
	}
	var printed strings.Builder
	for _, p := range out.Processes {
		if p.Owner == nil || slices.Contains(b.kept, p.ID) {
			continue
		}
		if !strings.HasPrefix(p.Command, "bash") { // of start_interactive_shell, which has run its line
			b.ended(p.ID)
		}
		log, err := api.ProcessLog.Call(context.Background(), b.person(), api.ProcessLogInput{ID: p.ID, Max: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		printed.WriteString(log.Data)
	}
	return printed.String()
}

func TestEveryToolIsHeldToItsBounds(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	known := ways()
	seen := map[string]bool{}
	for _, profile := range toolkit.Profiles() {
		free, reading := selectTools(toolkit.Options{Profiles: []toolkit.Profile{profile}}), selectTools(toolkit.Options{Profiles: []toolkit.Profile{profile}, ReadOnly: true})
		for _, one := range free {
			w, ok := known[one.Name]
			if !ok {
				t.Errorf("%s: nobody has said how it is held", one.Name)
			}
			offered := slices.ContainsFunc(reading, func(o toolkit.Tool) bool { return o.Name == one.Name })
			if offered == w.writes {
				t.Errorf("%s, which writes: %v, is offered to who only reads: %v", one.Name, w.writes, offered)
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
	b.begin()
	t.Run("roots", b.rooted)
	t.Run("a taken keyboard", b.locked)
	t.Run("a policy", b.denied)
	t.Run("variables", b.Steered)
	t.Run("a sandbox", b.confined)
}

// Without a sandbox roots hold what works on files alone.
func (b *bounds) rooted(t *testing.T) {
	for name, w := range ways() {
		if !w.files {
			continue
		}
		for _, args := range w.tries(b) {
			if strings.Contains(fmt.Sprint(args), b.home) && !strings.Contains(fmt.Sprint(args), "/link/") {
				continue // within
			}
			if got := b.call(name, args); !got.Failed && !strings.Contains(said(got), `"status":"error"`) {
				t.Errorf("%s %v: %s", name, args, said(got))
			}
		}
		b.untouched(name)
	}
}

// While the person has its keyboard, a session is not the agents' to change.
func (b *bounds) locked(t *testing.T) {
	take := func(taken bool) {
		if _, err := api.SessionKeyboard.Call(t.Context(), b.person(), api.SessionKeyboardInput{ID: b.theirs, Take: taken}); err != nil {
			t.Fatal(err)
		}
	}
	take(true)
	defer take(false)
	for name, w := range ways() {
		calls := []object{}
		if w.changes != nil {
			calls = w.changes(b.theirs)
		}
		if w.types != nil {
			calls = append(calls, w.types(b.theirs, "echo x >made")...)
		}
		for _, args := range calls {
			if got := b.call(name, args); !strings.Contains(said(got), "locked_by_user") {
				t.Errorf("%s %v: %s", name, args, said(got))
			}
		}
	}
	if got := b.call("process_stop_all", object{}); got.Failed {
		t.Error(said(got)) // it stops no sessions
	}
	if p := b.process(b.theirs); p.State.Ended() {
		t.Error("it has ended")
	}
	b.untouched("a session whose keyboard is taken")
	b.begin() // all was stopped
}

// A policy that denies everything denies every tool.
func (b *bounds) denied(t *testing.T) {
	b.policy(`default = "deny"`)
	defer b.policy(`default = "allow"`)
	session := b.served(nil)
	for name, w := range ways() {
		var calls []object
		switch {
		case w.tries != nil && name != "local_shell_session":
			calls = w.tries(b)
		case w.changes != nil:
			calls = w.changes(b.session)
		default:
			calls = []object{{"action": "start"}}
		}
		for _, args := range calls {
			if text, failed := b.calls(session, name, args); !failed || !strings.HasPrefix(text, "call "+name+": not allowed: ") {
				t.Errorf("%s %v: %s", name, args, text)
			}
		}
	}
	b.untouched("what was denied")
}

// Whatever takes variables for what it runs is judged with those that choose the
// program.
func (b *bounds) Steered(t *testing.T) {
	b.policy("[[rule]]\ndecision = \"deny\"\ncommand = [\"env LD_PRELOAD=*\"]")
	defer b.policy(`default = "allow"`)
	session := b.served(nil)
	for _, tool := range b.tools {
		if !slices.Contains(toolkit.FieldNames(tool.In), "env") {
			continue
		}
		args := object{"command": "true", "env": object{"LD_PRELOAD": "x.so"}}
		if slices.Contains(toolkit.FieldNames(tool.In), "action") {
			args = object{"action": "start", "env": args["env"]}
		}
		if text, failed := b.calls(session, tool.Name, args); !failed || !strings.Contains(text, "LD_PRELOAD=x.so") {
			t.Errorf("%s: %s", tool.Name, text)
		}
	}
}

// A sandbox holds for all that is done for the agent, by its own and others'
// programs and by the engine.
func (b *bounds) confined(t *testing.T) {
	b.agent.Options.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{
		AllowWrite: []string{b.home}, DenyRead: []string{filepath.Dir(b.secret)}, DenyWrite: []string{}}}
	b.agent.Options.Roots = []string{b.home, b.outside} // which alone would let it out
	b.agent.Roots = b.agent.Options.Roots
	b.hold()
	b.begin()
	names := slices.Sorted(maps.Keys(ways()))
	for _, name := range names {
		w := ways()[name]
		if w.tries == nil || w.changes != nil || name == "process_stop_all" {
			continue
		}
		for _, args := range w.tries(b) {
			b.told(fmt.Sprint(name, args), said(b.call(name, args)))
			b.untouched(fmt.Sprint(name, args))
		}
	}
	for _, name := range names {
		types := ways()[name].types
		if types == nil {
			continue
		}
		for _, args := range types(b.theirs, b.line()) {
			if got := said(b.call(name, args)); !strings.Contains(got, "outside the sandbox") {
				t.Errorf("%s %v into the user's session: %s", name, args, got)
			}
		}
		for _, args := range types(b.session, b.line()) {
			if got := b.call(name, args); strings.Contains(said(got), "outside the sandbox") {
				t.Errorf("%s %v into its own: %s", name, args, said(got))
			}
		}
	}
	// What was typed before has been run by then.
	b.told("its own session", said(b.call("session_exec", object{"id": b.session, "command": "echo done"})))
	for _, name := range []string{"get-command-history", "history"} {
		b.told(name, said(b.call(name, object{})))
	}
	b.told("what it has started", b.finished())
	b.untouched("what it has started")
}
