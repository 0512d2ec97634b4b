package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

// manySessions is how many sessions the benchmarks of news have.
const manySessions = 1000

// newsMsg returns a message whose handling applies n as if the link had brought it.
func newsMsg(m *model, n panes.News) tea.Msg {
	return panes.Result(func() tea.Cmd { return tea.Batch(m.applyNews(n), m.sessions.Sync()) })
}

// snapshotNews returns the first news of an engine with many sessions. perTab is how many of them a
// tab of the saved layout has; with 0 there is no layout, and each session gets a tab of its own.
func snapshotNews(perTab int) (n panes.News) {
	e := api.Event{Type: api.EventSnapshot, Info: &api.Info{}}
	started := time.Now().Add(-time.Hour)
	for i := range manySessions {
		e.Processes = append(e.Processes, api.Process{
			ID: fmt.Sprintf("s%04d", i), Name: fmt.Sprint("session-", i), Kind: api.KindSession, State: api.StateRunning, StartedAt: started.Add(time.Duration(i)),
			Command: "bash", Argv: []string{"bash"}, CWD: "/home/ann/src", Terminal: &api.Terminal{Title: "bash", Waiting: "prompt"},
		})
	}
	if perTab > 0 {
		e.Layout, e.Revision = &api.Layout{}, 1
		for first := 0; first < manySessions; first += perTab {
			e.Layout.Tabs = append(e.Layout.Tabs, splitTab(e.Processes[first:first+perTab]))
		}
	}
	n.Apply(e)
	return n
}

// splitTab returns a tab with sessions beside each other.
func splitTab(sessions []api.Process) (t api.LayoutTab) {
	for i, p := range sessions {
		leaf := api.LayoutNode{ID: p.ID, Name: p.Name}
		if i == len(sessions)-1 {
			return api.LayoutTab{Nodes: append(t.Nodes, leaf)}
		}
		t.Nodes = append(t.Nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000}, leaf)
	}
	return t
}

// newsModel returns a dashboard on an engine without sessions yet.
func newsModel(b testing.TB) *model {
	m := newModel(b.Context(), Options{Settings: defaultSettings()}.withDefaults(), conn.New(newFakeEngine(), nil), &screen.Input{})
	m.setSize(200, 60)
	return m
}

// arrangements are how the sessions of the benchmarks are arranged.
var arrangements = map[string]int{"50 tabs": manySessions / 50, "own tabs": 0}

func TestThousandSessionsAreArrangedAsInTheLayout(t *testing.T) {
	for name, perTab := range arrangements {
		m := newsModel(t)
		m.Update(newsMsg(m, snapshotNews(perTab)))
		want := manySessions
		if perTab > 0 {
			want = manySessions / perTab
		}
		if got := len(m.sessions.Tabs.All); got != want || len(m.sessions.Tabs.Leaves()) != manySessions {
			t.Errorf("%s: %d tabs with %d panes", name, got, len(m.sessions.Tabs.Leaves()))
		}
	}
}

// The first news bring all sessions.
func BenchmarkFirstNewsOfThousandSessions(b *testing.B) {
	for name, perTab := range arrangements {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m := newsModel(b)
				m.Update(newsMsg(m, snapshotNews(perTab)))
			}
		})
	}
}

// An event changes one session.
func BenchmarkEventAmongThousandSessions(b *testing.B) {
	for name, perTab := range arrangements {
		b.Run(name, func(b *testing.B) {
			m := newsModel(b)
			news := snapshotNews(perTab)
			m.Update(newsMsg(m, news))
			i := 0
			for b.Loop() {
				i++
				p := news.Processes[i%manySessions]
				p.Terminal = &api.Terminal{Title: fmt.Sprint("title ", i), Waiting: "prompt"}
				news.Apply(api.Event{Type: api.EventProcess, Process: &p})
				m.Update(newsMsg(m, news))
			}
		})
	}
}

// A frame is drawn after an event.
func BenchmarkFrameOfThousandSessions(b *testing.B) {
	for name, perTab := range arrangements {
		b.Run(name, func(b *testing.B) {
			m := newsModel(b)
			m.Update(newsMsg(m, snapshotNews(perTab)))
			for b.Loop() {
				m.frame.redraw()
				m.View()
			}
		})
	}
}
