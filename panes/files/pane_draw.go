package files

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Minimum widths for a preview beside the list and for the folder above, and the minimum height
// for a preview below a narrow list.
const (
	previewBeside = 76
	aboveBeside   = 140
	previewBelow  = 22
)

// parts are the areas of the view, without their headings. Hidden parts are empty.
type parts struct {
	tabs           look.Rect // row of tabs, if there are several
	heading        look.Rect // of the list and the folder above
	above          look.Rect
	list, preview  look.Rect
	previewHeading look.Rect
	below          bool // the preview is below the list
}

func (f *Pane) computeParts() (parts parts) {
	b := look.Rect{W: f.w, H: f.h}
	if f.tabs.hasSeveral() && !(f.zoomed && f.onPreview) {
		parts.tabs = look.Rect{W: b.W, H: 1}
		b.Y, b.H = 1, b.H-1
	}
	parts.heading = look.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}
	in := look.Rect{X: b.X, Y: b.Y + 1, W: b.W, H: b.H - 1}
	switch {
	case f.zoomed && f.onPreview:
		parts.heading = look.Rect{}
		parts.previewHeading, parts.preview = look.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}, in
	case f.zoomed:
		parts.list = in
	case b.W >= previewBeside:
		x := in.X
		if b.W >= aboveBeside {
			w := min(max(b.W/7, 20), 30)
			parts.above = look.Rect{X: x, Y: in.Y, W: w, H: in.H}
			x += w + 1
		}
		rest := b.X + b.W - x
		w := rest * 9 / 20
		parts.list = look.Rect{X: x, Y: in.Y, W: w, H: in.H}
		parts.preview = look.Rect{X: x + w + 1, Y: in.Y, W: rest - w - 1, H: in.H}
		parts.heading.W = x + w - b.X
		parts.previewHeading = look.Rect{X: x + w + 1, Y: b.Y, W: rest - w - 1, H: 1}
	case b.H >= previewBelow:
		h := in.H * 11 / 20
		parts.below = true
		parts.list = look.Rect{X: in.X, Y: in.Y, W: in.W, H: h}
		parts.previewHeading = look.Rect{X: in.X, Y: in.Y + h, W: in.W, H: 1}
		parts.preview = look.Rect{X: in.X, Y: in.Y + h + 1, W: in.W, H: in.H - h - 1}
	default:
		parts.list = in
	}
	parts.preview.H = max(parts.preview.H-f.viewer.search.line.CoveredRows(f.env), 0)
	return parts
}

func (f *Pane) Draw() []string {
	now := time.Now()
	if !f.env.News().Connected && f.folder.path == "" {
		return (&look.Page{Title: "Connecting to the engine…"}).Draw(f.w, f.h, f.env.Look())
	}
	parts := f.computeParts()
	f.folder.list.Focused, f.viewer.preview.Focused = !f.onPreview, f.onPreview
	f.folder.list.Icons, f.above.list.Icons = f.env.Settings().Icons, f.env.Settings().Icons
	rule := f.env.Look().Rule.Text("│")
	rows := make([]string, 0, f.h)
	var above, list, preview []string
	if parts.above.W > 0 {
		above = f.above.list.Draw(parts.above.W, parts.above.H, now, f.env.Look())
	}
	if parts.list.W > 0 {
		list = f.folder.list.Draw(parts.list.W, parts.list.H, now, f.env.Look())
	}
	if parts.preview.W > 0 {
		preview = f.viewer.preview.Draw(parts.preview.W, parts.preview.H, f.env.Look())
		for range f.viewer.search.line.CoveredRows(f.env) {
			preview = append(preview, text.Spaces(parts.preview.W))
		}
	}
	if parts.tabs.W > 0 {
		rows = append(rows, f.tabs.drawTabs(parts.tabs.W, f.env.Look()))
	}
	if parts.heading.W > 0 {
		rows = append(rows, f.filesHeading(parts))
	}
	switch {
	case parts.heading.W == 0:
		rows = append(append(rows, f.viewer.preview.Heading(f.w, f.env.Look())), preview...)
	case parts.below:
		rows = append(append(append(rows, list...), f.viewer.preview.Heading(f.w, f.env.Look())), preview...)
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
	rows = text.PadRows(rows, f.w, f.h)
	return rows[:f.h]
}

// filesHeading returns the row with the headings of the list and of the preview, if that is beside
// the list.
func (f *Pane) filesHeading(parts parts) string {
	look := f.env.Look()
	w, above := parts.heading.W, ""
	if parts.above.W > 0 {
		above = look.Heading(displayPath(parentFolder(f.folder.path), f.env.Home()), "", parts.above.W, false) + look.Rule.Text("┬")
		w -= parts.above.W + 1
	}
	sign, cells := f.folder.listSign().Draw(w/2, look)
	if cells > 0 {
		sign, cells = " "+sign+" ", cells+2
	}
	w -= cells
	detail, room := f.folder.headingDetail(), w-6
	// The path keeps at least 8 cells.
	if n := text.Width(detail); detail != "" && room-n-1 >= 8 {
		room -= n + 1
	}
	name := clipPath(displayPath(f.folder.path, f.env.Home()), max(room, 1))
	heading := above + look.Heading(name, detail, w, !f.onPreview) + sign
	if parts.previewHeading.W == 0 || parts.below {
		return heading
	}
	return heading + look.Rule.Text("┬") + f.viewer.preview.Heading(parts.previewHeading.W, look)
}

// clipPath shortens a path to at most w cells. It keeps the end of the path and the name of its
// machine.
func clipPath(path string, w int) string {
	machine, rest, ok := strings.Cut(path, ":")
	if n := text.Width(machine) + 1; ok && machine != "" && !strings.Contains(machine, "/") && w >= n+8 {
		return machine + ":" + text.ClipLeft(rest, w-n)
	}
	return text.ClipLeft(path, w)
}

// displayPath returns a path in a form to show: with ~ for the home directory, or with the name of
// its machine.
func displayPath(path, home string) string {
	if machine, remotePath := api.PathOf(path); machine != "" {
		return machine + ":" + text.FileName(remotePath)
	}
	return text.FileName(api.TildePath(path, home))
}

// Note describes what is running, such as a transfer or a search, and how many entries are marked
// or not shown.
func (f *Pane) Note() (string, look.Ink) {
	var notes []string
	if note := f.transfers.Progress(); note != "" {
		notes = append(notes, note)
	}
	if search := f.viewer.search; search.stop != nil {
		notes = append(notes, "searching for “"+text.Clip(text.Clean(search.text), 24)+"”…")
	}
	if n := len(f.folder.list.Marks); n > 0 {
		notes = append(notes, text.Itoa(n)+" marked")
	}
	if f.folder.list.More {
		notes = append(notes, "reading the folder…")
	}
	if f.folder.cancelMatch != nil {
		notes = append(notes, "still searching…")
	}
	return strings.Join(notes, ", "), f.env.Look().BarDim
}

func (f *Pane) Mouse(e keys.Mouse) tea.Cmd {
	parts := f.computeParts()
	wheel, down := e.IsWheel(), e.IsLeftDown()
	switch {
	case parts.tabs.Contains(e.X, e.Y):
		return f.tabs.handleMouse(e)
	case parts.preview.Contains(e.X, e.Y) && wheel:
		f.viewer.preview.Scroll(list.WheelRows(e))
	case parts.preview.Contains(e.X, e.Y) && down && !f.onPreview:
		f.focusPreview(true)
	case parts.list.Contains(e.X, e.Y) && wheel:
		f.folder.list.Move(list.WheelRows(e))
	case parts.list.Contains(e.X, e.Y) && down:
		f.clickRow(f.folder.list.RowAt(e.Y - parts.list.Y))
	case parts.above.Contains(e.X, e.Y) && down:
		f.clickAbove(f.above.list.RowAt(e.Y - parts.above.Y))
	case parts.heading.Contains(e.X, e.Y) && down:
		f.folder.goUp()
	}
	return nil
}

// clickRow moves the cursor to a row. A second click opens it.
func (f *Pane) clickRow(row int) {
	f.focusPreview(false)
	if row < 0 {
		return
	}
	f.folder.list.Go(row)
	if f.clicked.Again(row) {
		f.openSelected()
	}
}

// clickAbove goes to an entry of the folder above.
func (f *Pane) clickAbove(row int) {
	if row < 0 {
		return
	}
	f.above.list.Go(row)
	if selected := f.above.list.CursorEntry(); selected.IsFolder() {
		f.folder.goTo(f.above.list.CursorPath(), "")
	} else {
		f.folder.goTo(f.above.list.Path, selected.Name)
	}
}
