package files

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
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

// parts are where the parts of the view are on the screen, without their
// headings. What is not shown is empty.
type parts struct {
	heading        widget.Rect // of the list, and of all that is beside it
	above          widget.Rect
	list, preview  widget.Rect
	previewHeading widget.Rect
	below          bool // the preview is below the list
}

func (f *Pane) parts() (parts parts) {
	b := widget.Rect{W: f.w, H: f.h}
	parts.heading = widget.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}
	in := widget.Rect{X: b.X, Y: b.Y + 1, W: b.W, H: b.H - 1}
	switch {
	case f.zoomed && f.onPreview:
		parts.heading = widget.Rect{}
		parts.previewHeading, parts.preview = widget.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}, in
	case f.zoomed:
		parts.list = in
	case b.W >= previewBeside:
		x := in.X
		if b.W >= aboveBeside {
			w := min(max(b.W/7, 20), 30)
			parts.above = widget.Rect{X: x, Y: in.Y, W: w, H: in.H}
			x += w + 1
		}
		rest := b.X + b.W - x
		w := rest * 9 / 20
		parts.list = widget.Rect{X: x, Y: in.Y, W: w, H: in.H}
		parts.preview = widget.Rect{X: x + w + 1, Y: in.Y, W: rest - w - 1, H: in.H}
		parts.heading.W = x + w - b.X
		parts.previewHeading = widget.Rect{X: x + w + 1, Y: b.Y, W: rest - w - 1, H: 1}
	case b.H >= previewBelow:
		h := in.H * 11 / 20
		parts.below = true
		parts.list = widget.Rect{X: in.X, Y: in.Y, W: in.W, H: h}
		parts.previewHeading = widget.Rect{X: in.X, Y: in.Y + h, W: in.W, H: 1}
		parts.preview = widget.Rect{X: in.X, Y: in.Y + h + 1, W: in.W, H: in.H - h - 1}
	default:
		parts.list = in
	}
	return parts
}

// Draw gives the rows of the view.
func (f *Pane) Draw() []string {
	now := time.Now()
	if !f.env.News().Connected && f.path == "" {
		return (&widget.Page{Title: "Connecting to the engine…"}).Draw(f.w, f.h, f.env.Look())
	}
	parts := f.parts()
	f.list.Focused, f.preview.Focused = !f.onPreview, f.onPreview
	f.list.Icons, f.above.Icons = f.env.FileIcons(), f.env.FileIcons()
	rule := f.env.Look().Rule.Text("│")
	rows := make([]string, 0, f.h)
	var above, list, preview []string
	if parts.above.W > 0 {
		above = f.above.Draw(parts.above.W, parts.above.H, now, f.env.Look())
	}
	if parts.list.W > 0 {
		list = f.list.Draw(parts.list.W, parts.list.H, now, f.env.Look())
	}
	if parts.preview.W > 0 {
		preview = f.preview.Draw(parts.preview.W, parts.preview.H, f.env.Look())
	}
	if parts.heading.W > 0 {
		rows = append(rows, f.filesHeading(parts))
	}
	switch {
	case parts.heading.W == 0:
		rows = append(append(rows, f.preview.Heading(f.w, f.env.Look())), preview...)
	case parts.below:
		rows = append(append(append(rows, list...), f.preview.Heading(f.w, f.env.Look())), preview...)
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
	for len(rows) < f.h {
		rows = append(rows, widget.Spaces(f.w))
	}
	return rows[:f.h]
}

// filesHeading is the title row of the list, with the folder and what is known
// of it, and that of a preview beside it.
func (f *Pane) filesHeading(parts parts) string {
	detail := f.branch
	if detail != "" {
		detail = "on " + widget.Clean(detail)
	}
	for _, more := range []string{f.orderText(), f.shareText()} {
		if more != "" {
			detail = strings.TrimSpace(detail + "  " + more)
		}
	}
	w, above := parts.heading.W, ""
	if parts.above.W > 0 {
		above = widget.Heading(f.shownPath(filepath.Dir(f.path)), "", parts.above.W, false, f.env.Look()) + f.env.Look().Rule.Text("┬")
		w -= parts.above.W + 1
	}
	path := f.shownPath(f.path)
	room := w - 6
	if n := widget.Width(detail); detail != "" && room-n-1 >= 12 {
		room -= n + 1
	}
	name := widget.ClipLeft(path, max(room, 1))
	heading := above + widget.Heading(name, detail, w, !f.onPreview, f.env.Look())
	if parts.previewHeading.W == 0 || parts.below {
		return heading
	}
	return heading + f.env.Look().Rule.Text("┬") + f.preview.Heading(parts.previewHeading.W, f.env.Look())
}

// shownPath is a path with the home folder as "~".
func (f *Pane) shownPath(path string) string {
	home := f.env.Home()
	if home != "" && home != "/" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + widget.FileName(path[len(home):])
	}
	return widget.FileName(path)
}

// orderText says how the list is sorted, where that is not by name.
func (f *Pane) orderText() string {
	text := ""
	if f.order.By != ByName || f.order.Reversed {
		text = "by " + f.order.By.String()
		if f.order.Reversed {
			text += ", reversed"
		}
	}
	return text
}

// shareText says how much of a folder is shown that has too many entries.
func (f *Pane) shareText() string {
	if f.omitted == 0 {
		return ""
	}
	return widget.Itoa(f.all.Len()) + " of " + widget.Itoa(f.all.Len()+f.omitted)
}

// note is what the status bar says of the view.
func (f *Pane) note() string {
	var notes []string
	if f.job != nil {
		notes = append(notes, f.job.text(f.env.Bindings(), len(f.wanted)))
	}
	if f.search != nil {
		notes = append(notes, "searching for “"+widget.Clip(widget.Clean(f.search.pattern), 24)+"”…")
	}
	if n := len(f.marked); n > 0 {
		notes = append(notes, widget.Itoa(n)+" marked")
	}
	if f.order.Filter != "" && f.list.Rows() != nil {
		note := widget.Itoa(f.list.Rows().Len()) + " of " + widget.Itoa(f.all.Len()+f.omitted) + " with “" + widget.Clean(f.order.Filter) + "”"
		if f.matching != nil {
			note += ", looking further…"
		}
		notes = append(notes, note)
	} else if n := f.list.Rows().Len(); n > 0 && len(notes) == 0 && !f.onPreview {
		notes = append(notes, widget.Itoa(f.list.Cursor()+1)+"/"+widget.Itoa(n))
	}
	return strings.Join(notes, ", ")
}

// focusPreview gives the keyboard to the preview, or back.
func (f *Pane) focusPreview(on bool) tea.Cmd {
	if on && f.list.Selected() == nil {
		return nil
	}
	if !on && f.zoomed && f.onPreview {
		f.zoomed = false
	}
	f.onPreview = on
	if on && f.parts().preview.W == 0 { // there is no room for both
		f.zoomed = true
	}
	return nil
}

// zoomFiles lets what has the keyboard fill the view, or not any more.
func (f *Pane) zoomFiles() tea.Cmd {
	f.zoomed = !f.zoomed
	return nil
}

// whenPreviewed changes what is seen of the preview.
func (f *Pane) whenPreviewed(change func(*preview.Preview)) func() tea.Cmd {
	return func() tea.Cmd {
		change(&f.preview)
		return nil
	}
}

// Mouse handles the mouse in the view.
func (f *Pane) Mouse(e keys.Mouse) tea.Cmd {
	parts := f.parts()
	switch {
	case parts.preview.Contains(e.X, e.Y) && widget.IsWheel(e):
		f.preview.Scroll(widget.WheelRows(e))
	case parts.preview.Contains(e.X, e.Y) && widget.LeftDown(e):
		if f.onPreview {
			return nil
		}
		return f.focusPreview(true)
	case parts.list.Contains(e.X, e.Y):
		return f.mouseOnFileList(e, e.Y-parts.list.Y)
	case parts.above.Contains(e.X, e.Y) && widget.LeftDown(e):
		if row := f.above.RowAt(e.Y - parts.above.Y); row >= 0 {
			f.above.Go(row)
			if selected := f.above.Selected(); widget.IsFolder(selected) {
				f.GoFolder(f.above.SelectedPath(), "")
			} else {
				f.GoFolder(f.above.Path, selected.Name)
			}
		}
	case parts.heading.Contains(e.X, e.Y) && widget.LeftDown(e):
		return f.filesUp()
	default:
		return nil
	}
	return nil
}

func (f *Pane) mouseOnFileList(e keys.Mouse, y int) tea.Cmd {
	switch {
	case widget.IsWheel(e):
		f.list.Move(widget.WheelRows(e))
	case widget.LeftDown(e):
		f.focusPreview(false)
		row := f.list.RowAt(y)
		if row < 0 {
			return nil
		}
		f.list.Go(row)
		if f.click.Again(row) {
			return f.openFileHere()
		}
	default:
		return nil
	}
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
			names = append(names, "and "+widget.Itoa(len(paths)-most)+" more")
			break
		}
		names = append(names, widget.Clip(widget.FileName(filepath.Base(path)), 60))
	}
	return slices.Clip(names)
}
