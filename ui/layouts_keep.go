package ui

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// keptMsg is the outcome of telling the engine of a layout.
type keptMsg struct {
	revision int64
	err      error
}

// pumpLayout tells the engine of a layout that has changed. One call is on its
// way at a time; what changes meanwhile follows it.
func (m *model) pumpLayout() tea.Cmd {
	if m.layouts.behind || !m.layouts.changed || m.layouts.keeping || !m.opened || !m.news.Connected || m.dragged != nil || len(m.starts) > 0 {
		return nil
	}
	m.layouts.changed = false
	now, ok := m.layoutToKeep()
	if !ok || reflect.DeepEqual(now, m.layouts.kept) {
		return nil
	}
	m.layouts.kept, m.layouts.keeping = now, true
	in := api.LayoutPutInput{Layout: now, Revision: m.layouts.revision}
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		revision, err := e.PutLayout(ctx, in)
		return keptMsg{revision, err}
	}, func(err error) tea.Msg { return keptMsg{err: err} })
}

// unasked makes a change of the layout that nobody has asked for: a session has
// come or gone. Every dashboard makes it by itself, the next one too, so none has
// it kept, which would undo what the person has done in another one meanwhile.
func (m *model) unasked(change func()) {
	kept := m.opened && !m.layouts.changed && len(m.layouts.kept.Tabs) > 0
	change()
	if kept {
		m.layouts.kept, _ = m.layoutToKeep()
		m.layouts.changed = false
	}
}

// layoutKept goes on after the engine was told. What it did not take is told
// again with the next change; if it has another dashboard's instead, that one is
// followed first, and what is left of this one's change is told after that.
func (m *model) layoutKept(msg keptMsg) tea.Cmd {
	l := &m.layouts
	l.keeping = false
	switch {
	case errors.Is(msg.err, api.CodeConflict):
		l.behind, l.changed = true, true
	case msg.err != nil:
		l.kept = api.Layout{}
	default:
		l.revision = msg.revision
	}
	return nil
}

// lastWord bounds how long leaving waits for sessions that are being started and
// to have the layout kept.
const lastWord = 300 * time.Millisecond

// keepLast has the layout kept that the person leaves behind, if the engine was
// not told of it yet. What was asked for last is in it.
func (m *model) keepLast() {
	if !m.opened || !m.news.Connected {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	m.finishStarts(ctx)
	now, ok := m.layoutToKeep()
	if !ok || reflect.DeepEqual(now, m.layouts.kept) && !m.layouts.keeping {
		return
	}
	in := api.LayoutPutInput{Layout: now, Revision: m.layouts.revision}
	if m.layouts.keeping { // under which number that is kept is not known yet
		in.Revision = 0
	}
	if e, err := m.link.At(ctx); err == nil {
		_, _ = e.PutLayout(ctx, in) // nobody is there any more to be told
	}
}

// askSaveLayout keeps the layout under a name.
func (m *model) askSaveLayout() tea.Cmd {
	l := m.writeLayout()
	l.Closed = nil // that is of no arrangement
	if len(l.Tabs) == 0 {
		return m.say("no sessions to arrange", true)
	}
	m.overlay = overlay.NewPrompt("Save the layout as", "", func(name string) tea.Cmd {
		if name == "" {
			return nil
		}
		return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			saved, err := e.Layouts(ctx)
			if err == nil && slices.ContainsFunc(saved, func(s api.SavedLayout) bool { return s.Name == name }) {
				return layoutTaken{name, l}
			}
			return putLayout(ctx, e, name, l)
		}, func(err error) tea.Msg { return layoutSavedMsg{name, err} })
	})
	return nil
}

func putLayout(ctx context.Context, e panes.Engine, name string, l api.Layout) tea.Msg {
	_, err := e.PutLayout(ctx, api.LayoutPutInput{Name: name, Layout: l})
	return layoutSavedMsg{name, err}
}

// layoutTaken says that there is a layout of the name that one is to be saved
// under.
type layoutTaken struct {
	name   string
	layout api.Layout
}

func (msg layoutTaken) take(m *model) tea.Cmd {
	m.overlay = &overlay.Question{
		Title: "Replace the layout " + widget.Clean(msg.name) + "?",
		Lines: []string{"There is one of this name already."},
		Yes:   "replace it",
		Then: m.call(func(ctx context.Context, e panes.Engine) tea.Msg { return putLayout(ctx, e, msg.name, msg.layout) },
			func(err error) tea.Msg { return layoutSavedMsg{msg.name, err} }),
	}
	m.dirty = true
	return nil
}

// layoutSavedMsg is the outcome of saving a layout under a name.
type layoutSavedMsg struct {
	name string
	err  error
}

func (m *model) layoutSaved(msg layoutSavedMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(panes.ErrorText(msg.err), true)
	}
	return m.say("the layout is saved as "+msg.name, false)
}

// layoutsMsg are the layouts that the person can choose from.
type layoutsMsg struct {
	ask   int
	saved []api.SavedLayout
	err   error
}

// askLayout lets the person choose a layout. What is typed meanwhile waits for the
// choice, so that none of it goes to a program.
func (m *model) askLayout() tea.Cmd {
	m.layouts.asks++
	ask := m.layouts.asks
	m.layouts.asked = ask
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		saved, err := e.Layouts(ctx)
		return layoutsMsg{ask, saved, err}
	}, func(err error) tea.Msg { return layoutsMsg{ask: ask, err: err} })
}

// holdForLayouts keeps back what was typed for the choice that is asked for. A
// key that would close it takes the question back, with what came before.
func (m *model) holdForLayouts(events []screen.Event) {
	closes := slices.IndexFunc(events, func(e screen.Event) bool {
		return e.Kind == keys.EventKey && m.o.Bindings.Is(e.Key, keymap.ScopePicker, keymap.Cancel)
	})
	if closes >= 0 {
		m.layouts.asked = 0
	}
	m.in.Unread(events[closes+1:])
	if m.layouts.asked == 0 {
		m.in.Notify()
	}
}

// takeLayouts shows the choice, and goes on with what was typed for it.
func (m *model) takeLayouts(msg layoutsMsg) tea.Cmd {
	if msg.ask != m.layouts.asked {
		return nil
	}
	m.layouts.asked = 0
	cmd := m.chooseLayout(msg)
	return tea.Batch(cmd, m.handleInput(m.in.Drain()))
}

func (m *model) chooseLayout(msg layoutsMsg) tea.Cmd {
	saved := msg.saved
	usual := m.arrangementChoices(len(saved))
	switch {
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case len(saved)+len(usual) == 0:
		return m.say("no layout is saved yet; "+m.keyFor(keymap.LayoutSave)+" saves this one", false)
	}
	u := &overlay.Picker{Title: "Show the layout", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "show it" }}
	u.List.Set(append(m.layoutChoices(saved), usual...))
	u.Pick = func(c widget.Choice) tea.Cmd {
		if c.Number >= len(saved) {
			return m.arrangeAs(layout.Arrangements()[c.Number-len(saved)])
		}
		m.switchTo(viewSessions)
		if m.showLayout(saved[c.Number].Layout) == 0 {
			return m.say("none of its sessions exists", true)
		}
		return nil
	}
	removed := map[int]bool{}
	u.Stays = func(c widget.Choice) bool { return c.Number >= len(saved) }
	u.Drop = func(c widget.Choice) ([]widget.Choice, tea.Cmd) {
		removed[c.Number] = true
		cmd := m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			return panes.DoneMsg{Err: e.RemoveLayout(ctx, saved[c.Number].Name)}
		},
			func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
		all := append(m.layoutChoices(saved), usual...)
		return slices.DeleteFunc(all, func(c widget.Choice) bool { return removed[c.Number] }), cmd
	}
	m.overlay = u
	m.dirty = true
	return nil
}

func (m *model) layoutChoices(saved []api.SavedLayout) (choices []widget.Choice) {
	for i, s := range saved {
		does := layout.Describe(s.Layout)
		choices = append(choices, widget.Choice{Number: i, Sign: m.look.Glyphs.Terminal, SignInk: m.look.Accent,
			Text: widget.Clean(s.Name), Also: does, Detail: does})
	}
	return choices
}
