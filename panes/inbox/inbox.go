// Package inbox is what needs the person: what coding agents ask, what they have done and
// nobody has looked at, and what agents wait to be allowed. It is shown as a dialog, in
// which questions are answered without going to their sessions.
package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// Options are what an inbox is of.
type Options struct {
	Env     panes.Env
	Waiting func() []api.Process       // sessions whose agents need the person, those first that have waited longest
	See     func(*api.Process)         // what an agent has done was looked at
	Request func(id string) tea.Cmd    // asks the person what an agent wants to be allowed
	Name    func(*api.Process) string  // an agent, and where it is
	Tree    func(*api.Process) string  // the branch of its worktree and what would be lost with it; "" for none
	Diff    func(*api.Process) tea.Cmd // shows what was changed there
}

// An Inbox is the dialog.
type Inbox struct {
	o Options

	at     string // id of the item under the cursor; it stays there when that is gone
	drawn  item   // what was under the cursor when it was drawn last
	top    int    // first item in sight
	height int    // how many are in sight
	screen screen
	sent   map[string]answer // by session: the last answer that was given here

	writing bool
	field   widget.Field
}

// An item is one of those that need the person: a session or a request.
type item struct {
	session *api.Process
	request *api.Request
}

func (i item) id() string {
	switch {
	case i.session != nil:
		return i.session.ID
	case i.request != nil:
		return "request " + i.request.ID
	}
	return ""
}

func (i item) blocked() bool { return i.session != nil && i.session.Agent.State == api.AgentBlocked }

// same reports whether two items are one, for the same.
func (i item) same(other item) bool {
	if i.id() != other.id() {
		return false
	}
	return i.session == nil || sameState(i.session.Agent, other.session.Agent)
}

// sameState reports whether an agent is at what it was: it asks the same question.
func sameState(a, b *api.CodingAgent) bool {
	return a != nil && b != nil && a.State == b.State && a.Since.Equal(b.Since) && a.Text == b.Text
}

// A screen is the last lines of what a session shows.
type screen struct {
	of    item
	lines []string
	asked bool // they are on their way
}

// An answer is what was typed into a session for its agent.
type answer struct {
	to api.CodingAgent
	at time.Time
}

// New makes an inbox, with the cursor on the first item.
func New(o Options) *Inbox {
	b := &Inbox{o: o, sent: map[string]answer{}}
	if all := b.items(); len(all) > 0 {
		b.at = all[0].id()
	}
	return b
}

// Count is how many items there are.
func (b *Inbox) Count() int { return len(b.items()) }

// items are what needs the person: questions first, then requests, then what was done.
func (b *Inbox) items() (all []item) {
	var done []item
	for _, session := range b.o.Waiting() {
		if i := (item{session: &session}); i.blocked() {
			all = append(all, i)
		} else {
			done = append(done, i)
		}
	}
	for _, request := range b.o.Env.News().Requests {
		all = append(all, item{request: &request})
	}
	return append(all, done...)
}

// selected is the item under the cursor; empty when that is gone.
func (b *Inbox) selected() (selected item, at int, all []item) {
	all = b.items()
	at = slices.IndexFunc(all, func(i item) bool { return i.id() == b.at })
	if at >= 0 {
		selected = all[at]
	}
	return selected, at, all
}

func (b *Inbox) Scopes() []keymap.Scope {
	if b.writing {
		return []keymap.Scope{keymap.ScopePrompt}
	}
	return []keymap.Scope{keymap.ScopeInbox}
}

func (b *Inbox) Do(h overlay.Host, action keymap.Action) tea.Cmd {
	switch action {
	case keymap.InboxYes:
		return b.answer("y")
	case keymap.InboxNo:
		return b.answer("n")
	case keymap.InboxWrite:
		return b.write()
	case keymap.InboxOpen:
		return b.open(h)
	case keymap.InboxSeen:
		return b.putAway()
	case keymap.InboxDiff:
		if i, _, _ := b.selected(); i.session != nil {
			return b.o.Diff(i.session)
		}
	case keymap.InboxDown:
		b.move(1)
	case keymap.InboxUp:
		b.move(-1)
	case keymap.Accept:
		return b.written()
	case keymap.Cancel:
		b.writing = false
	default:
		h.Close()
	}
	return nil
}

// Type takes what is written, and digits as answers.
func (b *Inbox) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case b.writing:
		b.field.Type(k)
	case len(k.Text) == 1 && '0' <= k.Text[0] && k.Text[0] <= '9':
		return b.answer(k.Text)
	}
	return nil
}

func (b *Inbox) Paste(_ overlay.Host, text string) tea.Cmd {
	if b.writing {
		b.field.Paste(text)
	}
	return nil
}

// Dismiss closes the inbox.
func (b *Inbox) Dismiss(h overlay.Host) { h.Close() }

// Mouse moves the cursor by a click or the wheel.
func (b *Inbox) Mouse(_ overlay.Host, e keys.Mouse) tea.Cmd {
	switch all := b.items(); {
	case e.Button == keys.WheelUp:
		b.move(-1)
	case e.Button == keys.WheelDown:
		b.move(1)
	case widget.LeftDown(e) && e.Y >= headRows && e.Y < headRows+b.height && b.top+e.Y-headRows < len(all):
		b.goTo(all[b.top+e.Y-headRows].id())
	}
	return nil
}

func (b *Inbox) goTo(id string) {
	if b.at != id {
		b.at, b.writing = id, false
		b.field.Set("")
	}
}

// move moves the cursor; from an item that is gone it comes to the first.
func (b *Inbox) move(by int) {
	_, at, all := b.selected()
	if len(all) > 0 {
		b.goTo(all[min(max(at+by, 0), len(all)-1)].id())
	}
}

// open shows the session, or the request.
func (b *Inbox) open(h overlay.Host) tea.Cmd {
	switch i, _, _ := b.selected(); {
	case i.session != nil:
		h.Close()
		return b.o.Env.ShowSession(i.session.ID)
	case i.request != nil:
		return b.o.Request(i.request.ID)
	}
	return nil
}

// putAway takes what is done out of the inbox.
func (b *Inbox) putAway() tea.Cmd {
	switch i, at, all := b.selected(); {
	case i.session == nil:
		return nil
	case i.blocked():
		return b.o.Env.Say("it is blocked: answer it, or open its session", true)
	default:
		b.o.See(i.session)
		if len(all) > 1 {
			b.goTo(append(all[at+1:], all[0])[0].id())
		}
	}
	return nil
}

// write begins to write an answer, or what to do next.
func (b *Inbox) write() tea.Cmd {
	i, _, _ := b.selected()
	b.writing = i.session != nil
	return nil
}

// written sends what was written.
func (b *Inbox) written() tea.Cmd {
	text := strings.TrimSpace(b.field.Text())
	b.writing = false
	if text == "" {
		return nil
	}
	return b.send(text, false)
}

// answer types a key that answers a question.
func (b *Inbox) answer(key string) tea.Cmd {
	if i, _, _ := b.selected(); !i.blocked() {
		return b.o.Env.Say("nothing to answer here", true)
	}
	return b.send(key, true)
}

// settles is how long the agent may take to go on after an answer: what comes meanwhile
// would answer its next question.
const settles = 2 * time.Second

// send has the answer typed into the session under the cursor, after asking where somebody
// else types into it. What was not on the screen is not answered.
func (b *Inbox) send(text string, key bool) tea.Cmd {
	i, _, _ := b.selected()
	last, answered := b.sent[b.at]
	switch {
	case !i.same(b.drawn) || i.session == nil:
		return b.o.Env.Say("this has just changed: read it first", true)
	case answered && sameState(&last.to, i.session.Agent) && time.Since(last.at) < settles:
		return b.o.Env.Say("answered; the agent has not continued yet", true)
	}
	asked := *i.session
	who := typist(&asked)
	if who == "" {
		return b.typeInto(&asked, text, key)
	}
	back := func() { b.o.Env.Ask(b) }
	b.o.Env.Ask(&overlay.Question{
		Title: who + " types into " + widget.Clip(widget.Clean(asked.Name), 30) + ".",
		Lines: []string{"Type " + widget.Clip(widget.Clean(text), 30) + " there too?"},
		Yes:   "type it",
		Then: panes.Result(func() tea.Cmd {
			back()
			return b.typeInto(&asked, text, key)
		}).Cmd,
		Cancelled: back,
	})
	return nil
}

// typist is who else has the keyboard of a session; "" if nobody.
func typist(p *api.Process) string {
	t := p.Terminal
	switch {
	case t == nil:
	case strings.HasPrefix(t.Typist, "agent:"):
		return "The agent " + widget.Clip(widget.Who(t.Typist), 30)
	case t.Keyboard != "" && t.Keyboard != panes.ClientName:
		return widget.Clip(widget.Clean(t.Keyboard), 30)
	}
	return ""
}

// typeInto types an answer, if the agent asks still what it asked.
func (b *Inbox) typeInto(asked *api.Process, text string, key bool) tea.Cmd {
	b.sent[asked.ID] = answer{*asked.Agent, time.Now()}
	b.field.Set("")
	b.next(asked.ID)
	return panes.Ask(b.o.Env.Context(), b.o.Env, func(ctx context.Context, e panes.Engine) (bool, error) {
		now, err := api.AgentExplain.Call(ctx, e, api.IDInput{ID: asked.ID})
		if err != nil || !sameState(now.Agent, asked.Agent) {
			return false, err
		}
		switch {
		case key && text == "y" && now.Yes != "":
			text = now.Yes
		case key && text == "n" && now.No != "":
			text = now.No
		}
		in := api.SessionWriteInput{ID: asked.ID, Keys: []string{text}}
		if !key {
			err = api.TypeInto(ctx, e, api.SessionWriteInput{ID: asked.ID, Paste: text})
			in.Keys = nil
		}
		if !key || now.Lines {
			in.Keys = append(in.Keys, "enter")
		}
		if err == nil {
			err = api.TypeInto(ctx, e, in)
		}
		return true, err
	}, func(typed bool, err error) tea.Cmd {
		switch {
		case err != nil:
			delete(b.sent, asked.ID)
			return b.o.Env.Say("not answered: "+panes.ErrorText(err), true)
		case !typed:
			delete(b.sent, asked.ID)
			return b.o.Env.Say("not answered: "+b.o.Name(asked)+" now asks something else", true)
		}
		b.screen = screen{} // shows what came of it
		return b.o.Env.Say("answered "+b.o.Name(asked), false)
	})
}

// next goes on to another question, if there is one.
func (b *Inbox) next(answered string) {
	_, at, all := b.selected()
	for n := range all {
		i := all[(at+1+n)%len(all)]
		last, ok := b.sent[i.id()]
		if i.blocked() && i.id() != answered && !(ok && sameState(&last.to, i.session.Agent)) {
			b.goTo(i.id())
			return
		}
	}
}

// Fetch asks for the screen of the session under the cursor, when that is another one or
// is at something else.
func (b *Inbox) Fetch() tea.Cmd {
	i, _, _ := b.selected()
	if i.session == nil || b.screen.asked || b.screen.of.session != nil && b.screen.of.same(i) {
		return nil
	}
	if b.screen.of.id() != i.id() {
		b.screen = screen{}
	}
	b.screen.asked = true
	id := i.session.ID
	return panes.Ask(b.o.Env.Context(), b.o.Env, func(ctx context.Context, e panes.Engine) (api.Screen, error) {
		return api.SessionScreen.Call(ctx, e, api.SessionScreenInput{ID: id})
	}, func(s api.Screen, err error) tea.Cmd {
		b.screen = screen{of: i, lines: s.Lines}
		if err != nil {
			b.screen.lines = []string{panes.ErrorText(err)}
		}
		return nil
	})
}
