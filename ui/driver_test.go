package ui

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/sessions"
	"tandem/panes/sessions/layout"
	"tandem/persist/config/settings"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

// patience is how long a test waits for an expected state.
const patience = time.Minute

// A driver runs a model without a terminal, one message at a time as Bubble Tea does.
type driver struct {
	t      *testing.T
	m      *model
	engine *fakeEngine
	msgs   chan tea.Msg
	quit   bool
	cancel context.CancelFunc
	ctx    context.Context

	mu   sync.Mutex
	next *fakeEngine // the engine that connecting reaches
}

// onFakeTime runs a test in a synctest bubble, where waiting takes no time.
func onFakeTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		// Bubble Tea's timers cannot be stopped, and the bubble must outlive them.
		t.Cleanup(func() { time.Sleep(time.Hour) })
		test(t)
	})
}

// drive opens a dashboard of w×h cells on an engine.
func drive(t *testing.T, e *fakeEngine, w, h int) *driver {
	t.Helper()
	if e.dataDir == "" {
		e.dataDir = t.TempDir() // nothing is to be written here
	}
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
	l.Notify = wake.NotifyNews
	l.Crash = func(p any) { t.Errorf("panic: %v", p) }
	d.m = newModel(ctx, Options{Settings: defaultSettings(), CWD: "/home/ann"}.withDefaults(), l, &screen.Input{Notify: wake.NotifyTyped})
	d.m.o.Home = "/home/ann"
	l.StartTask(func() { l.Run(ctx) })
	l.StartTask(func() { wake.Run(ctx, sendWaking(d.send)) })
	t.Cleanup(func() {
		cancel()
		l.Wait()
		d.engine.Close()
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

// changeSettings sends the default settings with a change.
func (d *driver) changeSettings(change func(*Settings)) {
	s := defaultSettings()
	change(&s)
	d.update(settingsMsg(s))
}

func defaultSettings() Settings { return Settings{Dashboard: settings.Defaults().Dashboard} }

func (d *driver) update(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	sessions.Check(d.m.sessions)
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

// waitUntil handles messages until cond holds.
func (d *driver) waitUntil(what string, cond func() bool) {
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
			d.t.Fatalf("waited in vain: %s\n%s", what, d.screenText())
		}
	}
}

// screenText returns the text of the screen without colours.
func (d *driver) screenText() string { return ansi.Strip(d.m.View().Content) }

// waitText waits until text is on the screen.
func (d *driver) waitText(text string) {
	d.t.Helper()
	d.waitUntil("the screen shows "+text, func() bool { return strings.Contains(d.screenText(), text) })
}

// waitMatch waits until the screen matches a pattern, in which ^ and $ are the ends of a row.
func (d *driver) waitMatch(pattern string) {
	d.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	d.waitUntil("the screen matches "+pattern, func() bool { return re.MatchString(d.screenText()) })
}

func (d *driver) waitNoText(text string) {
	d.t.Helper()
	d.waitUntil("the screen no longer shows "+text, func() bool { return !strings.Contains(d.screenText(), text) })
}

// pressKeys types keys by name; a name starting with a quote is typed as text.
func (d *driver) pressKeys(names ...string) {
	d.t.Helper()
	for _, k := range d.parseKeys(names) {
		d.sendKey(k)
	}
}

// pressAtOnce queues all keys before the model handles the first one.
func (d *driver) pressAtOnce(names ...string) {
	d.t.Helper()
	for _, k := range d.parseKeys(names) {
		d.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: k})
	}
	d.update(inputMsg{})
}

// parseKeys converts the names passed to press into keys.
func (d *driver) parseKeys(names []string) (all []keys.Key) {
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

func (d *driver) sendKey(k keys.Key) { d.sendEvent(screen.Event{Kind: keys.EventKey, Key: k}) }

func (d *driver) sendMouse(e keys.Mouse) { d.sendEvent(screen.Event{Kind: keys.EventMouse, Mouse: e}) }

// sendEvent queues an event and notifies the model, as reading from a terminal does.
func (d *driver) sendEvent(e screen.Event) {
	d.m.input.updateShortcut() // a test may have changed the model outside of Update
	d.m.input.queue.Add(e)
	d.update(inputMsg{})
}

func (d *driver) click(x, y int) {
	d.sendMouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.sendMouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseUp})
}

// waitTyped waits until a session's program has received text.
func (d *driver) waitTyped(s *fakeSession, text string) {
	d.t.Helper()
	what := text[:min(len(text), 40)]
	d.waitUntil(s.process.Name+" gets "+what, func() bool { return s.typedText() == text })
}

// nthSession returns the engine's session number i.
func (d *driver) nthSession(i int) *fakeSession {
	d.engine.mu.Lock()
	defer d.engine.mu.Unlock()
	return d.engine.sessions[i]
}

// waitStarted waits until the engine has n sessions.
func (d *driver) waitStarted(n int) {
	d.t.Helper()
	d.waitUntil("another session has started", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return len(d.engine.sessions) == n && d.countStarting() == 0
	})
}

// countStarting returns the number of panes whose session is still being started.
func (d *driver) countStarting() (n int) {
	for _, l := range d.m.sessions.Tabs.Leaves() {
		if d.m.sessions.Panes.Pane(l.ID).Starting {
			n++
		}
	}
	return n
}

// onScreen converts a rectangle of the sessions view to screen coordinates.
func (d *driver) onScreen(r look.Rect) look.Rect {
	r.X, r.Y = r.X+d.m.areas.body.X, r.Y+d.m.areas.body.Y
	return r
}

// treeArea returns the screen rectangle of the panes.
func (d *driver) treeArea() look.Rect { return d.onScreen(d.m.sessions.Tabs.BaseTab().Root.Rect) }

// leafArea returns the screen rectangle of a leaf including its title row, paneArea that of its
// pane.
func (d *driver) leafArea(l *layout.Node) look.Rect { return d.onScreen(l.Rect) }
func (d *driver) paneArea(l *layout.Node) look.Rect {
	if d.m.areas.showsOnePane() {
		return d.m.areas.body
	}
	d.screenText()
	area := d.leafArea(l)
	if l.Title != "" {
		area.Y, area.H = area.Y+1, area.H-1
	}
	return area
}

// focusLeaf gives a leaf the keyboard.
func (d *driver) focusLeaf(l *layout.Node) {
	d.run(d.m.env.ForUser(func() tea.Cmd { return d.m.env.ShowSession(l.ID) }))
}

// showView shows a view.
func (d *driver) showView(a keymap.Action) {
	d.m.env.ForUser(panes.ActionOf(func() { d.m.setView(a) }))
}

// currentLayout describes what is shown.
func (d *driver) currentLayout() (l api.Layout) {
	tabs := &d.m.sessions.Tabs
	for i, t := range tabs.EveryTab() {
		nodes := t.Root.Nodes()
		focus := slices.IndexFunc(nodes, func(n api.LayoutNode) bool { return n.ID == t.Focus.ID })
		tab := api.LayoutTab{Name: t.Name, Nodes: nodes, Focus: focus}
		if t == tabs.Float {
			l.Float = &tab
			continue
		}
		if l.Tabs = append(l.Tabs, tab); t == tabs.BaseTab() {
			l.Current = i
		}
	}
	l.Floats, l.Zoomed = tabs.IsFloating(), d.m.sessions.IsZoomed()
	return l
}

// tabBar returns the screen rectangle of the tab bar, above the panes beside the list.
func (d *driver) tabBar() (bar look.Rect, shown bool) {
	bar = d.treeArea()
	shown = bar.X > 0 && !d.m.areas.showsOnePane() && bar.Y > d.m.areas.body.Y
	bar.Y, bar.H = d.m.areas.body.Y, 1
	return bar, shown
}
