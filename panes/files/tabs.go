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
	"tandem/panes/files/entries"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// tabsFile is the name of the file in the data directory that keeps the tabs for the next start. It
// contains one path per line, with > before the current one.
const tabsFile = "file-tabs"

// maxTabs limits the number of tabs.
const maxTabs = 50

// folderTabs are the open folders. The state of the current tab is in folder; its entry in all is
// updated only when another tab is shown.
type folderTabs struct {
	env     panes.Env
	folder  *folder
	all     []tab
	current int

	read    bool   // reading the file has started
	known   bool   // the file has been read
	writing bool   // a write is running
	written string // content of the file
	writer  tabsWriter

	starts []int // first columns of the drawn tabs, then the end of the last
	first  int   // first visible tab
}

// A tabsWriter writes the file of tabs. Once the final write is done, it ignores earlier writes
// that arrive late.
type tabsWriter struct {
	mu   sync.Mutex
	done bool
}

func (p *tabsWriter) writeFile(ctx context.Context, e panes.FileWriter, file, text string, last bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil
	}
	p.done = last
	return e.WriteFile(ctx, file, []byte(text), false)
}

// A tab is a folder that is not visible at the moment.
type tab struct {
	path, name string // folder; name under the cursor
	order      entries.Order
	previous   []string
}

// hasSeveral reports whether there is more than one tab.
func (ts *folderTabs) hasSeveral() bool { return len(ts.all) > 1 }

// saveCurrent updates the entry of the current tab.
func (ts *folderTabs) saveCurrent() {
	d := ts.folder
	now := tab{d.path, d.list.TargetName(), d.order, d.previous}
	if len(ts.all) == 0 {
		ts.all = []tab{now}
		return
	}
	ts.all[ts.current] = now
}

// showCurrent shows the current tab.
func (ts *folderTabs) showCurrent() {
	t := ts.all[ts.current]
	// goTo clears the filter and changes the way back.
	filter := t.order.Filter
	ts.folder.order = t.order
	ts.folder.goTo(t.path, t.name)
	ts.folder.order.Filter, ts.folder.previous = filter, t.previous
}

// openTab opens the folder in another tab.
func (ts *folderTabs) openTab() tea.Cmd {
	if len(ts.all) == maxTabs {
		return ts.env.Say("no more than "+text.Itoa(maxTabs)+" tabs", true)
	}
	ts.saveCurrent()
	next := ts.all[ts.current]
	next.previous = nil
	ts.all = slices.Insert(ts.all, ts.current+1, next)
	ts.current++
	ts.showCurrent()
	return nil
}

func (ts *folderTabs) closeCurrent() tea.Cmd { return ts.closeTab(ts.current) }

// closeTab closes a tab. If it is the current one, the next one takes its place.
func (ts *folderTabs) closeTab(i int) tea.Cmd {
	if !ts.hasSeveral() {
		return ts.env.Say("this is the only tab"+ts.env.Bindings().WithKey("; press ", keymap.FilesTab, " for another", keymap.ScopeFiles), false)
	}
	ts.saveCurrent()
	shown := i == ts.current
	ts.all = slices.Delete(ts.all, i, i+1)
	if i < ts.current || ts.current == len(ts.all) {
		ts.current--
	}
	if shown {
		ts.showCurrent()
	}
	return nil
}

// showTab switches to a tab.
func (ts *folderTabs) showTab(i int) {
	if i != ts.current && i < len(ts.all) {
		ts.saveCurrent()
		ts.current = i
		ts.showCurrent()
	}
}

// switchTab switches to the next or the previous tab, wrapping around.
func (ts *folderTabs) switchTab(by int) func() tea.Cmd {
	return func() tea.Cmd {
		if !ts.hasSeveral() {
			return ts.closeCurrent() // shows a hint on opening tabs
		}
		ts.showTab((ts.current + by + len(ts.all)) % len(ts.all))
		return nil
	}
}

// fileText returns what to write to the file of tabs; "" if there is only one tab.
func (ts *folderTabs) fileText() string {
	if !ts.hasSeveral() {
		return ""
	}
	var text strings.Builder
	for i, t := range ts.all {
		mark, path := " ", t.path
		if i == ts.current {
			mark, path = ">", ts.folder.path
		}
		text.WriteString(mark + strings.ReplaceAll(api.EscapePath(path), "\n", "%0A") + "\n")
	}
	return text.String()
}

// fetch reads the tabs of the last start, once. After that it saves the tabs whenever they have
// changed.
func (ts *folderTabs) fetch() tea.Cmd {
	file := ts.env.News().Info.DataDir
	if file == "" || ts.writing {
		return nil
	}
	file = filepath.Join(file, tabsFile)
	if !ts.read {
		ts.read = true
		return panes.Call(ts.env.Context(), ts.env, func(ctx context.Context, e panes.Engine) (string, error) {
			out, err := e.ReadFile(ctx, file, 0, 0)
			return out.Text, err
		}, func(text string, _ error) tea.Cmd { // no file, no tabs
			ts.restoreTabs(text)
			return nil
		})
	}
	text := ts.fileText()
	if !ts.known || text == ts.written || ts.folder.path == "" {
		return nil
	}
	ts.writing = true
	return panes.Call(ts.env.Context(), ts.env, func(ctx context.Context, e panes.Engine) (string, error) {
		return text, ts.writer.writeFile(ctx, e, file, text, false)
	}, func(string, error) tea.Cmd { // after an error, tabs last as long as the dashboard
		ts.writing, ts.written = false, text
		return nil
	})
}

// saveLast saves the tabs when the user leaves.
func (ts *folderTabs) saveLast(ctx context.Context) {
	text := ts.fileText()
	if !ts.known || (text == ts.written && !ts.writing) || ts.folder.path == "" || !ts.env.News().Connected {
		return
	}
	if e, err := ts.env.Engine(ctx); err == nil {
		_ = ts.writer.writeFile(ctx, e, filepath.Join(ts.env.News().Info.DataDir, tabsFile), text, true) // too late to report
	}
}

// isPending reports whether the tabs of the last start are still being read.
func (ts *folderTabs) isPending() bool {
	news := ts.env.News()
	return !ts.known && (!news.Connected || news.Info.DataDir != "")
}

// restoreTabs restores the tabs of the last start. If a folder is visible already, it replaces the
// tab that was current then.
func (ts *folderTabs) restoreTabs(text string) {
	ts.known, ts.written = true, text
	// Tabs opened in the meantime count more.
	if ts.hasSeveral() {
		return
	}
	var all []tab
	at := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if len(line) < 2 || len(all) == maxTabs {
			continue
		}
		if line[0] == '>' {
			at = len(all)
		}
		all = append(all, tab{path: api.UnescapePath(line[1:])})
	}
	if len(all) > 1 {
		ts.all, ts.current = all, at
	}
}

// drawTabs draws the row of tabs.
func (ts *folderTabs) drawTabs(w int, look *look.Look) string {
	labels := ts.tabLabels()
	ts.first = min(ts.first, ts.current)
	// The current tab must be visible.
	for ts.first < ts.current && text.Width(strings.Join(labels[ts.first:ts.current+1], "")) > w {
		ts.first++
	}
	var row strings.Builder
	used := 0
	ts.starts = ts.starts[:0]
	for i := ts.first; i < len(labels) && used < w; i++ {
		label := text.Clip(labels[i], w-used)
		ink := look.Dim
		if i == ts.current {
			ink = look.Selected
		}
		row.WriteString(ink.Text(label))
		ts.starts = append(ts.starts, used)
		used += text.Width(label)
	}
	ts.starts = append(ts.starts, used)
	return row.String() + text.Spaces(w-used)
}

// tabLabels returns a label for each tab: the last part of its path, or the last two parts if paths
// share the last one.
func (ts *folderTabs) tabLabels() []string {
	labels := make([]string, len(ts.all))
	times := map[string]int{}
	paths := make([]string, len(ts.all))
	for i, t := range ts.all {
		if paths[i] = t.path; i == ts.current {
			paths[i] = ts.folder.path
		}
	}
	// Count each folder once: tabs with the same folder do not need longer labels.
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		times[filepath.Base(path)]++
	}
	for i, path := range paths {
		name := filepath.Base(displayPath(path, ts.env.Home()))
		if base := filepath.Base(path); times[base] > 1 && name != "~" {
			name = filepath.Join(filepath.Base(filepath.Dir(path)), base)
		}
		labels[i] = " " + text.Itoa(i+1) + " " + text.ClipName(text.FileName(name), 24) + " "
	}
	return labels
}

// handleMouse handles the mouse in the row of tabs: a click shows a tab, the middle button closes
// it, the wheel switches.
func (ts *folderTabs) handleMouse(e keys.Mouse) tea.Cmd {
	switch {
	case e.IsWheel():
		ts.showTab(min(max(ts.current+map[bool]int{true: -1, false: 1}[e.Button == keys.WheelUp], 0), len(ts.all)-1))
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
			ts.showTab(ts.first + i)
		case keys.ButtonMiddle:
			return ts.closeTab(ts.first + i)
		}
	}
	return nil
}
