package history

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// selectMachines sets the machines to search, if there are others: the one of the folder or
// session, or those matching host: in the query.
func (f *finder) selectMachines(in *api.HistorySearchInput) {
	n := f.env.News()
	if len(n.Machines) == 0 {
		return
	}
	var host string
	host, in.Query = list.CutHost(in.Query)
	machine, _ := api.MachineOf(in.Process)
	if on, there := api.PathOf(in.CWD); n.Machine(on) != nil {
		machine, in.CWD = on, there
	}
	// A folder or session is on one machine, whatever host: says.
	if in.CWD != "" || in.Process != "" {
		in.Hosts = []string{machine}
		return
	}
	if list.OnHost(host, "") {
		in.Hosts = append(in.Hosts, "")
	}
	for i := range n.Machines {
		if name := n.Machines[i].Name; list.OnHost(host, name) {
			in.Hosts = append(in.Hosts, name)
		}
	}
	if len(in.Hosts) == 0 {
		in.Hosts = []string{host} // the search then reports the unknown machine
	}
}

// missingNote returns which of the selected machines were not searched, and why; "" for none.
func (f *finder) missingNote(now time.Time) string {
	n := f.env.News()
	if f.fleet.shown {
		return "" // the tabs count them
	}
	all := slices.Clone(f.list.missing)
	for _, host := range f.list.search.Hosts {
		if m := n.Machine(host); m != nil && m.OfflineReason(now) != "" {
			all = append(all, text.Clean(host)+": "+m.OfflineReason(now))
		}
	}
	if len(all) == 0 || len(f.list.search.Hosts) == 1 { // the list shows the reason
		return ""
	}
	return "without " + strings.Join(all, ", ")
}

// drawList returns h rows of w cells: the list and a note on missing machines. The slice is valid
// until the next call.
func (f *finder) drawList(w, h int, now time.Time) []string {
	look := f.env.Look()
	f.list.Hosts = len(f.env.News().Machines) > 0 || f.fleet.shown
	missing := f.missingNote(now)
	if missing == "" || h < 3 {
		return f.list.Draw(w, h, now, look)
	}
	rows := f.list.Draw(w, h-1, now, look)
	return append(rows, look.Warn.Text(text.Fit(" "+text.Clip(text.Clean(missing), w-1), w)))
}
