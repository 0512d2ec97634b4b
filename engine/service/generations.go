package service

import (
	"maps"
	"reflect"
	"slices"

	"tandem/engine/api"
)

// A dashboard that saves during a shutdown may save less than the user arranged. So earlier layouts
// are kept, and after a reboot the one that shows the most sessions comes back.

// maxEarlier limits the earlier layouts kept.
const maxEarlier = 8

// sessionsOf returns the ids of the sessions in a layout.
func sessionsOf(l api.Layout) map[string]bool {
	ids := map[string]bool{}
	tabs := l.Tabs
	if l.Float != nil {
		tabs = append(slices.Clip(tabs), *l.Float)
	}
	for _, t := range tabs {
		for _, n := range t.Nodes {
			if n.Axis == "" && n.ID != "" {
				ids[n.ID] = true
			}
		}
	}
	return ids
}

// countOf returns how many of ids are wanted.
func countOf(ids, wanted map[string]bool) (n int) {
	for id := range ids {
		if wanted[id] {
			n++
		}
	}
	return n
}

// keepEarlier adds the current layout to the earlier ones if next shows other sessions.
func (k *layoutState) keepEarlier(next api.Layout) {
	shown := sessionsOf(next)
	all := k.earlier
	if k.layout != nil {
		all = append([]api.Layout{*k.layout}, all...)
	}
	k.earlier = nil
	seen := []map[string]bool{{}, shown} // an empty layout is of no use
	for _, l := range all {
		ids := sessionsOf(l)
		if !slices.ContainsFunc(seen, func(other map[string]bool) bool { return maps.Equal(ids, other) }) {
			seen, k.earlier = append(seen, ids), append(k.earlier, l)
		}
	}
	if len(k.earlier) > maxEarlier {
		k.earlier = slices.Delete(k.earlier, k.leastUseful(), k.leastUseful()+1)
	}
}

// leastUseful returns the index of the earlier layout to drop: one whose sessions the layout before
// it shows too, so that closing many panes keeps the layout that had them all, or else the oldest.
func (k *layoutState) leastUseful() int {
	for i := range len(k.earlier) - 1 {
		ids := sessionsOf(k.earlier[i])
		if countOf(sessionsOf(k.earlier[i+1]), ids) == len(ids) {
			return i
		}
	}
	return len(k.earlier) - 1
}

// recover makes the newest layout current that shows the most of the wanted sessions, and lists them
// again if they were closed.
func (k *layoutState) recover(wanted map[string]bool) {
	if k.layout == nil {
		return
	}
	best := *k.layout
	for _, l := range k.earlier {
		if countOf(sessionsOf(l), wanted) > countOf(sessionsOf(best), wanted) {
			best = l
		}
	}
	best.Closed = slices.DeleteFunc(slices.Clone(k.layout.Closed), func(id string) bool { return wanted[id] })
	if !reflect.DeepEqual(best, *k.layout) {
		k.keepEarlier(best)
		k.layout, k.revision = &best, nextRevision(k.revision)
	}
}

// Recover makes the layout current that shows the most of the wanted sessions: those that run or
// can be restored. If it cannot be saved, it is current all the same.
func (l *Layouts) Recover(wanted map[string]bool) error {
	var recovered *layoutState
	err := l.changeLayouts(func(current *layoutState, _ map[string]api.Layout) error {
		recovered = current
		recovered.recover(wanted)
		return nil
	})
	if err != nil {
		l.current.Store(recovered)
	}
	return err
}
