package supervise

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/store"
)

// processes holds all processes by id. The control goroutine owns it.
type processes map[string]*proc

// freeName returns name or, if a running process has it, name-2, name-3 and so on. A number is not
// used again while a session with it is listed, so bash-6 stays the one that the user saw.
func (ps processes) freeName(name string) string {
	// One of len(ps)+1 suffixes must be free, so larger numbers need not be recorded.
	taken := make([]bool, len(ps)+3) // by suffix; the bare name is 1
	for _, p := range ps {
		n := suffixNumber(p.rec.Name, name)
		if p.state().Ended() && (n < 2 || !p.rec.TTY || p.rec.Transient) {
			continue
		}
		if n > 0 && n < len(taken) {
			taken[n] = true
		}
	}
	if !taken[1] {
		return name
	}
	n := 2
	for taken[n] {
		n++
	}
	return name + "-" + strconv.Itoa(n)
}

// suffixNumber returns n if taken is name followed by -n, 1 if taken is name itself, and 0
// otherwise.
func suffixNumber(taken, name string) int {
	if taken == name {
		return 1
	}
	rest, ok := strings.CutPrefix(taken, name)
	if !ok || len(rest) < 2 || rest[0] != '-' || rest[1] < '1' || rest[1] > '9' {
		return 0
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n < 2 {
		return 0
	}
	return n
}

func (ps processes) findLiveNamed(name string) *proc {
	for _, p := range ps {
		if p.rec.Name == name && !p.state().Ended() {
			return p
		}
	}
	return nil
}

// find finds a process by its id, its name, or a unique prefix of either, in this order. If several
// processes have the same name, it prefers a running one, then the one created last. Prefixes of
// names match running processes first.
//
// If the call changes something, it must not hit another process than the one meant, which may be
// gone. Then only whole names match, and prefixes of ids with at least api.MinIDPrefix characters.
// If several ended processes have the same name, none matches.
func (ps processes) find(ctx context.Context, what string, kinds ...api.Kind) (*proc, error) {
	return ps.findAmong(func(p *proc) bool { return p.view.ID != "" }, what, kinds, api.Changes(ctx))
}

// findIncludingNew is like find, but also matches the full id or name of a process that is starting
// and not announced yet.
func (ps processes) findIncludingNew(ctx context.Context, what string, kinds ...api.Kind) (*proc, error) {
	return ps.findAmong(isKnownOrNew, what, kinds, api.Changes(ctx))
}

// isKnownOrNew reports whether a process is announced, or is starting and will be.
func isKnownOrNew(p *proc) bool {
	return p.view.ID != "" || (p.state() == api.StateStarting || p.state() == api.StateWaiting) && !p.rec.Transient
}

func (ps processes) findAmong(known func(*proc) bool, what string, kinds []api.Kind, exact bool) (*proc, error) {
	wanted := func(p *proc) bool {
		return known(p) && (len(kinds) == 0 || slices.Contains(kinds, api.Kind(p.rec.Kind)))
	}
	// A full id takes precedence over any name, so that ids stay reliable in scripts.
	if p := ps[what]; p != nil && wanted(p) {
		return p, nil
	}
	named := map[string]*proc{} // one per name beginning with what
	var prefixed, same []*proc  // those whose id begins with what, and those with that name
	for id, p := range ps {
		if !wanted(p) || p.view.ID == "" && p.rec.Name != what {
			continue
		}
		if first := named[p.rec.Name]; strings.HasPrefix(p.rec.Name, what) && (first == nil || isPreferred(p, first)) {
			named[p.rec.Name] = p
		}
		if p.rec.Name == what {
			same = append(same, p)
		}
		if strings.HasPrefix(id, what) && (!exact || len(what) >= api.MinIDPrefix) {
			prefixed = append(prefixed, p)
		}
	}
	if p := named[what]; p != nil && what != "" {
		if exact && len(same) > 1 && p.state().Ended() {
			return nil, errAmbiguous(what, "processes with this name have ended", "give an id", same)
		}
		return p, nil
	}
	near := preferLive(named)
	if !exact {
		for _, p := range near {
			if !slices.Contains(prefixed, p) {
				prefixed = append(prefixed, p)
			}
		}
	}
	switch {
	case what == "":
		near = nil
	case len(prefixed) == 1:
		return prefixed[0], nil
	case len(prefixed) > 1:
		return nil, errAmbiguous(what, "ids begin with it", "give more of the id or name", prefixed)
	}
	if slices.Equal(kinds, []api.Kind{api.KindSession}) {
		if p, err := ps.findAmong(known, what, nil, exact); err == nil {
			return nil, api.Errorf(api.CodeNotFound, "use %s as a session: it has no terminal", names.Shown(p.rec.Name)).
				WithHint("Its output is in its log. Start it with a terminal (--tty) to type into it.")
		}
	}
	hint := "tandem ls shows all"
	if len(near) > 0 {
		hint = "give the whole name or an id: " + listIDs(near)
	}
	return nil, api.Errorf(api.CodeNotFound, "find %s: no %s has this id or name", names.Shown(what), kindNoun(kinds)).WithHint(hint)
}

// preferLive returns the running processes in named, or all of them if none is running.
func preferLive(named map[string]*proc) []*proc {
	all := slices.Collect(maps.Values(named))
	ended := func(p *proc) bool { return p.state().Ended() }
	if live := slices.DeleteFunc(slices.Clone(all), ended); len(live) > 0 {
		return live
	}
	return all
}

func isPreferred(p, q *proc) bool {
	if live := !p.state().Ended(); live == q.state().Ended() {
		return live
	}
	return byAge(p, q) > 0
}

func errAmbiguous(what, why, hint string, candidates []*proc) error {
	return api.Errorf(api.CodeAmbiguous, "find %s: several %s: %s", names.Shown(what), why, listIDs(candidates)).
		WithHint(hint)
}

// maxListed is how many processes an error names.
const maxListed = 10

// listIDs lists processes by id and name, the oldest first. It is part of an error message.
func listIDs(all []*proc) string {
	slices.SortFunc(all, byAge)
	var list []string
	for _, p := range all[:min(len(all), maxListed)] {
		list = append(list, p.rec.ID+" ("+p.rec.Name+")")
	}
	if more := len(all) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

func kindNoun(kinds []api.Kind) string {
	if len(kinds) == 1 {
		return string(kinds[0])
	}
	return "session or process"
}

// listViews returns all announced processes, oldest first.
func (ps processes) listViews() []api.Process {
	all := ps.selectOldestFirst(func(p *proc) bool { return p.view.ID != "" })
	out := make([]api.Process, len(all))
	for i, p := range all {
		out[i] = p.currentView()
	}
	return out
}

// listViewsFor is listViews for a subscriber.
func (ps processes) listViewsFor(lasting bool) []api.Process {
	all := ps.listViews()
	if lasting {
		all = slices.DeleteFunc(all, func(p api.Process) bool { return ps[p.ID].rec.Transient })
	}
	return all
}

// selectOldestFirst returns the processes for which wanted returns true, the oldest first.
func (ps processes) selectOldestFirst(wanted func(*proc) bool) []*proc {
	var all []*proc
	for _, p := range ps {
		if wanted(p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, byAge)
	return all
}

func byAge(a, b *proc) int {
	if d := a.rec.CreatedAt.Compare(b.rec.CreatedAt); d != 0 {
		return d
	}
	if a.rec.ID < b.rec.ID {
		return -1
	}
	return 1
}

// maxStopTimeout returns the longest stop timeout of all running processes.
func (ps processes) maxStopTimeout() time.Duration {
	longest := defaultStopTimeout
	for _, p := range ps {
		if !p.state().Ended() {
			longest = max(longest, StopTimeout(p.rec))
		}
	}
	return longest
}

// endedRecords returns the records of ended processes for which wanted returns true.
func (ps processes) endedRecords(wanted func(store.Record) bool) (records []store.Record) {
	for _, p := range ps {
		if p.state().Ended() && p.rec.Identity != nil && wanted(p.rec) {
			records = append(records, p.rec)
		}
	}
	return records
}

// listOwned returns the running processes of a client, the oldest first.
func (ps processes) listOwned(owner string) []*proc {
	return ps.selectOldestFirst(func(p *proc) bool { return p.rec.Owner == owner && !p.state().Ended() })
}

// checkName rejects a name that another running process has.
func (ps processes) checkName(p *proc, name string) error {
	if other := ps.findLiveNamed(name); other != nil && other != p && !p.state().Ended() {
		return api.Errorf(api.CodeConflict, "rename %s: %s is already called %s", p.rec.Name, other.rec.ID, name)
	}
	return nil
}
