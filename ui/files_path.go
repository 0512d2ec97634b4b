package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
)

// A pathPrompt asks for a path on the engine's file system; tab completes it.
type pathPrompt struct {
	title   string
	field   panes.Field
	then    func(*model, string) tea.Cmd
	folders bool     // only folders are offered
	listed  string   // folder that the names are of
	names   []string // of entries, a folder's with a slash behind it
	asked   string
}

// pathListed are the entries of a folder, for a prompt.
type pathListed struct {
	prompt *pathPrompt
	folder string
	names  []string
}

func (m *model) newPathPrompt(title, text string, then func(*model, string) tea.Cmd) *pathPrompt {
	p := &pathPrompt{title: title, then: then}
	p.field.Set(panes.ShortPath(text, m.list.Home))
	if !strings.HasSuffix(p.field.Text(), "/") && strings.HasSuffix(text, "/") {
		p.field.Insert("/")
	}
	return p
}

func (p *pathPrompt) scopes() []keys.Scope { return []keys.Scope{keys.ScopePrompt} }

// absolute is what was typed as a path.
func (p *pathPrompt) absolute(m *model) string {
	text := expandHome(strings.TrimLeft(p.field.Text(), " "), m.list.Home)
	if !filepath.IsAbs(text) {
		slash := strings.HasSuffix(text, "/")
		text = filepath.Join(m.files.path, text)
		if slash {
			text = withSlash(text)
		}
	}
	return text
}

func (p *pathPrompt) act(m *model, a keys.Action) tea.Cmd {
	m.overlay = nil
	if a == keys.Accept && strings.TrimSpace(p.field.Text()) != "" {
		return p.then(m, p.absolute(m))
	}
	return nil
}

func (p *pathPrompt) typed(m *model, k keys.Key) tea.Cmd {
	if k.Code == keys.Tab && k.Phase != keys.Release {
		p.complete(m)
	} else {
		p.field.Type(k)
	}
	return p.look(m)
}

func (p *pathPrompt) pasted(m *model, text string) tea.Cmd {
	p.field.Insert(strings.TrimSpace(text))
	return p.look(m)
}

// look lists the folder that the path is in, once for each.
func (p *pathPrompt) look(m *model) tea.Cmd {
	folder, _ := filepath.Split(p.absolute(m))
	if folder == p.listed || folder == p.asked {
		return nil
	}
	p.asked = folder
	only := p.folders
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		out, _ := e.ListFiles(ctx, folder, 20_000) // of what cannot be listed nothing is offered
		var names []string
		for i := range out.Entries {
			switch f := &out.Entries[i]; {
			case panes.IsFolder(f):
				names = append(names, f.Name+"/")
			case !only:
				names = append(names, f.Name)
			}
		}
		return pathListed{p, folder, names}
	}, func(error) tea.Msg { return pathListed{p, folder, nil} })
}

func (m *model) takePathListed(msg pathListed) {
	if m.overlay == overlay(msg.prompt) && msg.prompt.asked == msg.folder {
		msg.prompt.listed, msg.prompt.names = msg.folder, msg.names
		m.dirty = true
	}
}

// matches are the names that the last part of the path may become.
func (p *pathPrompt) matches(m *model) []string {
	folder, part := filepath.Split(p.absolute(m))
	if folder != p.listed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.names), func(name string) bool {
		return !strings.HasPrefix(name, part) || strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
	})
}

// complete adds what all matches have in common.
func (p *pathPrompt) complete(m *model) {
	matches := p.matches(m)
	if len(matches) == 0 {
		return
	}
	_, part := filepath.Split(p.absolute(m))
	if whole := commonPrefix(matches); len(whole) > len(part) {
		p.field.Insert(whole[len(part):])
	}
}

func (p *pathPrompt) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := min(max(60, panes.Width(p.title)), screen.w-8)
	field, x := p.field.Draw(width)
	names := make([]string, 0, 40)
	for i, name := range p.matches(m) {
		if i == cap(names) {
			break
		}
		names = append(names, panes.FileName(name))
	}
	hints := []panes.Hint{{Key: "enter", Does: "accept"}, {Key: "tab", Does: "complete"}, {Key: "esc", Does: "cancel"}}
	line, used := panes.Hints(hints, width, 0, look.Key, look.Dim)
	return []string{
		look.Strong.Text(panes.Fit(p.title, width)),
		panes.Spaces(width),
		look.Text.Text(field),
		look.Faint.Text(panes.Fit(strings.Join(names, "  "), width)),
		line + panes.Spaces(width-used),
	}, width, x, 2
}

// askFolder goes to a folder that is typed, or to a file's.
func (m *model) askFolder() tea.Cmd {
	p := m.newPathPrompt("Go to", withSlash(m.files.path), func(m *model, path string) tea.Cmd {
		path = filepath.Clean(path)
		return m.call(func(ctx context.Context, e engine) tea.Msg {
			_, err := e.ListFiles(ctx, path, 1)
			if err == nil {
				return goneTo{path, "", nil}
			}
			if _, readErr := e.ReadFile(ctx, path, 0, 1); readErr == nil {
				return goneTo{filepath.Dir(path), filepath.Base(path), nil}
			}
			return goneTo{err: err}
		}, func(err error) tea.Msg { return goneTo{err: err} })
	})
	m.overlay = p
	return p.look(m)
}

// goneTo is the folder that was asked for, and the name in it.
type goneTo struct {
	path, name string
	err        error
}

func (m *model) takeGoneTo(msg goneTo) tea.Cmd {
	if msg.err != nil {
		return m.say(errorText(msg.err), true)
	}
	m.goFolder(msg.path, msg.name)
	return nil
}
