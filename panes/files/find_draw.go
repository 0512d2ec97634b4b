package files

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Minimum sizes of the search box: its width for a preview beside the results, and its height for
// one below them.
const (
	previewBesideHits = 100
	previewBelowHits  = 14
)

// Hints returns the keys of the search.
func (u *fileFinder) Hints(h dialog.Host) []keymap.Hint {
	other := "in contents"
	if u.contents {
		other = "by name"
	}
	return []keymap.Hint{u.env.Bindings().Hint(keymap.Accept, "show", keymap.ScopePrompt), h.Bindings().OwnKeys(keymap.ScopePrompt, "choose", "up", "down"), h.Bindings().OwnKeys(keymap.ScopePrompt, other, "tab"),
		u.env.Bindings().Hint(keymap.Cancel, "cancel", keymap.ScopePrompt)}
}

func (u *fileFinder) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	look := u.env.Look()
	width, height = max(w-8, min(w-4, 40)), max(height-8, 5)
	title := "Find files in "
	if u.contents {
		title = "Search file contents in "
	}
	title += displayPath(u.folder, u.env.Home())
	field, x := u.field.Draw(width)
	rows = []string{look.Strong.Text(text.Fit(title, width)), look.Text.Text(field)}
	rows = append(rows, u.drawBody(width, height, look)...)
	note := u.countText(h.Spinner())
	rows[0] = look.Strong.Text(text.Fit(title, width-text.Width(note)-1)) + " " + look.Dim.Text(note)
	return rows, width, x, 1
}

// drawBody draws the results and a preview of the current result, in height rows and, if the
// preview is below the results, one more for the rule between them.
func (u *fileFinder) drawBody(width, height int, style *look.Look) (rows []string) {
	line := func(n int) string { return style.Rule.Text(strings.Repeat("─", n)) }
	p := &u.viewer.preview
	switch {
	case width >= previewBesideHits:
		list := width * 9 / 20
		u.preview = look.Rect{W: width - list - 1, H: height}
		rows = append(rows, line(list)+style.Rule.Text("┬")+p.Heading(u.preview.W, style))
		results, shown := u.drawResults(list, height, style), u.drawPreview(style)
		for i := range height {
			rows = append(rows, results[i]+style.Rule.Text("│")+shown[i])
		}
	case height >= previewBelowHits:
		list := height / 2
		u.preview = look.Rect{W: width, H: height - list - 1}
		rows = append(append(rows, line(width)), u.drawResults(width, list, style)...)
		rows = append(append(rows, p.Heading(width, style)), u.drawPreview(style)...)
	default:
		u.preview = look.Rect{}
		rows = append(append(rows, line(width)), u.drawResults(width, height, style)...)
	}
	return rows
}

// drawPreview draws the preview of the current result.
func (u *fileFinder) drawPreview(look *look.Look) []string {
	if u.cursor >= len(u.hits) && u.viewer.preview.Path() != "" {
		u.viewer.preview.Clear()
		u.previewed = fileHit{}
	}
	return u.viewer.preview.Draw(u.preview.W, u.preview.H, look)
}

func (u *fileFinder) drawResults(width, height int, look *look.Look) (rows []string) {
	u.top = list.Follow(u.top, u.cursor, len(u.hits), height)
	for i := u.top; i < u.top+height; i++ {
		switch {
		case i < len(u.hits):
			rows = append(rows, u.drawHit(i, width, look))
		case i == u.top && u.field.Text() == "" && u.contents:
			rows = append(rows, look.Dim.Text(text.Fit(" type a regular expression; case matters if you type a capital", width)))
		case i == u.top && u.field.Text() == "":
			rows = append(rows, look.Dim.Text(text.Fit(" type letters of the name; words in any order; * ? [a-z] make a pattern", width)))
		case i == u.top && u.note != "" && u.bad:
			rows = append(rows, look.Bad.Text(text.Fit(" "+u.note, width)))
		case i == u.top && u.note != "":
			rows = append(rows, look.Dim.Text(text.Fit(" "+u.note, width)))
		default:
			rows = append(rows, text.Spaces(width))
		}
	}
	return rows
}

// Traits shows that a search is running.
func (u *fileFinder) Traits() dialog.Traits { return dialog.Traits{Busy: u.busy} }

func (u *fileFinder) countText(spinner string) string {
	switch {
	case u.busy && len(u.hits) > 0:
		return fmt.Sprintf("%s%d found, searching…", spinner, len(u.hits))
	case u.busy:
		return spinner + "searching…"
	case len(u.hits) == 0:
		return ""
	case u.limited:
		return fmt.Sprintf("the first %d", len(u.hits))
	}
	return fmt.Sprintf("%d found", len(u.hits))
}

func (u *fileFinder) drawHit(i, width int, look *look.Look) string {
	r := list.Row{Plain: i == u.cursor}
	if f := &u.hits[i]; f.line == 0 {
		u.drawName(&r, f.path, width, look)
	} else {
		u.drawLine(&r, f, width, look)
	}
	return r.Finish(width, look)
}

// drawName draws a path with the matching letters marked. The folder is shortened before the name.
func (u *fileFinder) drawName(r *list.Row, path string, width int, look *look.Look) {
	r.Add(" ", "")
	shown := text.FileName(path)
	cut := len(shown) - len(filepath.Base(shown))
	if strings.HasSuffix(shown, "/") {
		cut--
	}
	dir, base := shown[:max(cut, 0)], shown[max(cut, 0):]
	var inDir, inBase []int
	if shown == path { // otherwise positions would differ
		n := utf8.RuneCountInString(dir)
		for _, at := range u.query.Places(path) {
			if at < n {
				inDir = append(inDir, at)
			} else {
				inBase = append(inBase, at-n)
			}
		}
	}
	ink := look.Text
	if strings.HasSuffix(base, "/") {
		ink = look.Accent
	}
	room := min(text.Width(dir), max(width-r.Cells-text.Width(base), 0))
	list.MarkText(dir, inDir, look).Draw(r, room, look.Dim, look.Match, look)
	list.MarkText(base, inBase, look).Draw(r, width-r.Cells, ink, look.Match, look)
}

// drawLine draws a line with the matches marked, after its file and number.
func (u *fileFinder) drawLine(r *list.Row, f *fileHit, width int, look *look.Look) {
	place := text.ClipLeft(fmt.Sprintf("%s:%d", text.FileName(f.path), f.line), width*2/5)
	r.Add(" "+place+"  ", look.Dim)
	text := strings.TrimSpace(text.FileName(strings.ReplaceAll(f.text, "\t", " ")))
	var marked []int
	if u.match != nil {
		for _, at := range u.match.FindAllStringIndex(text, -1) {
			for n := utf8.RuneCountInString(text[:at[0]]); n < utf8.RuneCountInString(text[:at[1]]); n++ {
				marked = append(marked, n)
			}
		}
	}
	list.MarkText(text, marked, look).Draw(r, width-r.Cells, look.Text, look.Match, look)
}
