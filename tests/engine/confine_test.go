package engine

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/system/sandbox"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// startSandboxed starts a process allowed to reach one domain, and returns the URL of its proxy.
func (m *machine) startSandboxed(in api.ProcessStartInput) (api.Process, string) {
	m.Helper()
	in.Command = sh(`echo url $HTTP_PROXY; exec sleep 1000`)
	in.Sandbox = &api.Sandbox{Network: &api.SandboxNetwork{AllowedDomains: []string{"example.org"}}}
	p := m.startProcess(in)
	m.awaitOutput(p, "url http")
	return p, strings.TrimPrefix(strings.TrimSpace(m.logOf(p)), "url ")
}

// proxyStatus returns a proxy's status for a host nobody may reach: 403 with a known URL, 407 with
// an unknown one, 0 if the proxy is down.
func proxyStatus(t testing.TB, proxyURL string) int {
	t.Helper()
	proxy, err := url.Parse(proxyURL)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	answer, err := client.Get("http://forbidden.example.com/")
	if err != nil {
		t.Log(err)
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestSandboxedProcessKeepsItsProxyAcrossEngineRestarts(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, proxy := m.startSandboxed(api.ProcessStartInput{KeepAlive: true})
	check := func(when string) {
		t.Helper()
		if now := m.getProcess(p.ID); now.PID != p.PID || proxyStatus(t, proxy) != http.StatusForbidden {
			t.Errorf("%s: %+v, and the proxy answers with %d", when, now, proxyStatus(t, proxy))
		}
	}
	check("at first")
	wait.Kill(m, m.info().EnginePID)
	check("after a crash")
	before := m.info()
	call(m, api.EngineStop, api.EngineStopInput{Replace: exe, InPlace: true})
	m.awaitNextEngine(before)
	check("after a replacement")
	m.killBoth()
	check("after the loss of the keeper too")
	unix.Kill(p.PID, unix.SIGKILL)
	m.awaitProcess(p.ID, "running again", func(now api.Process) bool { return now.State == api.StateRunning && now.PID != p.PID })
	m.eventually("its word", func() bool { return strings.Count(m.logOf(p), "url ") == 2 })
	p = m.getProcess(p.ID)
	check("after a restart of its own")
	wait.Kill(m, m.info().EnginePID)
	check("after another crash")
}

func TestSandboxedProcessMissingFromItsRecordKeepsItsProxy(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p, proxy := m.startSandboxed(api.ProcessStartInput{})
	engine := m.info().EnginePID
	if err := unix.Kill(engine, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(p.LogPath), "record.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"proxy_url", "identity", "started_at"} {
		if record[field] == nil {
			t.Errorf("no %s in %s", field, text)
		}
		delete(record, field)
	}
	record["state"] = "starting"
	if text, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Kill(m, engine)
	for range 2 {
		if now := m.getProcess(p.ID); now.PID != p.PID || proxyStatus(t, proxy) != http.StatusForbidden {
			t.Errorf("%+v, and the proxy answers with %d", now, proxyStatus(t, proxy))
		}
		wait.Kill(m, m.info().EnginePID)
	}
}

// This test is not parallel, because another test could take the freed port.
func TestProxiesAreRestoredAtTheirPorts(t *testing.T) {
	layers := sandbox.Layers{{Network: &sandbox.Network{AllowedDomains: []string{"example.org"}}}}
	log := slog.New(slog.DiscardHandler)
	open := func(id string) (*sandbox.Proxies, string) {
		g := &sandbox.Proxies{Log: log}
		made, err := g.Grant(id, "", layers, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g, made
	}
	first, a := open("a")
	defer first.Close() // so that its port is taken
	second, b := open("b")
	second.Close()
	g := sandbox.Proxies{Log: log}
	defer g.Close()
	if again, err := g.Grant("b", b, layers, nil); err != nil || again != b || proxyStatus(t, again) != http.StatusForbidden {
		t.Errorf("%s became %s, %v", b, again, err)
	}
	other, err := g.Grant("a", a, layers, nil) // that port is taken
	if err != nil || other == a || proxyStatus(t, other) != http.StatusForbidden {
		t.Errorf("%s became %s, %v", a, other, err)
	}
	if again, err := g.Grant("a", a, layers, nil); again != other || err != nil {
		t.Errorf("%s became %s, %v", other, again, err)
	}
}

// The dynamic linker of the launch stage could write outside the sandbox.
func TestVariablesOfASandboxedProcessTakeEffectAfterConfinement(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := t.TempDir()
	env := map[string]string{"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": filepath.Join(dir, "trace"), "GODEBUG": "inittrace=1", "TANDEM_DATA_DIR": "/elsewhere", "ODD": "a = b"}
	out := call(m, api.Exec, api.ExecInput{Command: sh(`echo "$LD_DEBUG_OUTPUT, $GODEBUG, $ODD"`), Env: env, Sandbox: &api.Sandbox{}})
	if want := env["LD_DEBUG_OUTPUT"] + ", inittrace=1, a = b\n"; !strings.HasSuffix(out.Stdout, want) { // after its own linker's output
		t.Errorf("its variables are %q, want %q", out.Stdout, want)
	}
	if strings.Contains(out.Stderr, "init ") {
		t.Errorf("the launch stage obeyed GODEBUG: %s", out.Stderr)
	}
	traces, err := os.ReadDir(dir)
	if err != nil || len(traces) > 0 {
		t.Errorf("something was written outside the sandbox: %v, %v", traces, err)
	}
}

func TestSandboxedChildHasDefaultLimitsAndSignals(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	in := api.ExecInput{Command: sh("ulimit -Sn; ulimit -Hn; umask; grep ^Sig /proc/self/status | grep -v SigQ")}
	plain := call(m, api.Exec, in).Stdout
	in.Sandbox = &api.Sandbox{}
	if confined := call(m, api.Exec, in).Stdout; confined != plain {
		t.Errorf("confined:\n%s\nwant:\n%s", confined, plain)
	}
}

func TestFailedStartHasAReason(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "echo hi", "lost": "#!/no/such/interpreter\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), map[string]os.FileMode{"plain": 0o600, "lost": 0o700}[name]); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]api.Reason{
		"nosuch": api.ReasonProgramNotFound, "./nosuch": api.ReasonProgramNotFound, "./lost": api.ReasonProgramNotFound,
		"./plain": api.ReasonNotStartable, "./": api.ReasonNotStartable,
	} {
		for _, sandbox := range []*api.Sandbox{nil, {}} {
			if sandbox != nil && program == "./lost" { // the launch stage finds out after the start
				continue
			}
			_, err := api.Exec.Call(t.Context(), m.client, api.ExecInput{Command: []string{program}, CWD: dir, Sandbox: sandbox})
			if !errors.Is(err, api.CodeInvalid) || !errors.Is(err, want) {
				t.Errorf("%s in sandbox %v: %+v, want %s", program, sandbox, err, want)
			}
		}
	}
	for _, cwd := range []string{"/no/such", "relative", filepath.Join(dir, "plain")} {
		if _, err := api.Exec.Call(t.Context(), m.client, api.ExecInput{Command: []string{"true"}, CWD: cwd}); !errors.Is(err, api.ReasonBadCWD) {
			t.Errorf("in %s: %+v", cwd, err)
		}
	}
}

func TestSandboxedChildCannotReachItsKeeper(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	in := api.ExecInput{Command: sh("grep ^Seccomp: /proc/$PPID/status; kill -0 $PPID || echo refused"), Sandbox: &api.Sandbox{}}
	if out := call(m, api.Exec, in); out.Stdout != "Seccomp:\t0\nrefused\n" {
		t.Errorf("it printed %q, %q", out.Stdout, out.Stderr)
	}
}

func TestSandboxLimitsAreEnforced(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	in := api.ExecInput{Command: sh("ulimit -n; cat /proc/self/status"), Sandbox: &api.Sandbox{Limits: &api.SandboxLimits{OpenFiles: 64}}}
	if out := call(m, api.Exec, in); !strings.HasPrefix(out.Stdout, "64\n") || !strings.Contains(out.Stdout, "Seccomp:\t2") {
		t.Errorf("%+v", out)
	}
}

func TestProcessWithUnenforceableSandboxIsNotStarted(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := filepath.Join(m.TempDir(), "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo up; exec sleep 1000"), Sandbox: &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{dir}}}})
	m.awaitOutput(p, "up")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	_, err := api.ProcessRestart.Call(t.Context(), m.client, api.ProcessRestartInput{ID: p.ID})
	if err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("the restart gave %v", err)
	}
	m.awaitProcess(p.ID, "failed", func(now api.Process) bool {
		return now.State == api.StateFailed && strings.Contains(now.Error, "sandbox: allowWrite ")
	})
}
