package files

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
)

// parentFolder returns the folder above a folder. The root of a machine is its own parent.
func parentFolder(folder string) string {
	if machine, path := api.PathOf(folder); machine != "" && path == "/" {
		return folder
	}
	return filepath.Dir(folder)
}

// goToEntry shows a folder with the cursor on an entry. If the entry is hidden, hidden entries are
// shown.
func (f *folder) goToEntry(path, name string) {
	f.goTo(path, name)
	f.order.Hidden = f.order.Hidden || strings.HasPrefix(name, ".")
}

// goUp goes to the folder above.
func (f *folder) goUp() {
	if up := parentFolder(f.path); up != f.path {
		f.goTo(up, filepath.Base(f.path))
	}
}

// goBack goes to the previous folder.
func (f *folder) goBack() {
	if last := len(f.previous) - 1; last >= 0 {
		// goTo adds the current folder to previous. Undo that, so that going back again goes
		// further back.
		back := f.previous[:last]
		f.goTo(f.previous[last], "")
		f.previous = back
	}
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// A pathPrompt asks for a path on the engine's file system and completes it.
type pathPrompt struct {
	*dialog.Prompt
	folder  *folder
	escaped bool            // the text contains escapes
	listed  string          // folder of names
	names   []string        // names of entries, with a slash after a folder's
	asked   string          // folder being listed
	escapes map[string]bool // suggestions written with escapes
}

// newPathPrompt returns a prompt for a path, which may be relative to the current folder. It passes
// the absolute path to next.
func (f *folder) newPathPrompt(title, text string, next func(string) tea.Cmd) *pathPrompt {
	p := &pathPrompt{folder: f}
	p.Prompt = dialog.NewPrompt(title, "", func(text string) tea.Cmd {
		path, _ := p.absolutePath(text) // Check has accepted it
		return next(path)
	})
	p.Suggest = p.suggest
	p.Check = func(text string) error {
		_, err := p.absolutePath(text)
		return err
	}
	p.setPath(f.typedPath(text))
	return p
}

// typedPath returns a path as users type it: box:/etc on another machine, and with ~ for the home
// folder.
func (f *folder) typedPath(path string) string {
	if machine, remotePath := api.PathOf(path); f.env.News().Machine(machine) != nil {
		return machine + ":" + remotePath
	}
	if rest, ok := strings.CutPrefix(path, f.env.Home()); ok && len(f.env.Home()) > 1 && strings.HasPrefix(rest, "/") {
		return "~" + rest
	}
	return path
}

// askPath opens a prompt for a path and passes the entered path to next. If the path cannot be
// used, next calls refused, which shows the prompt again with an error.
func (f *folder) askPath(title, text string, next func(path string, refused func(why string)) tea.Cmd) tea.Cmd {
	var p *pathPrompt
	p = f.newPathPrompt(title, text, func(path string) tea.Cmd {
		return next(path, func(why string) {
			p.Fail(why)
			f.env.Ask(p)
		})
	})
	f.env.Ask(p)
	return p.Look()
}

// displayText returns a path as the user would type it, with escapes if needed.
func (p *pathPrompt) displayText(path string) string {
	if p.escaped || text.NeedsEscapes(path) {
		return text.EscapeName(path)
	}
	return path
}

// useEscapes writes paths with escapes from now on.
func (p *pathPrompt) useEscapes() { p.escaped, p.Note = true, text.EscapesNote }

// setPath replaces the text with a path.
func (p *pathPrompt) setPath(path string) {
	text := p.displayText(path)
	if text != path {
		p.useEscapes()
	}
	if p.Field.Set(text); p.Field.Text() != text { // too long: part of a path would lead elsewhere
		p.Field.Set("")
	}
}

// absolutePath converts the typed text to an absolute path.
func (p *pathPrompt) absolutePath(s string) (string, error) {
	s, err := parseTyped(strings.TrimLeft(s, " "), p.escaped)
	if err != nil {
		return "", err
	}
	slash := strings.HasSuffix(s, "/")
	s = text.ExpandHome(s, p.folder.env.Home())
	// A colon is common in file names, so it separates a machine from a path only after the name of
	// a known machine.
	if machine, remotePath, ok := strings.Cut(s, ":"); ok && (remotePath == "" || strings.HasPrefix(remotePath, "/")) && p.folder.env.News().Machine(machine) != nil {
		slash = slash || remotePath == ""
		s = api.PathOn(machine, cmp.Or(remotePath, "/"))
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(p.folder.path, s)
	}
	if slash {
		s = withSlash(s)
	}
	return s, nil
}

// suggest offers completions of the last part of the typed path. When the folder before that part
// changes, suggest lists it.
func (p *pathPrompt) suggest(text string) tea.Cmd {
	if p.escapes[text] {
		p.useEscapes()
	}
	p.offerNames()
	path, err := p.absolutePath(text)
	folder, _ := filepath.Split(path)
	if err != nil || folder == p.asked {
		return nil
	}
	p.asked = folder // results for other folders are ignored
	if folder == p.listed {
		return nil
	}
	return panes.Call(p.folder.env.Context(), p.folder.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		set, _, err := listEntries(ctx, e, folder, "", nil, maxEntries)
		return set.Names(), err
	}, func(names []string, _ error) tea.Cmd { // an unreadable folder has no suggestions
		p.setNames(folder, names)
		return nil
	})
}

// setNames sets the names of a folder's entries. It ignores them if the typed path is in another
// folder by now.
func (p *pathPrompt) setNames(folder string, names []string) {
	if p.asked == folder {
		p.listed, p.names = folder, names
		p.offerNames()
	}
}

// maxOffered is the maximum number of suggestions.
const maxOffered = 200

// offerNames offers the names that complete the last part of the typed path.
func (p *pathPrompt) offerNames() {
	text := p.Field.Text()
	typed, _ := parseTyped(text, p.escaped)
	path, err := p.absolutePath(text)
	folder, part := filepath.Split(path)
	if err != nil || folder != p.listed {
		p.Offer("", nil)
		return
	}
	if strings.HasSuffix(path, "/") && strings.HasSuffix(typed, ":") { // a machine's root
		typed += "/"
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
		line := p.displayText(path)
		p.escapes[line] = line != path
		return line
	}
	for _, name := range names[:min(len(names), maxOffered)] {
		lines = append(lines, line(name))
	}
	common := ""
	if shared := field.CommonPrefix(names); len(shared) > len(part) {
		common = line(shared)
	}
	p.Offer(common, lines)
}

// askFolder asks for the path of a folder or a file, and goes there.
func (f *folder) askFolder() tea.Cmd {
	return f.askPath("Go to", withSlash(f.path), func(path string, refused func(string)) tea.Cmd {
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
				refused(panes.ErrorText(err))
			default:
				f.goTo(path, "")
			}
			return nil
		})
	})
}
