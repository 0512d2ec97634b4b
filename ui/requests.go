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
	"tandem/keys"
	"tandem/panes"
)

// asked is list with r in it, or without it once it has been answered.
func asked(list []api.Request, r api.Request) []api.Request {
	at := slices.IndexFunc(list, func(other api.Request) bool { return other.ID == r.ID })
	list = slices.Clone(list)
	switch {
	case r.Answer != "" && at >= 0:
		return slices.Delete(list, at, at+1)
	case r.Answer != "":
		return list
	case at >= 0:
		list[at] = r
		return list
	}
	return append(list, r)
}

// noteRequests says what agents have asked since before. The question itself
// waits for a key: a dialog that opens under somebody's fingers would be
// answered by what they type.
func (m *model) noteRequests(before []api.Request) tea.Cmd {
	for _, r := range m.news.requests {
		if !slices.ContainsFunc(before, func(b api.Request) bool { return b.ID == r.ID }) {
			scope := keys.ScopeList
			if m.focused() != nil {
				scope = keys.ScopePrefix
			}
			key := first(m.o.Bindings.KeysOf(keys.Requests, scope))
			asks := asker(r) + " asks: " + request(r)
			return tea.Batch(m.tell(fmt.Sprintf("%s – %s answers", asks, key), true), m.notify(asks))
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
func asker(r api.Request) string { return panes.Clean(strings.TrimPrefix(r.Actor, "agent:")) }

// request is what an agent wants, on one line.
func request(r api.Request) string {
	switch {
	case r.Command != "":
		return panes.Clean(r.Command)
	case len(r.Paths) > 0:
		return panes.Clean(r.Tool + " " + strings.Join(r.Paths, " "))
	}
	return panes.Clean(r.Tool)
}

// showRequests opens the oldest request.
func (m *model) showRequests() tea.Cmd {
	if len(m.news.requests) == 0 {
		return m.say("no agent asks for anything", false)
	}
	m.overlay = &approval{id: m.news.requests[0].ID}
	return nil
}

// An approval asks the person what an agent has asked.
type approval struct {
	id string // of the request that is shown
}

func (a *approval) scopes() []keys.Scope { return []keys.Scope{keys.ScopeRequest} }

func (a *approval) typed(*model, keys.Key) tea.Cmd { return nil }
func (a *approval) pasted(*model, string) tea.Cmd  { return nil }

// find is the request that is shown and its place, or the oldest one when it is
// not open any more.
func (a *approval) find(m *model) (r api.Request, at int, ok bool) {
	for i, r := range m.news.requests {
		if r.ID == a.id {
			return r, i, true
		}
	}
	return api.Request{}, 0, false
}

func (a *approval) act(m *model, action keys.Action) tea.Cmd {
	_, at, open := a.find(m)
	switch action {
	case keys.RequestNext:
		if n := len(m.news.requests); n > 0 {
			a.id = m.news.requests[(at+1)%n].ID
		}
		return nil
	case keys.RequestAllow, keys.RequestAlways, keys.RequestDeny:
		if !open {
			return nil // somebody else was quicker; what is shown now was not read yet
		}
	default:
		m.overlay = nil
		return nil
	}
	in := api.RequestAnswerInput{ID: a.id, Allow: action != keys.RequestDeny, Always: action == keys.RequestAlways}
	a.next(m, at)
	m.hush() // what told of the request has done its work
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		return doneMsg{e.Answer(ctx, in)}
	}, func(err error) tea.Msg { return doneMsg{err} })
}

// next goes on to another request, or closes when this was the last.
func (a *approval) next(m *model, at int) {
	if n := len(m.news.requests); n > 1 {
		a.id = m.news.requests[(at+1)%n].ID
		return
	}
	m.overlay = nil
}

func (a *approval) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := max(min(screen.w-8, 84), 10)
	r, at, open := a.find(m)
	if !open {
		rows := []string{look.Dim.Text(panes.Fit("It was answered, or its time is over.", width))}
		line, used := panes.Hints(m.requestHints(false), width, 0, look.Key, look.Text)
		return append(rows, panes.Spaces(width), line+panes.Spaces(width-used)), width, -1, 0
	}
	title := fmt.Sprintf("%s wants to call %s", asker(r), panes.Clean(r.Tool))
	if n := len(m.news.requests); n > 1 {
		title += fmt.Sprintf("  (%d of %d)", at+1, n)
	}
	rows := []string{look.Strong.Text(panes.Fit(title, width)), panes.Spaces(width)}
	for _, line := range requestLines(r, width, max(screen.h-12, 3)) {
		rows = append(rows, look.Accent.Text(panes.Fit(line, width)))
	}
	rows = append(rows, panes.Spaces(width))
	for _, fact := range requestFacts(r) {
		rows = append(rows, look.Dim.Text(panes.Fit(fact, width)))
	}
	line, used := panes.Hints(m.requestHints(len(m.news.requests) > 1), width, 0, look.Key, look.Text)
	return append(rows, panes.Spaces(width), line+panes.Spaces(width-used)), width, -1, 0
}

// requestHints are the keys of a request.
func (m *model) requestHints(several bool) []panes.Hint {
	var hints []panes.Hint
	for _, h := range m.o.Bindings.Hints(false, keys.ScopeRequest) {
		if h.Label == "close" || h.Label == "next" && !several {
			continue
		}
		hints = append(hints, panes.Hint{Key: h.Key, Does: h.Label})
	}
	return append(hints, panes.Hint{Key: "esc", Does: "later"})
}

// requestLines are what would run or be touched, in full as far as there is
// room. What is left out is counted, as nobody should allow what they cannot
// see.
func requestLines(r api.Request, width, most int) []string {
	parts := r.Paths
	if r.Command != "" {
		parts = append(strings.Split(r.Command, "\n"), parts...)
	}
	var lines []string
	for _, p := range parts {
		lines = append(lines, folded(escaped(p), width)...)
	}
	if len(lines) > most {
		more := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("… and %d more lines: tandem requests --json shows all", more))
	}
	return lines
}

// escaped writes out the characters that do not show: what is allowed has to be
// what was read.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == utf8.RuneError:
			fmt.Fprintf(&b, "\\u{%x}", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// folded cuts a text into lines of a width.
func folded(s string, width int) []string {
	var lines []string
	for panes.Width(s) > width {
		head := panes.Cut(s, width, "")
		lines = append(lines, head)
		s = s[len(head):]
	}
	return append(lines, s)
}

func requestFacts(r api.Request) []string {
	var facts []string
	if r.CWD != "" {
		facts = append(facts, "in "+panes.Clean(r.CWD))
	}
	if r.Rule != "" {
		facts = append(facts, "asked because of: "+panes.Clean(r.Rule))
	}
	return append(facts, "refused if nobody answers by "+r.ExpiresAt.Local().Format("15:04:05"))
}
