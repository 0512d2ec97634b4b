package outputs

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A testSearch is an open search in a dashboard. Its fake engine searches logs in memory.
type testSearch struct {
	*panestest.Driver
	*Search
	env    *panestest.Env
	engine *panestest.Engine
	lines  []Line // shown in scrollbacks
	inLogs []Line // shown in logs

	mu      sync.Mutex
	logs    map[string]string // by id, of each machine under "host/id"
	asked   []api.OutputSearchInput
	blocked map[string]chan struct{} // searches for these texts wait
	began   chan string              // texts of these
	ended   chan string              // and of those that were cancelled
	refuse  error
	page    int // lines in an answer; 0 for all
}

// process is a session if its id begins with s.
func process(id, command string, state api.State) api.Process {
	_, own := api.MachineOf(id)
	p := api.Process{ID: id, Name: "name-" + own, Kind: api.KindProcess, State: state, Command: command, Actor: "person", StartedAt: time.Now()}
	if strings.HasPrefix(own, "s") {
		p.Kind = api.KindSession
	}
	return p
}

func newTestSearch(t *testing.T, w, h int, processes ...api.Process) *testSearch {
	d := &testSearch{env: &panestest.Env{}, engine: panestest.NewEngine(), logs: map[string]string{}, blocked: map[string]chan struct{}{}, began: make(chan string, 100), ended: make(chan string, 100)}
	d.env.API, d.env.Known.Processes, d.env.Inks.Glyphs = d.engine, processes, themes.UnicodeGlyphs()
	panestest.On(d.engine, api.OutputSearch, d.search)
	panestest.On(d.engine, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return panestest.LogOf(d.logs[in.ID], in), nil
	})
	show := func(to *[]Line) func(Line) tea.Cmd {
		return func(l Line) tea.Cmd {
			*to = append(*to, l)
			return nil
		}
	}
	d.Search = New(Options{Env: d.env, ShowLine: show(&d.lines), ShowLog: show(&d.inLogs)})
	d.Driver = panestest.DriveDialogs(t, d.env, w, h)
	d.open()
	return d
}

// open opens the search, as a key does.
func (d *testSearch) open() {
	d.env.Close()
	d.Run(panes.Result(d.Show).Cmd)
	d.Wait("the dialog is open", func() bool { return d.env.Shown != nil })
}

// press presses keys and waits until none is held.
func (d *testSearch) press(names ...string) {
	d.Press(names...)
	d.Wait("no key is held", func() bool { return d.env.Pending == nil })
}

// search searches the logs in the order of processes, each from its end.
func (d *testSearch) search(ctx context.Context, in api.OutputSearchInput) (out api.OutputSearchOutput, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, in)
	if wait := d.blocked[in.Text]; wait != nil {
		d.mu.Unlock()
		d.began <- in.Text
		select {
		case <-wait:
		case <-ctx.Done():
			d.ended <- in.Text
		}
		d.mu.Lock()
	}
	if d.refuse != nil || ctx.Err() != nil {
		return out, d.refuse
	}
	re, err := in.Compile()
	if err != nil {
		return out, err
	}
	for _, p := range d.env.Known.Processes {
		machine, id := api.MachineOf(p.ID)
		if machine != in.Host {
			continue
		}
		log := d.logs[p.ID]
		lines := strings.SplitAfter(log, "\n")
		for at, i := len(log), len(lines)-1; i >= 0; i-- {
			at -= len(lines[i])
			if line := strings.TrimSuffix(lines[i], "\n"); line != "" && re.MatchString(line) {
				hit := api.OutputHit{ID: api.OnMachine(machine, id), Name: p.Name, Kind: string(p.Kind), Actor: p.Actor, State: p.State, ExitCode: p.ExitCode, Time: time.Now()}
				hit.Text, hit.Offset = line, int64(at)
				out.Hits = append(out.Hits, hit)
			}
		}
	}
	from := 0
	if in.Cursor != nil {
		from = int(in.Cursor.Offset)
	}
	out.Hits = out.Hits[from:]
	if n := d.page; n > 0 && len(out.Hits) > n {
		out.Hits, out.Left = out.Hits[:n], 5<<30
		out.Cursor = &api.OutputCursor{Offset: int64(from + n)}
	}
	return out, nil
}

// setLog sets the log of a process.
func (d *testSearch) setLog(id, log string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logs[id] = log
}

// set changes how the engine answers.
func (d *testSearch) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// searches returns the searches made so far.
func (d *testSearch) searches() []api.OutputSearchInput {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}
