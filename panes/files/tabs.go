package files

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// tabsFile is the file in the data folder that holds the tabs of the last start,
// a path a line, with a > before the one that was shown.
const tabsFile = "file-tabs"

// mostTabs bounds how many there are.
const mostTabs = 50

// tabs are folders that are open beside each other. One of them is shown, and
// what is held of that one is as old as its showing.
type tabs struct {
	f   *Pane
	all []tab
	at  int

	read    bool   // the file was read, or is being read
	known   bool   // it was
	writing bool   // it is being written
	written string // what it holds
	pen     pen

	starts []int // the columns in which they were drawn, and behind them the end
	first  int   // that was drawn
}

// A pen writes one text after the other, and none after the last one.
type pen struct {
	mu   sync.Mutex
	done bool
}

func (p *pen) write(ctx context.Context, e panes.Engine, file, text string, last bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil
	}
	p.done = last
	return e.WriteFile(ctx, file, []byte(text), false)
}

// A tab is a folder that is not shown at the moment.
type tab struct {
	path, name string // name is where the cursor is
	order      Order
	back       []string
}

// shown reports whether there is more than one.
func (ts *tabs) shown() bool { return len(ts.all) > 1 }

// leave notes where the tab that is shown is.
func (ts *tabs) leave() {
	d := &ts.f.folder
	now := tab{d.path, d.list.Wanted(), d.order, d.back}
	if len(ts.all) == 0 {
		ts.all = []tab{now}
		return
	}
	ts.all[ts.at] = now
}

// enter shows the tab that is to be shown.
func (ts *tabs) enter() {
	t := ts.all[ts.at]
	filter := t.order.Filter
	ts.f.folder.order = t.order
	ts.f.GoFolder(t.path, t.name)
	ts.f.folder.order.Filter, ts.f.folder.back = filter, t.back
}

// open opens the folder in another tab.
func (ts *tabs) open() tea.Cmd {
	if len(ts.all) == mostTabs {
		return ts.f.env.Say("no more than "+widget.Itoa(mostTabs)+" tabs", true)
	}
	ts.leave()
	next := ts.all[ts.at]
	next.back = nil
	ts.all = slices.Insert(ts.all, ts.at+1, next)
	ts.at++
	ts.enter()
	return nil
}

func (ts *tabs) closeShown() tea.Cmd { return ts.drop(ts.at) }

// drop closes a tab; of that which is shown the one behind it takes the place.
func (ts *tabs) drop(i int) tea.Cmd {
	if !ts.shown() {
		return ts.f.env.Say("this is the only tab"+panes.WithKey(ts.f.env.Bindings(), "; press ", keymap.FilesTab, " for another", keymap.ScopeFiles), false)
	}
	ts.leave()
	shown := i == ts.at
	ts.all = slices.Delete(ts.all, i, i+1)
	if i < ts.at || ts.at == len(ts.all) {
		ts.at--
	}
	if shown {
		ts.enter()
	}
	return nil
}

// show goes to a tab.
func (ts *tabs) show(i int) {
	if i != ts.at && i < len(ts.all) {
		ts.leave()
		ts.at = i
		ts.enter()
	}
}

// next goes to the tab behind, or the one before, around the end.
func (ts *tabs) next(by int) func() tea.Cmd {
	return func() tea.Cmd {
		if !ts.shown() {
			return ts.closeShown() // which says how there are more
		}
		ts.show((ts.at + by + len(ts.all)) % len(ts.all))
		return nil
	}
}

// text is what the file is to hold; nothing, if there is one tab alone.
func (ts *tabs) text() string {
	if !ts.shown() {
		return ""
	}
	var text strings.Builder
	for i, t := range ts.all {
		mark, path := " ", t.path
		if i == ts.at {
			mark, path = ">", ts.f.folder.path
		}
		text.WriteString(mark + strings.ReplaceAll(api.EscapePath(path), "\n", "%0A") + "\n")
	}
	return text.String()
}

// fetch reads the tabs of the last start, and keeps those of this one.
func (ts *tabs) fetch() tea.Cmd {
	file := ts.f.env.News().Info.DataDir
	if file == "" || ts.writing {
		return nil
	}
	file = filepath.Join(file, tabsFile)
	if !ts.read {
		ts.read = true
		return panes.Ask(ts.f.env.Context(), ts.f.env, func(ctx context.Context, e panes.Engine) (string, error) {
			out, err := e.ReadFile(ctx, file, 0, 0)
			return out.Text, err
		}, func(text string, _ error) tea.Cmd { // without the file there are none
			ts.take(text)
			return nil
		})
	}
	text := ts.text()
	if !ts.known || text == ts.written || ts.f.folder.path == "" {
		return nil
	}
	ts.writing = true
	return panes.Ask(ts.f.env.Context(), ts.f.env, func(ctx context.Context, e panes.Engine) (string, error) {
		return text, ts.pen.write(ctx, e, file, text, false)
	}, func(string, error) tea.Cmd { // what cannot be kept is there as long as the dashboard
		ts.writing, ts.written = false, text
		return nil
	})
}

// keepLast keeps the tabs as they are when the person leaves.
func (ts *tabs) keepLast(ctx context.Context) {
	text := ts.text()
	if !ts.known || text == ts.written && !ts.writing || ts.f.folder.path == "" || !ts.f.env.News().Connected {
		return
	}
	if e, err := ts.f.env.Engine(ctx); err == nil {
		_ = ts.pen.write(ctx, e, filepath.Join(ts.f.env.News().Info.DataDir, tabsFile), text, true) // there is nobody left to tell
	}
}

// toCome reports whether the tabs of the last start will be known soon.
func (ts *tabs) toCome() bool {
	news := ts.f.env.News()
	return !ts.known && (!news.Connected || news.Info.DataDir != "")
}

// take takes the tabs of the last start. A folder that is shown already stays
// so, in place of the one that was shown last.
func (ts *tabs) take(text string) {
	ts.known, ts.written = true, text
	if ts.shown() {
		return
	}
	var all []tab
	at := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if len(line) < 2 || len(all) == mostTabs {
			continue
		}
		if line[0] == '>' {
			at = len(all)
		}
		all = append(all, tab{path: api.UnescapePath(line[1:])})
	}
	if len(all) > 1 {
		ts.all, ts.at = all, at
	}
}

// draw is the row of tabs.
func (ts *tabs) draw(w int, look *widget.Look) string {
	labels := ts.labels()
	ts.first = min(ts.first, ts.at)
	for ts.first < ts.at && cellsOf(labels[ts.first:ts.at+1]) > w {
		ts.first++
	}
	var row strings.Builder
	used := 0
	ts.starts = ts.starts[:0]
	for i := ts.first; i < len(labels) && used < w; i++ {
		label := widget.Clip(labels[i], w-used)
		ink := look.Dim
		if i == ts.at {
			ink = look.Selected
		}
		row.WriteString(ink.Text(label))
		ts.starts = append(ts.starts, used)
		used += widget.Width(label)
	}
	ts.starts = append(ts.starts, used)
	return row.String() + widget.Spaces(w-used)
}

func cellsOf(labels []string) (cells int) {
	for _, label := range labels {
		cells += widget.Width(label)
	}
	return cells
}

// labels names the tabs by the last part of their paths, or the last two where
// the last is that of another too.
func (ts *tabs) labels() []string {
	labels := make([]string, len(ts.all))
	times := map[string]int{}
	paths := make([]string, len(ts.all))
	for i, t := range ts.all {
		if paths[i] = t.path; i == ts.at {
			paths[i] = ts.f.folder.path
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		times[filepath.Base(path)]++
	}
	for i, path := range paths {
		name := filepath.Base(ts.f.shownPath(path))
		if base := filepath.Base(path); times[base] > 1 && name != "~" {
			name = filepath.Join(filepath.Base(filepath.Dir(path)), base)
		}
		labels[i] = " " + widget.Itoa(i+1) + " " + widget.ClipName(widget.FileName(name), 24) + " "
	}
	return labels
}

// mouse handles the mouse in the row of tabs: a click shows one, the middle
// button closes it, the wheel goes through them.
func (ts *tabs) mouse(e keys.Mouse) tea.Cmd {
	switch {
	case widget.IsWheel(e):
		ts.show(min(max(ts.at+map[bool]int{true: -1, false: 1}[e.Button == keys.WheelUp], 0), len(ts.all)-1))
		return nil
	case e.Kind != keys.MouseDown:
		return nil
	}
	for i, start := range ts.starts[:max(len(ts.starts)-1, 0)] {
		if e.X < start || e.X >= ts.starts[i+1] {
			continue
		}
		switch e.Button {
		case keys.ButtonLeft:
			ts.show(ts.first + i)
		case keys.ButtonMiddle:
			return ts.drop(ts.first + i)
		}
	}
	return nil
}
