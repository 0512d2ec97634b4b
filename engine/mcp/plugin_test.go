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

	"tandem/engine/api"
	"tandem/engine/mcp/profiles/plugin"
	"tandem/engine/mcp/toolkit"
)

// file writes a file below the agent's folder.
func (r *rig) file(rel, content string) {
	r.Helper()
	path := filepath.Join(r.home, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
}

// content is what is in a file below the agent's folder.
func (r *rig) content(rel string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.home, rel))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// numbered are lines that say which they are.
func numbered(from, to int, format string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

func TestPluginReadsFilesInParts(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("short", "one\ntwo\nthree")
	r.file("empty", "")
	r.file("long", numbered(1, 2500, "line %d"))
	r.file("wide", numbered(1, 100, "%01023d"))
	r.file("one line", "first\n"+strings.Repeat("x", 60<<10)+"\nlast\n")
	r.file("binary", "a\x00b")
	r.file("latin", "caf\xe9\n")
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
	wide := numbered(1, 50, "%01023d")
	r.check(t,
		row{"read", read("short", 0, 0), "one\ntwo\nthree", false},
		row{"read", read(filepath.Join(r.home, "short"), 2, 0), "two\nthree", false},
		row{"read", read("~/short", 2, 1), "two\n\n[1 more lines in file. Use offset=3 to continue.]", false},
		row{"read", read("short", 4, 0), "Offset 4 is beyond end of file (3 lines total)", true},
		row{"read", read("short", -1, 0), "read short: offset is a line number from 1", true},
		row{"read", read("empty", 0, 0), "", false},
		row{"read", read("empty", 2, 0), "Offset 2 is beyond end of file (0 lines total)", true},
		row{"read", read("long", 0, 0), numbered(1, 2000, "line %d") + "\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]", false},
		row{"read", read("long", 2001, 0), numbered(2001, 2500, "line %d"), false},
		row{"read", read("long", 2499, 2), numbered(2499, 2500, "line %d"), false},
		row{"read", read("wide", 0, 0), wide + "\n[Showing lines 1-50 of 100 (50.0KB limit). Use offset=51 to continue.]", false},
		row{"read", read("one line", 2, 0), "[Line 2 is 60.0KB, exceeds 50.0KB limit. Use exec: sed -n '2p' 'one line' | head -c 51200]", false},
		row{"read", read("one line", 3, 0), "last\n", false},
		row{"read", read("binary", 0, 0), "Cannot show binary: it is a binary file (3B).", true},
		row{"read", read("latin", 0, 0), "caf\uFFFD\n", false},
		row{"read", read(".", 0, 0), "Path is not a file.", true},
		row{"read", read("nothing", 0, 0), "read HOME/nothing: no such file or folder", true},
		row{"read", read("/etc/passwd", 0, 0), "read /etc/passwd: it is outside the allowed folders\nhint: allowed: HOME", true},
		row{"read", read("../secret", 0, 0), "read " + filepath.Join(filepath.Dir(r.home), "secret") +
			": it is outside the allowed folders\nhint: allowed: HOME", true},
		row{"read", read("leads out", 0, 0), "read " + outside + ": it is outside the allowed folders\nhint: allowed: HOME", true},
		row{"read", object{"path": 3}, `call read: argument "path" must be a string, not a number`, true},
	)
	r.agent.Options.Unbounded = true
	r.check(t, row{"read", read("long", 0, 0), numbered(1, 2500, "line %d"), false})
}

func TestPluginShowsPictures(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	for mime, head := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBP",
	} {
		r.file("picture.txt", head+"\x00rest")
		answer := r.call("read", object{"path": "picture.txt"})
		image, ok := answer.Content[0].(*sdk.ImageContent)
		if !ok || image.MIMEType != mime || !bytes.Equal(image.Data, []byte(head+"\x00rest")) {
			t.Errorf("%s: got %+v", mime, answer)
		}
	}
}

func TestPluginReadsJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("good.json", "\ufeff{\"b\": 12345678901234567890, \"a\": [1.50, \"<x>\"]}\n")
	r.file("bad.json", "{\n  \"a\": nope\n}")
	r.file("empty.json", "")
	path := func(p string) object { return object{"path": p} }
	r.check(t,
		row{"read_json", path("good.json"), `{"b":12345678901234567890,"a":[1.50,"<x>"]}`, false},
		row{"read_json", path("bad.json"), "Invalid JSON in bad.json: line 2, column 9: invalid character 'o' in literal null (expecting 'u')", true},
		row{"read_json", path("~/empty.json"), "Invalid JSON in ~/empty.json: it is empty", true},
		row{"read_json", path("."), "Path is not a file.", true},
	)
}

func TestPluginWritesFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("run.sh", "old")
	if err := os.Chmod(filepath.Join(r.home, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	r.check(t,
		row{"write", object{"path": "a/b/c.txt", "content": "héllo"}, "Wrote 6 bytes to a/b/c.txt.", false},
		row{"write", object{"path": "a/b/c.txt", "content": "!\n", "append": true}, "Appended 2 bytes to a/b/c.txt.", false},
		row{"write", object{"path": "new", "content": "x", "append": true}, "Appended 1 bytes to new.", false},
		row{"write", object{"path": "run.sh", "content": ""}, "Wrote 0 bytes to run.sh.", false},
		row{"write", object{"path": "a", "content": ""}, "Path is not a file.", true},
		row{"write", object{"path": "new/below", "content": ""}, "write HOME/new/below: it, or something on the way, is not a folder", true},
		row{"write", object{"path": "/nowhere/x", "content": ""}, "write /nowhere/x: it is outside the allowed folders\nhint: allowed: HOME", true},
		row{"write", object{"path": "x"}, `call write: argument "content" is missing` + "\nhint: it takes: path, content, append", true},
	)
	if got := r.content("a/b/c.txt"); got != "héllo!\n" {
		t.Errorf("c.txt holds %q", got)
	}
	if info, err := os.Stat(filepath.Join(r.home, "run.sh")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("run.sh: %v, %v", info.Mode(), err)
	}
}

func TestPluginEditsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("f", "\ufeffalpha\r\nbeta\r\nbeta\r\n")
	edit := func(steps ...object) object { return object{"path": "f", "edits": append([]object{}, steps...)} }
	long := strings.Repeat("é", 90)
	r.check(t,
		row{"edit", edit(object{"search": "alpha\nbeta", "replace": "A\nB"}, object{"search": "beta", "replace": "C"}),
			"Updated f (edit 1: 1 replacement, edit 2: 1 replacement).", false},
		row{"edit", edit(object{"search": "C", "replace": "beta beta"}, object{"search": "beta", "replace": "x", "replaceAll": true}),
			"Updated f (edit 1: 1 replacement, edit 2: 2 replacements).", false},
		row{"edit", edit(object{"search": "A", "replace": "lost"}, object{"search": "gone", "replace": ""}),
			`Edit not applied: "gone" not found.`, true},
		row{"edit", edit(object{"search": long, "replace": ""}), `Edit not applied: "` + strings.Repeat("é", 80) + `" not found.`, true},
		row{"edit", edit(object{"search": "x  x", "replace": ""}), "Edit not applied: \"x  x\" not found.\nhint: the nearest is line 3: x x", true},
		row{"edit", edit(object{"search": "x", "replace": ""}),
			"Edit not applied: \"x\" found 2 times.\nhint: search for more of the text around it, or pass replaceAll", true},
		row{"edit", edit(object{"search": "", "replace": "x"}), "Edit not applied: there is nothing to search for.", true},
		row{"edit", edit(), "edit HOME/f: there are no edits", true},
		row{"edit", edit(object{"search": "B", "replace": "b"}, object{"search": "x"}),
			"call edit: argument \"edits[1].replace\" is missing\nhint: it takes: path, edits", true},
		row{"edit", object{"path": ".", "edits": []object{{"search": "x", "replace": ""}}}, "Path is not a file.", true},
	)
	if got := r.content("f"); got != "\ufeffA\r\nB\r\nx x\r\n" {
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
		path := said(answer)
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
	wrong := func(name, why string) row {
		return row{"write_output", object{"name": name, "content": "x"}, fmt.Sprintf("write report %q: %s", name, why), true}
	}
	r.check(t,
		wrong("a/b", "the name must be without a folder"),
		wrong("", "the name is empty"),
		wrong("..", "the name is made of dots and blanks alone\nhint: give a word or two that say what the report is about"),
		wrong("x.md", "the name must be without an extension; the format decides that"),
		wrong(" .", "the name is made of dots and blanks alone\nhint: give a word or two that say what the report is about"),
		row{"write_output", object{"name": "x", "content": "{", "format": "json"},
			`write report "x": the content is no JSON: line 1, column 1: unexpected end of JSON input`, true},
		row{"write_output", object{"name": "x", "content": "{", "format": "html"},
			`write report "x": the format is neither markdown nor json`, true},
	)
}

func TestPluginSearchesContents(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("a.go", "package a\n\nfunc Hello() {}\n// hello again\nlast\n")
	r.file("sub/b.txt", "hello: world\r\n")
	r.file("sub/.hidden", "hello\n")
	r.file("ignored/c", "hello\n")
	r.file(".gitignore", "ignored\n")
	r.file("bin", "hello\x00")
	r.file("many/f", numbered(1, 150, "match %d"))
	r.file("huge/f", numbered(1, 3000, "needle %030d"))
	grep := func(args object) object { return args }
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "many/f:%d:match %d\n", i+1, i+1)
	}
	r.check(t,
		row{"grep", grep(object{"pattern": "hello"}), "a.go:4:// hello again\nsub/b.txt:1:hello: world", false},
		row{"grep", grep(object{"pattern": "HELLO", "ignoreCase": true, "glob": "*.go"}), "a.go:3:func Hello() {}\na.go:4:// hello again", false},
		row{"grep", grep(object{"pattern": "hello", "path": "sub"}), "sub/b.txt:1:hello: world", false},
		row{"grep", grep(object{"pattern": "hello", "path": "./sub/.hidden"}), "./sub/.hidden:1:hello", false},
		row{"grep", grep(object{"pattern": "world$", "path": r.home}), "HOME/sub/b.txt:1:hello: world", false},
		row{"grep", grep(object{"pattern": "Hello", "context": 1}), "a.go-2-\na.go:3:func Hello() {}\na.go-4-// hello again", false},
		row{"grep", grep(object{"pattern": "^(package|last|hello)", "context": 1}),
			"a.go:1:package a\na.go-2-\n--\na.go-4-// hello again\na.go:5:last\n--\nsub/b.txt:1:hello: world", false},
		row{"grep", grep(object{"pattern": "match"}), many.String() + "[Limit of 100 matches reached; there are more.]", false},
		row{"grep", grep(object{"pattern": "match", "limit": 1}), "many/f:1:match 1\n[Limit of 1 matches reached; there are more.]", false},
		row{"grep", grep(object{"pattern": "no such thing"}), "No matches found.", false},
		row{"grep", grep(object{"pattern": "("}), "read pattern \"(\": missing closing ): `(`\n" +
			`hint: it is a regular expression (RE2); escape what is meant as it is with \`, true},
		row{"grep", grep(object{"pattern": "x", "path": "/"}), "search /: it is outside the allowed folders\nhint: allowed: HOME", true},
	)
	answer := said(r.call("grep", object{"pattern": "needle", "limit": 5000}))
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
	r := newRig(t, toolkit.Plugin)
	for _, f := range []string{"src/a.go", "src/deep/b.go", "src/.hidden.go", "node_modules/x.go", ".git/c.go", "out/d.go", "README.md", "two\nlines"} {
		r.file(f, "")
	}
	r.file(".gitignore", "/out/\n")
	if err := os.Mkdir(filepath.Join(r.home, "void"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"todir": "src", "tofile": "README.md", "broken": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(r.home, name)); err != nil {
			t.Fatal(err)
		}
	}
	r.check(t,
		row{"find", object{"pattern": "*.go"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		row{"find", object{"pattern": "*.go", "path": "src"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		row{"find", object{"pattern": "*", "path": filepath.Join(r.home, "src")},
			"HOME/src/.hidden.go\nHOME/src/a.go\nHOME/src/deep/\nHOME/src/deep/b.go", false},
		row{"find", object{"pattern": "src/**/*.go"}, "src/.hidden.go\nsrc/a.go\nsrc/deep/b.go", false},
		row{"find", object{"pattern": "{readme*,to*}"}, "README.md\ntodir\ntofile", false},
		row{"find", object{"pattern": "two*"}, `two\nlines`, false},
		row{"find", object{"pattern": "*.go", "limit": 2}, "src/.hidden.go\nsrc/a.go\n[Limit of 2 results reached; there are more.]", false},
		row{"find", object{"pattern": "*.rs"}, "No files found.", false},
		row{"find", object{"pattern": "[a"}, `read glob "[a": a [ is not closed`, true},
		row{"find", object{"pattern": "*", "path": "README.md"}, "find in HOME/README.md: it is not a folder", true},
		row{"ls", nil, "./\n../\n.git/\n.gitignore\nREADME.md\nbroken\nnode_modules/\nout/\nsrc/\ntodir/\ntofile\n" + `two\nlines` + "\nvoid/", false},
		row{"ls", object{"path": "todir"}, "./\n../\n.hidden.go\na.go\ndeep/", false},
		row{"ls", object{"path": "src", "limit": 1}, "./\n../\n.hidden.go\n[Output truncated by limit: 2 entries omitted.]", false},
		row{"ls", object{"path": "void"}, "Directory is empty.", false},
		row{"ls", object{"path": "README.md"}, "README.md", false},
		row{"ls", object{"path": "gone"}, "list HOME/gone: no such file or folder", true},
	)
}

func TestPluginRunsCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("sub/here", "")
	run := func(command string) object { return object{"command": command} }
	r.check(t,
		row{"exec", run("echo out"), "out\nExit code: 0", false},
		row{"exec", run("true"), "Exit code: 0", false},
		row{"exec", run("printf out; echo err >&2; exit 3"), "out\nstderr:\nerr\nExit code: 3", true},
		row{"exec", run("kill -9 $$"), "Signal: SIGKILL", true},
		row{"exec", run("cat; echo $TERM $NO_COLOR; pwd"), "dumb 1\nHOME\nExit code: 0", false},
		row{"exec", object{"command": "ls; echo $X $TERM", "cwd": "sub", "env": object{"X": "y", "TERM": "vt100"}}, "here\ny vt100\nExit code: 0", false},
		row{"exec", run("(sleep 1; echo late) & echo first"), "first\nExit code: 0", false},
		row{"exec", object{"command": "true", "cwd": "gone"}, "start in HOME/gone: no such file or directory", true},
		row{"exec", object{"command": "sleep 60; echo no", "timeoutMs": 1, "kill": true},
			"Timed out after 100 ms and was ended. Signal: SIGTERM", true},
		row{"exec", object{"command": "true", "sandbox": object{"filesytem": object{}}},
			"read sandbox: unknown field \"filesytem\"\nhint: its shape is " +
				"{filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}", true},
		row{"exec", object{}, `call exec: argument "command" is missing` + "\nhint: it takes: command, cwd, timeoutMs, env, sandbox, kill, max_output", true},
	)
}

func TestPluginKeepsTheEndOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
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
	whole := said(r.call("exec", object{"command": "printf '%020000d' 7", "max_output": 100000}))
	if whole != strings.Repeat("0", 19999)+"7"+"Exit code: 0" {
		t.Errorf("%d characters", len(whole))
	}
}

func TestPluginLetsSlowCommandsGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	answer := r.call("exec", object{"command": "echo begun; sleep 100", "timeoutMs": 200})
	s := answer.Structured.(plugin.CommandState)
	p := r.process(s.ID)
	want := fmt.Sprintf("begun\nTimed out after 200 ms; it goes on as process %s. Log: %s and stderr.log", s.ID, p.LogPath)
	if said(answer) != want || answer.Failed || !s.TimedOut || s.ExitCode != nil || answer.Process != s.ID {
		t.Errorf("answers %q, %+v", said(answer), s)
	}
	if listed := said(r.call("process_list", nil)); !strings.Contains(listed, "id="+s.ID) || !strings.Contains(listed, "command=echo begun; sleep 100") {
		t.Errorf("listed %q", listed)
	}
	r.check(t, row{"process_stop", object{"id": s.ID}, "Stopped process " + s.ID + " with SIGTERM.", false})
	if by := r.process(s.ID).EndedBy; by != r.agent.Actor {
		t.Errorf("it was ended by %q", by)
	}
}

func TestPluginConfinesCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.file("rw/there", "")
	try := "echo x > rw/new; echo x > new; ls rw"
	confined := object{"filesystem": object{"denyRead": []string{}, "allowWrite": []string{"rw"}, "denyWrite": []string{}}}
	answer := r.call("exec", object{"command": try, "sandbox": confined})
	if got := said(answer); !strings.HasPrefix(got, "new\nthere\n") || !strings.Contains(got, "Permission denied") {
		t.Errorf("confined: %q", got)
	}
	r.agent.Options.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{DenyRead: []string{}, AllowWrite: []string{}, DenyWrite: []string{}}}
	r.hold()
	if got := said(r.call("exec", object{"command": "echo x > rw/again"})); !strings.Contains(got, "Permission denied") {
		t.Errorf("by default: %q", got)
	}
}

func TestPluginLooksAfterProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	r.check(t,
		row{"process_list", nil, "No managed processes.", false},
		row{"process_get", object{"id": "nope"}, "Unknown process id: nope", true},
		row{"process_stop", object{"id": "nope"}, "Unknown process id: nope", true},
		row{"process_stop", object{"id": "nope", "signal": "SIGUSR1"},
			`stop process: signal "SIGUSR1" is none of SIGTERM, SIGINT, SIGHUP and SIGKILL`, true},
		row{"process_stop_all", nil, "Stopped 0 processes with SIGTERM.", false},
	)
	answer := r.call("process_start", object{"command": "echo $X; exec sleep 100", "name": "server", "env": object{"X": "hi"}, "keepAlive": true})
	s := answer.Structured.(plugin.ProcessState)
	log := filepath.Join(r.dir, "processes", s.ID, "process.log")
	want := fmt.Sprintf("id: %s\nname: server\npid: %d\nstatus: running\nkeepAlive: true\nrestartCount: 0\nexitCode: -\nlogPath: %s\ncommand: echo $X; exec sleep 100",
		s.ID, s.PID, log)
	if said(answer) != want || s.LogPath != log || !alive(s.PID) {
		t.Errorf("started as\n%s\nwant\n%s", said(answer), want)
	}
	r.check(t,
		row{"process_get", object{"id": s.ID}, want, false},
		row{"process_list", nil, strings.ReplaceAll(strings.ReplaceAll(want, ": ", "="), "\n", " "), false},
		row{"process_stop", object{"id": s.ID, "signal": "SIGINT"}, "Stopped process " + s.ID + " with SIGINT.", false},
		row{"process_stop", object{"id": s.ID}, "Process " + s.ID + " is not running.", false},
	)
	if got := said(r.call("process_get", object{"id": s.ID})); !strings.Contains(got, "status: stopped") || !strings.Contains(got, "pid: -") {
		t.Errorf("stopped: %s", got)
	}
	brief := r.call("process_start", object{"command": "exit 4"})
	r.ended(brief.Process)
	if got := said(r.call("process_get", object{"id": brief.Process})); !strings.Contains(got, "status: exited") || !strings.Contains(got, "exitCode: 4") {
		t.Errorf("exited: %s", got)
	}
	for _, want := range []string{"sleep", "sleep-2"} {
		if s := r.call("process_start", object{"command": "X=1 exec /bin/sleep 100"}).Structured.(plugin.ProcessState); s.Name != want {
			t.Errorf("named %s, want %s", s.Name, want)
		}
	}
	if answer := r.call("process_start", object{"command": "true", "name": "sleep"}); !answer.Failed || !strings.Contains(said(answer), "is called sleep already") {
		t.Errorf("a second one of the name: %s", said(answer))
	}
	r.check(t, row{"process_stop_all", object{"signal": "SIGHUP"}, "Stopped 2 processes with SIGHUP.", false})
}

func TestPluginSaysWhatACallWouldDo(t *testing.T) {
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
		{"write_output", `{"name":"n","content":""}`, toolkit.Subject{Paths: []string{"/home/me/outputs"}}},
		{"process_stop_all", `{}`, toolkit.Subject{}},
	} {
		for _, tool := range plugin.Tools() {
			if tool.Name != c.tool {
				continue
			}
			if diff := cmp.Diff(c.want, tool.About(f, []byte(c.args)), cmp.AllowUnexported(toolkit.Subject{})); diff != "" {
				t.Errorf("%s: %s", c.tool, diff)
			}
		}
	}
}

func TestPluginListsFewWords(t *testing.T) {
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

func TestEveryProcessHasItsSandboxFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	for name, args := range map[string]object{
		"process_start": {"command": "sleep 1000"},
		"exec":          {"command": "sleep 1000", "timeoutMs": 100}, // goes on as a process
	} {
		id := r.call(name, args).Process
		path := filepath.Join(filepath.Dir(r.process(id).LogPath), "sandbox.json")
		r.eventually("the file", func() bool { // which nothing waits for
			_, err := os.Stat(path)
			return err == nil
		})
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), `"allowWrite": [`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

func TestASandboxHasNoEmptyPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Plugin)
	for _, path := range []any{"", nil} {
		answer := r.call("exec", object{"command": "touch f", "sandbox": object{"filesystem": object{"allowWrite": []any{path}}}})
		if want := "read sandbox: a path is empty"; said(answer) != want || !answer.Failed {
			t.Errorf("%v gives %s", path, said(answer))
		}
	}
}
