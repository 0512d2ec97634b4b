package commands

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/wait"

	"github.com/google/go-cmp/cmp"
)

// composeFiles are process-compose files of public projects, rewritten to run harmless commands,
// with process-compose's results for them.
var composeFiles = []struct {
	name    string
	ran     []string // lines written by the processes
	before  [][2]string
	states  map[string]string // running, ready or the exit code
	notice  string
	refused string
}{
	{
		name:   "espresso-network",
		ran:    []string{"deploy-contracts <>", "fund-builder http://localhost:PORT/api", "l1-network", "sequencer k0"},
		before: [][2]string{{"l1-network", "deploy-contracts"}, {"deploy-contracts", "sequencer"}, {"sequencer", "fund-builder"}},
		states: map[string]string{"l1-network": "ready", "deploy-contracts": "0", "sequencer": "ready", "fund-builder": "0"},
		notice: "line 5, column 1: unknown key \"availability\" is not used",
	},
	{
		name:   "izanami",
		ran:    []string{"Backend on a terminal", "Containers", "Frontend"},
		before: [][2]string{{"Containers", "Backend"}, {"Backend", "Frontend"}},
		states: map[string]string{"Containers": "ready", "Backend": "ready", "Frontend": "0"},
		notice: "line 20, column 7: command of shutdown of Containers is not used",
	},
	{
		name:   "osrd",
		ran:    []string{"core in core", "editoast migrates", "editoast serves 8090 false none", "front builds"},
		before: [][2]string{{"editoast migrates", "editoast serves"}},
		states: map[string]string{"core": "0", "editoast": "0", "front": "3"},
	},
	{
		name:   "slacklinker",
		ran:    []string{"postgres", "postgres_init"},
		before: [][2]string{{"postgres", "postgres_init"}},
		states: map[string]string{"postgres": "ready", "postgres_init": "0"},
		notice: "line 7, column 5: log_configuration of postgres is not used",
	},
	{
		name:   "umweltmonitoring",
		ran:    []string{"backend", "caddy", "db", "db-explorer --url postgres://u:p@localhost:5432/umwelt"},
		before: [][2]string{{"db", "backend"}, {"backend", "db-explorer"}},
		states: map[string]string{"db": "ready", "caddy": "running", "backend": "ready", "db-explorer": "0", "cron": "0"},
	},
	{
		name:   "thegent",
		ran:    []string{"autosync", "server 3847 0 4 0", "worker-pool"},
		before: [][2]string{{"server", "worker-pool"}, {"worker-pool", "autosync"}},
		states: map[string]string{"server": "ready", "worker-pool": "143", "autosync": "0"},
		notice: "line 15, column 5: args of server is not used",
	},
	{
		name:   "pgman-proxy",
		ran:    []string{"builder --token dev-token ..", "network", "node-a", "report", "workload"},
		before: [][2]string{{"network", "builder"}, {"builder", "node-a"}, {"node-a", "workload"}, {"workload", "report"}},
		states: map[string]string{"network": "0", "builder": "0", "node-a": "ready", "node-b": "running", "workload": "7", "report": "0"},
		notice: "line 4, column 1: unknown key \"shutdown\" is not used",
	},

	{
		name:   "process-compose",
		ran:    []string{"_process2", "process0"},
		states: map[string]string{"process0": "0", "_process2": "0"},
		notice: `line 28, column 5: "server" is left out: command has a template`,
	},
	{name: "ramekin", refused: "line 3, column 1: extends compose/base.yaml"},
	{name: "intuition-core", refused: "line 10, column 5: is_daemon"},
}

func TestPublicProcessComposeFilesRunAsInProcessComposeOrAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range composeFiles {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env, dir := harness.Stage(t)
			ran := filepath.Join(dir, "ran")
			env = append(env, "RAN="+ran)
			writeComposeProject(t, dir, c.name, serveProbes(t, dir))
			_, stderr, status := harness.Run(t, env, dir, "up")
			if c.refused != "" {
				if _, err := os.Stat(ran); status != 1 || !strings.Contains(stderr, c.refused) || err == nil {
					t.Errorf("status %d, %s", status, stderr)
				}
				return
			}
			if (status != 0) != strings.Contains(stderr, " is left out: ") {
				t.Errorf("status %d, %s", status, stderr)
			}
			if !strings.Contains(stderr, c.notice) {
				t.Errorf("want %q in\n%s", c.notice, stderr)
			}
			wait.Poll(t, "the processes", func() (string, bool) {
				diff := cmp.Diff(c.states, composeStates(t, env, dir))
				return diff, diff == ""
			})
			checkComposeRan(t, ran, c.ran, c.before)
		})
	}
}

// serveProbes answers the files' HTTP probes until the test ends, and returns its port. A probe
// succeeds once a process has written its file in dir.
func serveProbes(t *testing.T, dir string) (port string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, err := os.Stat(filepath.Join(dir, filepath.Clean(r.URL.Path))); {
		case err != nil:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") == "Bearer dev-token":
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(server.Close)
	return strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
}

// writeComposeProject creates a folder with a file of testdata and its dependencies.
func writeComposeProject(t *testing.T, dir, name, port string) {
	text, err := os.ReadFile("testdata/process-compose/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"process-compose.yaml": string(text),
		".env":                 "PORT=" + port + "\nFEE_CONTRACT=0x1\nTOKEN_CONTRACT=0x2\nDEMO_KEY=k0\nOSRD_PATH=" + dir + "/osrd\n",
		"start-db.sh":          "#!/bin/sh\necho postgres >> $RAN; mkdir -p db; touch db/ready; exec sleep 1000\n",
		"setup-db.sh":          "#!/bin/sh\necho postgres_init >> $RAN\n",
		"osrd/core/x":          "",
		"osrd/editoast/x":      "",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := harness.WriteExecutable(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// composeStates returns the state of each process: running, ready or an exit code.
func composeStates(t *testing.T, env []string, dir string) map[string]string {
	stdout, stderr, _ := harness.Run(t, env, dir, "ls", "-a", "--json")
	var list []api.Process
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	states := map[string]string{}
	for _, p := range list {
		switch {
		case p.ExitCode != nil:
			states[p.Name] = strconv.Itoa(*p.ExitCode)
		case p.Supervision != nil && p.Supervision.Ready != nil && *p.Supervision.Ready:
			states[p.Name] = "ready"
		default:
			states[p.Name] = string(p.State)
		}
	}
	return states
}

// checkComposeRan compares the written lines, and the order of some pairs.
func checkComposeRan(t *testing.T, path string, want []string, before [][2]string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(lines))); diff != "" {
		t.Error(diff)
	}
	at := func(start string) int {
		return slices.IndexFunc(lines, func(line string) bool { return line == start || strings.HasPrefix(line, start+" ") })
	}
	for _, pair := range before {
		if at(pair[0]) > at(pair[1]) {
			t.Errorf("%s came after %s: %q", pair[0], pair[1], lines)
		}
	}
}
