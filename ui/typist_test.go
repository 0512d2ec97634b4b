package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/terminal"
	"tandem/tests/seed"
	"tandem/ui/screen"
)

// A typist types at random while things happen, and records where each key belongs. Keys are
// numbered characters that are bound nowhere.
type typist struct {
	*driver
	random *rand.Rand

	typed  int            // keys so far
	queued map[rune]place // what had the keyboard when a key was typed that is not handled yet
	sent   []paneKey
	asked  int // questions of events that wait
}

// A paneKey is a key that belongs to the program of a pane.
type paneKey struct {
	pane *terminal.Pane
	char rune
}

const firstChar = 0x4e00

// A place is what has the keyboard: a pane, or a dialog or view.
type place struct {
	pane   *terminal.Pane // nil unless the next key goes to its program
	dialog dialog.Overlay
	view   keymap.Action
}

func startTypist(t *testing.T, random *rand.Rand) *typist {
	e := newFakeEngine()
	for i := range 4 {
		e.addSession(fmt.Sprintf("s%d", i), "$ ")
	}
	e.addProcess("web", "listening\n")
	p := &typist{driver: drive(t, e, 120, 36), random: random, queued: map[rune]place{}}
	p.waitText("$ ")
	handle := p.m.input.handle
	p.m.input.handle = func(event screen.Event) tea.Cmd {
		p.note(event)
		return handle(event)
	}
	return p
}

// place returns what has the keyboard.
func (p *typist) place() place {
	at := place{dialog: p.m.dialog.open, view: p.m.views.action()}
	if !p.m.keyboard.isForPane() {
		return at
	}
	if pane, _ := p.m.sessions.TypingPane(); pane != nil {
		if takes, _ := pane.Takes(); takes {
			at.pane = pane
		}
	}
	return at
}

// note is called before a key is handled.
func (p *typist) note(event screen.Event) {
	for _, char := range event.Key.Text {
		if char < firstChar {
			continue
		}
		at := p.place()
		if want, known := p.queued[char]; known && at != want {
			p.t.Fatalf("a key typed at %+v is handled at %+v", want, at)
		}
		delete(p.queued, char)
		p.expect(at.pane, char)
	}
}

func (p *typist) expect(pane *terminal.Pane, char rune) {
	if pane != nil {
		p.sent = append(p.sent, paneKey{pane, char})
	}
}

// typeKey types the next key. The dashboard may handle later that it was typed.
func (p *typist) typeKey() {
	char := rune(firstChar + p.typed%20000)
	p.typed++
	at := p.place()
	p.m.input.updateShortcut()
	before := p.m.input.queue.Len()
	if !p.m.input.isHeld() && before == 0 {
		p.queued[char] = at
	}
	p.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: keys.Key{Code: keys.Code(char), Text: string(char)}})
	if p.m.input.queue.Len() == before { // by the shortcut
		p.expect(at.pane, char)
		delete(p.queued, char)
	}
}

// press presses keys with bindings. They are not typed into a program, which would only add noise.
func (p *typist) press(names ...string) {
	p.update(inputMsg{})
	if len(names) == 1 && p.place().pane != nil && !strings.HasPrefix(names[0], "alt+") {
		return
	}
	for _, k := range p.parseKeys(names) {
		p.m.input.updateShortcut()
		p.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: k})
		if p.random.IntN(3) > 0 {
			p.update(inputMsg{})
		}
	}
	p.update(inputMsg{})
}

// message handles a message. Nothing but the user's keys and clicks may change what has the
// keyboard, except that a pane or dialog is closed.
func (p *typist) message(msg tea.Msg) {
	held, before, waited := p.m.input.isHeld(), p.place(), p.m.dialog.isBusy()
	zoomed := p.m.sessions.IsZoomed()
	p.update(msg)
	after := p.place()
	switch {
	case held:
	case after.view != before.view:
		p.t.Fatalf("%T changes the view from %s to %s", msg, before.view, after.view)
	case after.dialog != before.dialog && after.dialog != nil && !waited:
		p.t.Fatalf("%T opens %T over %T", msg, after.dialog, before.dialog)
	case before.pane != nil && after.pane != nil && after.pane.ID != before.pane.ID && p.isOpen(before.pane):
		p.t.Fatalf("%T moves the keyboard from %s to %s", msg, before.pane.ID, after.pane.ID)
	case p.m.sessions.IsZoomed() != zoomed && p.isOpen(before.pane):
		p.t.Fatalf("%T changes the zoom", msg)
	}
}

// isOpen reports whether a pane is among the tabs.
func (p *typist) isOpen(pane *terminal.Pane) bool {
	if pane == nil {
		return false
	}
	t, _ := p.m.sessions.Tabs.FindSession(pane.ID)
	return t != nil
}

// settle handles messages until there are none.
func (p *typist) settle() {
	p.receive(p.message)
	p.update(inputMsg{})
}

// receive passes on messages until there are none.
func (p *typist) receive(handle func(tea.Msg)) {
	for received := true; received; {
		synctest.Wait()
		select {
		case msg := <-p.msgs:
			handle(msg)
		default:
			received = false
		}
	}
}

// check compares what each program has received with what belongs to it.
func (p *typist) check() {
	p.settle()
	if p.m.input.isHeld() {
		p.pressKeys("esc")
		p.settle()
	}
	if len(p.queued) > 0 {
		p.t.Fatalf("%d keys were not handled", len(p.queued))
	}
	wanted := map[string]string{}
	for _, k := range p.sent {
		if k.pane.Starting { // its start was cancelled
			continue
		}
		wanted[k.pane.ID] += string(k.char)
	}
	p.engine.mu.Lock()
	sessions := slices.Clone(p.engine.sessions)
	p.engine.mu.Unlock()
	for _, s := range sessions {
		want := wanted[s.process.ID]
		got := strings.Map(func(r rune) rune {
			if r < firstChar {
				return -1 // typed by other keys
			}
			return r
		}, s.typedText())
		if got != want && !(s.exited && isSubsequence(got, want)) {
			p.t.Fatalf("%s gets %q, want %q", s.process.Name, got, want)
		}
	}
}

// isSubsequence reports whether text can be made from whole by leaving characters out.
func isSubsequence(text, whole string) bool {
	rest := []rune(text)
	for _, char := range whole {
		if len(rest) > 0 && rest[0] == char {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// session returns a random session that has exited or, if ended is false, one that still runs. It
// returns nil if there is none.
func (p *typist) session(ended bool) *fakeSession {
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	var all []*fakeSession
	for _, s := range p.engine.sessions {
		if s.process.Kind == api.KindSession && s.process.State.Ended() == ended {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[p.random.IntN(len(all))]
}

// happen makes something happen that the user did not ask for.
func (p *typist) happen() {
	s, code := p.session(false), p.random.IntN(2)
	switch kind := p.random.IntN(14); {
	case kind == 0 && p.countSessions() < 30:
		started := p.engine.addSession(fmt.Sprintf("s%d", p.typed), "$ ")
		p.engine.publish(api.Event{Type: api.EventProcess, Process: &started.process})
	case s == nil:
	case kind == 1:
		s.exitWith(api.StateExited, &code)
	case kind == 2:
		s.printLines(plainLine(fmt.Sprint("line ", p.typed)), plainLine("$ "))
	case kind == 3:
		p.engine.publish(api.Event{Type: api.EventShow, ID: s.process.ID + "0", Show: s.process.ID})
	case kind == 4:
		p.engine.addRequest(newRequest(fmt.Sprint("r", p.typed), "make"))
	case kind == 5:
		p.engine.publish(api.Event{Type: api.EventNotice, Notice: "the disk is full"})
	case kind == 6 && p.asked < 50:
		p.asked++
		p.run(func() tea.Msg {
			return panes.Result(func() tea.Cmd {
				p.m.env.Ask(&dialog.Question{Title: "Replace it?", Replies: []dialog.Reply{{Key: "r", Does: "replace it", Then: func() tea.Cmd { p.asked--; return nil }}}})
				return nil
			})
		})
	case kind == 7:
		p.run(func() tea.Msg { return panes.Result(func() tea.Cmd { return p.m.env.ShowSession(s.process.ID) }) })
	case kind == 8:
		p.message(tea.WindowSizeMsg{Width: 80 + p.random.IntN(100), Height: 24 + p.random.IntN(20)})
	case kind == 9:
		p.message(settingsMsg(defaultSettings()))
	case kind == 10:
		s.update(func(process *api.Process) { process.Name = fmt.Sprint("n", p.typed) })
	case kind == 11:
		time.Sleep(time.Duration(p.random.IntN(3000)) * time.Millisecond)
	case kind == 13:
		p.rearrange()
	case kind == 12:
		if s := p.session(true); s != nil { // it is restored
			s.update(func(process *api.Process) {
				process.State, process.ExitCode, process.StartedAt = api.StateRunning, nil, time.Now()
			})
		}
	}
}

// reconnect types and presses keys while there is no engine.
func (p *typist) reconnect() {
	p.settle()
	next := p.loseEngine()
	for range 5 {
		p.typeKey()
		p.press("ctrl+b", choice(p.random, "n", "p", "o", "z", "s", "w", "f", "x"))
	}
	p.startEngine(next)
	connections := p.m.news.Snapshots
	p.waitUntil("it is connected again", func() bool { return p.m.news.Snapshots > connections })
}

// command shows another tab by a command in the focused pane, which counts as the user's key.
func (p *typist) command() {
	time.Sleep(time.Second) // news are collected for a moment
	p.settle()
	shown, pane := p.session(false), p.place().pane
	if shown == nil || pane == nil || p.m.input.isHeld() {
		return
	}
	p.engine.publish(api.Event{Type: api.EventShow, ID: pane.ID, Show: shown.process.ID})
	time.Sleep(time.Second)
	p.receive(p.update)
	if t, _ := p.m.sessions.Tabs.FindSession(shown.process.ID); t != p.m.sessions.Tabs.Current {
		p.t.Fatal("a command in the focused pane shows another tab")
	}
}

// rearrange changes the layout as another dashboard does.
func (p *typist) rearrange() {
	s, other := p.session(false), p.session(false)
	if s == nil || other == nil {
		return
	}
	id, at := s.process.ID, other.process.ID
	var changes []api.LayoutChange
	switch p.random.IntN(5) {
	case 0:
		changes = append(changes, api.LayoutChange{Do: api.LayoutSwap, ID: id, Other: at})
	case 1:
		changes = append(changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: id}}, Own: []api.Own{api.OwnEnd, api.OwnAfter, api.OwnFloat}[p.random.IntN(3)]})
	case 2:
		changes = append(changes, api.LayoutChange{Do: api.LayoutClose, ID: id})
	default:
		if id != at && len(p.currentLayout().AllTabs()) > 1 {
			changes = append(changes, api.LayoutChange{Do: api.LayoutArrange, At: at, Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 5000}, {ID: at}, {ID: id}}})
		}
	}
	changes = append(changes, api.LayoutChange{Do: api.LayoutFocus, ID: at, Zoomed: p.random.IntN(2) == 0})
	if _, err := api.LayoutChanges.Call(p.ctx, p.engine, api.LayoutChangeInput{Changes: changes}); err != nil {
		p.t.Fatal(err)
	}
}

// visit opens a program in a session, as for an editor, so that the view is left until the program
// exits.
func (p *typist) visit() {
	p.update(inputMsg{})
	if !p.m.input.isHeld() && p.countSessions() < 30 {
		p.run(p.m.env.ForUser(func() tea.Cmd {
			return p.m.env.Visit("", []string{"vi"}, "/home/ann", func() tea.Cmd { return p.m.env.Say("visited", false) })
		}))
	}
}

// choice returns one of several.
func choice[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// step types, presses, clicks, or lets something happen.
func (p *typist) step() {
	switch kind := p.random.IntN(20); {
	case p.random.IntN(200) == 0:
		p.reconnect()
	case p.random.IntN(100) == 0:
		p.command()
	case p.random.IntN(100) == 0:
		p.visit()
	case kind < 8:
		p.typeKey()
	case kind < 10:
		p.press("ctrl+b", choice(p.random, "c", "n", "p", "o", "z", "%", "\"", "s", "[", "?", "space", "enter", "x", "w", "f", ";", "!", "i", "e"))
	case kind < 11:
		p.press(choice(p.random, "alt+1", "alt+2", "alt+3", "alt+4"))
	case kind < 12:
		p.press(choice(p.random, "esc", "enter", "y", "n", "r", "down", "up", "tab"))
	case kind < 13:
		p.screenText() // a click needs something to hit
		p.click(p.random.IntN(p.m.areas.w), p.random.IntN(p.m.areas.h))
	case kind < 17:
		p.happen()
	case kind < 18:
		p.settle()
	default:
		synctest.Wait()
		select {
		case msg := <-p.msgs:
			p.message(msg)
		default:
		}
	}
}

func TestEveryKeyGoesWhereItWasTyped(t *testing.T) {
	random := seed.Rand(t)
	for range typistRounds() {
		onFakeTime(t, func(t *testing.T) {
			p := startTypist(t, random)
			for range 500 {
				p.step()
			}
			p.check()
		})
	}
}

// typistRounds returns how many dashboards a typist uses.
func typistRounds() int {
	switch {
	case invariants.Enabled:
		return 200
	case testing.Short():
		return 4
	}
	return 20
}

func TestKeysOfAFastTypistArriveWhileSessionsComeAndGo(t *testing.T) {
	for _, zoom := range []bool{false, true} {
		t.Run(fmt.Sprintf("zoomed and back is %t", zoom), func(t *testing.T) {
			onFakeTime(t, func(t *testing.T) { startTypist(t, seed.Rand(t)).typeFast(20_000, 200, zoom) })
		})
	}
}

// typeFast types n keys, one each millisecond, while sessions start and end. With zoom, the pane is
// zoomed and back all the time.
func (p *typist) typeFast(n, sessions int, zoom bool) {
	var open []*fakeSession
	for i := range n {
		if i%(n/sessions) == 0 {
			s := p.engine.addSession(fmt.Sprint("other", i), "$ ")
			p.engine.publish(api.Event{Type: api.EventProcess, Process: &s.process})
			open = append(open, s)
		}
		if len(open) > 5 && i%(n/sessions) == n/sessions/2 {
			open[0].exitWith(api.StateExited, new(int))
			open = open[1:]
		}
		if zoom && i%100 == 50 {
			p.press("ctrl+b", "z")
		}
		p.typeKey()
		time.Sleep(time.Millisecond)
		for range p.random.IntN(3) {
			synctest.Wait()
			select {
			case msg := <-p.msgs:
				p.message(msg)
			default:
			}
		}
	}
	if p.check(); len(p.sent) != n || p.sent[0].pane != p.sent[n-1].pane {
		p.t.Errorf("%d of %d keys belong to the pane", len(p.sent), n)
	}
}
