package setup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// A rig is a machine with nothing on it but a home, a project and a program.
type rig struct {
	Machine
	t   *testing.T
	env map[string]string
}

func newRig(t *testing.T) *rig {
	dir := t.TempDir()
	r := &rig{t: t, env: map[string]string{}}
	r.Machine = Machine{Home: filepath.Join(dir, "home of me"), Dir: filepath.Join(dir, "my project"), Program: filepath.Join(dir, "bin", "tandem"),
		Env: func(name string) string { return r.env[name] }}
	r.AccountHome, r.DataDir = r.Home, filepath.Join(r.Home, ".local/state/tandem")
	for _, path := range []string{r.Home, r.Dir, filepath.Dir(r.Program)} {
		r.must(os.MkdirAll(path, 0o755))
	}
	r.must(os.WriteFile(r.Program, nil, 0o755))
	r.env["PATH"] = filepath.Dir(r.Program)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) client(name string) Client {
	c, ok := FindClient(name)
	if !ok {
		r.t.Fatalf("no client %s", name)
	}
	return c
}

// write puts a text into a client's settings.
func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := r.path(r.client(name), false)
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(text), 0o640))
	return path
}

func (r *rig) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(path)
	r.must(err)
	return string(text)
}

// add sets a client up and gives its settings.
func (r *rig) add(name string, w ServerOptions) string {
	r.t.Helper()
	p, err := r.Add(r.client(name), w, false)
	r.must(err)
	if p.Changed() {
		r.must(p.Write())
	}
	return r.read(p.Path)
}

func (r *rig) remove(name string) *Plan {
	r.t.Helper()
	p, err := r.Remove(r.client(name), false)
	r.must(err)
	if p.Changed() {
		r.must(p.Write())
	}
	return p
}

// existing are settings as people have them, by what is said of them.
var existing = map[string]map[format]string{
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

// settingsOf are what a client reads from a text, comments and all.
func settingsOf(t *testing.T, c Client, text string) map[string]any {
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
	return decode(j.root).(map[string]any)
}

func TestSetupAddsItselfAndRemovingGivesTheBytesBack(t *testing.T) {
	for what, texts := range existing {
		for _, c := range Clients() {
			r := newRig(t)
			before := strings.ReplaceAll(texts[c.format], "SERVERS", c.servers[0])
			path := r.write(c.Name, before)
			after := r.add(c.Name, ServerOptions{Roots: []string{"/srv/a b"}})
			at := c.servers[0]
			server, _ := settingsOf(t, c, after)[at].(map[string]any)["tandem"].(map[string]any)
			want, err := r.entry(c, ServerOptions{Roots: []string{"/srv/a b"}}, false)
			r.must(err)
			if !reflect.DeepEqual(server, decoded(want)) {
				t.Errorf("%s, %s: %v\n%s", c.Name, what, server, after)
			}
			for line := range strings.Lines(before) {
				text, said, _ := strings.Cut(strings.TrimSpace(line), "//")
				if !strings.Contains(after, strings.TrimRight(text, ",}{ ")) || !strings.Contains(after, said) {
					t.Errorf("%s, %s: lost %q:\n%s", c.Name, what, line, after)
				}
			}
			if strings.Contains(before, "\r\n") && strings.Contains(strings.ReplaceAll(after, "\r\n", ""), "\n") && c.format != formatJSON {
				t.Errorf("%s, %s: lines end differently: %q", c.Name, what, after)
			}
			if p, err := r.Add(c, ServerOptions{Roots: []string{"/srv/a b"}}, false); err != nil || p.Changed() {
				t.Errorf("%s, %s: a second time: %v", c.Name, what, err)
			}
			r.add(c.Name, ServerOptions{ReadOnly: true})
			r.remove(c.Name)
			if got := r.read(path); got != before {
				t.Errorf("%s, %s: removed: %s", c.Name, what, cmp.Diff(before, got))
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s, %s: %v, %v", c.Name, what, info.Mode(), err)
			}
			if p := r.remove(c.Name); p.Changed() {
				t.Errorf("%s, %s: removed twice", c.Name, what)
			}
		}
	}
}

func TestSetupCreatesSettingsAndRemovesThemWithTheirFolders(t *testing.T) {
	for _, c := range Clients() {
		r := newRig(t)
		path := r.path(c, false)
		r.add(c.Name, ServerOptions{})
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", c.Name, err)
		}
		r.remove(c.Name)
		left, err := os.ReadDir(r.Home)
		if err != nil || len(left) != 1 || left[0].Name() != ".local" {
			t.Errorf("%s: %v left in the home folder, %v", c.Name, left, err)
		}
	}
}

func TestSettingsThatCannotBeReadAreRefusedWithTheLine(t *testing.T) {
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
		{"zed", "{\"a\": " + strings.Repeat("[", 1_000_000), ":1:100006: values are nested too deep"},
		{"claude", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), ":1:1: the settings: must be an object"},
		{"codex", "a = 1\nb = \n", ":2:"},
		{"codex", "mcp_servers = { other = { command = \"x\" } }\n", ":1:1: mcp_servers.tandem: not a table"},
		{"codex", "[mcp_servers]\ntandem = { command = \"x\", args = [] }\n", ":2:1: mcp_servers.tandem: not a table"},
	} {
		r := newRig(t)
		path := r.write(c.client, c.text)
		_, err := r.Add(r.client(c.client), ServerOptions{}, false)
		if err == nil || !strings.Contains(err.Error(), path+c.want) {
			t.Errorf("%s %q: %v, want %s", c.client, c.text, err, c.want)
		}
		if got := r.read(path); got != c.text {
			t.Errorf("%s: written: %q", c.client, got)
		}
	}
}

func TestWhatAPersonAddsToTheServerStays(t *testing.T) {
	r := newRig(t)
	r.env["TANDEM_DATA_DIR"], r.DataDir = "/data", "/data"
	r.DataDir = filepath.Join(r.Dir, "data")
	path := r.add("codex", ServerOptions{})
	if !strings.Contains(path, "env = { TANDEM_DATA_DIR = ") {
		t.Errorf("no environment: %s", path)
	}
	file := r.write("codex", "[mcp_servers.tandem]\ncommand = \"old\" # mine\nurl = \"http://x\"\nstartup_timeout_sec = 20\nargs = [\n \"a\",\n]\n[mcp_servers.tandem.env]\nMINE = \"1\"\nHOME = \"/x\"\n[mcp_servers.tandem.tools.exec]\napproval_mode = \"approve\"\n")
	r.add("codex", ServerOptions{})
	want := "[mcp_servers.tandem]\ncommand = \"tandem\" # mine\nstartup_timeout_sec = 20\nargs = [\"--serve\"]\n[mcp_servers.tandem.env]\nMINE = \"1\"\nTANDEM_DATA_DIR = " + quoted(r.DataDir) + "\n[mcp_servers.tandem.tools.exec]\napproval_mode = \"approve\"\n"
	if diff := cmp.Diff(want, r.read(file)); diff != "" {
		t.Error(diff)
	}

	r = newRig(t)
	file = r.write("cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {\n      \"url\": \"http://x\", // old\n      \"command\": \"x\", // why\n      \"disabled\": true,\n      \"env\": {\"A\": \"b\", \"HOME\": \"/x\"}\n    }\n  }\n}\n")
	r.add("cursor", ServerOptions{})
	want = "{\n  \"mcpServers\": {\n    \"tandem\": {\n      // old\n      \"command\": " + quoted(r.Program) + ", // why\n      \"disabled\": true,\n      \"env\": {\"A\": \"b\"},\n      \"args\": [\"--serve\"]\n    }\n  }\n}\n"
	if diff := cmp.Diff(want, r.read(file)); diff != "" {
		t.Error(diff)
	}

	r = newRig(t)
	file = r.write("copilot", "{\"mcpServers\": {\"tandem\": {\"command\": \"old\", \"tools\": [\"exec\"]}}}")
	if got := r.add("copilot", ServerOptions{}); !strings.Contains(got, `"tools": ["exec"]`) || strings.Contains(got, "old") {
		t.Errorf("%s: %s", file, got)
	}
}

func TestRemovingWithoutARecordTakesOutTheServerAlone(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"cursor", "{\n  \"mcpServers\": {\n    \"a\": {}, // A\n    \"tandem\": {\"command\": \"x\"}\n  }\n}\n", "{\n  \"mcpServers\": {\n    \"a\": {} // A\n  }\n}\n"},
		{"cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {\n      \"command\": \"x\"\n    },\n    // B\n    \"b\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n    // B\n    \"b\": {}\n  }\n}\n"},
		{"cursor", "{\"mcpServers\": {\"tandem\": {}}}", "{\"mcpServers\": {}}"},
		{"cursor", "{\n  \"mcpServers\": {\n    \"tandem\": {},\n  },\n}", "{\n  \"mcpServers\": {},\n}"},
		{"opencode", "{\"mcp\": {\"servers\": {\"x\": {\"type\": \"local\"}, \"tandem\": {\"type\": \"local\"}}}}", "{\"mcp\": {\"servers\": {\"x\": {\"type\": \"local\"}}}}"},
		{"codex", "a = 1\n\n# T\n[mcp_servers.tandem]\ncommand = \"x\"\n\n[mcp_servers.tandem.env]\nA = \"b\"\n\n# B\n[b]\n", "a = 1\n\n# T\n\n# B\n[b]\n"},
	} {
		r := newRig(t)
		path := r.write(c.client, c.text)
		r.remove(c.client)
		if diff := cmp.Diff(c.want, r.read(path)); diff != "" {
			t.Errorf("%s %q: %s", c.client, c.text, diff)
		}
	}
}

func TestRemovingKeepsWhatThePersonHasEditedSince(t *testing.T) {
	r := newRig(t)
	path := r.write("cursor", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n")
	text := r.add("cursor", ServerOptions{})
	r.must(os.WriteFile(path, []byte(strings.Replace(text, "\"a\": {}", "\"a\": {\"x\": 1}", 1)), 0o640))
	r.remove("cursor")
	if got := r.read(path); got != "{\n  \"mcpServers\": {\n    \"a\": {\"x\": 1}\n  }\n}\n" {
		t.Error(got)
	}
	text = r.add("cursor", ServerOptions{})
	r.must(os.WriteFile(path, []byte(strings.Replace(text, "\"--serve\"", "\"--serve\", \"--as\", \"me\"", 1)), 0o640))
	r.remove("cursor")
	if got := r.read(path); got != "{\n  \"mcpServers\": {\n    \"a\": {\"x\": 1}\n  }\n}\n" {
		t.Error(got)
	}
}

func TestSettingsBehindALinkAreWrittenWhereTheyAre(t *testing.T) {
	r := newRig(t)
	real := filepath.Join(r.Home, "dotfiles", "mcp.json")
	r.must(os.MkdirAll(filepath.Dir(real), 0o755))
	r.must(os.WriteFile(real, []byte("{}"), 0o644))
	path := r.path(r.client("cursor"), false)
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.Symlink("../dotfiles/mcp.json", path))
	r.add("cursor", ServerOptions{})
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(r.read(real), "tandem") {
		t.Errorf("%v, %v: %s", info.Mode(), err, r.read(real))
	}
	r.remove("cursor")
	if got := r.read(real); got != "{}" {
		t.Error(got)
	}
}

func TestSettingsThatChangeMeanwhileAreNotOverwritten(t *testing.T) {
	r := newRig(t)
	path := r.write("claude", "{}")
	p, err := r.Add(r.client("claude"), ServerOptions{}, false)
	r.must(err)
	r.write("claude", "{\"a\": 1}")
	if err := p.Write(); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Error(err)
	}
	if got := r.read(path); got != "{\"a\": 1}" {
		t.Error(got)
	}
}

func TestTheServerGetsTheVariablesThatReachTheEngine(t *testing.T) {
	r := newRig(t)
	get := func() string {
		entry, err := r.entry(r.client("codex"), ServerOptions{}, false)
		r.must(err)
		env, _ := entry.get("env").(fields)
		b, err := json.Marshal(decoded(env))
		r.must(err)
		return string(b)
	}
	r.env["XDG_CONFIG_HOME"], r.env["XDG_STATE_HOME"] = r.Home+"/.config/", r.Home+"/.local/state"
	if got := get(); got != "{}" {
		t.Errorf("what is standard: %s", got)
	}
	r.env["XDG_CONFIG_HOME"], r.env["XDG_STATE_HOME"], r.env["XDG_RUNTIME_DIR"], r.AccountHome = "/c", "/s", "/run/mine", "/home/other"
	if got, want := get(), `{"HOME":`+quoted(r.Home)+`,"XDG_CONFIG_HOME":"/c","XDG_RUNTIME_DIR":"/run/mine","XDG_STATE_HOME":"/s"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.env = map[string]string{"TANDEM_DATA_DIR": "d", "XDG_STATE_HOME": "/s"}
	r.DataDir, r.AccountHome = "/elsewhere/d", ""
	if got := get(); got != `{"TANDEM_DATA_DIR":"/elsewhere/d"}` {
		t.Error(got)
	}
	r.DataDir = "/" + strings.Repeat("long/", 40)
	standard := "/run/user/1"
	r.env = map[string]string{"XDG_RUNTIME_DIR": standard}
	t.Setenv("XDG_RUNTIME_DIR", standard)
	if got := get(); got != `{"XDG_RUNTIME_DIR":"/run/user/1"}` {
		t.Errorf("where the socket is in it: %s", got)
	}
}

func TestTheCommandIsFoundByTheClient(t *testing.T) {
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
		r := newRig(t)
		bin := r.Program
		if c.program != "" {
			r.Program = c.program
		}
		if !c.onPath {
			r.env["PATH"] = ""
		}
		client := r.client(c.client)
		got, err := r.command(client.Title, c.project, client.desktop)
		if want := strings.Replace(c.want, "BIN", bin, 1); got != want || (err != nil) != (want == "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestServersOverHTTPTakeTheirTokenFromAVariable(t *testing.T) {
	for _, c := range Clients() {
		if !c.TakesHTTP() {
			continue
		}
		r := newRig(t)
		before := r.add(c.Name, ServerOptions{})
		text := r.add(c.Name, ServerOptions{HTTP: "http://127.0.0.1:7777/mcp"})
		if !strings.Contains(text, TokenVariable) || !strings.Contains(text, `"http://127.0.0.1:7777/mcp"`) || strings.Contains(text, "--serve") {
			t.Errorf("%s: %s", c.Name, text)
		}
		if got := r.add(c.Name, ServerOptions{}); got != before {
			t.Errorf("%s: %s", c.Name, cmp.Diff(before, got))
		}
	}
}

func TestCrushIsSetUpInTheFileThatItReadsFirst(t *testing.T) {
	r := newRig(t)
	crush := r.client("crush")
	for _, c := range []struct {
		env     map[string]string
		project bool
		there   []string
		want    string
	}{
		{nil, false, nil, r.Home + "/.config/crush/crush.json"},
		{map[string]string{"XDG_CONFIG_HOME": r.Home + "/c"}, false, nil, r.Home + "/c/crush/crush.json"},
		{map[string]string{"XDG_CONFIG_HOME": r.Home + "/c", "CRUSH_GLOBAL_CONFIG": r.Home + "/own"}, false, nil, r.Home + "/own/crush.json"},
		{nil, true, nil, r.Dir + "/.crush.json"},
		{nil, true, []string{"crush.json"}, r.Dir + "/crush.json"},
		{nil, true, []string{"crush.json", ".crush.json"}, r.Dir + "/.crush.json"},
	} {
		r.env["XDG_CONFIG_HOME"], r.env["CRUSH_GLOBAL_CONFIG"] = c.env["XDG_CONFIG_HOME"], c.env["CRUSH_GLOBAL_CONFIG"]
		for _, name := range c.there {
			r.must(os.WriteFile(filepath.Join(r.Dir, name), []byte("{}"), 0o600))
		}
		if got := r.path(crush, c.project); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.env, c.there, got, c.want)
		}
	}
}

func TestStatesTellWhatIsHereAndSetUp(t *testing.T) {
	r := newRig(t)
	for _, s := range r.States() {
		if s.Found || s.SetUp || s.SetUpInProject || s.Error != "" {
			t.Errorf("on an empty machine: %+v", s)
		}
	}
	r.must(os.WriteFile(filepath.Join(filepath.Dir(r.Program), "claude"), nil, 0o755))
	r.write("zed", "{")
	r.add("gemini", ServerOptions{})
	p, err := r.Add(r.client("cursor"), ServerOptions{}, true)
	r.must(err)
	r.must(p.Write())
	got := map[string]string{}
	for _, s := range r.States() {
		if s.Found || s.SetUp || s.SetUpInProject || s.Error != "" {
			b, err := json.Marshal([]any{s.Found, s.SetUp, s.SetUpInProject, s.Error})
			r.must(err)
			got[s.Name] = strings.ReplaceAll(string(b), r.Home, "~")
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

func TestTheDiffShowsTheChangeAlone(t *testing.T) {
	r := newRig(t)
	r.write("claude", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n")
	p, err := r.Add(r.client("claude"), ServerOptions{}, false)
	r.must(err)
	want := []string{"  {", "    \"a\": 1,", "    \"b\": 2,", "-   \"c\": 3", "+   \"c\": 3,", "+   \"mcpServers\": {", "+     \"tandem\": {",
		"+       \"type\": \"stdio\",", "+       \"command\": \"tandem\",", "+       \"args\": [\"--serve\"]", "+     }", "+   }", "  }"}
	if diff := cmp.Diff(want, p.Diff()); diff != "" {
		t.Error(diff)
	}
	r.write("claude", "{\"a\": \""+strings.Repeat("x", 1000)+"\"}")
	p, err = r.Add(r.client("claude"), ServerOptions{}, false)
	r.must(err)
	want = []string{`+ , "mcpServers": {"tandem": {"type": "stdio", "command": "tandem", "args": ["--serve"]}}`}
	if diff := cmp.Diff(want, p.Diff()); diff != "" {
		t.Error(diff)
	}
}

// comments are the words of all comments in a text of JSON.
func comments(root *hujson.Value) (words []string) {
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
	for _, texts := range existing {
		f.Add(texts[formatJSON], true)
		f.Add(strings.ReplaceAll(texts[formatJSONC], "SERVERS", "mcpServers"), false)
	}
	f.Add("{\"mcpServers\": {\"a\": 1, // x\n\"b\": 2 /* y */, /* z */}, \"l\": [1, 2 /* z */,]} // end", false)
	f.Add("\ufeff{\"mcpServers\": {\"a\": {}\n// x\n}, \"mcpServers\": {\"\\u0061\": 1}}", false)
	server, hooks, item := []string{"mcpServers", serverName}, []string{hooksAt, "Stop"}, fields{{"command", "x"}}
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		j, err := openJSON([]byte(text), strict)
		if err != nil {
			return
		}
		if string(j.bytes()) != text {
			t.Fatalf("%q reads as %q", text, j.bytes())
		}
		_, hadServer, err := j.get(server)
		_, hadHooks, err2 := j.get(hooks)
		if hadServer || hadHooks || errors.Join(err, err2) != nil {
			return // a comment may be in what is replaced
		}
		before, words := decode(j.root), comments(&j.root)
		if err := errors.Join(j.set(server, item), j.add(hooks, item), j.add(hooks, item)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		v, _, err := j.get(server)
		list, _, err2 := j.get(hooks)
		if errors.Join(err, err2) != nil || !reflect.DeepEqual(v, decoded(item)) || !reflect.DeepEqual(list, decoded([]fields{item, item})) {
			t.Fatalf("%q: %v and %v in %s", text, v, list, j.bytes())
		}
		if strict && !json.Valid(j.text) {
			t.Fatalf("%q: %s is not JSON", text, j.bytes())
		}
		if err := errors.Join(j.remove(server), j.drop(hooks, 0), j.drop(hooks, 0)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := comments(&j.root); !slices.Equal(words, got) {
			t.Fatalf("%q: comments %q, now %q", text, words, got)
		}
		after := decode(j.root).(map[string]any)
		for name, v := range before.(map[string]any) {
			if name != "mcpServers" && name != hooksAt && !reflect.DeepEqual(after[name], v) {
				t.Fatalf("%q: %s was %v and is %v", text, name, v, after[name])
			}
		}
	})
}
