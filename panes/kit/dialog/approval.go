package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// An Approval shows agents' requests to the user, the oldest first. A request can be
// allowed only after its whole command was on the screen.
type Approval struct {
	ID       string               // id of the request shown; "" selects the oldest
	Requests func() []api.Request // returns the open requests
	Answer   func(api.RequestAnswerInput) tea.Cmd
	Refuse   func(why string) tea.Cmd // reports why an answer was not accepted

	pager        pager
	requestRows  int         // number of the pager's rows that show the command or paths
	shownRequest api.Request // the request those rows belong to
	width        int
	readRequest  api.Request // the last request shown to its end
}

func (a *Approval) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRequest} }

func (a *Approval) Type(Host, tea.KeyPressMsg) tea.Cmd { return nil }
func (a *Approval) Paste(Host, string) tea.Cmd         { return nil }

// findRequest returns the shown request and its index; ok is false if it is no longer
// open.
func (a *Approval) findRequest() (r api.Request, at int, ok bool) {
	open := a.Requests()
	// The oldest request is selected once, and stays selected when others arrive.
	if a.ID == "" && len(open) > 0 {
		a.ID = open[0].ID
	}
	if at = slices.IndexFunc(open, func(r api.Request) bool { return r.ID == a.ID }); at < 0 {
		return r, 0, false
	}
	return open[at], at, true
}

func (a *Approval) Do(h Host, action keymap.Action) tea.Cmd {
	r, at, open := a.findRequest()
	switch action {
	case keymap.RequestNext:
		if all := a.Requests(); len(all) > 0 {
			a.showRequest(all[(at+1)%len(all)].ID)
		}
		return nil
	case keymap.RequestAllow, keymap.RequestAlways, keymap.RequestDeny:
		if !open {
			// The shown request was answered elsewhere, and the user has not read the next one yet.
			return nil
		}
	default:
		if !a.pager.scrollBy(action) {
			h.Close()
		}
		return nil
	}
	if action != keymap.RequestDeny && !sameRequest(r, a.readRequest) {
		return a.Refuse("scroll to the end first")
	}
	in := api.RequestAnswerInput{ID: a.ID, Allow: action != keymap.RequestDeny, Always: action == keymap.RequestAlways}
	if all := a.Requests(); len(all) > 1 {
		a.showRequest(all[(at+1)%len(all)].ID)
	} else {
		h.Close()
	}
	return a.Answer(in)
}

func (a *Approval) Traits() Traits { return Traits{Mouse: a.pager.handleMouse} }

func (a *Approval) showRequest(id string) {
	a.ID = id
	a.pager.scrollBy(keymap.HelpFirst)
}

func (a *Approval) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = max(min(w-8, 84), 10)
	r, at, open := a.findRequest()
	if !open {
		rows = []string{look.Dim.Text(text.Fit("Already answered, or it timed out.", width))}
		return rows, width, -1, 0
	}
	shown := textOf(r)
	title := fmt.Sprintf("%s wants to call %s", text.Clip(shown.Asker, width/2), describeTool(shown))
	if n := len(a.Requests()); n > 1 {
		title += fmt.Sprintf("  (%d of %d)", at+1, n)
	}
	rows = append([]string{look.Strong.Text(text.Fit(title, width)), text.Spaces(width)}, a.requestRowsInView(r, width, max(height-11, 3), look)...)
	rows = append(rows, text.Spaces(width))
	for _, fact := range text.WrapLines(requestFacts(r, shown), width) {
		rows = append(rows, look.Dim.Text(text.Fit(fact, width)))
	}
	// Only a request that is visible to its last row can be allowed, so its frame must fit too.
	if a.pager.view.AtBottom() && width+4 <= w && len(rows)+2 < height {
		a.readRequest = r
	}
	return rows, width, -1, 0
}

// requestRowsInView draws the visible rows of the request, at most maxRows, and below them a line
// with the position if not all rows fit.
func (a *Approval) requestRowsInView(r api.Request, width, maxRows int, look *look.Look) (rows []string) {
	page := a.pager.rows
	if page == nil || a.width != width || !sameRequest(a.shownRequest, r) {
		a.shownRequest, a.width = r, width
		page = requestLines(r, width)
		a.requestRows = len(page)
		if r.CWD != "" {
			page = append(page, text.Spaces(width))
			page = append(page, text.Fold("in "+textOf(r).CWD, width)...)
		}
	}
	a.pager.setRows(page, min(len(page), maxRows))
	first := a.pager.firstVisible()
	for i, line := range a.pager.visibleRows() {
		ink := look.Accent
		if first+i >= a.requestRows {
			ink = look.Dim
		}
		rows = append(rows, ink.Text(text.Fit(line, width)))
	}
	if !a.pager.isComplete() {
		place := fmt.Sprintf("rows %d–%d of %d", first+1, first+len(rows), len(page))
		rows = append(rows, look.Strong.Text(text.Fit(place, width)))
	}
	return rows
}

// textOf returns the texts to show for a request.
func textOf(r api.Request) api.RequestText { return r.Text(cellwidth.Spell, cellwidth.SpellLines) }

// AskerName returns the agent's name.
func AskerName(r api.Request) string { return textOf(r).Asker }

// StandingAnswer says in a sentence what an agent may do, or may not do, after a standing answer to
// its request.
func StandingAnswer(r api.Request) string {
	may := " may call "
	if r.Answer == "deny" {
		may = " may not call "
	}
	shown := textOf(r)
	return shown.Asker + may + describeTool(shown) + ": " + RequestSummary(r)
}

// RequestSummary describes a request on one line, with invisible characters spelled out.
func RequestSummary(r api.Request) string {
	shown := r.Text(cellwidth.Spell, cellwidth.Spell)
	if shown.Command != "" {
		return shown.Command
	}
	return strings.Join(slices.DeleteFunc(append([]string{shown.Tool, shown.Session}, shown.Paths...), func(s string) bool { return s == "" }), " ")
}

// describeTool names the tool that an agent wants to call, and its machine unless that is this one.
func describeTool(t api.RequestText) string {
	if t.Host == "" {
		return t.Tool
	}
	return t.Tool + " on " + t.Host
}

// sameRequest reports whether a and b have the same id and the same call, so that what the user has
// read still holds.
func sameRequest(a, b api.Request) bool {
	return a.ID == b.ID && a.Tool == b.Tool && a.Host == b.Host && a.Command == b.Command && a.CWD == b.CWD && slices.Equal(a.Paths, b.Paths)
}

// Hints returns the keys for the shown request.
func (a *Approval) Hints(h Host) []keymap.Hint {
	_, _, open := a.findRequest()
	var hints []keymap.Hint
	for _, hint := range h.Bindings().Hints(false, keymap.ScopeRequest) {
		if hint.Action == keymap.Close || hint.Action == keymap.RequestNext && (!open || len(a.Requests()) < 2) {
			continue
		}
		hints = append(hints, hint)
	}
	if open && !a.pager.isComplete() {
		scroll := h.Bindings().PairHint(keymap.HelpDown, keymap.HelpUp, "scroll", keymap.ScopeRequest)
		scroll.Key = strings.TrimSpace(scroll.Key + " " + h.Bindings().KeyOf(keymap.HelpLast, keymap.ScopeRequest))
		hints = append(hints, scroll)
	}
	return append(hints, h.Bindings().Hint(keymap.Close, "later", keymap.ScopeRequest))
}

const (
	firstLineMargin = "› "
	nextLineMargin  = "  "
	marginWidth     = len(nextLineMargin)
)

// requestLines returns the command and paths of a request, folded to width. If there are several
// rows, a margin marks those at which a line begins, so that a long line cannot pose as several
// commands.
func requestLines(r api.Request, width int) []string {
	shown := textOf(r)
	parts := shown.Paths
	if shown.Command != "" {
		parts = append(strings.Split(shown.Command, "\n"), parts...)
	}
	if len(parts) == 1 {
		if lines := text.Fold(parts[0], width); len(lines) == 1 {
			return lines
		}
	}
	var lines []string
	for _, p := range parts {
		margin := firstLineMargin
		for _, line := range text.FoldWords(p, width-marginWidth) {
			lines = append(lines, margin+line)
			margin = nextLineMargin
		}
	}
	return lines
}

func requestFacts(r api.Request, shown api.RequestText) []string {
	var facts []string
	if shown.Session != "" {
		facts = append(facts, "for "+shown.Session)
	}
	if shown.From != "" {
		facts = append(facts, "comes from "+shown.From)
	}
	if shown.Rule != "" {
		facts = append(facts, "reason: "+shown.Rule)
	}
	return append(facts, "denied if not answered by "+r.ExpiresAt.Local().Format("15:04:05"))
}
