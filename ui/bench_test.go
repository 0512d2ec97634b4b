package ui

import (
	"fmt"
	"os"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/panes/kit/graphics"
	"tandem/ui/conn"
	"tandem/ui/layout"
	"tandem/ui/screen"
)

// busyModel returns a dashboard of 200×60 cells with four panes full of coloured text, and
// a function that applies frame i.
func busyModel(b testing.TB) (m *model, change func(i int)) {
	e := newFakeEngine()
	l := conn.New(e, nil)
	m = newModel(b.Context(), Options{Settings: defaultSettings()}.withDefaults(), l, &screen.Input{})
	m.areas.w, m.areas.h, m.sessions.isOpen, m.news.Connected = 200, 60, true, true
	var leaves []*layout.Node
	for i := range 4 {
		s := e.addSession(fmt.Sprint("session", i))
		m.news.Processes = append(m.news.Processes, s.process)
		p := m.sessions.tabs.New(s.process.ID)
		if i == 0 {
			g := layout.NewTab(p)
			m.sessions.tabs.All, m.sessions.tabs.Current = append(m.sessions.tabs.All, g), g
			leaves = append(leaves, g.Root)
			continue
		}
		m.sessions.attachments.cancels[p] = func() {}
		root, leaf := leaves[(i-1)/2].SplitLeaf(layout.Axis(i%2), p)
		m.sessions.tabs.Current.Root = root
		leaves = append(leaves, leaf)
	}
	m.sessions.attachments.cancels[leaves[0].Pane] = func() {}
	m.relayout()
	m.sessions.refreshList()
	for _, leaf := range leaves {
		leaf.Pane.Feed.Receive(api.Output{Frame: colourfulFrame(0, 60, true)})
	}
	m.syncNews()
	return m, func(i int) {
		leaves[0].Pane.Feed.Receive(api.Output{Frame: colourfulFrame(i, 1, false)})
		m.syncNews()
	}
}

// colourfulFrame returns a frame of 200×60 cells with the given number of lines, all made of
// short runs.
func colourfulFrame(seed, lines int, full bool) *api.Frame {
	f := &api.Frame{Full: full, Cols: 200, Rows: 60, Cursor: api.Cursor{Visible: true}}
	for y := range lines {
		var l api.Line
		for x := range 25 {
			l.Runs = append(l.Runs, api.Run{
				Text: fmt.Sprintf("%-8d", seed+y*x), Cells: 8,
				Style: api.Style{FG: styled.ColorIndexed | api.Color((seed+x)%256), Attrs: api.Attr(x % 4)},
			})
		}
		f.Lines = append(f.Lines, api.NumberedLine{N: int64(y), Line: l})
	}
	return f
}

func TestUnchangedViewAllocatesNothing(t *testing.T) {
	m, _ := busyModel(t)
	m.View()
	if n := testing.AllocsPerRun(100, func() { m.View() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkViewUnchanged(b *testing.B) {
	m, _ := busyModel(b)
	m.View()
	for b.Loop() {
		m.View()
	}
}

func BenchmarkViewOneLineChanged(b *testing.B) {
	m, change := busyModel(b)
	i := 0
	for b.Loop() {
		i++
		change(i)
		m.View()
	}
}

func BenchmarkPaintOneLineChanged(b *testing.B) {
	m, change := busyModel(b)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	terminal := screen.New(null, colorprofile.TrueColor)
	terminal.Enter()
	i := 0
	for b.Loop() {
		i++
		change(i)
		terminal.Show(m.View(), 200, 60, nil, screen.Placement{}, graphics.Patches{})
		if err := terminal.Paint(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkViewEverythingChanged(b *testing.B) {
	m, _ := busyModel(b)
	i := 0
	for b.Loop() {
		i++
		for _, l := range m.sessions.visibleLeaves() {
			l.Pane.Feed.Receive(api.Output{Frame: colourfulFrame(i, 60, false)})
		}
		m.syncNews()
		m.View()
	}
}

var _ tea.Model = (*model)(nil)
