package history

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// onMachines says which machines are asked, where there are others: those of a
// folder or session that the search is about, or those that host: names.
func (f *finder) onMachines(in *api.HistorySearchInput) {
	n := f.env.News()
	if len(n.Machines) == 0 {
		return
	}
	var host string
	host, in.Query = widget.CutHost(in.Query)
	machine, _ := api.MachineOf(in.Process)
	if on, there := api.PathOf(in.CWD); n.Machine(on) != nil {
		machine, in.CWD = on, there
	}
	if in.CWD != "" || in.Process != "" {
		in.Hosts = []string{machine}
		return
	}
	if widget.OnHost(host, "") {
		in.Hosts = append(in.Hosts, "")
	}
	for i := range n.Machines {
		if name := n.Machines[i].Name; widget.OnHost(host, name) {
			in.Hosts = append(in.Hosts, name)
		}
	}
	if len(in.Hosts) == 0 {
		in.Hosts = []string{host} // that there is no such machine is said where it is asked
	}
}

// missing says which of the machines that are asked have not been searched; "" for
// none.
func (f *finder) missing(now time.Time) string {
	n := f.env.News()
	if f.fleet.on {
		return "" // they are counted above
	}
	all := slices.Clone(f.list.missing)
	for _, host := range f.list.search.Hosts {
		if m := n.Machine(host); m != nil && m.OfflineReason(now) != "" {
			all = append(all, widget.Clean(host)+": "+m.OfflineReason(now))
		}
	}
	if len(all) == 0 || len(f.list.search.Hosts) == 1 { // the list itself says why it cannot be told
		return ""
	}
	return "without " + strings.Join(all, ", ")
}

// drawList gives h rows of w cells: the list and, below it, which machines are not
// in it. The slice is valid until the next call.
func (f *finder) drawList(w, h int, now time.Time) []string {
	look := f.env.Look()
	f.list.Hosts = len(f.env.News().Machines) > 0 || f.fleet.on
	missing := f.missing(now)
	if missing == "" || h < 3 {
		return f.list.Draw(w, h, now, look)
	}
	rows := f.list.Draw(w, h-1, now, look)
	return append(rows, look.Warn.Text(widget.Fit(" "+widget.Clip(widget.Clean(missing), w-1), w)))
}
