package project

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

// monorepo is a realistic file with most features.
const monorepo = `# The whole shop on one machine.
name: shop
x-node: &node            # what all of Node share
  cwd: web
  env_file: web/.env.local
  restart: {policy: on-failure, max: 3}
  stop_signal: SIGINT

env_file: [.env, -.env.local]
env:
  DATABASE_URL: "postgres://${PGUSER:-shop}@localhost:${PGPORT}/shop"
  PRICE: "5$$"

processes:
  postgres:
    command: postgres -D "$PGDATA"
    ready: {command: pg_isready -q, timeout: 30}
    stop_signal: INT
    stop_timeout: 20s
  migrate: {command: [./bin/migrate, "${PRICE}"], depends_on: postgres}
  web:
    <<: *node
    command: npm run dev
    env: {PORT: 3000}
    ready: {http: "http://localhost:3000/health", log: 'ready in \d+ ms'}
    depends_on: {migrate: completed_successfully}
  docs:
    <<: *node
    command: npm run docs
    autostart: false

sessions:
  shell:
`

func TestRealisticTandemFileIsParsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".env"), "PGPORT=5433\n# a comment\nexport TOKEN='a $b'\n")
	write(t, filepath.Join(dir, "web/.env.local"), "PORT=1\nVITE_KEY=\"x y\" # quoted\n")
	write(t, filepath.Join(dir, "tandem.yaml"), monorepo)
	f, err := Read(filepath.Join(dir, "tandem.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	shared := []Variable{{"PGPORT", "5433"}, {"TOKEN", "a $b"}, {"DATABASE_URL", "postgres://shop@localhost:5433/shop"}, {"PRICE", "5$"}}
	local := []Variable{{"PORT", "1"}, {"VITE_KEY", "x y"}}
	again := &api.Restart{Policy: api.PolicyOnFailure, Max: 3}
	want := []Entry{
		{Name: "postgres", Env: shared, Start: api.ProcessStartInput{Name: "postgres", Command: shellArgv(`postgres -D "$PGDATA"`), CWD: dir,
			Ready: &api.Readiness{Command: shellArgv("pg_isready -q"), TimeoutMS: 30000}, StopSignal: "INT", StopTimeoutMS: 20000}},
		{Name: "migrate", Env: shared, Start: api.ProcessStartInput{Name: "migrate", Command: []string{"./bin/migrate", "5$"}, CWD: dir},
			After: []Dependency{{Name: "postgres", Condition: api.ConditionReady}}},
		{Name: "web", Env: append(append(append([]Variable{}, shared...), local...), Variable{"PORT", "3000"}),
			Start: api.ProcessStartInput{Name: "web", Command: shellArgv("npm run dev"), CWD: dir + "/web", Restart: again, StopSignal: "SIGINT",
				Ready: &api.Readiness{HTTP: "http://localhost:3000/health", Log: `ready in \d+ ms`}},
			After: []Dependency{{Name: "migrate", Condition: api.ConditionSucceeded}}},
		{Name: "docs", Env: append(append([]Variable{}, shared...), local...), Manual: true,
			Start: api.ProcessStartInput{Name: "docs", Command: shellArgv("npm run docs"), CWD: dir + "/web", Restart: again, StopSignal: "SIGINT"}},
		{Name: "shell", Env: shared, Start: api.ProcessStartInput{Name: "shell", CWD: dir, TTY: true}, Session: true},
	}
	if diff := cmp.Diff(want, f.Entries, ignorePositions()); diff != "" {
		t.Error(diff)
	}
	if len(f.Notices) > 0 {
		t.Errorf("notices: %v", f.Notices)
	}
}

// ignorePositions ignores positions in a comparison.
func ignorePositions() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore())
}

const composed = `version: "0.5"
vars: {STAGE: dev}
log_level: debug
shell: {shell_command: bash, shell_argument: -lc}
environment:
  - "PATH=$HOME/bin:$PATH"
  - 'COST=5$$'
processes:
  api:
    description: what everything asks
    command: "exec ./api --stage ${STAGE:-dev} --pid $$$$ $LEVEL"
    working_dir: $HOME/api
    namespace: back
    availability: {restart: always, exit_on_skipped: true}
    readiness_probe:
      http_get: {host: 127.0.0.1, scheme: http, path: /up, port: "${PORT:-80}", headers: {A: b}}
      period_seconds: 10
      failure_threshold: 30
    shutdown: {command: ./drain, signal: 15, timeout_seconds: 10}
    liveness_probe: {exec: {command: "true"}}
  seed:
    command: ./seed
    disabled: true
    depends_on: {api: {condition: process_healthy}}
  menu: {command: ./menu, is_foreground: true}
`

func TestUnusedComposeKeysAreReported(t *testing.T) {
	dir := t.TempDir()
	f, err := Parse(filepath.Join(dir, "process-compose.yaml"), []byte(composed), func(name string) string {
		return map[string]string{"HOME": "/home/me", "PATH": "/bin"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) []Variable {
		return composeEnv(name, Variable{"PATH", "/home/me/bin:/bin"}, Variable{"COST", "5$"})
	}
	login := func(line string) []string { return []string{"bash", "-lc", line} }
	want := []Entry{
		{Name: "api", Env: env("api"), Start: api.ProcessStartInput{Name: "api", Command: login("exec ./api --stage dev --pid $$ $LEVEL"), CWD: "/home/me/api",
			Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 1000, FixedDelay: true}, Ready: &api.Readiness{HTTP: "http://127.0.0.1:80/up", TimeoutMS: 300_000, HTTPHeaders: map[string]string{"A": "b"}},
			StopSignal: "15", StopTimeoutMS: 10_000}},
		{Name: "seed", Env: env("seed"), Start: api.ProcessStartInput{Name: "seed", Command: login("./seed"), CWD: dir}, Manual: true,
			After: []Dependency{{Name: "api", Condition: api.ConditionReady}}},
		{Name: "menu", Env: env("menu"), Start: api.ProcessStartInput{Name: "menu", Command: login("./menu"), CWD: dir, TTY: true}, Manual: true},
	}
	if diff := cmp.Diff(want, f.Entries, ignorePositions()); diff != "" {
		t.Error(diff)
	}
	told := []string{
		"line 2, column 1: vars is not used",
		"line 3, column 1: log_level is not used",
		"line 13, column 5: namespace of api is not used",
		"line 14, column 37: exit_on_skipped of availability of api is not used",
		"line 18, column 7: only the sum of the times and thresholds of probes is used: as the timeout, if it is more than 60s",
		"line 19, column 16: command of shutdown of api is not used",
		"line 20, column 5: liveness_probe of api is not used",
	}
	if diff := cmp.Diff(told, f.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestComposeFileCanDisableExpansion(t *testing.T) {
	f := mustParse(t, "process-compose.yaml", "processes:\n  a: {command: 'echo $$ ${X}', environment: ['A=$HOME']}\ndisable_env_expansion: true\n")
	if got := f.Entries[0].Start.Command[2]; got != "echo $$ ${X}" {
		t.Errorf("the command is %s", got)
	}
	if diff := cmp.Diff(composeEnv("a", Variable{"A", "$HOME"}), f.Entries[0].Env); diff != "" {
		t.Error(diff)
	}
}

func TestLongVariableNameIsExpandedInLinearTime(t *testing.T) {
	name := make([]byte, 1<<20)
	for i := range name {
		name[i] = 'a'
	}
	if s, err := expand("$"+string(name), true, func(string) string { return "x" }); s != "x" || err != nil {
		t.Errorf("%.20s, %v", s, err)
	}
}
