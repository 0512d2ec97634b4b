package setup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// A testMachine is a Machine with an empty home directory, an empty project, and Tandem in PATH.
type testMachine struct {
	Machine
	t   *testing.T
	env map[string]string
}

func newTestMachine(t *testing.T) *testMachine {
	dir := t.TempDir()
	m := &testMachine{t: t, env: map[string]string{}}
	m.Machine = Machine{Home: filepath.Join(dir, "home of me"), Dir: filepath.Join(dir, "my project"), Program: filepath.Join(dir, "bin", "tandem"),
		Env: func(name string) string { return m.env[name] }}
	m.AccountHome, m.DataDir = m.Home, filepath.Join(m.Home, ".local/state/tandem")
	for _, path := range []string{m.Home, m.Dir, filepath.Dir(m.Program)} {
		m.must(os.MkdirAll(path, 0o755))
	}
	m.must(os.WriteFile(m.Program, nil, 0o755))
	m.env["PATH"] = filepath.Dir(m.Program)
	return m
}

func (m *testMachine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *testMachine) findClient(name string) Client {
	c, ok := FindClient(name)
	if !ok {
		m.t.Fatalf("no client %s", name)
	}
	return c
}

// writeSettings writes a client's settings and returns their path.
func (m *testMachine) writeSettings(name, text string) string {
	m.t.Helper()
	path := m.settingsPath(m.findClient(name), false)
	m.must(os.MkdirAll(filepath.Dir(path), 0o755))
	m.must(os.WriteFile(path, []byte(text), 0o640))
	return path
}

func (m *testMachine) readFile(path string) string {
	m.t.Helper()
	text, err := os.ReadFile(path)
	m.must(err)
	return string(text)
}

// addServer adds Tandem to a client's settings and returns their text.
func (m *testMachine) addServer(name string, w ServerOptions) string {
	m.t.Helper()
	p, err := m.Add(m.findClient(name), w, false)
	m.must(err)
	if p.Changed() {
		m.must(p.Write(m.t.Context()))
	}
	return m.readFile(p.Path)
}

func (m *testMachine) removeServer(name string) *Plan {
	m.t.Helper()
	p, err := m.Remove(m.findClient(name), false)
	m.must(err)
	if p.Changed() {
		m.must(p.Write(m.t.Context()))
	}
	return p
}

// sampleSettings contains settings as written by users, by description. SERVERS is replaced by the
// client's name of the servers object.
var sampleSettings = map[string]map[format]string{
	"other servers": {
		formatJSON:  "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"npx\"\n    }\n  },\n  \"projects\": {}\n}\n",
		formatJSONC: "// mine\n{\n\t\"theme\": \"x\", // dark\n\t\"SERVERS\": {\n\t\t/* the first */\n\t\t\"other\": {\"command\": \"npx\"}, // keep\n\t\t// \"old\": {}\n\t},\n\t\"last\": [1, 2,],\n}\n",
		formatTOML:  "# mine\nmodel = \"o\"   # fast\n\n[mcp_servers.other]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n]\n\n# what I work on\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
	},
	"no servers": {
		formatJSON:  "{\"a\":{\"b\":[1,{}]}}",
		formatJSONC: "{\n    // nothing yet\n}",
		formatTOML:  "model = \"o\"",
	},
	"an empty list": {
		formatJSON:  "{\n  \"mcpServers\": {}\n}",
		formatJSONC: "{\r\n  \"SERVERS\": {\r\n    // none\r\n  }\r\n}\r\n",
		formatTOML:  "[mcp_servers]\r\n\r\n[tui]\r\nx = 1\r\n",
	},
	"a trailing comment": {
		formatJSON:  "{\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}",
		formatJSONC: "{\n  \"SERVERS\": {\n    \"other\": {} // no comma\n  } /* end */\n}",
		formatTOML:  "[tui] # x\n# the end",
	},
	"a comment at the end": {
		formatJSON:  "{}",
		formatJSONC: "{\"SERVERS\": {\"other\": {}}} // end",
		formatTOML:  "[tui]\n# end",
	},
	"nothing":        {formatJSON: "", formatJSONC: " \n", formatTOML: ""},
	"comments alone": {formatJSON: "\n", formatJSONC: "// mine", formatTOML: "# mine"},
}

// parseClientSettings parses settings as the client does, and fails the test if they are invalid.
func parseClientSettings(t *testing.T, c Client, text string) map[string]any {
	t.Helper()
	if c.format == formatTOML {
		all := map[string]any{}
		if err := toml.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("%s: %v\n%s", c.Name, err, text)
		}
		return all
	}
	j, err := openJSON([]byte(text), c.format == formatJSON)
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Name, err, text)
	}
	return decodeJSON(j.root).(map[string]any)
}

func TestAddingAndRemovingServerKeepsSettings(t *testing.T) {
	for name, texts := range sampleSettings {
		for _, c := range Clients() {
			m := newTestMachine(t)
			before := strings.ReplaceAll(texts[c.format], "SERVERS", c.serversPath[0])
			path := m.writeSettings(c.Name, before)
			after := m.addServer(c.Name, ServerOptions{Roots: []string{"/srv/a b"}})
			at := c.serversPath[0]
			server, _ := parseClientSettings(t, c, after)[at].(map[string]any)["tandem"].(map[string]any)
			want, err := m.serverEntry(c, ServerOptions{Roots: []string{"/srv/a b"}}, false)
			m.must(err)
			if !reflect.DeepEqual(server, genericValue(want)) {
				t.Errorf("%s, %s: %v\n%s", c.Name, name, server, after)
			}
			if strings.Contains(before, "\r\n") && strings.Contains(strings.ReplaceAll(after, "\r\n", ""), "\n") && c.format != formatJSON {
				t.Errorf("%s, %s: mixed line endings: %q", c.Name, name, after)
			}
			if p, err := m.Add(c, ServerOptions{Roots: []string{"/srv/a b"}}, false); err != nil || p.Changed() {
				t.Errorf("%s, %s: adding again: %v, or it changes the settings", c.Name, name, err)
			}
			m.addServer(c.Name, ServerOptions{ReadOnly: true})
			m.removeServer(c.Name)
			if got := m.readFile(path); strings.TrimSpace(got) != strings.TrimSpace(before) && got != emptied[name+before] {
				t.Errorf("%s, %s: removed: %s", c.Name, name, cmp.Diff(before, got))
			}
			if backup := m.readFile(path + backupSuffix); backup != before {
				t.Errorf("%s, %s: the copy is %q", c.Name, name, backup)
			}
			for _, file := range []string{path, path + backupSuffix} {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
					t.Errorf("%s, %s: %v, %v", c.Name, name, info.Mode(), err)
				}
			}
			if p := m.removeServer(c.Name); p.Changed() {
				t.Errorf("%s, %s: removing again changes the settings", c.Name, name)
			}
		}
	}
}

// emptied maps sample settings without content, by description and text, to what is left of them
// after Tandem was added and removed.
var emptied = map[string]string{
	"an empty list{\n  \"mcpServers\": {}\n}": "{}",
	"nothing": "{}\n", "nothing \n": "{}\n", "comments alone\n": "{}\n", "comments alone// mine": "// mine\n{}\n",
}

func TestRemoveDeletesCreatedFile(t *testing.T) {
	for _, c := range Clients() {
		m := newTestMachine(t)
		path := m.settingsPath(c, false)
		m.addServer(c.Name, ServerOptions{})
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", c.Name, err)
		}
		m.removeServer(c.Name)
		if left, err := os.ReadDir(filepath.Dir(path)); len(left) > 1 || pathExists(path) {
			t.Errorf("%s: %v left, %v", c.Name, left, err)
		}
	}
}

func TestAddReportsPositionOfInvalidSettings(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"claude", "{\n  // no\n}", ":2:3: this file cannot have comments or trailing commas"},
		{"claude", "{\n  \"a\": 1,\n}", ":3:1: this file cannot have comments or trailing commas"},
		{"cursor", "{\n  \"mcpServers\": {\n", ":3:1: parsing value: unexpected EOF"},
		{"zed", "{\n  \"a\" 1}", ":2:7: invalid character '1' after object name"},
		{"zed", "{\"a\": tru}", ":1:7: invalid literal: tru"},
		{"zed", "{\"a\": 1 /* x", ":1:9: parsing comment: unexpected EOF"},
		{"vscode", "{}\n{}", ":2:1: invalid character '{' after top-level value"},
		{"opencode", "{\n \"mcp\": []}", ":2:9: mcp: must be an object"},
		{"gemini", "[]", ":1:1: the settings: must be an object"},
		{"zed", "{\"a\": " + strings.Repeat("[", 1_000_000), ": too many values"},
		{"claude", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), ":1:1: the settings: must be an object"},
		{"codex", "a = 1\nb = \n", ":2:"},
		{"codex", "mcp_servers = { other = { command = \"x\" } }\n", ": mcp_servers.tandem: not a table"},
		{"codex", "[mcp_servers]\ntandem = { command = \"x\", args = [] }\n", ": mcp_servers.tandem: not a table"},
	} {
		m := newTestMachine(t)
		path := m.writeSettings(c.client, c.text)
		_, err := m.Add(m.findClient(c.client), ServerOptions{}, false)
		if err == nil || !strings.Contains(err.Error(), path+c.want) {
			t.Errorf("%s %q: %v, want %s", c.client, c.text, err, c.want)
		}
		if got := m.readFile(path); got != c.text {
			t.Errorf("%s: rejected settings changed: %q", c.client, got)
		}
	}
}

func TestUpdateKeepsUserMembersOfServer(t *testing.T) {
	m := newTestMachine(t)
	m.env["TANDEM_DATA_DIR"], m.DataDir = "/data", "/data"
	m.DataDir = filepath.Join(m.Dir, "data")
	path := m.addServer("codex", ServerOptions{})
	if !strings.Contains(path, "env = { TANDEM_DATA_DIR = ") {
		t.Errorf("no environment: %s", path)
	}
	file := m.writeSettings("codex", "[mcp_servers.tandem]\ncommand = \"old\" # mine\nurl = \"http://x\"\nstartup_timeout_sec = 20\nargs = [\n \"a\",\n]\n[mcp_servers.tandem.env]\nMINE = \"1\"\nHOME = \"/x\"\n[mcp_servers.tandem.tools.exec]\napproval_mode = \"approve\"\n")
	m.addServer("codex", ServerOptions{})
	want := "[mcp_servers.tandem]\ncommand = \"tandem\"\nargs = [\"--serve\"]\nenv = { TANDEM_DATA_DIR = " + compactJSON(m.DataDir) + " }\nstartup_timeout_sec = 20\ntools = { exec = { approval_mode = \"approve\" } }\n"
	if diff := cmp.Diff(want, m.readFile(file)); diff != "" {
		t.Error(diff)
	}

	m = newTestMachine(t)
	file = m.writeSettings("cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {\n      \"url\": \"http://x\", // old\n      \"command\": \"x\", // why\n      \"disabled\": true,\n      \"env\": {\"A\": \"b\", \"HOME\": \"/x\"}\n    }\n  }\n}\n")
	m.addServer("cursor", ServerOptions{})
	want = "{\n  \"mcpServers\": {\n    \"tandem\": {\n      \"command\": " + compactJSON(m.Program) + ",\n      \"args\": [\n        \"--serve\"\n      ],\n      \"disabled\": true\n    }\n  }\n}\n"
	if diff := cmp.Diff(want, m.readFile(file)); diff != "" {
		t.Error(diff)
	}

	m = newTestMachine(t)
	file = m.writeSettings("copilot", "{\"mcpServers\": {\"tandem\": {\"command\": \"old\", \"tools\": [\"exec\"]}}}")
	if got := m.addServer("copilot", ServerOptions{}); strings.Contains(got, "*") || !strings.Contains(got, `"exec"`) || strings.Contains(got, "old") {
		t.Errorf("%s: %s", file, got)
	}
}

func TestRemoveWithoutRecordDeletesOnlyServer(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"cursor", "{\n  \"mcpServers\": {\n    \"a\": {}, // A\n    \"tandem\": {\"command\": \"x\"}\n  }\n}\n", "{\n  \"mcpServers\": {\n    \"a\": {} // A\n  }\n}\n"},
		{"cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {\n      \"command\": \"x\"\n    },\n    // B\n    \"b\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n    // B\n    \"b\": {}\n  }\n}\n"},
		{"cursor", "{\"mcpServers\": {\"tandem\": {}}}", ""},
		{"cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {},\n  },\n // x\n}", "{\n // x\n}"},
		{"opencode", "{\"mcp\": {\"servers\": {\"x\": {\"type\": \"local\"}, \"tandem\": {\"type\": \"local\"}}}}", "{\"mcp\": {\"servers\": {\"x\": {\"type\": \"local\"}}}}"},
		{"codex", "a = 1\n\n# T\n[mcp_servers.tandem]\ncommand = \"x\"\n\n[mcp_servers.tandem.env]\nA = \"b\"\n\n# B\n[b]\n", "a = 1\n\n# T\n\n# B\n[b]\n"},
	} {
		m := newTestMachine(t)
		path := m.writeSettings(c.client, c.text)
		m.removeServer(c.client)
		if got, err := os.ReadFile(path); string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %q: %v, %s", c.client, c.text, err, cmp.Diff(c.want, string(got)))
		}
	}
}

func TestTableLikeTextInAStringIsNotRemoved(t *testing.T) {
	m := newTestMachine(t)
	for _, text := range []string{
		"notes = \"\"\"\n[mcp_servers.tandem]\n\"\"\"\n[mcp_servers.tandem]\ncommand = \"x\"\n",
		"[mcp_servers.tandem]\nargs = [\n[\"x\"],\n]\n",
	} {
		path := m.writeSettings("codex", text)
		if _, err := m.Remove(m.findClient("codex"), false); err == nil || !strings.Contains(err.Error(), path+": mcp_servers.tandem: not a table") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRemoveKeepsLaterEdits(t *testing.T) {
	m := newTestMachine(t)
	path := m.writeSettings("cursor", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n")
	text := m.addServer("cursor", ServerOptions{})
	m.must(os.WriteFile(path, []byte(strings.Replace(text, "\"a\": {}", "\"a\": {\"x\": 1}", 1)), 0o640))
	m.removeServer("cursor")
	if got := m.readFile(path); got != "{\n  \"mcpServers\": {\n    \"a\": {\"x\": 1}\n  }\n}\n" {
		t.Error(got)
	}
	text = m.addServer("cursor", ServerOptions{})
	m.must(os.WriteFile(path, []byte(strings.Replace(text, "\"--serve\"", "\"--serve\", \"--as\", \"me\"", 1)), 0o640))
	m.removeServer("cursor")
	if got := m.readFile(path); got != "{\n  \"mcpServers\": {\n    \"a\": {\"x\": 1}\n  }\n}\n" {
		t.Error(got)
	}
}

// addProgram puts a stand-in for a client's program into PATH. It records its arguments, one a line, and
// then runs script, where $1 and following are its arguments.
func (m *testMachine) addProgram(name, script string) (record string) {
	m.t.Helper()
	record = filepath.Join(m.Dir, name+".record")
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" --- >>" + compactJSON(record) + "\n" + script
	m.must(os.WriteFile(filepath.Join(filepath.Dir(m.Program), name), []byte(text), 0o755))
	return record
}

func TestClientsProgramChangesItsSettings(t *testing.T) {
	stdio := func(command string, args ...string) string {
		return `{"type":"stdio","command":` + compactJSON(command) + `,"args":` + compactJSON(args) + `,"env":{"TANDEM_DATA_DIR":"/d=1"}}`
	}
	const url = "http://127.0.0.1:7777/mcp"
	for _, c := range []struct {
		client, program string
		project         bool
		settings        string // written by the stand-in, with SERVER inside
		add, addHTTP    string // recorded arguments
		remove          string
	}{
		{"claude", "claude", false, `{"mcpServers": {SERVER}}`,
			"mcp add-json --scope user tandem " + stdio("tandem", "--serve", "--profile", "terminal-tools", "--read-only"),
			`mcp add-json --scope user tandem {"type":"http","url":"` + url + `","headers":{"Authorization":"Bearer ${TANDEM_TOKEN}"}}`,
			"mcp remove --scope user tandem"},
		{"claude", "claude", true, `{"mcpServers": {SERVER}}`,
			"mcp add-json --scope project tandem " + stdio("tandem", "--serve", "--profile", "terminal-tools", "--read-only"),
			`mcp add-json --scope project tandem {"type":"http","url":"` + url + `","headers":{"Authorization":"Bearer ${TANDEM_TOKEN}"}}`,
			"mcp remove --scope project tandem"},
		{"codex", "codex", false, "[mcp_servers]\nSERVER\n",
			"mcp add tandem --env TANDEM_DATA_DIR=/d=1 -- tandem --serve --read-only",
			"mcp add tandem --url " + url + " --bearer-token-env-var TANDEM_TOKEN", "mcp remove tandem"},
		{"vscode", "code", false, `{"servers": {SERVER}}`,
			"--add-mcp " + strings.Replace(stdio("BIN", "--serve", "--read-only"), "{", `{"name":"tandem",`, 1),
			`--add-mcp {"name":"tandem","type":"http","url":"` + url + `","headers":{"Authorization":"Bearer ${env:TANDEM_TOKEN}"}}`, ""},
	} {
		m := newTestMachine(t)
		m.env["TANDEM_DATA_DIR"], m.DataDir = "/d=1", "/d=1"
		client := m.findClient(c.client)
		path := m.settingsPath(client, c.project)
		m.must(os.MkdirAll(filepath.Dir(path), 0o755))
		server := `"tandem": {"command": "x"}`
		if c.client == "codex" {
			server = `tandem = {command = "x"}`
		}
		// The order of the alternatives matters: "add" is in no argument of a removal.
		script := "case \"$*\" in *add*) s=$WITH;; *) s=$WITHOUT;; esac\nprintf %s \"$s\" >" + compactJSON(path) + "\n"
		t.Setenv("WITH", strings.Replace(c.settings, "SERVER", server, 1))
		t.Setenv("WITHOUT", strings.Replace(c.settings, "SERVER", "", 1))
		record := m.addProgram(c.program, script)
		apply := func(p *Plan, err error, want ...string) {
			t.Helper()
			m.must(err)
			commands := strings.Join(p.Commands(), "\n")
			m.must(p.Write(t.Context()))
			got, _ := os.ReadFile(record)
			_ = os.Remove(record)
			var recorded []string
			for _, lines := range strings.Split(strings.TrimSuffix(string(got), "---\n"), "---\n") {
				recorded = append(recorded, strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", " "))
			}
			if diff := cmp.Diff(want, recorded); diff != "" {
				t.Errorf("%s: %s", c.client, diff)
			}
			if !strings.Contains(commands, filepath.Join(filepath.Dir(m.Program), c.program)) || strings.Count(commands, "\n")+1 != len(want) || len(p.Diff()) > 0 {
				t.Errorf("%s: shown are %s and %s", c.client, commands, p.Diff())
			}
		}
		p, err := m.Add(client, ServerOptions{ReadOnly: true}, c.project)
		apply(p, err, strings.Replace(c.add, "BIN", m.Program, 1))
		// The entry is another one, and replaced.
		want := []string{c.addHTTP}
		if c.remove != "" {
			want = []string{c.remove, c.addHTTP}
		}
		p, err = m.Add(client, ServerOptions{HTTP: url}, c.project)
		apply(p, err, want...)
		if c.remove == "" {
			m.must(os.Remove(filepath.Join(filepath.Dir(m.Program), c.program)))
			m.removeServer(c.client)
		} else {
			p, err = m.Remove(client, c.project)
			apply(p, err, c.remove)
		}
		if found, err := m.isSetUp(client, c.project); found || err != nil {
			t.Errorf("%s: %v, %v", c.client, found, err)
		}
		if p, err := m.Remove(client, c.project); err != nil || p.Changed() {
			t.Errorf("%s: removing again: %v, or it changes something", c.client, err)
		}
		if pathExists(path + backupSuffix) {
			t.Errorf("%s: a copy is kept of a file that its program writes", c.client)
		}
	}
}

func TestFailureOfClientsProgramIsReported(t *testing.T) {
	m := newTestMachine(t)
	for script, want := range map[string]string{
		"echo no such option; exit 3": "exit status 3\nno such option",
		"echo fine":                   "tandem is not in " + m.settingsPath(m.findClient("codex"), false),
	} {
		m.addProgram("codex", script)
		p, err := m.Add(m.findClient("codex"), ServerOptions{}, false)
		m.must(err)
		if err := p.Write(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "mcp add tandem -- tandem --serve") {
			t.Errorf("%v", err)
		}
	}
	m.writeSettings("codex", "a = \n")
	if _, err := m.Add(m.findClient("codex"), ServerOptions{}, false); err == nil {
		t.Error("a damaged file is left to the program")
	}
}

func TestRemoveUndoesChangesRecordedByAnEarlierRelease(t *testing.T) {
	m := newTestMachine(t)
	record := m.addProgram("claude", "")
	before, added := "{\n  \"mcpServers\": {}\n}", "\n    \"tandem\": {\"command\": \"tandem\"}\n  "
	path := m.writeSettings("claude", strings.Replace(before, "{}", "{"+added+"}", 1))
	hooks, hooksPath := m.writeHookSettings("codex", `{"hooks": {"Stop": [{"hooks": [{"command": "tandem agent report --hook"}]}]}}`)
	text, err := json.Marshal(map[string]undoRecord{
		path:                    {After: []byte(added)},
		hooksRecord + hooksPath: {After: []byte(m.readFile(hooksPath))},
	})
	m.must(err)
	m.must(os.MkdirAll(m.DataDir, 0o700))
	m.must(os.WriteFile(filepath.Join(m.DataDir, "agent-setup.json"), text, 0o600))
	m.removeServer("claude")
	if got := m.readFile(path); got != before || pathExists(record) {
		t.Errorf("%s, or the program was run", got)
	}
	m.applyPlan(m.RemoveHooks(hooks))
	if pathExists(hooksPath) {
		t.Error(m.readFile(hooksPath))
	}
	m.writeSettings("claude", strings.Replace(before, "{}", `{"tandem": {}}`, 1))
	if p, err := m.Remove(m.findClient("claude"), false); err != nil || len(p.Commands()) != 1 {
		t.Errorf("an edited entry: %v, %v", p.Commands(), err)
	}
	m.must(os.WriteFile(filepath.Join(m.DataDir, "agent-setup.json"), []byte("x"), 0o600))
	if _, err := m.Remove(m.findClient("claude"), false); err == nil || !strings.Contains(err.Error(), "read record of settings") {
		t.Error(err)
	}
}

func TestCopyIsKeptOnlyOfFilesFromBeforeTandem(t *testing.T) {
	m := newTestMachine(t)
	path := m.writeSettings("cursor", "{\"a\": 1}")
	if os.Geteuid() == 0 {
		m.must(os.Chown(path, 12, 34)) // others cannot give files away
	}
	owner := func(path string) (uid, gid uint32) {
		info, err := os.Stat(path)
		m.must(err)
		stat := info.Sys().(*syscall.Stat_t)
		return stat.Uid, stat.Gid
	}
	uid, gid := owner(path)
	m.addServer("cursor", ServerOptions{})
	if traces := m.Traces(); !slices.ContainsFunc(traces, func(trace Trace) bool { return trace.Text == "copy "+path+backupSuffix }) {
		t.Errorf("the copy is not among the traces %v", traces)
	}
	for _, file := range []string{path, path + backupSuffix} {
		if u, g := owner(file); u != uid || g != gid {
			t.Errorf("%s belongs to %d:%d, not %d:%d", file, u, g, uid, gid)
		}
	}
	m.addServer("cursor", ServerOptions{ReadOnly: true})
	if got := m.readFile(path + backupSuffix); got != "{\"a\": 1}" {
		t.Errorf("after an update: %s", got)
	}
	m.removeServer("cursor")
	m.must(os.WriteFile(path, []byte("{\"a\": 2}"), 0o640))
	m.addServer("cursor", ServerOptions{})
	if got := m.readFile(path + backupSuffix); got != "{\"a\": 2}" {
		t.Errorf("after it was added again: %s", got)
	}
	m.must(os.MkdirAll(filepath.Join(m.Home, ".config", ".git"), 0o755))
	path = m.writeSettings("zed", "{}")
	m.addServer("zed", ServerOptions{})
	if pathExists(path + backupSuffix) {
		t.Error("a copy in a git work tree")
	}
}

func TestWriteFollowsSymbolicLink(t *testing.T) {
	m := newTestMachine(t)
	real := filepath.Join(m.Home, "dotfiles", "mcp.json")
	m.must(os.MkdirAll(filepath.Dir(real), 0o755))
	m.must(os.WriteFile(real, []byte("{}"), 0o644))
	path := m.settingsPath(m.findClient("cursor"), false)
	m.must(os.MkdirAll(filepath.Dir(path), 0o755))
	m.must(os.Symlink("../dotfiles/mcp.json", path))
	m.addServer("cursor", ServerOptions{})
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(m.readFile(real), "tandem") {
		t.Errorf("%v, %v: %s", info.Mode(), err, m.readFile(real))
	}
	m.removeServer("cursor")
	if got := m.readFile(real); got != "{}" {
		t.Error(got)
	}
}

func TestWriteRejectsSettingsChangedSinceRead(t *testing.T) {
	m := newTestMachine(t)
	path := m.writeSettings("claude", "{}")
	p, err := m.Add(m.findClient("claude"), ServerOptions{}, false)
	m.must(err)
	m.writeSettings("claude", "{\"a\": 1}")
	if err := p.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Error(err)
	}
	if got := m.readFile(path); got != "{\"a\": 1}" {
		t.Error(got)
	}
}

func TestServerEntrySetsVariablesForReachingEngine(t *testing.T) {
	m := newTestMachine(t)
	get := func() string {
		entry, err := m.serverEntry(m.findClient("codex"), ServerOptions{}, false)
		m.must(err)
		env, _ := entry.get("env").(fields)
		b, err := json.Marshal(genericValue(env))
		m.must(err)
		return string(b)
	}
	m.env["XDG_CONFIG_HOME"], m.env["XDG_STATE_HOME"] = m.Home+"/.config/", m.Home+"/.local/state"
	if got := get(); got != "{}" {
		t.Errorf("variables with default values: %s", got)
	}
	m.env["XDG_CONFIG_HOME"], m.env["XDG_STATE_HOME"], m.env["XDG_RUNTIME_DIR"], m.AccountHome = "/c", "/s", "/run/mine", "/home/other"
	if got, want := get(), `{"HOME":`+compactJSON(m.Home)+`,"XDG_CONFIG_HOME":"/c","XDG_RUNTIME_DIR":"/run/mine","XDG_STATE_HOME":"/s"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m.env = map[string]string{"TANDEM_DATA_DIR": "d", "XDG_STATE_HOME": "/s", "TANDEM_CONFIG_DIR": "/elsewhere/c"}
	m.DataDir, m.AccountHome = "/elsewhere/d", ""
	if got := get(); got != `{"TANDEM_CONFIG_DIR":"/elsewhere/c","TANDEM_DATA_DIR":"/elsewhere/d"}` {
		t.Error(got)
	}
	m.DataDir = "/" + strings.Repeat("long/", 40)
	standard := "/run/user/1"
	m.env = map[string]string{"XDG_RUNTIME_DIR": standard}
	t.Setenv("XDG_RUNTIME_DIR", standard)
	if got := get(); got != `{"XDG_RUNTIME_DIR":"/run/user/1"}` {
		t.Errorf("socket in the runtime directory: %s", got)
	}
}

func TestClientGetsACommandThatItCanRun(t *testing.T) {
	for _, c := range []struct {
		client, program string
		onPath, project bool
		want            string
	}{
		{"claude", "/opt/tandem", false, false, "/opt/tandem"},
		{"claude", "", true, false, "tandem"},
		{"claude-desktop", "", true, false, "BIN"},
		{"cursor", "", true, true, "tandem"},
		{"codex", "/tmp/go-build1/exe/tandem", true, false, "BIN"},
		{"codex", "/tmp/go-build1/exe/tandem", false, false, ""},
	} {
		m := newTestMachine(t)
		bin := m.Program
		if c.program != "" {
			m.Program = c.program
		}
		if !c.onPath {
			m.env["PATH"] = ""
		}
		client := m.findClient(c.client)
		got, err := m.tandemCommand(client.Title, c.project, client.desktop)
		if want := strings.Replace(c.want, "BIN", bin, 1); got != want || (err != nil) != (want == "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestHTTPServersReadTokenFromVariable(t *testing.T) {
	for _, c := range Clients() {
		if !c.TakesHTTP() {
			continue
		}
		m := newTestMachine(t)
		before := m.addServer(c.Name, ServerOptions{})
		text := m.addServer(c.Name, ServerOptions{HTTP: "http://127.0.0.1:7777/mcp"})
		if !strings.Contains(text, TokenVariable) || !strings.Contains(text, `"http://127.0.0.1:7777/mcp"`) || strings.Contains(text, "--serve") {
			t.Errorf("%s: %s", c.Name, text)
		}
		if got := m.addServer(c.Name, ServerOptions{}); got != before {
			t.Errorf("%s: %s", c.Name, cmp.Diff(before, got))
		}
	}
}

func TestCrushSettingsPathFollowsItsSearchOrder(t *testing.T) {
	m := newTestMachine(t)
	crush := m.findClient("crush")
	for _, c := range []struct {
		env     map[string]string
		project bool
		files   []string
		want    string
	}{
		{nil, false, nil, m.Home + "/.config/crush/crush.json"},
		{map[string]string{"XDG_CONFIG_HOME": m.Home + "/c"}, false, nil, m.Home + "/c/crush/crush.json"},
		{map[string]string{"XDG_CONFIG_HOME": m.Home + "/c", "CRUSH_GLOBAL_CONFIG": m.Home + "/own"}, false, nil, m.Home + "/own/crush.json"},
		{nil, true, nil, m.Dir + "/.crush.json"},
		{nil, true, []string{"crush.json"}, m.Dir + "/crush.json"},
		{nil, true, []string{"crush.json", ".crush.json"}, m.Dir + "/.crush.json"},
	} {
		m.env["XDG_CONFIG_HOME"], m.env["CRUSH_GLOBAL_CONFIG"] = c.env["XDG_CONFIG_HOME"], c.env["CRUSH_GLOBAL_CONFIG"]
		for _, name := range c.files {
			m.must(os.WriteFile(filepath.Join(m.Dir, name), []byte("{}"), 0o600))
		}
		if got := m.settingsPath(crush, c.project); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.env, c.files, got, c.want)
		}
	}
}

func TestStatesReportInstalledAndSetUpClients(t *testing.T) {
	m := newTestMachine(t)
	for _, s := range m.States() {
		if s.Found || s.SetUp || s.SetUpInProject || s.Error != "" {
			t.Errorf("on an empty machine: %+v", s)
		}
	}
	m.must(os.WriteFile(filepath.Join(filepath.Dir(m.Program), "claude"), nil, 0o755))
	m.writeSettings("zed", "{")
	m.addServer("gemini", ServerOptions{})
	p, err := m.Add(m.findClient("cursor"), ServerOptions{}, true)
	m.must(err)
	m.must(p.Write(m.t.Context()))
	got := map[string]string{}
	for _, s := range m.States() {
		if s.Found || s.SetUp || s.SetUpInProject || s.Error != "" {
			b, err := json.Marshal([]any{s.Found, s.SetUp, s.SetUpInProject, s.Error})
			m.must(err)
			got[s.Name] = strings.ReplaceAll(string(b), m.Home, "~")
		}
	}
	want := map[string]string{
		"claude": `[true,false,false,""]`, "cursor": `[false,false,true,""]`, "gemini": `[true,true,false,""]`,
		"zed": `[true,false,false,"read settings: ~/.config/zed/settings.json:1:2: parsing value: unexpected EOF"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDiffShowsOnlyTheChange(t *testing.T) {
	m := newTestMachine(t)
	m.writeSettings("claude", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n")
	p, err := m.Add(m.findClient("claude"), ServerOptions{}, false)
	m.must(err)
	want := []string{"  {", "+   \"mcpServers\": {", "+     \"tandem\": {", "+       \"type\": \"stdio\",", "+       \"command\": \"tandem\",", "+       \"args\": [",
		"+         \"--serve\",", "+         \"--profile\",", "+         \"terminal-tools\"", "+       ]", "+     }", "+   },", "    \"a\": 1,", "    \"b\": 2,", "    \"c\": 3"}
	if diff := cmp.Diff(want, p.Diff()); diff != "" {
		t.Error(diff)
	}
	m.writeSettings("claude", "{\"a\": \""+strings.Repeat("x", 1000)+"\"}")
	p, err = m.Add(m.findClient("claude"), ServerOptions{}, false)
	m.must(err)
	want = []string{`+ mcpServers": {"tandem":{"type":"stdio","command":"tandem","args":["--serve","--profile","terminal-tools"]}},"`}
	if diff := cmp.Diff(want, p.Diff()); diff != "" {
		t.Error(diff)
	}
}

// commentWords returns the words of all comments in text, sorted.
func commentWords(t *testing.T, text []byte) (words []string) {
	root, err := parseJSON(text, false)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	add := func(extra hujson.Extra) { words = append(words, strings.Fields(string(extra))...) }
	for v := range root.All() {
		add(v.BeforeExtra)
		add(v.AfterExtra)
		switch v := v.Value.(type) {
		case *hujson.Object:
			add(v.AfterExtra)
		case *hujson.Array:
			add(v.AfterExtra)
		}
	}
	slices.Sort(words)
	return words
}

func FuzzJSON(f *testing.F) {
	for _, texts := range sampleSettings {
		f.Add(texts[formatJSON], true)
		f.Add(strings.ReplaceAll(texts[formatJSONC], "SERVERS", "mcpServers"), false)
	}
	f.Add("{\"mcpServers\": {\"a\": 1, // x\n\"b\": 2 /* y */, /* z */}, \"l\": [1, 2 /* z */,]} // end", false)
	f.Add("\ufeff{\"mcpServers\": {\"a\": {}\n// x\n}, \"mcpServers\": {\"\\u0061\": 1}}", false)
	server, hooks, item := []string{"mcpServers", serverName}, []string{hooksKey, "Stop"}, fields{{"command", "x"}}
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		j, err := openJSON([]byte(text), strict)
		if err != nil {
			return
		}
		if !strings.HasPrefix(string(j.bytes()), text) && strings.TrimSpace(text) != "" {
			t.Fatalf("%q reads as %q", text, j.bytes())
		}
		_, hadServer, err := j.get(server)
		_, hadHooks, err2 := j.get(hooks)
		if hadServer || hadHooks || errors.Join(err, err2) != nil {
			return // replacing an existing value may drop its comments
		}
		before, words := decodeJSON(j.root), commentWords(t, j.text)
		if err := errors.Join(j.set(server, item), j.addItem(hooks, item), j.addItem(hooks, item)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		v, _, err := j.get(server)
		list, _, err2 := j.get(hooks)
		if errors.Join(err, err2) != nil || !reflect.DeepEqual(v, genericValue(item)) || !reflect.DeepEqual(list, genericValue([]fields{item, item})) {
			t.Fatalf("%q: %v and %v in %s", text, v, list, j.bytes())
		}
		if strict && !json.Valid(j.text) {
			t.Fatalf("%q: %s is not JSON", text, j.bytes())
		}
		if err := errors.Join(j.remove(server), j.removeSlot(hooks, 1), j.removeSlot(hooks, 0)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := commentWords(t, j.text); !slices.Equal(words, got) {
			t.Fatalf("%q: comments %q, now %q in %q", text, words, got, j.bytes())
		}
		after := decodeJSON(j.root).(map[string]any)
		for name, v := range before.(map[string]any) {
			if name != "mcpServers" && name != hooksKey && !reflect.DeepEqual(after[name], v) {
				t.Fatalf("%q: %s was %v and is %v", text, name, v, after[name])
			}
		}
	})
}
