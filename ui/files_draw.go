package ui

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/files"
	"tandem/panes/preview"
	"tandem/panes/widget"
)

// Widths from which there is a preview beside the list, and the folder above;
// and the height from which there is a preview below a narrow list.
const (
	previewBeside = 76
	aboveBeside   = 140
	previewBelow  = 22
)

// filesParts are where the parts of the view are on the screen, without their
// headings. What is not shown is empty.
type filesParts struct {
	heading        rect // of the list, and of all that is beside it
	above          rect
	list, preview  rect
	previewHeading rect
	below          bool // the preview is below the list
}

func (m *model) filesParts() (parts filesParts) {
	f, b := &m.files, m.layout.body
	parts.heading = rect{b.x, b.y, b.w, 1}
	in := rect{b.x, b.y + 1, b.w, b.h - 1}
	switch {
	case f.zoomed && f.onPreview:
		parts.heading = rect{}
		parts.previewHeading, parts.preview = rect{b.x, b.y, b.w, 1}, in
	case f.zoomed:
		parts.list = in
	case b.w >= previewBeside:
		x := in.x
		if b.w >= aboveBeside {
			w := min(max(b.w/7, 20), 30)
			parts.above = rect{x, in.y, w, in.h}
			x += w + 1
		}
		rest := b.x + b.w - x
		w := rest * 9 / 20
		parts.list = rect{x, in.y, w, in.h}
		parts.preview = rect{x + w + 1, in.y, rest - w - 1, in.h}
		parts.heading.w = x + w - b.x
		parts.previewHeading = rect{x + w + 1, b.y, rest - w - 1, 1}
	case b.h >= previewBelow:
		h := in.h * 11 / 20
		parts.below = true
		parts.list = rect{in.x, in.y, in.w, h}
		parts.previewHeading = rect{in.x, in.y + h, in.w, 1}
		parts.preview = rect{in.x, in.y + h + 1, in.w, in.h - h - 1}
	default:
		parts.list = in
	}
	return parts
}

// drawFiles gives the rows of the view.
func (m *model) drawFiles() []string {
	f, body, now := &m.files, m.layout.body, time.Now()
	if !m.news.Connected && f.path == "" {
		return (&widget.Page{Title: "Connecting to the engine…"}).Draw(body.w, body.h, &m.look)
	}
	parts := m.filesParts()
	f.list.Focused, f.preview.Focused = !f.onPreview, f.onPreview
	f.list.Icons, f.above.Icons = m.o.FileIcons, m.o.FileIcons
	rule := m.look.Rule.Text("│")
	rows := make([]string, 0, body.h)
	var above, list, preview []string
	if parts.above.w > 0 {
		above = f.above.Draw(parts.above.w, parts.above.h, now, &m.look)
	}
	if parts.list.w > 0 {
		list = f.list.Draw(parts.list.w, parts.list.h, now, &m.look)
	}
	if parts.preview.w > 0 {
		preview = f.preview.Draw(parts.preview.w, parts.preview.h, &m.look)
	}
	if parts.heading.w > 0 {
		rows = append(rows, m.filesHeading(parts))
	}
	switch {
	case parts.heading.w == 0:
		rows = append(append(rows, f.preview.Heading(body.w, &m.look)), preview...)
	case parts.below:
		rows = append(append(append(rows, list...), f.preview.Heading(body.w, &m.look)), preview...)
	default:
		for y := range list {
			line := list[y]
			if above != nil {
				line = above[y] + rule + line
			}
			if preview != nil {
				line += rule + preview[y]
			}
			rows = append(rows, line)
		}
	}
	for len(rows) < body.h {
		rows = append(rows, widget.Spaces(body.w))
	}
	return rows[:body.h]
}

// filesHeading is the title row of the list, with the folder and what is known
// of it, and that of a preview beside it.
func (m *model) filesHeading(parts filesParts) string {
	f := &m.files
	detail := f.branch
	if detail != "" {
		detail = "on " + widget.Clean(detail)
	}
	for _, more := range []string{f.orderText(), f.shareText()} {
		if more != "" {
			detail = strings.TrimSpace(detail + "  " + more)
		}
	}
	w, above := parts.heading.w, ""
	if parts.above.w > 0 {
		above = widget.Heading(m.shownPath(filepath.Dir(f.path)), "", parts.above.w, false, &m.look) + m.look.Rule.Text("┬")
		w -= parts.above.w + 1
	}
	path := m.shownPath(f.path)
	room := w - 6
	if n := widget.Width(detail); detail != "" && room-n-1 >= 12 {
		room -= n + 1
	}
	name := widget.ClipLeft(path, max(room, 1))
	heading := above + widget.Heading(name, detail, w, !f.onPreview, &m.look)
	if parts.previewHeading.w == 0 || parts.below {
		return heading
	}
	return heading + m.look.Rule.Text("┬") + f.preview.Heading(parts.previewHeading.w, &m.look)
}

// shownPath is a path with the home folder as "~".
func (m *model) shownPath(path string) string {
	home := m.list.Home
	if home != "" && home != "/" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + widget.FileName(path[len(home):])
	}
	return widget.FileName(path)
}

// orderText says how the list is sorted, where that is not by name.
func (f *filesView) orderText() string {
	text := ""
	if f.order.By != files.ByName || f.order.Reversed {
		text = "by " + f.order.By.String()
		if f.order.Reversed {
			text += ", reversed"
		}
	}
	return text
}

// shareText says how much of a folder is shown that has too many entries.
func (f *filesView) shareText() string {
	if f.omitted == 0 {
		return ""
	}
	return itoa(f.all.Len()) + " of " + itoa(f.all.Len()+f.omitted)
}

// filesNote is what the status bar says of the view.
func (m *model) filesNote() string {
	f := &m.files
	if m.view != viewFiles {
		return ""
	}
	var notes []string
	if f.job != nil {
		notes = append(notes, f.job.text(m, len(f.wanted)))
	}
	if f.search != nil {
		notes = append(notes, "searching for “"+widget.Clip(widget.Clean(f.search.pattern), 24)+"”…")
	}
	if n := len(f.marked); n > 0 {
		notes = append(notes, itoa(n)+" marked")
	}
	if f.order.Filter != "" && f.list.Rows() != nil {
		note := itoa(f.list.Rows().Len()) + " of " + itoa(f.all.Len()+f.omitted) + " with “" + widget.Clean(f.order.Filter) + "”"
		if f.matching != nil {
			note += ", looking further…"
		}
		notes = append(notes, note)
	} else if n := f.list.Rows().Len(); n > 0 && len(notes) == 0 && !f.onPreview {
		notes = append(notes, itoa(f.list.Cursor()+1)+"/"+itoa(n))
	}
	return strings.Join(notes, ", ")
}

// focusPreview gives the keyboard to the preview, or back.
func (m *model) focusPreview(on bool) tea.Cmd {
	f := &m.files
	if on && f.list.Selected() == nil {
		return nil
	}
	if !on && f.zoomed && f.onPreview {
		f.zoomed = false
	}
	f.onPreview = on
	if on && m.filesParts().preview.w == 0 { // there is no room for both
		f.zoomed = true
	}
	m.dirty = true
	return nil
}

// zoomFiles lets what has the keyboard fill the view, or not any more.
func (m *model) zoomFiles() tea.Cmd {
	m.files.zoomed = !m.files.zoomed
	m.dirty = true
	return nil
}

// onPreview changes what is seen of the preview.
func onPreview(change func(*preview.Preview)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		change(&m.files.preview)
		m.dirty = true
		return nil
	}
}

// mouseOnFiles handles the mouse in the view.
func (m *model) mouseOnFiles(e keys.Mouse) tea.Cmd {
	f, parts := &m.files, m.filesParts()
	switch {
	case parts.preview.contains(e.X, e.Y) && widget.IsWheel(e):
		f.preview.Scroll(widget.WheelRows(e))
	case parts.preview.contains(e.X, e.Y) && widget.LeftDown(e):
		if f.onPreview {
			return nil
		}
		return m.focusPreview(true)
	case parts.list.contains(e.X, e.Y):
		return m.mouseOnFileList(e, e.Y-parts.list.y)
	case parts.above.contains(e.X, e.Y) && widget.LeftDown(e):
		if row := f.above.RowAt(e.Y - parts.above.y); row >= 0 {
			f.above.Go(row)
			if selected := f.above.Selected(); widget.IsFolder(selected) {
				m.goFolder(f.above.SelectedPath(), "")
			} else {
				m.goFolder(f.above.Path, selected.Name)
			}
		}
	case parts.heading.contains(e.X, e.Y) && widget.LeftDown(e):
		return m.filesUp()
	default:
		return nil
	}
	m.dirty = true
	return nil
}

func (m *model) mouseOnFileList(e keys.Mouse, y int) tea.Cmd {
	f := &m.files
	switch {
	case widget.IsWheel(e):
		f.list.Move(widget.WheelRows(e))
	case widget.LeftDown(e):
		m.focusPreview(false)
		row := f.list.RowAt(y)
		if row < 0 {
			return nil
		}
		f.list.Go(row)
		if f.click.Again(row) {
			return m.openFileHere()
		}
	default:
		return nil
	}
	m.dirty = true
	return nil
}

// cutBehind is what follows the first sep in text.
func cutBehind(text, sep string) (string, bool) {
	_, after, ok := strings.Cut(text, sep)
	return after, ok
}

// baseNames are the last parts of paths, clean, a few of them.
func baseNames(paths []string) []string {
	const most = 10
	names := make([]string, 0, most+1)
	for i, path := range paths {
		if i == most {
			names = append(names, "and "+itoa(len(paths)-most)+" more")
			break
		}
		names = append(names, widget.Clip(widget.FileName(filepath.Base(path)), 60))
	}
	return slices.Clip(names)
}
