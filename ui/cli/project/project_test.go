package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// parse parses text as a file called name in a new folder.
func parse(t *testing.T, name, text string) (*File, error) {
	t.Helper()
	return Parse(filepath.Join(t.TempDir(), name), []byte(text), func(name string) string {
		return map[string]string{"HOME": "/home/me", "GREETING": "hello"}[name]
	})
}

func mustParse(t *testing.T, name, text string) *File {
	t.Helper()
	f, err := parse(t, name, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const whole = `
name: shop
env: {LEVEL: debug, "NUMBER": 010}
sessions:
  shell:
  editor: nvim .
  tests:
    command: [go, test, "${GREETING}"]
    cwd: sub
processes:
  db: &base
    command: postgres -D data
    keep_alive: true
    ready: {port: 5432, timeout: 10s}
    stop_signal: INT
    stdin: none
    stop_timeout: 500ms
    log_limit: 1MB
  migrate:
    command: ./migrate
    depends_on: [db]
  web:
    command: |
      set -e
      ./web
    cwd: ~/web
    env:
      - PORT=80
      - HELLO=${GREETING}, ${NOBODY:-you} $$5
    restart: {policy: on-failure, max: 5, delay: 1, success_codes: [3]}
    depends_on:
      db: healthy
      migrate: {condition: process_completed_successfully}
    split_log: true
  worker:
    <<: *base
    command: ./worker
    autostart: false
    restart: always
layout:
  - beside:
      - editor
      - below: [shell, tests]
    sizes: [60, 40]
`

func TestTandemFileSetsAllFieldsOfAnEntry(t *testing.T) {
	f := mustParse(t, "tandem.yaml", whole)
	dir := filepath.Dir(f.Path)
	env := []Variable{{"LEVEL", "debug"}, {"NUMBER", "010"}}
	db := api.ProcessStartInput{Name: "db", Command: shellArgv("postgres -D data"), CWD: dir, KeepAlive: true,
		Ready: &api.Readiness{Port: 5432, TimeoutMS: 10_000}, StopSignal: "INT", StopTimeoutMS: 500, LogLimit: 1 << 20, NoStdin: true}
	worker := db
	worker.Name, worker.Command, worker.Restart = "worker", shellArgv("./worker"), &api.Restart{Policy: api.PolicyAlways}
	want := []Entry{
		{Name: "shell", Start: api.ProcessStartInput{Name: "shell", TTY: true, CWD: dir}, Env: env, Session: true},
		{Name: "editor", Start: api.ProcessStartInput{Name: "editor", TTY: true, CWD: dir, Command: shellArgv("nvim .")}, Env: env, Session: true},
		{Name: "tests", Start: api.ProcessStartInput{Name: "tests", TTY: true, CWD: dir + "/sub", Command: []string{"go", "test", "hello"}}, Env: env, Session: true},
		{Name: "db", Start: db, Env: env},
		{Name: "migrate", Start: api.ProcessStartInput{Name: "migrate", CWD: dir, Command: shellArgv("./migrate")}, Env: env,
			After: []Dependency{{Name: "db", Condition: api.ConditionReady}}},
		{Name: "web", Start: api.ProcessStartInput{Name: "web", CWD: "/home/me/web", Command: shellArgv("set -e\n./web"), SplitLog: true,
			Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 5, DelayMS: 1000, SuccessCodes: []int{3}}},
			Env:   append(env[:2:2], Variable{"PORT", "80"}, Variable{"HELLO", "hello, you $5"}),
			After: []Dependency{{Name: "db", Condition: api.ConditionReady}, {Name: "migrate", Condition: api.ConditionSucceeded}}},
		{Name: "worker", Start: worker, Env: env, Manual: true},
	}
	ignorePlaces := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore())
	if diff := cmp.Diff(want, f.Entries, ignorePlaces); diff != "" {
		t.Error(diff)
	}
	layout := []Pane{{Beside: true, Sizes: []int{60, 40}, Panes: []Pane{{Session: "editor"}, {Panes: []Pane{{Session: "shell"}, {Session: "tests"}}}}}}
	if diff := cmp.Diff(layout, f.Layout, ignorePlaces); diff != "" {
		t.Error(diff)
	}
	if f.Name != "shop" {
		t.Errorf("the project is %q", f.Name)
	}
}

func TestOrderPutsDependenciesFirst(t *testing.T) {
	f := mustParse(t, "tandem.yaml", "processes:\n  c: {command: c, depends_on: [b, a]}\n  a: a\n  b: {command: b, depends_on: [a]}\n"+
		"  m: {command: m, autostart: false, depends_on: [a]}\n")
	for want, names := range map[string][]string{"a b c": nil, "a b": {"b"}, "a m": {"m"}, "a": {"a"}} {
		order, err := f.Order(names)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range order {
			got = append(got, e.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %v, want %s", names, got, want)
		}
	}
	if _, err := f.Order([]string{"x"}); err == nil {
		t.Error("an unknown name is accepted")
	}
}

func TestParseErrorsHavePositions(t *testing.T) {
	for text, says := range map[string]string{
		"processes:\n  a:\n    comand: x\n":                                                  `line 3, column 5: a process has no key "comand"`,
		"processes:\n  a: {command: x, depends_on: [bb]}\n  b: x":                            "line 2, column 32: a depends on bb, which is not in the file",
		"processes:\n  a: {command: x, 1: y}":                                                `line 2, column 19: a process has no key "1"`,
		"processes:\n  a: {command: x, restart: sometimes}":                                  `line 2, column 19: unknown restart policy "sometimes"`,
		"processes:\n  a: {command: x, depends_on: [b]}\n  b: {command: x, depends_on: [a]}": "line 2, column 3: these wait for each other: a → b → a",
		"processes:\n  a: {command: x, depends_on: [a]}":                                     "these wait for each other: a → a",
		"processes:\n  a: x\nsessions:\n  a: x":                                              "line 4, column 3: a already exists, on line 2",
		"processes:\n  a: [x\n":                                                              "line 2",
		"processes:\n  a: x\n  a: y":                                                         "line 3, column 3",
		"":                                                                                   "it is empty",
		"- a":                                                                                "line 1, column 1: the file must hold keys with values",
		"name: x":                                                                            "it has no sessions or processes",
		"processes:\n  a: {cwd: x}":                                                          "line 2, column 3: process a has no command",
		"processes:\n  a: {command: x, ready: {port: 70000}}":                                "port must be a whole number from 1 to 65535",
		"processes:\n  a: {command: x, ready: {port: 0}}":                                    "port must be a whole number from 1 to 65535",
		"processes:\n\ta: x":                                                                 "line 2, column 1: a tab cannot indent a line",
		"processes:\n  a: {command: x, ready: {log: '('}}":                                   "log: error parsing regexp",
		"processes:\n  a: {command: x, ready: {timeout: 3s}}":                                "ready has no condition",
		"processes:\n  a: {command: x, env_file: none.env}":                                  "none.env: no such file",
		"processes:\n  a: {command: x, env: {A B: c}}":                                       `"A B" is not a valid variable name`,
		"processes:\n  a: {command: x, cwd: '${HOME'}":                                       "a ${ has no }",
		"processes:\n  a: *nobody":                                                           "no anchor &nobody",
		"processes: &a\n  <<: *a\n":                                                          "line",
		"sessions:\n  a: x\nlayout: [b]":                                                     "line 3, column 10: layout: unknown session b",
		"processes:\n  a: x\nlayout: [a]":                                                    "layout: a is a process without a terminal",
		"sessions:\n  a: x\nlayout: [a, {beside: [a]}]":                                      "layout: a has two panes",
		"sessions:\n  a: x\n  b: x\nlayout: {beside: [a, b], sizes: [1]}":                    "2 panes but sizes for 1",
		"sessions:\n  a: {command: x, tty: true}":                                            `a session has no key "tty"`,
		"processes:\n  0123456789ab: x":                                                      `line 2, column 3: "0123456789ab" is left out: a name must not look like an id`,
		"processes:\n  \"tab\\tx\": x":                                                       `line 2, column 3: "tab\tx" is left out: a name must consist of visible characters`,
		"processes:\n  " + strings.Repeat("a", 300) + ": x":                                  `line 2, column 3: "` + strings.Repeat("a", 40) + `…" is left out: a name must have at most 56 characters`,
		"processes:\n  a: {command: x, ready: {http: 'localhost:80'}}":                       `http: "localhost:80" is not a valid address`,
		"processes:\n  a: {command: x, stdin: open}":                                         `unknown stdin "open"`,
		"processes:\n  a: {command: x, stdin: none, tty: true}":                              `a session reads its terminal; stdin cannot be used with tty`,
		"processes:\n  a: {command: x, stop_signal: FOO}":                                    `line 2, column 19: stop_signal: unknown signal "FOO"`,
		"processes:\n  a: {command: x, depends_on: a}":                                       "these wait for each other: a → a",
		"processes:\n  a: x\n---\nprocesses:\n  b: x":                                        "must be one YAML document",
	} {
		err := firstMistake(parse(t, "tandem.yaml", text))
		var mistake *Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}

func TestValuesStayAsWrittenAndOwnKeysOverrideMergedOnes(t *testing.T) {
	f := mustParse(t, "tandem.yaml", `
x-web: &web {command: web, cwd: web, env: {VERSION: 1.10, ID: 010, ON: yes}}
x-slow: &slow {command: slow, stop_timeout: 20}
processes:
  after:
    command: own
    <<: *web
  before:
    <<: [*web, *slow]
    command: own
`)
	env := []Variable{{"VERSION", "1.10"}, {"ID", "010"}, {"ON", "yes"}}
	for i, name := range []string{"after", "before"} {
		want := Entry{Name: name, Env: env, Start: api.ProcessStartInput{Name: name, Command: shellArgv("own"), CWD: filepath.Dir(f.Path) + "/web", StopTimeoutMS: 20_000 * i}}
		if diff := cmp.Diff(&want, f.Entry(name), ignorePositions()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMistypedKeyGetsASuggestion(t *testing.T) {
	_, err := parse(t, "tandem.yaml", "processes:\n  a: {command: x, keepalive: true}")
	var mistake *Error
	if !errors.As(err, &mistake) || mistake.Hint != "did you mean keep_alive?" {
		t.Errorf("%v, %#v", err, mistake)
	}
}

func TestMistypedNameGetsASuggestion(t *testing.T) {
	_, err := mustParse(t, "Procfile", "web: x\nworker: y\n").Order([]string{"wokrer"})
	if err == nil || !strings.HasSuffix(err.Error(), "did you mean worker?") {
		t.Error(err)
	}
}

func TestByteOrderMarkIsSkipped(t *testing.T) {
	for name, text := range map[string]string{
		"tandem.yaml": "processes:\n  web: {command: [x]}\n", "process-compose.yaml": "processes:\n  web: {command: x}\n", "Procfile": "web: x\n",
	} {
		if f := mustParse(t, name, "\ufeff"+text); len(f.Entries) != 1 || f.Entries[0].Name != "web" {
			t.Errorf("%s: %+v", name, f.Entries)
		}
	}
}

func TestProcfileGivesEveryProcessAPort(t *testing.T) {
	f := mustParse(t, "Procfile", "# all of it\nweb: bundle exec puma -p $PORT\n\nworker:  rake jobs:work\n")
	dir := filepath.Dir(f.Path)
	want := []Entry{
		{Name: "web", At: Position{2, 1}, Start: api.ProcessStartInput{Name: "web", CWD: dir, Command: shellArgv("bundle exec puma -p $PORT")}, Env: []Variable{{"PORT", "5000"}}},
		{Name: "worker", At: Position{4, 1}, Start: api.ProcessStartInput{Name: "worker", CWD: dir, Command: shellArgv("rake jobs:work")}, Env: []Variable{{"PORT", "5100"}}},
	}
	if diff := cmp.Diff(want, f.Entries); diff != "" {
		t.Error(diff)
	}
	if err := firstMistake(parse(t, "Procfile", "web: x\nnothing\n")); err == nil || !strings.Contains(err.Error(), "line 2, column 1: must be NAME: COMMAND") {
		t.Error(err)
	}
}

func TestComposeFileIsParsed(t *testing.T) {
	f := mustParse(t, "process-compose.yaml", `
version: "0.5"
log_location: /tmp/all.log
environment: ["LEVEL=debug"]
processes:
  db:
    command: "postgres $$PGDATA"
    working_dir: data
    availability: {restart: on_failure, backoff_seconds: 2, max_restarts: 5}
    readiness_probe:
      exec: {command: pg_isready}
      initial_delay_seconds: 1
    shutdown: {signal: 2, timeout_seconds: 4}
    log_location: db.log
  migrate:
    command: migrate
    depends_on: {db: {condition: process_healthy}}
  web:
    command: web
    environment: [PORT=80]
    is_tty: true
    readiness_probe: {http_get: {host: localhost, scheme: http, path: /up, port: 80}}
    depends_on: {migrate: {condition: process_completed_successfully}}
    namespace: front
  logger:
    command: log
    ready_log_line: "started (ok)"
    disabled: true
`)
	dir := filepath.Dir(f.Path)
	level := Variable{"LEVEL", "debug"}
	want := []Entry{
		{Name: "db", Env: composeEnv("db", level), Start: api.ProcessStartInput{Name: "db", Command: bash("postgres $PGDATA"), CWD: dir + "/data",
			Restart: &api.Restart{Policy: api.PolicyOnFailure, DelayMS: 2000, FixedDelay: true, Max: 5}, Ready: &api.Readiness{Command: bash("pg_isready")},
			StopSignal: "2", StopTimeoutMS: 4000}},
		{Name: "migrate", Env: composeEnv("migrate", level), Start: api.ProcessStartInput{Name: "migrate", Command: bash("migrate"), CWD: dir}, After: []Dependency{{Name: "db", Condition: api.ConditionReady}}},
		{Name: "web", Env: composeEnv("web", level, Variable{"PORT", "80"}), Start: api.ProcessStartInput{Name: "web", Command: bash("web"), CWD: dir, TTY: true,
			Ready: &api.Readiness{HTTP: "http://localhost:80/up"}}, After: []Dependency{{Name: "migrate", Condition: api.ConditionSucceeded}}},
		{Name: "logger", Env: composeEnv("logger", level), Start: api.ProcessStartInput{Name: "logger", Command: bash("log"), CWD: dir, Ready: &api.Readiness{Log: `started \(ok\)`}}, Manual: true},
	}
	if diff := cmp.Diff(want, f.Entries, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"line 3, column 1: log_location is not used",
		"line 12, column 7: only the sum of the times and thresholds of probes is used: as the timeout, if it is more than 60s",
		"line 14, column 5: log_location of db is not used",
		"line 24, column 5: namespace of web is not used",
	}, f.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestParseEnvSupportsShellQuoting(t *testing.T) {
	got, err := parseEnv(".env", []byte("\ufeff# first\nA=1\nexport B = two words # not this\nC='it is $5 \\n'\nD=\"a\\n\\\"b\\\"\nnext\" # c\n\nE=\nF=a#b\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"A", "1"}, {"B", "two words"}, {"C", "it is $5 \\n"}, {"D", "a\n\"b\"\nnext"}, {"E", ""}, {"F", "a#b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, says := range map[string]string{
		"A=1\nnothing":  "line 2, column 1: must be NAME=VALUE",
		"A=1\n\nB='x\n": "line 3, column 1: the quote is not closed",
		"A='x' y":       "text after the closing quote",
		"1A=x":          "must be NAME=VALUE",
	} {
		if _, err := parseEnv(".env", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestProjectFileOverridesEnvironmentFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".env"), "A=file\nB=file\n")
	write(t, filepath.Join(dir, "own.env"), "B=own\nC=own\n")
	path := filepath.Join(dir, "tandem.yaml")
	write(t, path, "env_file: .env\nenv: {A: env, Z: '${B}'}\nprocesses:\n  p: {command: x, env_file: [own.env, -missing.env], env: {C: env}}\n")
	f, err := Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range f.Entries[0].Env {
		got[v.Name] = v.Value
	}
	if diff := cmp.Diff(map[string]string{"A": "env", "B": "own", "C": "env", "Z": "file"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFindReturnsTheNearestFileAbove(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "Procfile"), "web: x")
	if got, err := Find(below); err != nil || got != filepath.Join(dir, "Procfile") {
		t.Errorf("%s, %v", got, err)
	}
	write(t, filepath.Join(dir, "tandem.yaml"), "processes: {web: x}")
	if got, err := Find(below); err != nil || got != filepath.Join(dir, "tandem.yaml") {
		t.Errorf("%s, %v", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAliasesOfAliasesHaveBoundedCost(t *testing.T) {
	text := "env: &a {A: b}\nprocesses:\n"
	for i := range 40 {
		text += "  p" + strings.Repeat("x", i) + ": &n" + strings.Repeat("x", i) + "\n    command: x\n"
		if i > 0 {
			alias := "*n" + strings.Repeat("x", i-1)
			text += "    <<: [" + alias + ", " + alias + "]\n"
		}
	}
	if _, err := parse(t, "tandem.yaml", text); err == nil || !strings.Contains(err.Error(), "too large once its aliases are filled in") {
		t.Error(err)
	}
}

func TestSelfReferencingYAMLMergeIsRejectedWithinTwiceTheNodeBudget(t *testing.T) {
	for _, merge := range []string{"*a", "[*a, *a]"} {
		text := "processes: &a\n  <<: " + merge + "\n"
		for i := range 30 {
			text += fmt.Sprintf("  p%d: x\n", i)
		}
		r := &reader{file: &File{Path: "/p/tandem.yaml"}, budget: maxNodes}
		r.readYAML([]byte(text))
		if r.err == nil || !strings.Contains(r.err.Error(), "line 2, column 3: it is too large once its aliases are filled in") {
			t.Error(r.err)
		}
		if r.budget < -maxNodes {
			t.Errorf("%s: looked at %d more nodes after running out", merge, -r.budget)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("tandem.yaml", whole)
	f.Add("Procfile", "web: x\n")
	f.Add("process-compose.yaml", "processes: {a: {command: x, readiness_probe: {http_get: {port: 1}}}}")
	f.Add("tandem.yaml", "processes: &a\n  <<: *a\n")
	f.Add("tandem.yaml", "? - - - -")
	f.Add("tandem.yaml", monorepo)
	f.Add("process-compose.yaml", composed)
	f.Add("package.json", packageText)
	f.Add("package.json", `{"scripts":{"\"":"","a":"b","a":"c"},"scripts":null}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, text string) {
		switch name {
		case "tandem.yaml", "Procfile", "process-compose.yaml", "package.json":
		default:
			name = "tandem.yaml"
		}
		file, err := Parse(filepath.Join(dir, name), []byte(text), nil)
		if err != nil {
			return
		}
		order, err := file.Order(nil)
		if err != nil || len(order) > len(file.Entries) {
			t.Errorf("order %v, %v", order, err)
		}
	})
}

func FuzzParseEnv(f *testing.F) {
	f.Add([]byte("A=1\nB=\"x\ny\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		vars, err := parseEnv(".env", text)
		for _, v := range vars {
			if err == nil && !syntax.ValidName(v.Name) {
				t.Errorf("%q is not a valid name", v.Name)
			}
		}
	})
}
