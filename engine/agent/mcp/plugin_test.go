package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/wait"
)

// createFile writes a file below the agent's folder.
func (r *rig) createFile(rel, content string) {
	r.Helper()
	path := filepath.Join(r.home, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
}

// readContent returns the content of a file below the agent's folder.
func (r *rig) readContent(rel string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.home, rel))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// numberedLines returns lines with their numbers.
func numberedLines(from, to int, format string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

func TestPluginReadsFilesInParts(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("short", "one\ntwo\nthree")
	r.createFile("empty", "")
	r.createFile("long", numberedLines(1, 2500, "line %d"))
	r.createFile("wide", numberedLines(1, 100, "%01023d"))
	r.createFile("one line", "first\n"+strings.Repeat("x", 60<<10)+"\nlast\n")
	r.createFile("binary", "a\x00b")
	r.createFile("latin", "caf\xe9\n")
	outside := filepath.Join(filepath.Dir(r.home), "outside")
	if err := os.Symlink(outside, filepath.Join(r.home, "leads out")); err != nil {
		t.Fatal(err)
	}
	read := func(path string, offset, limit int) object {
		o := object{"path": path}
		if offset != 0 {
			o["offset"] = offset
		}
		if limit != 0 {
			o["limit"] = limit
		}
		return o
	}
	wide := numberedLines(1, 50, "%01023d")
	r.checkExact(t,
		exactCall{"read", read("short", 0, 0), "one\ntwo\nthree", false},
		exactCall{"read", read(filepath.Join(r.home, "short"), 2, 0), "two\nthree", false},
		exactCall{"read", read("~/short", 2, 1), "two\n\n[1 more lines in file. Use offset=3 to continue.]", false},
		exactCall{"read", read("short", 4, 0), "Offset 4 is beyond end of file (3 lines total)", true},
		exactCall{"read", read("short", -1, 0), "read short: offset is a line number from 1", true},
		exactCall{"read", read("empty", 0, 0), "", false},
		exactCall{"read", read("empty", 2, 0), "Offset 2 is beyond end of file (0 lines total)", true},
		exactCall{"read", read("long", 0, 0), numberedLines(1, 2000, "line %d") + "\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]", false},
		exactCall{"read", read("long", 2001, 0), numberedLines(2001, 2500, "line %d"), false},
		exactCall{"read", read("long", 2499, 2), numberedLines(2499, 2500, "line %d"), false},
		exactCall{"read", read("wide", 0, 0), wide + "\n[Showing lines 1-50 of 100 (50.0KB limit). Use offset=51 to continue.]", false},
		exactCall{"read", read("one line", 2, 0), "[Line 2 is 60.0KB, exceeds 50.0KB limit. Use exec: sed -n '2p' 'one line' | head -c 51200]", false},
		exactCall{"read", read("one line", 3, 0), "last\n", false},
		exactCall{"read", read("binary", 0, 0), "Cannot show binary: it is a binary file (3B).", true},
		exactCall{"read", read("latin", 0, 0), "caf\uFFFD\n", false},
		exactCall{"read", read(".", 0, 0), "Path is not a file.", true},
		exactCall{"read", read("nothing", 0, 0), "read HOME/nothing: no such file or folder", true},
		exactCall{"read", read("/etc/passwd", 0, 0), "read /etc/passwd: it is outside the allowed folders\nhint: allowed: HOME", true},
		exactCall{"read", read("../secret", 0, 0), "read " + filepath.Join(filepath.Dir(r.home), "secret") +
			": it is outside the allowed folders\nhint: allowed: HOME", true},
		exactCall{"read", read("leads out", 0, 0), "read " + outside + ": it is outside the allowed folders\nhint: allowed: HOME", true},
		exactCall{"read", object{"path": 3}, `call read: argument "path" must be of type string, not number` + "\nhint: it takes: path, offset, limit", true},
	)
	r.agent.Options.Unbounded = true
	r.checkExact(t, exactCall{"read", read("long", 0, 0), numberedLines(1, 2500, "line %d"), false})
}

func TestPluginReadsImages(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	for mime, head := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBP",
	} {
		r.createFile("picture.txt", head+"\x00rest")
		answer := r.call("read", object{"path": "picture.txt"})
		image, ok := answer.Content[0].(*sdk.ImageContent)
		if !ok || image.MIMEType != mime || !bytes.Equal(image.Data, []byte(head+"\x00rest")) {
			t.Errorf("%s: got %+v", mime, answer)
		}
	}
}

func TestPluginReadsJSON(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("good.json", "\ufeff{\"b\": 12345678901234567890, \"a\": [1.50, \"<x>\"]}\n")
	r.createFile("bad.json", "{\n  \"a\": nope\n}")
	r.createFile("empty.json", "")
	path := func(p string) object { return object{"path": p} }
	r.checkExact(t,
		exactCall{"read_json", path("good.json"), `{"b":12345678901234567890,"a":[1.50,"<x>"]}`, false},
		exactCall{"read_json", path("bad.json"), "Invalid JSON in bad.json: line 2, column 9: invalid character 'o' in literal null (expecting 'u')", true},
		exactCall{"read_json", path("~/empty.json"), "Invalid JSON in ~/empty.json: it is empty", true},
		exactCall{"read_json", path("."), "Path is not a file.", true},
	)
}

func TestPluginWritesFiles(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("run.sh", "old")
	if err := os.Chmod(filepath.Join(r.home, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	r.checkExact(t,
		exactCall{"write", object{"path": "a/b/c.txt", "content": "héllo"}, "Wrote 6 bytes to a/b/c.txt.", false},
		exactCall{"write", object{"path": "a/b/c.txt", "content": "!\n", "append": true}, "Appended 2 bytes to a/b/c.txt.", false},
		exactCall{"write", object{"path": "new", "content": "x", "append": true}, "Appended 1 bytes to new.", false},
		exactCall{"write", object{"path": "run.sh", "content": ""}, "Wrote 0 bytes to run.sh.", false},
		exactCall{"write", object{"path": "a", "content": ""}, "Path is not a file.", true},
		exactCall{"write", object{"path": "new/below", "content": ""}, "write HOME/new/below: it, or a part of its path, is not a folder", true},
		exactCall{"write", object{"path": "/nowhere/x", "content": ""}, "write /nowhere/x: it is outside the allowed folders\nhint: allowed: HOME", true},
		exactCall{"write", object{"path": "x"}, `call write: argument "content" is missing` + "\nhint: it takes: path, content, append", true},
	)
	if got := r.readContent("a/b/c.txt"); got != "héllo!\n" {
		t.Errorf("c.txt holds %q", got)
	}
	if info, err := os.Stat(filepath.Join(r.home, "run.sh")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("run.sh: %v, %v", info.Mode(), err)
	}
}

func TestPluginEditsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("f", "\ufeffalpha\r\nbeta\r\nbeta\r\n")
	edit := func(steps ...object) object { return object{"path": "f", "edits": append([]object{}, steps...)} }
	long := strings.Repeat("é", 90)
	r.checkExact(t,
		exactCall{"edit", edit(object{"search": "alpha\nbeta", "replace": "A\nB"}, object{"search": "beta", "replace": "C"}),
			"Updated f (edit 1: 1 replacement, edit 2: 1 replacement).", false},
		exactCall{"edit", edit(object{"search": "C", "replace": "beta beta"}, object{"search": "beta", "replace": "x", "replaceAll": true}),
			"Updated f (edit 1: 1 replacement, edit 2: 2 replacements).", false},
		exactCall{"edit", edit(object{"search": "A", "replace": "lost"}, object{"search": "gone", "replace": ""}),
			`Edit not applied: "gone" not found.`, true},
		exactCall{"edit", edit(object{"search": long, "replace": ""}), `Edit not applied: "` + strings.Repeat("é", 80) + `" not found.`, true},
		exactCall{"edit", edit(object{"search": "x  x", "replace": ""}), "Edit not applied: \"x  x\" not found.\nhint: the nearest is line 3: x x", true},
		exactCall{"edit", edit(object{"search": "x", "replace": ""}),
			"Edit not applied: \"x\" found 2 times.\nhint: search for more of the text around it, or pass replaceAll", true},
		exactCall{"edit", edit(object{"search": "", "replace": "x"}), "Edit not applied: there is nothing to search for.", true},
		exactCall{"edit", edit(), "edit HOME/f: no edits given", true},
		exactCall{"edit", edit(object{"search": "B", "replace": "b"}, object{"search": "x"}),
			"call edit: argument \"edits[1].replace\" is missing\nhint: it takes: path, edits", true},
		exactCall{"edit", object{"path": ".", "edits": []object{{"search": "x", "replace": ""}}}, "Path is not a file.", true},
	)
	if got := r.readContent("f"); got != "\ufeffA\r\nB\r\nx x\r\n" {
		t.Errorf("f holds %q", got)
	}
}

func TestPluginWritesReports(t *testing.T) {
	// Reports go to the home folder of the engine's user.
	home := t.TempDir()
	t.Setenv("HOME", home)
	r := newRig(t, toolkit.Plugin)
	ok := func(args object, pattern, content string) {
		t.Helper()
		answer := r.call("write_output", args)
		path := resultText(answer)
		rel, inside := strings.CutPrefix(path, home+"/outputs/")
		if answer.Failed || !inside || !regexp.MustCompile("^"+pattern+"$").MatchString(rel) {
			t.Errorf("write_output %v: %s", args, path)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	ok(object{"name": "my report v1.2", "content": "# hi"}, `\d{14}-my report v1\.2\.md`, "# hi")
	ok(object{"name": "data", "content": "{}", "format": "json"}, `\d{14}-data\.json`, "{}")
	for range 12 {
		ok(object{"name": "same", "content": "x", "format": "markdown"}, `\d{14}-same(-\d+)?\.md`, "x")
	}
	wrong := func(name, why string) exactCall {
		return exactCall{"write_output", object{"name": name, "content": "x"}, fmt.Sprintf("write report %q: %s", name, why), true}
	}
	r.checkExact(t,
		wrong("a/b", "the name must not include a folder"),
		wrong("", "the name is empty"),
		wrong("..", "the name consists only of dots and blanks\nhint: give a word or two saying what the report is about"),
		wrong("x.md", "the name must have no extension; the format determines it"),
		wrong(" .", "the name consists only of dots and blanks\nhint: give a word or two saying what the report is about"),
		exactCall{"write_output", object{"name": "x", "content": "{", "format": "json"},
			`write report "x": the content is not valid JSON: line 1, column 1: unexpected end of JSON input`, true},
		exactCall{"write_output", object{"name": "x", "content": "{", "format": "html"},
			`write report "x": the format must be markdown or json`, true},
	)
}

func TestPluginSearchesContents(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("a.go", "package a\n\nfunc Hello() {}\n// hello again\nlast\n")
	r.createFile("sub/b.txt", "hello: world\r\n")
	r.createFile("sub/.hidden", "hello\n")
	r.createFile("ignored/c", "hello\n")
	r.createFile(".gitignore", "ignored\n")
	r.createFile("bin", "hello\x00")
	r.createFile("many/f", numberedLines(1, 150, "match %d"))
	r.createFile("huge/f", numberedLines(1, 3000, "needle %030d"))
	grep := func(args object) object { return args }
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "many/f:%d:match %d\n", i+1, i+1)
	}
	r.checkExact(t,
		exactCall{"grep", grep(object{"pattern": "hello"}), "a.go:4:// hello again\nsub/b.txt:1:hello: world", false},
		exactCall{"grep", grep(object{"pattern": "HELLO", "ignoreCase": true, "glob": "*.go"}), "a.go:3:func Hello() {}\na.go:4:// hello again", false},
		exactCall{"grep", grep(object{"pattern": "hello", "path": "sub"}), "sub/b.txt:1:hello: world", false},
		exactCall{"grep", grep(object{"pattern": "hello", "path": "./sub/.hidden"}), "./sub/.hidden:1:hello", false},
		exactCall{"grep", grep(object{"pattern": "world$", "path": r.home}), "HOME/sub/b.txt:1:hello: world", false},
		exactCall{"grep", grep(object{"pattern": "Hello", "context": 1}), "a.go-2-\na.go:3:func Hello() {}\na.go-4-// hello again", false},
		exactCall{"grep", grep(object{"pattern": "^(package|last|hello)", "context": 1}),
			"a.go:1:package a\na.go-2-\n--\na.go-4-// hello again\na.go:5:last\n--\nsub/b.txt:1:hello: world", false},
		exactCall{"grep", grep(object{"pattern": "match"}), many.String() + "[Limit of 100 matches reached; there are more.]", false},
		exactCall{"grep", grep(object{"pattern": "match", "limit": 1}), "many/f:1:match 1\n[Limit of 1 matches reached; there are more.]", false},
		exactCall{"grep", grep(object{"pattern": "no such thing"}), "No matches found.", false},
		exactCall{"grep", grep(object{"pattern": "("}), "read pattern \"(\": missing closing ): `(`\n" +
			`hint: it is a regular expression (RE2); escape literal characters with \`, true},
		exactCall{"grep", grep(object{"pattern": "x", "path": "/"}), "search /: it is outside the allowed folders\nhint: allowed: HOME", true},
	)
	answer := resultText(r.call("grep", object{"pattern": "needle", "limit": 5000}))
	notice := regexp.MustCompile(`\n\[Output truncated to 65536 bytes; (\d+) line\(s\) omitted\.\]$`).FindStringSubmatch(answer)
	if notice == nil || len(answer)-len(notice[0]) > 65536 {
		t.Fatalf("%d bytes, ending in %q", len(answer), answer[max(0, len(answer)-200):])
	}
	if kept := strings.Count(answer, "\n"); fmt.Sprint(3000-kept) != notice[1] {
		t.Errorf("%d lines kept, %s omitted", kept, notice[1])
	}
}

func TestPluginFindsAndListsFiles(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	for _, f := range []string{"src/a.go", "src/deep/b.go", "src/.hidden.go", "node_modules/x.go", ".git/c.go", "out/d.go", "README.md", "two\nlines"} {
		r.createFile(f, "")
	}
	r.createFile(".gitignore", "/out/\n")
	if err := os.Mkdir(filepath.Join(r.home, "void"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"todir": "src", "tofile": "README.md", "broken": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(r.home, name)); err != nil {
			t.Fatal(err)
		}
	}
	r.checkExact(t,
		exactCall{"find", object{"pattern": "*.go"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		exactCall{"find", object{"pattern": "*.go", "path": "src"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		exactCall{"find", object{"pattern": "*", "path": filepath.Join(r.home, "src")},
			"HOME/src/.hidden.go\nHOME/src/a.go\nHOME/src/deep/\nHOME/src/deep/b.go", false},
		exactCall{"find", object{"pattern": "src/**/*.go"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		exactCall{"find", object{"pattern": "{readme*,to*}"}, "README.md\ntodir\ntofile", false},
		exactCall{"find", object{"pattern": "two*"}, `two\nlines`, false},
		exactCall{"find", object{"pattern": "*.go", "limit": 2}, "src/.hidden.go\nsrc/a.go\n[Limit of 2 results reached; there are more.]", false},
		exactCall{"find", object{"pattern": "*.rs"}, "No files found.", false},
		exactCall{"find", object{"pattern": "[a"}, `read glob "[a": a [ is not closed`, true},
		exactCall{"find", object{"pattern": "*", "path": "README.md"}, "find in HOME/README.md: it is not a folder", true},
		exactCall{"ls", nil, "./\n../\n.git/\n.gitignore\nREADME.md\nbroken\nnode_modules/\nout/\nsrc/\ntodir/\ntofile\n" + `two\nlines` + "\nvoid/", false},
		exactCall{"ls", object{"path": "todir"}, "./\n../\n.hidden.go\na.go\ndeep/", false},
		exactCall{"ls", object{"path": "src", "limit": 1}, "./\n../\n.hidden.go\n[Output truncated by limit: 2 entries omitted.]", false},
		exactCall{"ls", object{"path": "void"}, "Directory is empty.", false},
		exactCall{"ls", object{"path": "README.md"}, "README.md", false},
		exactCall{"ls", object{"path": "gone"}, "list HOME/gone: no such file or folder", true},
	)
}

func TestPluginRunsCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("sub/here", "")
	run := func(command string) object { return object{"command": command} }
	r.checkExact(t,
		exactCall{"exec", run("echo out"), "out\nExit code: 0", false},
		exactCall{"exec", run("true"), "Exit code: 0", false},
		exactCall{"exec", run("printf out; echo err >&2; exit 3"), "out\nstderr:\nerr\nExit code: 3", true},
		exactCall{"exec", run("kill -9 $$"), "Signal: SIGKILL", true},
		exactCall{"exec", run("cat; echo $TERM $NO_COLOR; pwd"), "dumb 1\nHOME\nExit code: 0", false},
		exactCall{"exec", object{"command": "ls; echo $X $TERM", "cwd": "sub", "env": object{"X": "y", "TERM": "vt100"}}, "here\ny vt100\nExit code: 0", false},
		exactCall{"exec", run("(sleep 1; echo late) & echo first"), "first\nExit code: 0", false},
		exactCall{"exec", object{"command": "true", "cwd": "gone"}, "start in HOME/gone: no such file or directory", true},
		exactCall{"exec", object{"command": "sleep 60; echo no", "timeoutMs": 1, "kill": true},
			"Timed out after 100 ms and was killed. Signal: SIGTERM", true},
		exactCall{"exec", object{"command": "true", "sandbox": object{"filesytem": object{}}},
			"read sandbox: unknown field \"filesytem\"\nhint: must be " +
				"{filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}", true},
		exactCall{"exec", object{}, `call exec: argument "command" is missing` + "\nhint: it takes: command, cwd, timeoutMs, env, sandbox, kill, max_output", true},
	)
}

func TestPluginKeepsTheEndOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	answer := r.call("exec", object{"command": `printf 'é%.0s' $(seq 20345); printf '%09000d' 7 >&2; exit 1`})
	var blocks []string
	for _, c := range answer.Content {
		blocks = append(blocks, c.(*sdk.TextContent).Text)
	}
	want := []string{
		"... (12,345 chars truncated from stdout)\n" + strings.Repeat("é", 8000),
		"stderr:\n... (1,000 chars truncated from stderr)\n" + strings.Repeat("0", 7999) + "7",
		"Exit code: 1",
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Error(diff)
	}
	whole := resultText(r.call("exec", object{"command": "printf '%020000d' 7", "max_output": 100000}))
	if whole != strings.Repeat("0", 19999)+"7"+"Exit code: 0" {
		t.Errorf("%d characters", len(whole))
	}
}

func TestPluginKeepsSlowCommandsRunning(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	answer := r.call("exec", object{"command": "echo begun; sleep 100", "timeoutMs": 200})
	s := answer.Structured.(plugin.CommandState)
	p := r.getProcess(s.ID)
	want := fmt.Sprintf("begun\nTimed out after 200 ms; it continues as process %s. Log: %s and stderr.log", s.ID, p.LogPath)
	if resultText(answer) != want || answer.Failed || !s.TimedOut || s.ExitCode != nil || answer.Process != s.ID {
		t.Errorf("answers %q, %+v", resultText(answer), s)
	}
	if listed := resultText(r.call("process_list", nil)); !strings.Contains(listed, "id="+s.ID) || !strings.Contains(listed, "command=echo begun; sleep 100") {
		t.Errorf("listed %q", listed)
	}
	r.checkExact(t, exactCall{"process_stop", object{"id": s.ID}, "Stopped process " + s.ID + " with SIGTERM.", false})
	if by := r.getProcess(s.ID).EndedBy; by != r.agent.Actor {
		t.Errorf("it was ended by %q", by)
	}
}

func TestPluginConfinesCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("rw/there", "")
	try := "echo x > rw/new; echo x > new; ls rw"
	confined := object{"filesystem": object{"denyRead": []string{}, "allowWrite": []string{"rw"}, "denyWrite": []string{}}}
	answer := r.call("exec", object{"command": try, "sandbox": confined})
	if got := resultText(answer); !strings.HasPrefix(got, "new\nthere\n") || !strings.Contains(got, "Permission denied") {
		t.Errorf("confined: %q", got)
	}
	r.agent.Options.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{DenyRead: []string{}, AllowWrite: []string{}, DenyWrite: []string{}}}
	r.reconnect()
	if got := resultText(r.call("exec", object{"command": "echo x > rw/again"})); !strings.Contains(got, "Permission denied") {
		t.Errorf("by default: %q", got)
	}
}

func TestPluginManagesProcesses(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.checkExact(t,
		exactCall{"process_list", nil, "No managed processes.", false},
		exactCall{"process_get", object{"id": "nope"}, "Unknown process id: nope", true},
		exactCall{"process_stop", object{"id": "nope"}, "Unknown process id: nope", true},
		exactCall{"process_stop", object{"id": "nope", "signal": "SIGUSR1"},
			`stop process: signal "SIGUSR1": must be SIGTERM, SIGINT, SIGHUP or SIGKILL`, true},
		exactCall{"process_stop_all", nil, "Stopped 0 processes with SIGTERM.", false},
	)
	answer := r.call("process_start", object{"command": "echo $X; exec sleep 100", "name": "server", "env": object{"X": "hi"}, "keepAlive": true})
	s := answer.Structured.(plugin.ProcessState)
	log := filepath.Join(r.dir, "processes", s.ID, "process.log")
	want := fmt.Sprintf("id: %s\nname: server\npid: %d\nstatus: running\nkeepAlive: true\nrestartCount: 0\nexitCode: -\nlogPath: %s\ncommand: echo $X; exec sleep 100",
		s.ID, s.PID, log)
	if resultText(answer) != want || s.LogPath != log || !isAlive(s.PID) {
		t.Errorf("started as\n%s\nwant\n%s", resultText(answer), want)
	}
	r.checkExact(t,
		exactCall{"process_get", object{"id": s.ID}, want, false},
		exactCall{"process_list", nil, strings.ReplaceAll(strings.ReplaceAll(want, ": ", "="), "\n", " "), false},
		exactCall{"process_stop", object{"id": s.ID, "signal": "SIGINT"}, "Stopped process " + s.ID + " with SIGINT.", false},
		exactCall{"process_stop", object{"id": s.ID}, "Process " + s.ID + " is not running.", false},
	)
	if got := resultText(r.call("process_get", object{"id": s.ID})); !strings.Contains(got, "status: stopped") || !strings.Contains(got, "pid: -") {
		t.Errorf("stopped: %s", got)
	}
	brief := r.call("process_start", object{"command": "exit 4"})
	r.waitForExit(brief.Process)
	if got := resultText(r.call("process_get", object{"id": brief.Process})); !strings.Contains(got, "status: exited") || !strings.Contains(got, "exitCode: 4") {
		t.Errorf("exited: %s", got)
	}
	for _, want := range []string{"sleep", "sleep-2"} {
		if s := r.call("process_start", object{"command": "X=1 exec /bin/sleep 100"}).Structured.(plugin.ProcessState); s.Name != want {
			t.Errorf("named %s, want %s", s.Name, want)
		}
	}
	if answer := r.call("process_start", object{"command": "true", "name": "sleep"}); !answer.Failed || !strings.Contains(resultText(answer), "is already called sleep") {
		t.Errorf("a second one of the name: %s", resultText(answer))
	}
	r.checkExact(t, exactCall{"process_stop_all", object{"signal": "SIGHUP"}, "Stopped 2 processes with SIGHUP.", false})
}

// Each stream of a command of exec has a log, and process_get and process_list name both.
func TestTimedOutExecNamesTheLogsOfBothStreams(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	id := r.call("exec", object{"command": "echo out; echo err >&2; exec sleep 100", "timeoutMs": 1000}).Process
	got := resultText(r.call("process_get", object{"id": id}))
	list := resultText(r.call("process_list", nil))
	for name, want := range map[string]string{"logPath": "out\n", "errorLogPath": "err\n"} {
		path := filepath.Join(r.dir, "processes", id, map[string]string{"logPath": "stdout.log", "errorLogPath": "stderr.log"}[name])
		if !strings.Contains(got, "\n"+name+": "+path+"\n") || !strings.Contains(list, " "+name+"="+path+" ") {
			t.Errorf("no %s %s in\n%s\n%s", name, path, got, list)
		}
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
}

func TestPluginSubjectsNameCommandsAndPaths(t *testing.T) {
	t.Parallel()
	f := &toolkit.Agent{Options: &toolkit.Options{CWD: "/work", Home: "/home/me"}}
	for _, c := range []struct {
		tool, args string
		want       toolkit.Subject
	}{
		{"read", `{"path":"a/../b"}`, toolkit.Subject{Paths: []string{"/work/b"}}},
		{"read_json", `{"path":"~/b"}`, toolkit.Subject{Paths: []string{"/home/me/b"}}},
		{"write", `{"path":"/etc/x","content":""}`, toolkit.Subject{Paths: []string{"/etc/x"}}},
		{"edit", `{"path":"x","edits":[]}`, toolkit.Subject{Paths: []string{"/work/x"}}},
		{"grep", `{"pattern":"x"}`, toolkit.Subject{Paths: []string{"/work"}}},
		{"find", `{"pattern":"x","path":"d"}`, toolkit.Subject{Paths: []string{"/work/d"}}},
		{"ls", `{}`, toolkit.Subject{Paths: []string{"/work"}}},
		{"exec", `{"command":"rm -rf x","cwd":"d"}`, toolkit.Subject{Command: "rm -rf x", CWD: "/work/d"}},
		{"process_start", `{"command":"serve"}`, toolkit.Subject{Command: "serve", CWD: "/work"}},
		{"process_stop_all", `{}`, toolkit.Subject{}},
	} {
		for _, tool := range plugin.Tools() {
			if tool.Name != c.tool {
				continue
			}
			about, err := tool.Subjects(f, []byte(c.args))
			if err != nil || len(about) == 0 {
				about = []toolkit.Subject{{}}
			}
			if diff := cmp.Diff(c.want, about[0]); diff != "" {
				t.Errorf("%s: %s", c.tool, diff)
			}
		}
	}
}

func TestPluginToolListIsShort(t *testing.T) {
	t.Parallel()
	size := 0
	for _, tool := range plugin.Tools() {
		b, err := json.Marshal(describeTool("", tool))
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
	}
	if size > 6500 {
		t.Errorf("%d bytes", size)
	}
}

func TestEachSandboxedProcessHasItsOwnFile(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	for name, args := range map[string]object{
		"process_start": {"command": "sleep 1000"},
		"exec":          {"command": "sleep 1000", "timeoutMs": 100}, // keeps running as a process
	} {
		id := r.call(name, args).Process
		path := filepath.Join(filepath.Dir(r.getProcess(id).LogPath), "sandbox.json")
		wait.File(t, path) // written in the background
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), `"allowWrite": [`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

func TestSandboxRejectsEmptyPaths(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	for _, path := range []any{"", nil} {
		answer := r.call("exec", object{"command": "touch f", "sandbox": object{"filesystem": object{"allowWrite": []any{path}}}})
		if want := "read sandbox: a path is empty"; resultText(answer) != want || !answer.Failed {
			t.Errorf("%v gives %s", path, resultText(answer))
		}
	}
}
