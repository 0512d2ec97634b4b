// Package inbox shows what needs the user: questions of coding agents, their requests, and finished
// work not seen yet. It also lists standing answers to requests. It is a dialog, so a question can
// be answered without opening its session.
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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Options are the dependencies of an inbox.
type Options struct {
	Env          panes.Env
	ListWaiting  func() []api.Process       // sessions whose agents need the user, the longest wait first
	MarkSeen     func(*api.Process)         // records that finished work was seen
	ShowRequest  func(id string) tea.Cmd    // opens an agent's request
	Describe     func(*api.Process) string  // names an agent with its session
	DescribeTree func(*api.Process) string  // returns the branch of its worktree and what would be lost with it; "" without one
	ShowDiff     func(*api.Process) tea.Cmd // shows the changes there
}

// An Inbox is the dialog. To answer a question, it types into a session, so it must make sure that
// the user has read this very question. It compares the item with the one drawn last and, just
// before typing, the agent's state with that in the engine.
type Inbox struct {
	o Options

	current string // id of the item under the cursor, kept when the item is gone
	drawn   item   // the item under the cursor as last drawn
	top     int    // first visible item
	height  int    // number of visible items
	screen  screen
	sent    map[string]answer // by session: the last answer given here

	writing bool
	field   field.Field
}

// An item is a session or a request that needs the user, or a request with a standing answer.
type item struct {
	session  *api.Process
	request  *api.Request
	answered *api.Request
}

func (i item) id() string {
	switch {
	case i.session != nil:
		return i.session.ID
	case i.request != nil:
		return "request " + i.request.ID
	case i.answered != nil:
		return "answered " + i.answered.ID
	}
	return ""
}

func (i item) isBlocked() bool { return i.session != nil && i.session.Agent.State == api.AgentBlocked }

// isSame reports whether two items have the same id and, for a session, whether its agent still
// asks the same question.
func (i item) isSame(other item) bool {
	if i.id() != other.id() {
		return false
	}
	return i.session == nil || sameState(i.session.Agent, other.session.Agent)
}

// sameState reports whether an agent's state is unchanged: it still asks the same question.
func sameState(a, b *api.CodingAgent) bool {
	return a != nil && b != nil && a.State == b.State && a.Since.Equal(b.Since) && a.Text == b.Text
}

// A screen is the last lines of a session's screen.
type screen struct {
	item    item
	lines   []string
	loading bool // being fetched
}

// An answer records the state of an agent at the moment it was answered.
type answer struct {
	to api.CodingAgent
	at time.Time
}

// New returns an inbox with the cursor on the first item.
func New(o Options) *Inbox {
	b := &Inbox{o: o, sent: map[string]answer{}}
	if all := b.listItems(); len(all) > 0 {
		b.current = all[0].id()
	}
	return b
}

func (b *Inbox) Count() int { return len(b.listItems()) }

// listItems returns the items: questions first, then requests, finished work and answered requests.
func (b *Inbox) listItems() (all []item) {
	var done []item
	for _, session := range b.o.ListWaiting() {
		if i := (item{session: &session}); i.isBlocked() {
			all = append(all, i)
		} else {
			done = append(done, i)
		}
	}
	for _, request := range b.o.Env.News().Requests {
		all = append(all, item{request: &request})
	}
	all = append(all, done...)
	for _, request := range b.o.Env.News().Answered {
		all = append(all, item{answered: &request})
	}
	return all
}

// findSelected returns the item under the cursor, its index, and all items. If the item is gone, it
// is empty and the index is -1.
func (b *Inbox) findSelected() (selected item, at int, all []item) {
	all = b.listItems()
	at = slices.IndexFunc(all, func(i item) bool { return i.id() == b.current })
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

func (b *Inbox) Do(h dialog.Host, action keymap.Action) tea.Cmd {
	switch action {
	case keymap.InboxYes:
		return b.answerKey("y")
	case keymap.InboxNo:
		return b.answerKey("n")
	case keymap.InboxWrite:
		return b.startWriting()
	case keymap.InboxOpen:
		return b.openItem(h)
	case keymap.InboxSeen:
		return b.dismiss()
	case keymap.InboxDiff:
		if i, _, _ := b.findSelected(); i.session != nil {
			return b.o.ShowDiff(i.session)
		}
	case keymap.InboxDown:
		b.moveBy(1)
	case keymap.InboxUp:
		b.moveBy(-1)
	case keymap.Accept:
		return b.sendWritten()
	case keymap.Cancel:
		b.writing = false
	default:
		h.Close()
	}
	return nil
}

// Type writes an answer; digits answer directly.
func (b *Inbox) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case b.writing:
		b.field.Type(k)
	case len(k.Text) == 1 && '0' <= k.Text[0] && k.Text[0] <= '9':
		return b.answerKey(k.Text)
	}
	return nil
}

func (b *Inbox) Paste(_ dialog.Host, text string) tea.Cmd {
	if b.writing {
		b.field.Paste(text)
	}
	return nil
}

func (b *Inbox) Traits() dialog.Traits {
	return dialog.Traits{Mouse: b.Mouse, Dismiss: dialog.Host.Close}
}

func (b *Inbox) Mouse(_ dialog.Host, e keys.Mouse) tea.Cmd {
	switch all := b.listItems(); {
	case e.Button == keys.WheelUp:
		b.moveBy(-1)
	case e.Button == keys.WheelDown:
		b.moveBy(1)
	case e.IsLeftDown() && e.Y >= headRows && e.Y < headRows+b.height && b.top+e.Y-headRows < len(all):
		b.moveTo(all[b.top+e.Y-headRows].id())
	}
	return nil
}

func (b *Inbox) moveTo(id string) {
	if b.current != id {
		b.current, b.writing = id, false
		b.field.Set("")
	}
}

// moveBy moves the cursor by a number of items, or to the first item if the current one is gone.
func (b *Inbox) moveBy(by int) {
	_, at, all := b.findSelected()
	if len(all) > 0 {
		b.moveTo(all[min(max(at+by, 0), len(all)-1)].id())
	}
}

// openItem shows the session or the request.
func (b *Inbox) openItem(h dialog.Host) tea.Cmd {
	switch i, _, _ := b.findSelected(); {
	case i.session != nil:
		h.Close()
		return b.o.Env.ShowSession(i.session.ID)
	case i.request != nil:
		return b.o.ShowRequest(i.request.ID)
	}
	return nil
}

// dismiss removes the item under the cursor, if it is finished work, or revokes it, if it is a
// standing answer.
func (b *Inbox) dismiss() tea.Cmd {
	switch i, at, all := b.findSelected(); {
	case i.answered != nil:
		return b.undoAnswer(*i.answered)
	case i.session == nil:
		return nil
	case i.isBlocked():
		return b.o.Env.Say("the agent is blocked: answer it, or open its session", true)
	default:
		b.o.MarkSeen(i.session)
		if len(all) > 1 {
			b.moveTo(append(all[at+1:], all[0])[0].id())
		}
	}
	return nil
}

func (b *Inbox) undoAnswer(r api.Request) tea.Cmd {
	return panes.Call(b.o.Env.Context(), b.o.Env, func(ctx context.Context, e panes.Engine) (api.Request, error) {
		return api.RequestUndo.Call(ctx, e, api.RequestUndoInput{ID: r.ID})
	}, func(_ api.Request, err error) tea.Cmd {
		if err != nil {
			return b.o.Env.Say(panes.ErrorText(err), true)
		}
		if i, at, all := b.findSelected(); i.answered != nil && i.answered.ID == r.ID {
			all = slices.Delete(all, at, at+1)
			b.moveTo(append(all, item{})[min(at, max(len(all)-1, 0))].id())
		}
		return b.o.Env.Say(dialog.AskerName(r)+" will ask again", false)
	})
}

// startWriting lets the user type an answer to a blocked agent, or the next task of one that is
// done.
func (b *Inbox) startWriting() tea.Cmd {
	i, _, _ := b.findSelected()
	b.writing = i.session != nil
	return nil
}

func (b *Inbox) sendWritten() tea.Cmd {
	text := strings.TrimSpace(b.field.Text())
	b.writing = false
	if text == "" {
		return nil
	}
	return b.sendAnswer(text, false)
}

// answerKey sends a key as the answer to a question.
func (b *Inbox) answerKey(key string) tea.Cmd {
	if i, _, _ := b.findSelected(); !i.isBlocked() {
		return b.o.Env.Say("nothing to answer here", true)
	}
	return b.sendAnswer(key, true)
}

// settleTime is how long an agent may take to continue after an answer. Meanwhile no second answer
// is sent, because it would answer the agent's next question.
const settleTime = 2 * time.Second

// sendAnswer types into the session under the cursor. It asks first if someone else is typing
// there, and types nothing if the item has changed since it was drawn.
func (b *Inbox) sendAnswer(answer string, key bool) tea.Cmd {
	i, _, _ := b.findSelected()
	last, answered := b.sent[b.current]
	switch {
	case !i.isSame(b.drawn) || i.session == nil:
		return b.o.Env.Say("this item has just changed: read it first", true)
	case answered && sameState(&last.to, i.session.Agent) && time.Since(last.at) < settleTime:
		return b.o.Env.Say("answered; the agent has not continued yet", true)
	}
	asked := *i.session
	who := otherTypist(&asked)
	if who == "" {
		return b.typeAnswer(&asked, answer, key)
	}
	// The dialog replaces the inbox, so open the inbox again afterwards.
	back := func() { b.o.Env.Ask(b) }
	b.o.Env.Ask(&dialog.Question{
		Title: who + " types into " + text.Clip(text.Clean(asked.Name), 30) + ".",
		Lines: []string{"Type " + text.Clip(text.Clean(answer), 30) + " there too?"},
		Yes:   "type it",
		Then: func() tea.Cmd {
			back()
			return b.typeAnswer(&asked, answer, key)
		},
		Cancelled: back,
	})
	return nil
}

// otherTypist returns who else is typing into a session; "" if nobody is.
func otherTypist(p *api.Process) string {
	t := p.Terminal
	switch {
	case t == nil:
	case strings.HasPrefix(t.Typist, "agent:"):
		return "The agent " + text.Clip(states.Who(t.Typist), 30)
	case t.Keyboard != "" && t.Keyboard != panes.ClientName:
		return text.Clip(text.Clean(t.Keyboard), 30)
	}
	return ""
}

// typeAnswer types an answer, unless the agent's state has changed.
func (b *Inbox) typeAnswer(asked *api.Process, text string, key bool) tea.Cmd {
	b.sent[asked.ID] = answer{*asked.Agent, time.Now()}
	b.field.Set("")
	b.selectNext(asked.ID)
	return panes.Call(b.o.Env.Context(), b.o.Env, func(ctx context.Context, e panes.Engine) (bool, error) {
		// Ask the engine, because an event about a new question may still be on its way.
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
			return b.o.Env.Say("not answered: "+b.o.Describe(asked)+" now asks something else", true)
		}
		b.screen = screen{} // fetch it again to show the effect
		return b.o.Env.Say("answered "+b.o.Describe(asked), false)
	})
}

// selectNext moves the cursor to another open question, if there is one.
func (b *Inbox) selectNext(answered string) {
	_, at, all := b.findSelected()
	for n := range all {
		i := all[(at+1+n)%len(all)]
		last, ok := b.sent[i.id()]
		if i.isBlocked() && i.id() != answered && !(ok && sameState(&last.to, i.session.Agent)) {
			b.moveTo(i.id())
			return
		}
	}
}

// Fetch loads the screen of the session under the cursor if the session or its state has changed.
func (b *Inbox) Fetch() tea.Cmd {
	i, _, _ := b.findSelected()
	if i.session == nil || b.screen.loading || b.screen.item.session != nil && b.screen.item.isSame(i) {
		return nil
	}
	// Keep the old lines of the same session until the new ones arrive.
	if b.screen.item.id() != i.id() {
		b.screen = screen{}
	}
	b.screen.loading = true
	id := i.session.ID
	return panes.Call(b.o.Env.Context(), b.o.Env, func(ctx context.Context, e panes.Engine) (api.Screen, error) {
		return api.SessionScreen.Call(ctx, e, api.SessionScreenInput{ID: id})
	}, func(s api.Screen, err error) tea.Cmd {
		b.screen = screen{item: i, lines: s.Lines}
		if err != nil {
			b.screen.lines = []string{panes.ErrorText(err)}
		}
		return nil
	})
}
