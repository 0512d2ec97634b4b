package ui

import (
	"context"
	"fmt"
	"os"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/panes"
	"tandem/panes/kit/graphics"
	"tandem/panes/sessions/layout"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

// busyModel returns a dashboard of 200×60 cells with four panes full of coloured text, and
// a function that applies frame i.
func busyModel(b testing.TB) (m *model, change func(i int)) {
	e := newFakeEngine()
	l := conn.New(silentEngine{e}, nil)
	m = newModel(b.Context(), Options{Settings: defaultSettings()}.withDefaults(), l, &screen.Input{})
	m.news = panes.News{Connected: true, Layout: &api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: layout.ShareUnit / 2},
		{Axis: api.AxisBelow, Share: layout.ShareUnit / 2}, {ID: "000000000001"}, {ID: "000000000003"},
		{Axis: api.AxisBelow, Share: layout.ShareUnit / 2}, {ID: "000000000002"}, {ID: "000000000004"},
	}}}}}
	for i := range 4 {
		m.news.Processes = append(m.news.Processes, e.addSession(fmt.Sprint("session", i)).process)
	}
	m.setSize(200, 60)
	for _, v := range m.views.all {
		v.pane.HandleNews(&panes.News{})
	}
	m.fetchViews()
	leaves := m.sessions.Tabs.Current.Root.Leaves(nil)
	for _, leaf := range leaves {
		m.sessions.Panes.Pane(leaf.ID).Feed.Receive(api.Output{Frame: colourfulFrame(0, 60, true)})
	}
	m.syncNews()
	return m, func(i int) {
		m.sessions.Panes.Pane(leaves[0].ID).Feed.Receive(api.Output{Frame: colourfulFrame(i, 1, false)})
		m.syncNews()
	}
}

// A silentEngine never attaches.
type silentEngine struct{ *fakeEngine }

func (silentEngine) Attach(ctx context.Context, _ api.AttachOptions) (panes.Attachment, error) {
	<-ctx.Done()
	return nil, ctx.Err()
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
				Style: api.Style{Rendition: api.Rendition{FG: styled.ColorIndexed | api.Color((seed+x)%256), Attrs: api.Attr(x % 4)}},
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

func BenchmarkPaintOneLineShownDirectly(b *testing.B) {
	m, _ := busyModel(b)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	m.terminal = screen.New(null, colorprofile.TrueColor)
	m.terminal.Enter()
	feed := m.sessions.Panes.Pane(m.sessions.Tabs.Current.Root.Leaves(nil)[0].ID).Feed
	first := colourfulFrame(0, 60, true)
	first.Cols, first.Rows = feed.Size().Cols, feed.Size().Rows
	feed.Receive(api.Output{Frame: first})
	m.syncNews()
	m.View()
	i := 0
	for b.Loop() {
		i++
		f := colourfulFrame(i, 1, false)
		f.Cols, f.Rows = first.Cols, first.Rows
		if shown, _ := feed.Receive(api.Output{Frame: f}); !shown {
			b.Fatal("the frame was not shown directly")
		}
		if err := m.terminal.Paint(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkViewEverythingChanged(b *testing.B) {
	m, _ := busyModel(b)
	i := 0
	for b.Loop() {
		i++
		for _, l := range m.sessions.Tabs.Current.Root.Leaves(nil) {
			m.sessions.Panes.Pane(l.ID).Feed.Receive(api.Output{Frame: colourfulFrame(i, 60, false)})
		}
		m.syncNews()
		m.View()
	}
}

var _ tea.Model = (*model)(nil)
