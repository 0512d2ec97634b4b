package supervise

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/store"
)

// processes are all there are, by id. The control goroutine owns them.
type processes map[string]*proc

// freeName is name, or name-2, name-3, … if something that has not ended is
// called that.
func (ps processes) freeName(name string) string {
	taken := make([]bool, len(ps)+3) // by number; the name itself is 1
	for _, p := range ps {
		if p.state().Ended() {
			continue
		}
		if n := numberOf(p.rec.Name, name); n > 0 && n < len(taken) {
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

// numberOf is n if other is name-n, 1 if it is name itself, and else 0.
func numberOf(other, name string) int {
	if other == name {
		return 1
	}
	rest, ok := strings.CutPrefix(other, name)
	if !ok || len(rest) < 2 || rest[0] != '-' || rest[1] < '1' || rest[1] > '9' {
		return 0
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n < 2 {
		return 0
	}
	return n
}

func (ps processes) namedLive(name string) *proc {
	for _, p := range ps {
		if p.rec.Name == name && !p.state().Ended() {
			return p
		}
	}
	return nil
}

// find resolves an id, a name or what a single id or name begins with, in this
// order. Of several with one name the live one counts, or else the one that ended
// last; a name's beginning is of what lives, if anything does.
func (ps processes) find(what string, kinds ...api.Kind) (*proc, error) {
	return ps.findAmong(func(p *proc) bool { return p.view.ID != "" }, what, kinds)
}

// findToEnd also finds what is being started for the first time and has not been
// announced, by its full id or its name.
func (ps processes) findToEnd(what string, kinds ...api.Kind) (*proc, error) {
	return ps.findAmong(func(p *proc) bool {
		return p.view.ID != "" || (p.state() == api.StateStarting || p.state() == api.StateWaiting) && !p.rec.Transient
	}, what, kinds)
}

func (ps processes) findAmong(known func(*proc) bool, what string, kinds []api.Kind) (*proc, error) {
	wanted := func(p *proc) bool {
		return known(p) && (len(kinds) == 0 || slices.Contains(kinds, api.Kind(p.rec.Kind)))
	}
	if p := ps[what]; p != nil && wanted(p) {
		return p, nil
	}
	named := map[string]*proc{} // whose names begin so
	var prefixed []*proc
	for id, p := range ps {
		if !wanted(p) || p.view.ID == "" && p.rec.Name != what {
			continue
		}
		if first := named[p.rec.Name]; strings.HasPrefix(p.rec.Name, what) && (first == nil || preferred(p, first)) {
			named[p.rec.Name] = p
		}
		if strings.HasPrefix(id, what) {
			prefixed = append(prefixed, p)
		}
	}
	if p := named[what]; p != nil && what != "" {
		return p, nil
	}
	for _, p := range bestNamed(named) {
		if !slices.Contains(prefixed, p) {
			prefixed = append(prefixed, p)
		}
	}
	switch {
	case what == "":
	case len(prefixed) == 1:
		return prefixed[0], nil
	case len(prefixed) > 1:
		return nil, errAmbiguous(what, prefixed)
	}
	if slices.Equal(kinds, []api.Kind{api.KindSession}) {
		if p, err := ps.findAmong(known, what, nil); err == nil {
			return nil, api.Errorf(api.CodeNotFound, "use %s as a session: it has no terminal", names.Shown(p.rec.Name)).
				WithHint("Its output is in its log. Start it with a terminal (--tty) to type into it.")
		}
	}
	return nil, api.Errorf(api.CodeNotFound, "find %s: no %s has this id or name", names.Shown(what), noun(kinds)).
		WithHint("tandem ls shows all")
}

// bestNamed are those of processes by their names that live, or all if none does.
func bestNamed(named map[string]*proc) []*proc {
	all := slices.Collect(maps.Values(named))
	ended := func(p *proc) bool { return p.state().Ended() }
	if live := slices.DeleteFunc(slices.Clone(all), ended); len(live) > 0 {
		return live
	}
	return all
}

func preferred(p, q *proc) bool {
	if live := !p.state().Ended(); live == q.state().Ended() {
		return live
	}
	return byAge(p, q) > 0
}

func errAmbiguous(what string, candidates []*proc) error {
	slices.SortFunc(candidates, byAge)
	var all []string
	for _, p := range candidates {
		all = append(all, p.rec.ID+" ("+p.rec.Name+")")
	}
	return api.Errorf(api.CodeAmbiguous, "find %s: several begin so: %s", names.Shown(what), strings.Join(all, ", ")).
		WithHint("give more of the id or name")
}

func noun(kinds []api.Kind) string {
	if len(kinds) == 1 {
		return string(kinds[0])
	}
	return "session or process"
}

// listed gives what is announced, oldest first.
func (ps processes) listed() []api.Process {
	all := ps.oldestFirst(func(p *proc) bool { return p.view.ID != "" })
	out := make([]api.Process, len(all))
	for i, p := range all {
		out[i] = p.current()
	}
	return out
}

// listedFor is listed for a reader of events.
func (ps processes) listedFor(lasting bool) []api.Process {
	all := ps.listed()
	if lasting {
		all = slices.DeleteFunc(all, func(p api.Process) bool { return ps[p.ID].rec.Transient })
	}
	return all
}

// oldestFirst gives those that are wanted.
func (ps processes) oldestFirst(wanted func(*proc) bool) []*proc {
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

// longestStop is the longest stop time-out of what has not ended.
func (ps processes) longestStop() time.Duration {
	longest := defaultStopTimeout
	for _, p := range ps {
		if !p.state().Ended() {
			longest = max(longest, StopTimeout(p.rec))
		}
	}
	return longest
}

// endedRecords are the records of what has ended and is wanted.
func (ps processes) endedRecords(wanted func(store.Record) bool) (records []store.Record) {
	for _, p := range ps {
		if p.state().Ended() && p.rec.Identity != nil && wanted(p.rec) {
			records = append(records, p.rec)
		}
	}
	return records
}

// owned lists what a client has started and has not ended, oldest first.
func (ps processes) owned(owner string) []*proc {
	return ps.oldestFirst(func(p *proc) bool { return p.rec.Owner == owner && !p.state().Ended() })
}

// checkName refuses the name of something else that has not ended.
func (ps processes) checkName(p *proc, name string) error {
	if other := ps.namedLive(name); other != nil && other != p && !p.state().Ended() {
		return api.Errorf(api.CodeConflict, "rename %s: %s is called %s already", p.rec.Name, other.rec.ID, name)
	}
	return nil
}
