package overlay

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// An Approval asks the person what an agent has asked, the oldest request first.
// Nobody allows what they have not seen: what would run is shown to its end first.
type Approval struct {
	ID       string               // of the request that is shown; "" for the oldest one
	Requests func() []api.Request // that are open
	Answer   func(api.RequestAnswerInput) tea.Cmd
	Refuse   func(why string) tea.Cmd // tells why nothing is done

	pager pager
	wants int         // how many of the pager's rows are what would run or be touched
	of    api.Request // what they are of
	width int
	read  api.Request // what has been on screen to its end
}

func (a *Approval) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRequest} }

func (a *Approval) Type(Host, tea.KeyPressMsg) tea.Cmd { return nil }
func (a *Approval) Paste(Host, string) tea.Cmd         { return nil }

// find is the request that is shown and its place; ok is false when it is not
// open any more.
func (a *Approval) find() (r api.Request, at int, ok bool) {
	open := a.Requests()
	if a.ID == "" && len(open) > 0 {
		a.ID = open[0].ID
	}
	for i, r := range open {
		if r.ID == a.ID {
			return r, i, true
		}
	}
	return api.Request{}, 0, false
}

func (a *Approval) Do(h Host, action keymap.Action) tea.Cmd {
	r, at, open := a.find()
	switch action {
	case keymap.RequestNext:
		if all := a.Requests(); len(all) > 0 {
			a.show(all[(at+1)%len(all)].ID)
		}
		return nil
	case keymap.RequestAllow, keymap.RequestAlways, keymap.RequestDeny:
		if !open {
			return nil // somebody else was quicker; what is shown now was not read yet
		}
	default:
		if !a.pager.do(action) {
			h.Close()
		}
		return nil
	}
	if action != keymap.RequestDeny && !sameWish(r, a.read) {
		return a.Refuse("scroll to the end first")
	}
	in := api.RequestAnswerInput{ID: a.ID, Allow: action != keymap.RequestDeny, Always: action == keymap.RequestAlways}
	if all := a.Requests(); len(all) > 1 {
		a.show(all[(at+1)%len(all)].ID)
	} else {
		h.Close()
	}
	return a.Answer(in)
}

// Mouse handles the mouse inside the box.
func (a *Approval) Mouse(_ Host, e keys.Mouse) tea.Cmd {
	a.pager.wheel(e)
	return nil
}

func (a *Approval) show(id string) {
	a.ID = id
	a.pager.do(keymap.HelpFirst)
}

func (a *Approval) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = max(min(w-8, 84), 10)
	r, at, open := a.find()
	if !open {
		rows = []string{look.Dim.Text(widget.Fit("Already answered, or it timed out.", width))}
		return rows, width, -1, 0
	}
	shown := textOf(r)
	title := fmt.Sprintf("%s wants to call %s", widget.Clip(shown.Asker, width/2), toolOf(shown))
	if n := len(a.Requests()); n > 1 {
		title += fmt.Sprintf("  (%d of %d)", at+1, n)
	}
	rows = append([]string{look.Strong.Text(widget.Fit(title, width)), widget.Spaces(width)}, a.rows(r, width, max(height-11, 3), look)...)
	rows = append(rows, widget.Spaces(width))
	for _, fact := range requestFacts(r, shown) {
		rows = append(rows, look.Dim.Text(widget.Fit(fact, width)))
	}
	if a.pager.view.AtBottom() && width+4 <= w && len(rows)+2 < height {
		a.read = r
	}
	return rows, width, -1, 0
}

// rows are those of what r wants that are in sight, at most some, and below them
// where they are if there are others.
func (a *Approval) rows(r api.Request, width, most int, look *widget.Look) (rows []string) {
	page := a.pager.rows
	if page == nil || a.width != width || !sameWish(a.of, r) {
		a.of, a.width = r, width
		page = requestLines(r, width)
		a.wants = len(page)
		if r.CWD != "" {
			page = append(page, widget.Spaces(width))
			page = append(page, folded("in "+textOf(r).CWD, width)...)
		}
	}
	a.pager.show(page, min(len(page), most))
	first := a.pager.top()
	for i, line := range a.pager.inSight() {
		ink := look.Accent
		if first+i >= a.wants {
			ink = look.Dim
		}
		rows = append(rows, ink.Text(widget.Fit(line, width)))
	}
	if !a.pager.all() {
		place := fmt.Sprintf("rows %d–%d of %d", first+1, first+len(rows), len(page))
		rows = append(rows, look.Strong.Text(widget.Fit(place, width)))
	}
	return rows
}

// textOf returns what to show of a request.
func textOf(r api.Request) api.RequestText { return r.Text(cellwidth.Spell, cellwidth.SpellLines) }

// Asker is an agent's name in words.
func Asker(r api.Request) string { return textOf(r).Asker }

// Wish returns what an agent asks for, on one line, with invisible characters spelled out.
func Wish(r api.Request) string {
	shown := r.Text(cellwidth.Spell, cellwidth.Spell)
	if shown.Command != "" {
		return shown.Command
	}
	return strings.Join(slices.DeleteFunc(append([]string{shown.Tool, shown.Session}, shown.Paths...), func(s string) bool { return s == "" }), " ")
}

// toolOf is what a request wants to call, and where if that is another machine.
func toolOf(t api.RequestText) string {
	if t.Host == "" {
		return t.Tool
	}
	return t.Tool + " on " + t.Host
}

// sameWish reports whether two requests are one, for the same.
func sameWish(a, b api.Request) bool {
	return a.ID == b.ID && a.Tool == b.Tool && a.Host == b.Host && a.Command == b.Command && a.CWD == b.CWD && slices.Equal(a.Paths, b.Paths)
}

// Hints are the keys of the request that is shown.
func (a *Approval) Hints(h Host) []widget.Hint {
	_, _, open := a.find()
	var hints []widget.Hint
	for _, hint := range h.Bindings().Hints(false, keymap.ScopeRequest) {
		if hint.Action == keymap.Close || hint.Action == keymap.RequestNext && (!open || len(a.Requests()) < 2) {
			continue
		}
		hints = append(hints, widget.Hint{Key: hint.Key, Does: hint.Label})
	}
	if open && !a.pager.all() {
		scroll := Choose(h.Bindings(), keymap.ScopeRequest, keymap.HelpDown, keymap.HelpUp, "scroll")
		scroll.Key = strings.TrimSpace(scroll.Key + " " + keyOf(h.Bindings(), keymap.ScopeRequest, keymap.HelpLast))
		hints = append(hints, scroll)
	}
	return append(hints, Hint(h.Bindings(), keymap.ScopeRequest, keymap.Close, "later"))
}

const (
	lineBegins  = "› "
	lineGoesOn  = "  "
	lineMargins = len(lineGoesOn)
)

// requestLines are what would run or be touched. Of several rows each tells
// whether a line begins there, which nothing that is asked for can feign.
func requestLines(r api.Request, width int) []string {
	shown := textOf(r)
	parts := shown.Paths
	if shown.Command != "" {
		parts = append(strings.Split(shown.Command, "\n"), parts...)
	}
	if len(parts) == 1 {
		if lines := folded(parts[0], width); len(lines) == 1 {
			return lines
		}
	}
	var lines []string
	for _, p := range parts {
		margin := lineBegins
		for _, line := range folded(p, width-lineMargins) {
			lines = append(lines, margin+line)
			margin = lineGoesOn
		}
	}
	return lines
}

// folded cuts a text into lines of a width.
func folded(s string, width int) []string {
	var lines []string
	begin, used := 0, 0
	for at := 0; at < len(s); {
		cluster, cells := cellwidth.First(s[at:])
		if used+cells > width && at > begin {
			lines = append(lines, s[begin:at])
			begin, used = at, 0
		}
		at += len(cluster)
		used += cells
	}
	return append(lines, s[begin:])
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
	return append(facts, "refused if nobody answers by "+r.ExpiresAt.Local().Format("15:04:05"))
}
