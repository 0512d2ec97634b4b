package ui

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/keys"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/conn"
	"tandem/ui/layout"
	"tandem/ui/screen"
)

// patience is how long a test waits for what has to happen.
const patience = 10 * time.Second

// A driver runs a model as Bubble Tea does, one message at a time, without a
// terminal.
type driver struct {
	t      *testing.T
	m      *model
	engine *fakeEngine
	msgs   chan tea.Msg
	quit   bool
	cancel context.CancelFunc
	ctx    context.Context

	mu   sync.Mutex
	next *fakeEngine // what connecting reaches
}

// onFakeTime runs a test of a driver in a bubble, where waiting takes no time.
func onFakeTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Hour) }) // Bubble Tea's timers cannot be stopped, and the bubble must outlive them
		test(t)
	})
}

// drive opens a dashboard of a size on an engine.
func drive(t *testing.T, e *fakeEngine, w, h int) *driver {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := &driver{t: t, engine: e, next: e, msgs: make(chan tea.Msg), cancel: cancel, ctx: ctx}
	wake := conn.NewWaker()
	l := conn.New(e, func(context.Context) (panes.Engine, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.next == nil {
			return nil, errGone
		}
		return d.next, nil
	})
	l.Notify = wake.Changed
	l.Crash = func(p any) { t.Errorf("panic: %v", p) }
	d.m = newModel(ctx, Options{CWD: "/home/ann"}.withDefaults(), l, &screen.Input{Notify: wake.Typed})
	d.m.o.Home = "/home/ann"
	l.Start(func() { l.Run(ctx) })
	l.Start(func() { wake.Run(ctx, wakings(d.send)) })
	t.Cleanup(func() {
		cancel()
		l.Wait()
	})
	d.update(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

func (d *driver) send(msg tea.Msg) {
	select {
	case d.msgs <- msg:
	case <-d.ctx.Done():
	}
}

func (d *driver) update(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	checkPanes(d.m.sessions)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { d.deliver(cmd()) }()
}

func (d *driver) deliver(msg tea.Msg) {
	if v := reflect.ValueOf(msg); v.IsValid() && v.Type().ConvertibleTo(reflect.TypeFor[[]tea.Cmd]()) {
		for _, cmd := range v.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd) {
			d.run(cmd)
		}
		return
	}
	if msg != nil {
		d.send(msg)
	}
}

// until handles messages until cond holds.
func (d *driver) until(what string, cond func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case msg := <-d.msgs:
			if _, ok := msg.(tea.QuitMsg); ok {
				d.quit = true
				continue
			}
			d.update(msg)
		case <-deadline:
			d.t.Fatalf("waited in vain: %s\n%s", what, d.screen())
		}
	}
}

// screen is what is drawn, without colours.
func (d *driver) screen() string { return ansi.Strip(d.m.View().Content) }

// shows waits until the screen has text.
func (d *driver) shows(text string) {
	d.t.Helper()
	d.until("the screen shows "+text, func() bool { return strings.Contains(d.screen(), text) })
}

func (d *driver) lacks(text string) {
	d.t.Helper()
	d.until("the screen no longer shows "+text, func() bool { return !strings.Contains(d.screen(), text) })
}

// press types keys by their names; a text in quotes is typed as it is.
func (d *driver) press(names ...string) {
	d.t.Helper()
	for _, k := range d.named(names) {
		d.key(k)
	}
}

// pressAtOnce types keys faster than any of them is taken in.
func (d *driver) pressAtOnce(names ...string) {
	d.t.Helper()
	for _, k := range d.named(names) {
		d.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: k})
	}
	d.update(inputMsg{})
}

// named are the keys that press is told of.
func (d *driver) named(names []string) (all []keys.Key) {
	d.t.Helper()
	for _, name := range names {
		if text, ok := strings.CutPrefix(name, "'"); ok {
			for _, r := range text {
				all = append(all, keys.Key{Code: keys.Code(r), Text: string(r)})
			}
			continue
		}
		k, err := keys.Parse(name)
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, k)
	}
	return all
}

func (d *driver) key(k keys.Key) { d.typed(screen.Event{Kind: keys.EventKey, Key: k}) }

func (d *driver) mouse(e keys.Mouse) { d.typed(screen.Event{Kind: keys.EventMouse, Mouse: e}) }

// typed has the model take in something that the person did, as it does when it
// is told that input waits.
func (d *driver) typed(e screen.Event) {
	d.m.input.queue.Add(e)
	d.update(inputMsg{})
}

func (d *driver) click(x, y int) {
	d.mouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.mouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseUp})
}

// typedInto waits until a session's program has got text.
func (d *driver) typedInto(s *fakeSession, text string) {
	d.t.Helper()
	what := text[:min(len(text), 40)]
	d.until(s.process.Name+" gets "+what, func() bool { return s.input() == text })
}

// nth is the engine's session number i.
func (d *driver) nth(i int) *fakeSession {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	return d.engine.sessions[i]
}

// hasStarted waits until the engine has n sessions.
func (d *driver) hasStarted(n int) {
	d.t.Helper()
	d.until("another session has started", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return len(d.engine.sessions) == n && len(d.m.sessions.starts.starter.Waiting()) == 0
	})
}

// onScreen is where a part of the sessions view is on the screen.
func (d *driver) onScreen(r widget.Rect) widget.Rect {
	r.X, r.Y = r.X+d.m.areas.body.X, r.Y+d.m.areas.body.Y
	return r
}

// tree is where the terminals are on the screen.
func (d *driver) tree() widget.Rect { return d.onScreen(d.m.sessions.areas.tree) }

// area is where the terminal of a leaf is on the screen, and leafAt the leaf with
// its title row.
func (d *driver) area(l *layout.Node) widget.Rect   { return d.onScreen(d.m.sessions.area(l)) }
func (d *driver) leafAt(l *layout.Node) widget.Rect { return d.onScreen(l.Rect) }
