package inbox

import (
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Sizes of the dialog.
const (
	maxWidth       = 92
	maxItems       = 8
	maxScreenLines = 14 // of a session's screen
	headRows       = 2  // above the items
	ruleRows       = 1  // below them
)

// Draw draws the list of items, and the content of the item under the cursor.
func (b *Inbox) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = max(min(w-8, maxWidth), 10)
	i, at, all := b.findSelected()
	room := max(height-8-headRows-ruleRows, 2)
	b.height = max(min(len(all), maxItems, room/2), 1)
	b.top = list.Follow(b.top, max(at, 0), len(all), b.height)
	rows = append(rows, b.drawTitle(all, width, look), text.Spaces(width))
	for n := b.top; n < b.top+b.height; n++ {
		switch {
		case n < len(all):
			rows = append(rows, b.drawRow(all[n], n == at, width, look))
		default:
			rows = append(rows, look.Dim.Text(text.Fit("Nothing needs you now.", width)))
		}
	}
	rows = append(rows, look.Rule.Text(strings.Repeat("─", width)))
	rows = append(rows, b.drawPreview(i, width, min(room-b.height, maxScreenLines), look)...)
	// Remember the item the user sees; see sendAnswer.
	b.drawn, x = i, -1
	if b.writing {
		label := "answer "
		if !i.isBlocked() {
			label = "next task "
		}
		field, column := b.field.DrawIn(max(width-len(label), 4), look)
		rows = append(rows, look.Strong.Text(label)+field)
		x, y = len(label)+column, len(rows)-1
	}
	return rows, width, x, y
}

// drawTitle draws the number of items by kind.
func (b *Inbox) drawTitle(all []item, width int, look *look.Look) string {
	var blocked, requests, done, answered int
	for _, i := range all {
		switch {
		case i.answered != nil:
			answered++
		case i.request != nil:
			requests++
		case i.isBlocked():
			blocked++
		default:
			done++
		}
	}
	var parts []string
	if blocked > 0 {
		parts = append(parts, fmt.Sprintf("%d blocked", blocked))
	}
	if requests > 0 {
		parts = append(parts, text.Count(requests, "request"))
	}
	if done > 0 {
		parts = append(parts, fmt.Sprintf("%d done", done))
	}
	if answered > 0 {
		parts = append(parts, text.Count(answered, "standing answer"))
	}
	count := text.Clip(strings.Join(parts, ", "), max(width-7, 0))
	return look.Strong.Text("Inbox") + look.Dim.Text(text.PadLeft(count, width-5))
}

// drawRow draws an item: its sign, name, state and age.
func (b *Inbox) drawRow(i item, selected bool, width int, look *look.Look) string {
	glyph, ink := look.Glyphs.Unknown, look.Warn
	name, state, tree := "", "", ""
	switch {
	case i.answered != nil:
		glyph, ink = look.Glyphs.State(string(api.StateExited)), look.Dim
		name, state = dialog.StandingAnswer(*i.answered), "always"
	case i.request != nil:
		name, state = dialog.AskerName(*i.request)+" asks: "+dialog.RequestSummary(*i.request), "request"
	default:
		a := i.session.Agent
		glyph, ink = states.AgentGlyph(a, look)
		name, state, tree = b.o.Describe(i.session), string(a.State), b.o.DescribeTree(i.session)
		if last, ok := b.sent[i.id()]; ok && sameState(&last.to, a) {
			state = "answered"
		} else if age := states.AgentAge(a, time.Now()); age != "" {
			state += " " + age
		}
	}
	state = text.Clip(state, width/3)
	room := max(width-4-text.Width(state), 0)
	name = text.Clip(name, room)
	if tree != "" {
		tree = text.Clip("  "+tree, room-text.Width(name))
	}
	tree = text.Pad(tree, room-text.Width(name))
	if selected {
		return look.Selected.Text(text.Fit(glyph+" "+name+tree+"  "+state, width))
	}
	return text.Pad(ink.Text(glyph)+" "+look.Text.Text(name)+look.Dim.Text(tree+"  "+state), width)
}

// drawPreview draws the content of the item under the cursor in n rows.
func (b *Inbox) drawPreview(i item, width, n int, look *look.Look) (rows []string) {
	request := func(title string, r *api.Request) {
		rows = append(rows, look.Strong.Text(text.Fit(title, width)))
		for _, line := range text.WrapWords(dialog.RequestSummary(*r), width) {
			rows = append(rows, look.Text.Text(text.Fit(line, width)))
		}
	}
	switch {
	case i.request != nil:
		request("A request to call "+text.Clean(i.request.Tool), i.request)
	case i.answered != nil:
		request("Your answer to every call like this until the engine stops: "+i.answered.Answer, i.answered)
	case i.session != nil:
		rows = b.drawScreen(i, width, n, look)
	case b.current != "":
		rows = append(rows, look.Dim.Text(text.Fit("This no longer needs you.", width)))
	}
	return text.PadRows(rows, width, n)[:n]
}

// drawScreen draws the question and the last lines of the session's screen.
func (b *Inbox) drawScreen(i item, width, n int, look *look.Look) (rows []string) {
	asks := text.Clean(i.session.Agent.Text)
	lines := b.screen.lines
	if b.screen.item.id() != i.id() {
		lines = nil
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	lines = lines[max(len(lines)-n, 0):]
	shown := false
	for _, line := range lines {
		line, ink := text.CleanText(line), look.Dim
		if asks != "" && strings.Contains(line, asks) {
			shown, ink = true, look.Strong
		}
		rows = append(rows, ink.Text(text.Fit(line, width)))
	}
	// There is no question, or the screen shows it already.
	if asks == "" || shown {
		return rows
	}
	var question []string
	for _, line := range text.WrapWords(asks, width) {
		question = append(question, look.Strong.Text(text.Fit(line, width)))
	}
	question = question[:min(len(question), max(n/2, 1))]
	return append(question, rows[max(len(rows)-n+len(question), 0):]...)
}

// Hints returns the actions on the item under the cursor.
func (b *Inbox) Hints(h dialog.Host) (hints []keymap.Hint) {
	bindings := h.Bindings()
	hint := func(a keymap.Action, does string) {
		hints = append(hints, bindings.Hint(a, does, keymap.ScopeInbox))
	}
	if b.writing {
		return []keymap.Hint{
			bindings.Hint(keymap.Accept, "send", keymap.ScopePrompt),
			bindings.Hint(keymap.Cancel, "back", keymap.ScopePrompt),
		}
	}
	i, _, all := b.findSelected()
	switch {
	case i.isBlocked():
		yes := bindings.PairHint(keymap.InboxYes, keymap.InboxNo, "answer", keymap.ScopeInbox)
		yes.Key = strings.TrimSpace(yes.Key + " 0-9")
		hints = append(hints, yes)
		hint(keymap.InboxWrite, "write")
		hint(keymap.InboxOpen, "open")
	case i.session != nil:
		hint(keymap.InboxOpen, "open")
		hint(keymap.InboxWrite, "next task")
		hint(keymap.InboxSeen, "seen")
		if b.o.DescribeTree(i.session) != "" {
			hint(keymap.InboxDiff, "diff")
		}
	case i.request != nil:
		hint(keymap.InboxOpen, "review")
	case i.answered != nil:
		hint(keymap.InboxSeen, "undo")
	}
	if len(all) > 1 {
		hints = append(hints, bindings.PairHint(keymap.InboxUp, keymap.InboxDown, "choose", keymap.ScopeInbox))
	}
	hint(keymap.Help, "keys")
	hint(keymap.InboxLeave, "close")
	return hints
}
