package browsertest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/states"
)

// stateWords compares the page's words for states with the dashboard's.
func stateWords(m *machine, t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	exited := now.Add(-time.Minute)
	code := func(n int) *int { return &n }
	ready := func(is bool) *api.Supervision { return &api.Supervision{Ready: &is} }
	next := func(in time.Duration) *api.Supervision {
		at := now.Add(in)
		return &api.Supervision{NextStart: &at}
	}
	all := []api.Process{
		{State: api.StateStarting}, {State: api.StateStopping}, {State: api.StateRunning}, {State: api.StateStopped, ExitSignal: "SIGTERM"},
		{State: api.StateRunning, Supervision: ready(true)}, {State: api.StateRunning, Supervision: ready(false)},
		{State: api.StateWaiting}, {State: api.StateWaiting, WaitsFor: []api.Dependency{{ID: "1", Name: "db"}, {ID: "2", Name: "cache"}}},
		{State: api.StateExited, ExitCode: code(0)}, {State: api.StateExited, ExitCode: code(3)}, {State: api.StateExited, ExitSignal: "SIGKILL"},
		{State: api.StateExited, ExitUnknown: true}, {State: api.StateExited},
		{State: api.StateFailed, ExitCode: code(1)}, {State: api.StateFailed, ExitSignal: "SIGKILL", Error: "not ready"},
		{State: api.StateFailed, Error: "no such file"}, {State: api.StateFailed},
		{State: api.StateBackoff, ExitCode: code(2)}, {State: api.StateBackoff, Supervision: next(500 * time.Millisecond)},
		{State: api.StateBackoff, Supervision: next(3500 * time.Millisecond)}, {State: api.StateBackoff, Supervision: next(150 * time.Second)},
		{Name: "bash-2", State: api.StateRunning, Terminal: &api.Terminal{AutoNamed: true, Running: "make"}},
		{Name: "bash-2", State: api.StateRunning, Terminal: &api.Terminal{AutoNamed: true}},
		{Name: "build", State: api.StateRunning, Terminal: &api.Terminal{Running: "make"}},
		{Kind: api.KindSession, State: api.StateExited, ExitCode: code(130), Argv: []string{"-bash", "-l"}, ExitedAt: &exited, StartedAt: exited.Add(-time.Hour)},
		{Kind: api.KindSession, State: api.StateExited, ExitCode: code(1), Argv: []string{"/bin/sh"}, ExitedAt: &exited, StartedAt: exited.Add(-time.Second)},
		{Kind: api.KindSession, State: api.StateExited, ExitCode: code(1), Argv: []string{"sh", "-c", "exit 1"}, ExitedAt: &exited, StartedAt: exited.Add(-time.Hour)},
	}
	type words struct {
		Name, State, End string
		Failed           bool
	}
	var want []words
	for i := range all {
		want = append(want, words{all[i].ShownName(), states.StateWords(&all[i], now), states.HowEnded(&all[i]), all[i].Failed()})
	}
	list, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	p := m.paired(t, m.link())
	got := value[[]words](p, `import(new URL('store.js', document.querySelector('script[type=module]').src)).then((s) =>
		`+string(list)+`.map((p) => ({ Name: s.shownName(p), State: s.stateText(p, 1800000000000), End: s.endText(p), Failed: s.failed(p) })))`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the dashboard's words (-) and the page's (+) differ: %s", diff)
	}
}

// projects checks that processes are listed under the headers of their projects, by name.
func projects(m *machine, t *testing.T) {
	m.write("shop/tandem.yaml", "processes:\n  web: sleep 1000\n  bad: sh -c 'exit 3'\n  also: sleep 1000\n  done: 'true'\n")
	m.write("idle/tandem.yaml", "processes:\n  built: 'true'\n")
	m.run("start", "--name", "broken", "--", "sh", "-c", "exit 2")
	for _, folder := range []string{"shop", "idle"} {
		m.run("up", "--file", m.dir+"/"+folder+"/tandem.yaml")
		t.Cleanup(func() { m.run("down", "--forget", "--file", m.dir+"/"+folder+"/tandem.yaml") })
	}
	t.Cleanup(func() { m.run("rm", "broken") })
	p := m.paired(t, m.link())
	p.click("#tab-processes")
	want := strings.Join([]string{
		"idle 0/0 up " + m.dir + "/idle", "built exited 0",
		"shop 2/3 up, 1 failed " + m.dir + "/shop", "also running", "bad failed: exited 3", "done exited 0", "web running",
		"no project 1/2 up, 1 failed ", "broken failed: exited 2", "server running",
	}, "\n")
	p.until(`[...document.querySelectorAll('tbody tr')].map((e) => (e.className === 'project' ? [...e.firstChild.children] : [e.children[0], e.children[1]]).map((c) => c.textContent).join(' ')).join('\n') === ` + quoted(want))
	p.script(`[...document.querySelectorAll('tbody button')].find((e) => e.textContent === 'bad').click()`)
	p.until(`document.querySelector('.detail h2').textContent === 'bad'`)
}

// exitedSessions checks that exited sessions follow the running ones, and show their last screen
// until they are started again.
func exitedSessions(m *machine, t *testing.T) {
	m.run("new", "--name", "earlier", "--cwd", m.dir, "--", "sh", "-c", "echo >>runs; seq 1 100; echo the last words $(wc -l <runs); read x; exit 3")
	m.run("new", "--name", "running", "--", "cat")
	m.run("send", "earlier", "--enter", "go")
	m.run("wait", "earlier")
	t.Cleanup(func() {
		m.run("kill", "running")
		m.run("rm", "running", "earlier")
	})
	p := m.paired(t, m.link())
	p.until(rowOf("running"))
	const order = `[...document.querySelectorAll('.sessions .name')].map((e) => e.textContent)`
	p.until(order + `.indexOf('running') < ` + order + `.indexOf('earlier')`)
	p.until(rowOf("earlier") + `.querySelector('.state').textContent === 'failed: exited 3'`)
	p.session("earlier")
	p.shows("the last words 1")
	p.shows("100")
	p.until(`document.querySelector('.pane.current .ended').textContent === 'exited with status 3'`)
	p.until(`!document.querySelector('.pane.away')`)

	m.run("restart", "earlier")
	p.until(`document.querySelector('.pane.current .ended').hidden`)
	p.shows("the last words 2") // keys typed earlier are echoed above the output
	p.keys("again\r")
	p.until(`document.querySelector('.pane.current .ended').textContent === 'exited with status 3' && !document.querySelector('.pane.current .ended').hidden`)
	p.shows("again")
	p.quiet()
}
