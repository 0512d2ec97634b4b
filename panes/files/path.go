package files

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A pathPrompt asks for a path on the engine's file system; tab completes it.
type pathPrompt struct {
	f       *Pane
	title   string
	field   widget.Field
	then    func(string) tea.Cmd
	wrong   string   // with what was entered, until it is changed
	escaped bool     // what cannot be shown is written with escapes
	folders bool     // only folders are offered
	listed  string   // folder that the names are of
	names   []string // of entries, a folder's with a slash behind it
	asked   string
	chosen  int // of what may follow, from 1; 0 for none
}

// pathListed are the entries of a folder, for a prompt.
type pathListed struct {
	prompt *pathPrompt
	folder string
	names  []string
}

func (f *Pane) newPathPrompt(title, text string, then func(string) tea.Cmd) *pathPrompt {
	p := &pathPrompt{f: f, title: title, then: then}
	if rest, ok := strings.CutPrefix(text, f.env.Home()); ok && len(f.env.Home()) > 1 && strings.HasPrefix(rest, "/") {
		text = "~" + rest
	}
	p.set(text)
	return p
}

func (p *pathPrompt) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// set replaces what was typed by a path, and from where on it has to, writes it
// with escapes.
func (p *pathPrompt) set(path string) {
	p.escaped = p.escaped || widget.FileName(path) != path
	if p.escaped {
		path = widget.EscapeName(path)
	}
	if p.field.Set(path); p.field.Text() != path { // a part of it would lead elsewhere
		p.field.Set("")
	}
}

// typedPath is what was typed, without escapes.
func (p *pathPrompt) typedPath() (string, error) {
	return typedName(strings.TrimLeft(p.field.Text(), " "), p.escaped)
}

// absolute is what was typed as a path.
func (p *pathPrompt) absolute() (string, error) {
	text, err := p.typedPath()
	if err != nil {
		return "", err
	}
	slash := strings.HasSuffix(text, "/")
	text = widget.ExpandHome(text, p.f.env.Home())
	if !filepath.IsAbs(text) {
		text = filepath.Join(p.f.path, text)
	}
	if slash {
		text = withSlash(text)
	}
	return text, nil
}

func (p *pathPrompt) Do(h overlay.Host, a keymap.Action) tea.Cmd {
	h.Close()
	if a != keymap.Accept || strings.TrimSpace(p.field.Text()) == "" {
		return nil
	}
	p.takeChosen()
	path, err := p.absolute()
	if err != nil {
		p.wrong = err.Error()
		p.f.env.Ask(p)
		return nil
	}
	return p.then(path)
}

func (p *pathPrompt) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.Code == tea.KeyDown:
		p.chosen = min(p.chosen+1, len(p.matches()))
	case k.Code == tea.KeyUp:
		p.chosen = max(p.chosen-1, 0)
	case k.Code == tea.KeyTab && !p.takeChosen():
		p.complete()
	case k.Code != tea.KeyTab:
		p.chosen, p.wrong = 0, ""
		p.field.Type(k)
	}
	return p.look()
}

// takeChosen lets what was chosen with the arrows follow.
func (p *pathPrompt) takeChosen() bool {
	matches := p.matches()
	if p.chosen == 0 || p.chosen > len(matches) {
		return false
	}
	p.follow(matches[p.chosen-1])
	p.chosen = 0
	return true
}

// follow puts a name, or the beginning of one, in the place of the path's last
// part, which it begins with.
func (p *pathPrompt) follow(name string) {
	path, _ := p.absolute()
	_, part := filepath.Split(path)
	if typed, err := p.typedPath(); err == nil && len(name) > len(part) {
		p.set(typed + name[len(part):])
	}
}

func (p *pathPrompt) Paste(_ overlay.Host, text string) tea.Cmd {
	p.wrong = ""
	p.field.Paste(strings.TrimSpace(text))
	return p.look()
}

// look lists the folder that the path is in, once for each.
func (p *pathPrompt) look() tea.Cmd {
	path, err := p.absolute()
	folder, _ := filepath.Split(path)
	if err != nil || folder == p.asked {
		return nil
	}
	p.asked = folder // and no other one any more
	if folder == p.listed {
		return nil
	}
	only := p.folders
	return panes.Call(p.f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		set, _, _ := listEntries(ctx, e, folder, "", nil, mostEntries) // of what cannot be listed nothing is offered
		return pathListed{p, folder, set.Names(only)}
	}, func(error) tea.Msg { return pathListed{p, folder, nil} })
}

func (f *Pane) takePathListed(msg pathListed) {
	if f.env.Shows(msg.prompt) && msg.prompt.asked == msg.folder {
		msg.prompt.listed, msg.prompt.names = msg.folder, msg.names
	}
}

// matches are the names that the last part of the path may become.
func (p *pathPrompt) matches() []string {
	path, err := p.absolute()
	folder, part := filepath.Split(path)
	if err != nil || folder != p.listed {
		return nil
	}
	var matches []string
	for _, name := range p.names {
		if strings.HasPrefix(name, part) && (name[0] != '.' || strings.HasPrefix(part, ".")) {
			matches = append(matches, name)
		}
	}
	return matches
}

// complete adds what all matches have in common.
func (p *pathPrompt) complete() {
	if matches := p.matches(); len(matches) > 0 {
		p.follow(commonName(matches))
	}
}

// commonName is what names begin with, in whole characters.
func commonName(names []string) string {
	n := len(names[0])
	for _, name := range names[1:] {
		n = min(n, len(name))
		for name[:n] != names[0][:n] {
			n--
		}
	}
	for at := 0; at < n; { // a character of which only a part is common is not
		_, size := utf8.DecodeRuneInString(names[0][at:])
		if at+size > n {
			return names[0][:at]
		}
		at += size
	}
	return names[0][:n]
}

// hints are the keys of the prompt.
func (p *pathPrompt) Hints(_ overlay.Host) []widget.Hint {
	return []widget.Hint{panes.HintIn(p.f.env.Bindings(), keymap.Accept, "accept", keymap.ScopePrompt), {Key: "tab", Does: "complete"}, {Key: "↑ ↓", Does: "choose"},
		panes.HintIn(p.f.env.Bindings(), keymap.Cancel, "cancel", keymap.ScopePrompt)}
}

func (p *pathPrompt) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	look := p.f.env.Look()
	width = min(max(60, widget.Width(p.title)), w-8)
	field, x := p.field.Draw(width)
	line, used := widget.Hints(p.Hints(h), width, 0, look.Key, look.Dim)
	note := ""
	if p.escaped {
		note = widget.EscapesNote
	}
	return []string{
		look.Strong.Text(widget.Fit(p.title, width)),
		overlay.NoteRow(note, p.wrong, width, look),
		look.Text.Text(field),
		p.drawMatches(p.matches(), width, look),
		line + widget.Spaces(width-used),
	}, width, x, 2
}

// drawMatches is one row of what may follow, around what is chosen of it.
func (p *pathPrompt) drawMatches(names []string, width int, look *widget.Look) string {
	first := max(p.chosen-1, 0)
	for used := 0; first > 0; first-- {
		if used += widget.Width(widget.FileName(names[first-1])) + 2; used > width/2 {
			break
		}
	}
	line, room := "", width
	for i := first; i < len(names) && room > 0; i++ {
		name := widget.Clip(widget.FileName(names[i]), room)
		ink := look.Dim
		if i+1 == p.chosen {
			ink = look.Selected
		}
		line += ink.Text(name)
		room -= widget.Width(name)
		gap := min(room, 2)
		line += widget.Spaces(gap)
		room -= gap
	}
	return line + widget.Spaces(room)
}

// askFolder goes to a folder that is typed, or to a file's.
func (f *Pane) askFolder() tea.Cmd {
	p := f.newPathPrompt("Go to", withSlash(f.path), func(path string) tea.Cmd {
		path = filepath.Clean(path)
		f.list.Ahead(true)
		return panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			_, err := e.ListFiles(ctx, path, "", 1)
			if err == nil {
				return goneTo{path, "", nil}
			}
			if _, readErr := e.ReadFile(ctx, path, 0, 1); readErr == nil {
				return goneTo{filepath.Dir(path), filepath.Base(path), nil}
			}
			return goneTo{err: err}
		}, func(err error) tea.Msg { return goneTo{err: err} })
	})
	f.env.Ask(p)
	return p.look()
}

// goneTo is the folder that was asked for, and the name in it.
type goneTo struct {
	path, name string
	err        error
}

func (f *Pane) takeGoneTo(msg goneTo) tea.Cmd {
	if msg.err != nil {
		f.list.Ahead(false)
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	f.goFile(msg.path, msg.name)
	return nil
}

// goFile shows a folder with the cursor on an entry, a hidden one too.
func (f *Pane) goFile(folder, name string) {
	f.GoFolder(folder, name)
	if strings.HasPrefix(name, ".") {
		f.order.Hidden = true
	}
}

// Typed is what was typed so far.
func (p *pathPrompt) Typed() string { return p.field.Text() }

// Listed is the folder that what is typed is completed from.
func (p *pathPrompt) Listed() string { return p.listed }
