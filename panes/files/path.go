package files

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// folderAbove is the folder above another one, which is itself at the root of a machine.
func folderAbove(folder string) string {
	if machine, there := api.PathOf(folder); machine != "" && there == "/" {
		return folder
	}
	return filepath.Dir(folder)
}

// A pathPrompt asks for a path on the engine's file system and completes it.
type pathPrompt struct {
	*overlay.Prompt
	f       *Pane
	escaped bool            // what cannot be shown is written with escapes
	listed  string          // folder that the names are of
	names   []string        // of entries, a folder's with a slash behind it
	asked   string          // folder that is being listed
	escapes map[string]bool // lines that are offered with escapes
}

func (f *Pane) newPathPrompt(title, text string, then func(string) tea.Cmd) *pathPrompt {
	p := &pathPrompt{f: f}
	p.Prompt = overlay.NewPrompt(title, "", func(text string) tea.Cmd {
		path, err := p.absolute(text)
		if text == "" || err != nil {
			return nil
		}
		return then(path)
	})
	p.Suggest = p.suggest
	p.Check = func(text string) error {
		_, err := p.absolute(text)
		return err
	}
	if rest, ok := strings.CutPrefix(text, f.env.Home()); ok && len(f.env.Home()) > 1 && strings.HasPrefix(rest, "/") {
		text = "~" + rest
	}
	p.set(text)
	return p
}

// written is a path as it is typed: from where on it has to be, with escapes.
func (p *pathPrompt) written(path string) string {
	if p.escaped || widget.NeedsEscapes(path) {
		return widget.EscapeName(path)
	}
	return path
}

// escape has paths written with escapes from now on.
func (p *pathPrompt) escape() { p.escaped, p.Note = true, widget.EscapesNote }

// set replaces what was typed by a path.
func (p *pathPrompt) set(path string) {
	text := p.written(path)
	if text != path {
		p.escape()
	}
	if p.Field.Set(text); p.Field.Text() != text { // a part of it would lead elsewhere
		p.Field.Set("")
	}
}

// absolute is what was typed as a path.
func (p *pathPrompt) absolute(text string) (string, error) {
	text, err := typedName(strings.TrimLeft(text, " "), p.escaped)
	if err != nil {
		return "", err
	}
	slash := strings.HasSuffix(text, "/")
	text = widget.ExpandHome(text, p.f.env.Home())
	if machine, there, far := strings.Cut(text, ":"); far && strings.HasPrefix(there, "/") && p.f.env.News().Machine(machine) != nil {
		text = api.PathOn(machine, there)
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(p.f.folder.path, text)
	}
	if slash {
		text = withSlash(text)
	}
	return text, nil
}

// suggest offers what the last part of a path may become, and lists the folder
// that it is in, once for each.
func (p *pathPrompt) suggest(text string) tea.Cmd {
	if p.escapes[text] {
		p.escape()
	}
	p.offer()
	path, err := p.absolute(text)
	folder, _ := filepath.Split(path)
	if err != nil || folder == p.asked {
		return nil
	}
	p.asked = folder // and no other one any more
	if folder == p.listed {
		return nil
	}
	return panes.Ask(p.f.env.Context(), p.f.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		set, _, err := listEntries(ctx, e, folder, "", nil, mostEntries)
		return set.Names(), err
	}, func(names []string, _ error) tea.Cmd { // of what cannot be listed nothing is offered
		p.list(folder, names)
		return nil
	})
}

// list takes the entries of a folder, if they are still of use.
func (p *pathPrompt) list(folder string, names []string) {
	if p.asked == folder {
		p.listed, p.names = folder, names
		p.offer()
	}
}

// mostOffered is how many names are offered at a time.
const mostOffered = 200

// offer offers the names that the last part of the path may become.
func (p *pathPrompt) offer() {
	text := p.Field.Text()
	typed, _ := typedName(text, p.escaped)
	path, err := p.absolute(text)
	folder, part := filepath.Split(path)
	if err != nil || folder != p.listed {
		p.Offer("", nil)
		return
	}
	var names, lines []string
	for _, name := range p.names {
		if strings.HasPrefix(name, part) && (name[0] != '.' || strings.HasPrefix(part, ".")) {
			names = append(names, name)
		}
	}
	p.escapes = map[string]bool{}
	line := func(name string) string {
		path := typed + name[len(part):]
		line := p.written(path)
		p.escapes[line] = line != path
		return line
	}
	for _, name := range names[:min(len(names), mostOffered)] {
		lines = append(lines, line(name))
	}
	common := ""
	if shared := overlay.CommonPrefix(names); len(shared) > len(part) {
		common = line(shared)
	}
	p.Offer(common, lines)
}

// askFolder goes to a folder that is typed, or to a file's.
func (f *Pane) askFolder() tea.Cmd {
	p := f.newPathPrompt("Go to", withSlash(f.folder.path), func(path string) tea.Cmd {
		path = filepath.Clean(path)
		return panes.AwaitAnswer(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) (file bool, err error) {
			if _, err = e.ListFiles(ctx, path, "", 1); err != nil {
				_, readErr := e.ReadFile(ctx, path, 0, 1)
				file = readErr == nil
			}
			return file, err
		}, func(file bool, err error) tea.Cmd {
			switch {
			case file:
				f.goToEntry(filepath.Dir(path), filepath.Base(path))
			case err != nil:
				return f.env.Say(panes.ErrorText(err), true)
			default:
				f.GoFolder(path, "")
			}
			return nil
		})
	})
	f.env.Ask(p)
	return p.Look()
}

// goToEntry shows a folder with the cursor on an entry, a hidden one too.
func (f *Pane) goToEntry(folder, name string) {
	f.GoFolder(folder, name)
	f.folder.order.Hidden = f.folder.order.Hidden || strings.HasPrefix(name, ".")
}

// askTransfer asks where the targets go: a folder, or for one of them a new
// path.
func (f *Pane) askTransfer(kind string) tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	verb := strings.ToUpper(kind[:1]) + kind[1:] + " "
	text := withSlash(f.folder.path)
	if len(targets) == 1 && filepath.Dir(targets[0]) == f.folder.path {
		text += filepath.Base(targets[0])
	}
	p := f.newPathPrompt(verb+theseFiles(targets)+" to", text, func(to string) tea.Cmd {
		f.transfers.addTo(kind, targets, to)
		return nil
	})
	f.env.Ask(p)
	return p.Look()
}
