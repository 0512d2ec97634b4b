package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

func bash(line string) []string { return []string{"bash", "-c", line} }

// composeEnv returns the environment of a process of a process-compose file.
func composeEnv(name string, more ...Variable) []Variable {
	return append([]Variable{{"PC_PROC_NAME", name}, {"PC_REPLICA_NUM", "0"}}, more...)
}

func parseCompose(t *testing.T, text string) *File {
	t.Helper()
	return mustParse(t, "process-compose.yaml", text)
}

func TestComposeShellComesFromTheFileOrTheEnvironment(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"COMPOSE_SHELL": "zsh"}[name] }
	for text, want := range map[string][]string{
		"processes: {a: {command: x}}":                                                      {"zsh", "-c", "x"},
		"shell: {shell_command: fish}\nprocesses: {a: {command: x}}":                        {"fish", "-c", "x"},
		"shell: {shell_command: python3, shell_argument: -m}\nprocesses: {a: {command: x}}": {"python3", "-m", "x"},
		"processes: {a: {entrypoint: [x, y]}}":                                              {"x", "y"},
		"processes: {a: {entrypoint: [x, y], command: z}}":                                  {"zsh", "-c", "z"},
		"processes: {a: {command: z, entrypoint: [x, y]}}":                                  {"zsh", "-c", "z"},
		"processes: {a: {command: 'docker ps {{.ID}}', is_template_disabled: true}}":        {"zsh", "-c", "docker ps {{.ID}}"},
		"processes: {a: {command: 'i=1; echo $i $$HOME ${HOME} ${NONE:-d} $(id) $? $$$$'}}": {"zsh", "-c", "i=1; echo $i $HOME  d $(id) $? $$"},
	} {
		f, err := Parse("/p/process-compose.yaml", []byte(text), getenv)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, f.Entries[0].Start.Command); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestComposeEnvironmentKeepsItsPrecedence(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".env"), "A=dotenv\nB=dotenv\nN=7\n")
	write(t, filepath.Join(dir, ".local"), "A=wrong\n")
	write(t, filepath.Join(dir, "sub", ".local"), "C=own\n")
	f, err := Parse(filepath.Join(dir, "compose.yaml"), []byte(`
environment: ['D=shared ${A}', 'E=${D}', 'P=pa$$s $sword $N']
processes:
  a: {command: 'x', env_file: .local, working_dir: sub, environment: [D=last], availability: {restart: always, backoff_seconds: "${N}"}}
  b: {command: 'x ${A} ${B}', is_dotenv_disabled: true, disabled: "${OFF:-true}"}
`), func(name string) string { return map[string]string{"B": "caller"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	shared := []Variable{{"D", "shared dotenv"}, {"E", ""}, {"P", "pa$s $sword 7"}}
	dotenv := []Variable{{"A", "dotenv"}, {"B", "caller"}, {"N", "7"}}
	want := []Entry{
		{Name: "a", Env: composeEnv("a", append(append(dotenv, shared...), Variable{"C", "own"}, Variable{"D", "last"})...),
			Start: api.ProcessStartInput{Name: "a", Command: bash("x"), CWD: dir + "/sub", Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 7000, FixedDelay: true}}},
		{Name: "b", Env: composeEnv("b", shared...), Manual: true, Start: api.ProcessStartInput{Name: "b", Command: bash("x dotenv dotenv"), CWD: dir}},
	}
	if diff := cmp.Diff(want, f.Entries, ignorePositions()); diff != "" {
		t.Error(diff)
	}
}

func TestComposeConditionsMatchProcessCompose(t *testing.T) {
	f := parseCompose(t, `processes:
  probed: {command: x, readiness_probe: {exec: {command: y}}}
  says: {command: x, ready_log_line: up}
  a:
    command: x
    depends_on: {probed: {}, says: {condition: process_log_ready}}
  b:
    command: x
    depends_on:
      probed:
      says: {condition: process_started}
`)
	want := map[string][]Dependency{
		"a": {{Name: "probed", Condition: api.ConditionCompleted}, {Name: "says", Condition: api.ConditionReady}},
		"b": {{Name: "probed", Condition: api.ConditionCompleted}, {Name: "says", Condition: api.ConditionStarted}},
	}
	for name, after := range want {
		if diff := cmp.Diff(after, f.Entry(name).After, ignorePositions()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestComposeDisabledProcessesAreManual(t *testing.T) {
	f := parseCompose(t, `processes:
  on: {command: x, disabled: true, is_disabled: "false"}
  off: {command: x, is_disabled: "true", disabled: false}
  both: {command: x, disabled: true, is_foreground: false}
  nightly: {command: x, schedule: {cron: "0 2 * * *"}}
  often: {command: x, schedule: {interval: 30s}}
  now: {command: x, schedule: {interval: 30s, run_on_start: true}}
  tool: {command: x, mcp: {type: tool}}
  user: {command: x, depends_on: {nightly: {}, on: {}}}
`)
	var started []string
	order, err := f.Order(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range order {
		started = append(started, e.Name)
	}
	if diff := cmp.Diff([]string{"on", "now", "user"}, started); diff != "" {
		t.Error(diff)
	}
	if notices := strings.Join(f.Notices, "\n"); !strings.Contains(notices, "line 9, column 35: user does not wait for nightly") ||
		!strings.Contains(notices, "line 5, column 25: schedule of nightly is not used") {
		t.Errorf("notices:\n%s", notices)
	}
}

func TestComposeProbesBecomeReadinessChecks(t *testing.T) {
	f := parseCompose(t, `processes:
  web:
    command: x
    readiness_probe: {http_get: {num_port: 8080, path: up, status_code: 401, headers: {Host: app.test, X-Token: "5$$"}}}
  db:
    command: x
    working_dir: data
    readiness_probe: {exec: {command: pg_isready, working_dir: run}}
`)
	dir := filepath.Dir(f.Path)
	want := []*api.Readiness{
		{HTTP: "http://127.0.0.1:8080/up", HTTPStatus: 401, HTTPHeaders: map[string]string{"Host": "app.test", "X-Token": "5$"}},
		{Command: []string{"/bin/sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", dir + "/run", "bash", "-c", "pg_isready"}},
	}
	for i, e := range f.Entries {
		if diff := cmp.Diff(want[i], e.Start.Ready); diff != "" {
			t.Errorf("%s: %s", e.Name, diff)
		}
	}
}

func TestComposeRejectsKeysWithADifferentEffect(t *testing.T) {
	for text, says := range map[string]string{
		"processes:\n  a:\n    command: 'x {{.VAR}}'\n":                                                            "line 3, column 5: command has a template",
		"processes:\n  a:\n    command: x\n    environment: ['A={{.VAR}}']\n":                                      "line 4, column 19: environment has a template",
		"processes:\n  a:\n    command: x\n    environment: {A: '{{.VAR}}'}\n":                                     "line 4, column 19: A has a template",
		"environment: ['A={{.VAR}}']\nprocesses: {a: {command: x}}\n":                                              "line 1, column 15: environment has a template",
		"processes:\n  a: {command: x, working_dir: '{{.VAR}}'}\n":                                                 "line 2, column 19: working_dir has a template",
		"processes:\n  a: {command: x, readiness_probe: {exec: {command: '{{.VAR}}'}}}\n":                          "line 2, column 44: command has a template",
		"processes:\n  a: {command: x, readiness_probe: {http_get: {port: '80{{.N}}'}}}\n":                         "line 2, column 48: port has a template",
		"processes:\n  a: {command: 'x ${A%b}'}\n":                                                                 "line 2, column 7: command: ${A%b} is not supported",
		"processes:\n  a: {command: 'x ${A:-${B}}'}\n":                                                             "line 2, column 7: command: ${A:-${B} is not supported",
		"extends: base.yaml\nprocesses: {a: {command: x}}\n":                                                       "line 1, column 1: extends base.yaml",
		"processes:\n  a: {command: x}\n  b: {extends: a}\n":                                                       "line 3, column 7: extends a",
		"env_cmds: {A: date}\nprocesses: {a: {command: x}}\n":                                                      "line 1, column 1: env_cmds is not supported",
		"processes:\n  a: {command: x, replicas: 2}\n":                                                             "line 2, column 19: replicas is not supported",
		"processes:\n  a: {command: x, is_daemon: true}\n":                                                         "line 2, column 19: is_daemon",
		"processes:\n  a: {command: x, is_elevated: true}\n":                                                       "line 2, column 19: is_elevated",
		"processes:\n  a: {command: x, readiness_probe: {grpc: {port: 1}}}\n":                                      "line 2, column 37: grpc probes",
		"processes:\n  a: {command: x, command: y}\n":                                                              `line 2, column 19: the key "command" already exists, on line 2`,
		"processes:\n  a: {command: x}\n  a: {command: y}\n":                                                       `line 3, column 3: the key "a" already exists, on line 2`,
		"processes:\n  a: {command: x}\n  b: {command: x, depends_on: [a]}\n":                                      "line 3, column 19: depends_on must hold keys",
		"processes:\n  a: {command: x}\n  b: {command: x, depends_on: {a: {condition: healthy}}}\n":                `line 3, column 32: unknown condition "healthy"`,
		"processes:\n  a: {command: x}\n  b: {command: x, depends_on: {a: {condition: process_healthy}}}\n":        "line 3, column 32: b waits for a to be healthy, but a has no readiness_probe",
		"processes:\n  a: {command: x}\n  b: {command: x, depends_on: {a: {condition: process_log_ready}}}\n":      "line 3, column 32: b waits for a log line of a, but a has no ready_log_line",
		"processes:\n  a: {command: x, ready_log_line: y, readiness_probe: {exec: {command: z}}}\n":                "line 2, column 3: process a has a readiness_probe and a ready_log_line",
		"is_strict: true\nprocesses:\n  a: {comand: x}\n":                                                          `line 3, column 7: unknown key "comand"; did you mean command?`,
		"is_strict: true\nprocesses:\n  a: {command: x, disabled: true}\n  b: {command: x, depends_on: {a: {}}}\n": "line 4, column 32: b depends on a, which is disabled",
		"processes:\n  a: {command: x, environment: {A: [b]}}\n":                                                   "line 2, column 33: A must be a word",
	} {
		if err := firstMistake(parse(t, "process-compose.yaml", text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDuplicateKeysAreErrorsOnlyInUsedMappings(t *testing.T) {
	f := parseCompose(t, `availability:
  forever: &forever {restart: always}
  forever: &never {restart: "no"}
x-parts: {a: 1, a: 2}
processes:
  a: {command: x, availability: *forever, log_configuration: {rotation: {compress: true, compress: false}}}
  b: {command: x, availability: *never}
`)
	if r := f.Entries[0].Start.Restart; r.Policy != api.PolicyAlways {
		t.Errorf("a: %+v", r)
	}
	mustParse(t, "tandem.yaml", "x-parts: {a: 1, a: 2}\nprocesses: {a: x}\n")
	if _, err := parse(t, "tandem.yaml", "processes: {a: x, a: y}\n"); err == nil || !strings.Contains(err.Error(), `line 1, column 19: the key "a" already exists`) {
		t.Error(err)
	}
}

func TestUnknownComposeKeysAreReported(t *testing.T) {
	f := parseCompose(t, "log_levl: x\nprocesses: {a: {command: x, dependson: {}, x-own: 1}}\n")
	want := []string{
		`line 1, column 1: unknown key "log_levl" is not used; did you mean log_level?`,
		`line 2, column 29: unknown key "dependson" is not used; did you mean depends_on?`,
	}
	if diff := cmp.Diff(want, f.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestFindIgnoresComposeYAMLWithoutProcesses(t *testing.T) {
	dir := t.TempDir()
	docker := filepath.Join(dir, "compose.yaml")
	write(t, docker, "services:\n  web: {image: nginx}\n")
	write(t, filepath.Join(dir, "process-compose.yaml"), "processes: {a: {command: x}}")
	if got, err := Find(dir); err != nil || filepath.Base(got) != "process-compose.yaml" {
		t.Errorf("%s, %v", got, err)
	}
	write(t, docker, "version: '0.5'\nprocesses:\n  a: {command: x}\n")
	if got, err := Find(dir); err != nil || got != docker {
		t.Errorf("%s, %v", got, err)
	}
	if f, err := Read(docker, nil); err != nil || len(f.Entries[0].Env) == 0 {
		t.Errorf("compose.yaml was not read as process-compose: %v", err)
	}
}

func TestOverrideFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "process-compose.yaml")
	if err := CheckOverride(path); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "process-compose.override.yml"), "processes: {}")
	if err := CheckOverride(path); err == nil || !strings.Contains(err.Error(), "process-compose.override.yml changes this project") {
		t.Error(err)
	}
	if err := CheckOverride(filepath.Join(dir, "tandem.yaml")); err != nil {
		t.Error(err)
	}
}
