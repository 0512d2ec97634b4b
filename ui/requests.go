package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// noteRequests says what agents have asked since before. The question itself
// waits for a key: a dialog that opens under somebody's fingers would be
// answered by what they type.
func (m *model) noteRequests(before []api.Request) tea.Cmd {
	for _, r := range m.news.Requests {
		if !slices.ContainsFunc(before, func(b api.Request) bool { return b.ID == r.ID }) {
			scope := keymap.ScopeList
			if m.focused() != nil {
				scope = keymap.ScopePrefix
			}
			asks := asker(r) + " asks: " + request(r)
			return tea.Batch(m.tell(asks+m.withKey(" – ", keymap.Requests, " answers", scope), true), m.notify(asks))
		}
	}
	return nil
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// asker is an agent's name in words.
func asker(r api.Request) string { return widget.Clean(strings.TrimPrefix(r.Actor, "agent:")) }

// request is what an agent wants, on one line.
func request(r api.Request) string {
	switch {
	case r.Command != "":
		return widget.Clean(r.Command)
	case len(r.Paths) > 0:
		return widget.Clean(r.Tool + " " + strings.Join(r.Paths, " "))
	}
	return widget.Clean(strings.TrimSpace(r.Tool + " " + r.Session))
}

// showRequests opens the oldest request.
func (m *model) showRequests() tea.Cmd {
	if len(m.news.Requests) == 0 {
		return m.say("no agent asks for anything", false)
	}
	m.overlay = &approval{id: m.news.Requests[0].ID}
	return nil
}

// An approval asks the person what an agent has asked. Nobody allows what they
// have not seen: what would run is shown to its end first.
type approval struct {
	id     string // of the request that is shown
	top    int    // first row that is shown of what it wants
	height int    // rows shown last time

	page  []string    // the rows
	wants int         // how many of them are what would run or be touched
	of    api.Request // what they are of
	width int
	read  api.Request // what has been on screen to its end
}

func (a *approval) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRequest} }

func (a *approval) typed(*model, tea.KeyPressMsg) tea.Cmd { return nil }
func (a *approval) pasted(*model, string) tea.Cmd         { return nil }

// find is the request that is shown and its place, or the oldest one when it is
// not open any more.
func (a *approval) find(m *model) (r api.Request, at int, ok bool) {
	for i, r := range m.news.Requests {
		if r.ID == a.id {
			return r, i, true
		}
	}
	return api.Request{}, 0, false
}

func (a *approval) act(m *model, action keymap.Action) tea.Cmd {
	r, at, open := a.find(m)
	switch action {
	case keymap.RequestNext:
		if n := len(m.news.Requests); n > 0 {
			a.show(m.news.Requests[(at+1)%n].ID)
		}
		return nil
	case keymap.RequestAllow, keymap.RequestAlways, keymap.RequestDeny:
		if !open {
			return nil // somebody else was quicker; what is shown now was not read yet
		}
	default:
		if !a.scroll(action) {
			m.overlay = nil
		}
		return nil
	}
	if action != keymap.RequestDeny && !sameWish(r, a.read) {
		return m.say("scroll to the end first", true)
	}
	in := api.RequestAnswerInput{ID: a.id, Allow: action != keymap.RequestDeny, Always: action == keymap.RequestAlways}
	a.next(m, at)
	m.hush() // what told of the request has done its work
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		return doneMsg{e.Answer(ctx, in)}
	}, func(err error) tea.Msg { return doneMsg{err} })
}

// scroll moves what is shown, and reports whether the action is for that.
func (a *approval) scroll(action keymap.Action) bool {
	switch action {
	case keymap.HelpDown:
		a.top++
	case keymap.HelpUp:
		a.top--
	case keymap.HelpPageDown:
		a.top += a.height
	case keymap.HelpPageUp:
		a.top -= a.height
	case keymap.HelpFirst:
		a.top = 0
	case keymap.HelpLast:
		a.top = len(a.page)
	default:
		return false
	}
	return true
}

// mouse handles the mouse inside the box.
func (a *approval) mouse(m *model, e keys.Mouse) tea.Cmd {
	if isWheel(e) {
		a.top += wheelRows(e)
		m.dirty = true
	}
	return nil
}

func (a *approval) show(id string) { a.id, a.top = id, 0 }

// next goes on to another request, or closes when this was the last.
func (a *approval) next(m *model, at int) {
	if n := len(m.news.Requests); n > 1 {
		a.show(m.news.Requests[(at+1)%n].ID)
		return
	}
	m.overlay = nil
}

func (a *approval) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := max(min(screen.w-8, 84), 10)
	r, at, open := a.find(m)
	if !open {
		rows := []string{look.Dim.Text(widget.Fit("It was answered, or its time is over.", width))}
		line, used := widget.Hints(m.requestHints(false, false), width, 0, look.Key, look.Text)
		return append(rows, widget.Spaces(width), line+widget.Spaces(width-used)), width, -1, 0
	}
	title := fmt.Sprintf("%s wants to call %s", widget.Clip(asker(r), width/2), widget.Clean(r.Tool))
	if n := len(m.news.Requests); n > 1 {
		title += fmt.Sprintf("  (%d of %d)", at+1, n)
	}
	rows := append([]string{look.Strong.Text(widget.Fit(title, width)), widget.Spaces(width)}, a.rows(r, width, max(screen.h-12, 3), look)...)
	rows = append(rows, widget.Spaces(width))
	for _, fact := range requestFacts(r) {
		rows = append(rows, look.Dim.Text(widget.Fit(fact, width)))
	}
	hints := m.requestHints(len(m.news.Requests) > 1, a.height < len(a.page))
	line, used := widget.Hints(hints, width, 0, look.Key, look.Text)
	rows = append(rows, widget.Spaces(width), line+widget.Spaces(width-used))
	if a.top+a.height == len(a.page) && width+4 <= screen.w && len(rows)+2 <= screen.h {
		a.read = r
	}
	return rows, width, -1, 0
}

// rows are those of what r wants that are in sight, at most some, and below them
// where they are if there are others.
func (a *approval) rows(r api.Request, width, most int, look *widget.Look) (rows []string) {
	if a.page == nil || a.width != width || !sameWish(a.of, r) {
		a.of, a.width = r, width
		a.page = requestLines(r, width)
		a.wants = len(a.page)
		if r.CWD != "" {
			a.page = append(a.page, widget.Spaces(width))
			a.page = append(a.page, folded("in "+escaped(r.CWD), width)...)
		}
	}
	a.height = min(len(a.page), most)
	a.top = max(min(a.top, len(a.page)-a.height), 0)
	for i, line := range a.page[a.top : a.top+a.height] {
		ink := look.Accent
		if a.top+i >= a.wants {
			ink = look.Dim
		}
		rows = append(rows, ink.Text(widget.Fit(line, width)))
	}
	if a.height < len(a.page) {
		place := fmt.Sprintf("rows %d–%d of %d", a.top+1, a.top+a.height, len(a.page))
		rows = append(rows, look.Strong.Text(widget.Fit(place, width)))
	}
	return rows
}

// sameWish reports whether two requests are one, for the same.
func sameWish(a, b api.Request) bool {
	return a.ID == b.ID && a.Tool == b.Tool && a.Command == b.Command && a.CWD == b.CWD && slices.Equal(a.Paths, b.Paths)
}

// requestHints are the keys of a request.
func (m *model) requestHints(several, long bool) []widget.Hint {
	var hints []widget.Hint
	for _, h := range m.o.Bindings.Hints(false, keymap.ScopeRequest) {
		if h.Label == "close" || h.Label == "next" && !several {
			continue
		}
		hints = append(hints, widget.Hint{Key: h.Key, Does: h.Label})
	}
	if long {
		scroll := m.chooses(keymap.ScopeRequest, keymap.HelpDown, keymap.HelpUp, "scroll")
		scroll.Key = strings.TrimSpace(scroll.Key + " " + m.keyOf(keymap.HelpLast, keymap.ScopeRequest))
		hints = append(hints, scroll)
	}
	return append(hints, m.hint(keymap.ScopeRequest, keymap.Close, "later"))
}

const (
	lineBegins  = "› "
	lineGoesOn  = "  "
	lineMargins = len(lineGoesOn)
)

// requestLines are what would run or be touched. Of several rows each tells
// whether a line begins there, which nothing that is asked for can feign.
func requestLines(r api.Request, width int) []string {
	parts := r.Paths
	if r.Command != "" {
		parts = append(strings.Split(r.Command, "\n"), parts...)
	}
	if len(parts) == 1 {
		if lines := folded(escaped(parts[0]), width); len(lines) == 1 {
			return lines
		}
	}
	var lines []string
	for _, p := range parts {
		margin := lineBegins
		for _, line := range folded(escaped(p), width-lineMargins) {
			lines = append(lines, margin+line)
			margin = lineGoesOn
		}
	}
	return lines
}

// escaped writes out the characters that do not show: what is allowed has to be
// what was read.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if isInvisible(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isInvisible says that a character controls, shows nothing, looks like a space
// and is none, or differs from font to font.
func isInvisible(r rune) bool {
	const brailleBlank = '\u2800'
	return r == utf8.RuneError || r == brailleBlank || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
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

func requestFacts(r api.Request) []string {
	var facts []string
	if r.Session != "" {
		facts = append(facts, "for "+widget.Clean(r.Session))
	}
	if r.Rule != "" {
		facts = append(facts, "asked because of: "+widget.Clean(r.Rule))
	}
	return append(facts, "refused if nobody answers by "+r.ExpiresAt.Local().Format("15:04:05"))
}
