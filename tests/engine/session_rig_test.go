package engine

import (
	"tandem/engine/api"
)

func (m *machine) history(in api.HistorySearchInput) []api.HistoryRow {
	m.Helper()
	return call(m, api.HistorySearch, in).Rows
}

func (m *machine) sh(id, command string) api.SessionExecOutput {
	m.Helper()
	return call(m, api.SessionExec, api.SessionExecInput{ID: id, Command: command})
}

// wantRun runs a command and compares its output and status.
func wantRun(m *machine, id, command, output string, code int) api.SessionExecOutput {
	m.Helper()
	out := m.sh(id, command)
	if out.Output != output || out.ExitCode == nil || *out.ExitCode != code || out.TimedOut {
		exit := -1
		if out.ExitCode != nil {
			exit = *out.ExitCode
		}
		m.Errorf("%s: %+v with code %d, want %q and %d\nlog %q", command, out, exit, output, code, lastOf(m.logOf(m.get(id)), 900))
	}
	return out
}

func lastOf(text string, n int) string { return text[max(0, len(text)-n):] }

func (m *machine) sessionWait(in api.SessionWaitInput) api.SessionWaitOutput {
	m.Helper()
	return call(m, api.SessionWait, in)
}

// tabsOf returns a layout with a tab for each group of sessions.
func tabsOf(groups ...[]api.Process) (l api.Layout) {
	for _, group := range groups {
		var tab api.LayoutTab
		for i, p := range group {
			if i < len(group)-1 {
				tab.Nodes = append(tab.Nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000})
			}
			tab.Nodes = append(tab.Nodes, api.LayoutNode{ID: p.ID})
		}
		tab.Focus = min(1, len(tab.Nodes)-1)
		l.Tabs = append(l.Tabs, tab)
	}
	return l
}

// arrangeTabs returns the input that makes the tabs of a layout.
func arrangeTabs(l api.Layout) (in api.LayoutChangeInput) {
	for _, t := range l.Tabs {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: t.Nodes, Own: api.OwnEnd})
	}
	return in
}
