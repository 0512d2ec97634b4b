package panestest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/layout"
)

// Layouts keeps layouts in memory. The real engine keeps them on disk.
type Layouts struct {
	changing sync.Mutex // held during a change and its announcement
	announce func(api.Event)

	mu       sync.Mutex
	current  *api.Layout
	revision int64
	saved    map[string]api.Layout
	calls    int
	err      error
}

// Serve registers the operations of layouts with a fake engine. It calls announce with an event for
// each change.
func (l *Layouts) Serve(e *Engine, announce func(api.Event)) {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.announce = announce
	On(e, api.LayoutGet, l.get)
	On(e, api.LayoutChanges, l.change)
	On(e, api.LayoutPut, l.put)
	On(e, api.LayoutRemove, l.remove)
}

// Set replaces the layout without an event.
func (l *Layouts) Set(current api.Layout) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = &current
	l.revision++
}

// Fail makes calls fail until it gets nil.
func (l *Layouts) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Current returns the current layout and its revision. The layout is nil if none was set.
func (l *Layouts) Current() (*api.Layout, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current, l.revision
}

// Saved returns the layouts saved under names.
func (l *Layouts) Saved() map[string]api.Layout {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.saved)
}

// Calls returns how many calls changed the layout.
func (l *Layouts) Calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

func (l *Layouts) get(context.Context, api.Empty) (out api.LayoutGetOutput, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out.Current, out.Revision = l.current, l.revision
	for _, name := range slices.Sorted(maps.Keys(l.saved)) {
		out.Saved = append(out.Saved, api.SavedLayout{Name: name, Layout: l.saved[name]})
	}
	return out, l.err
}

func (l *Layouts) change(_ context.Context, in api.LayoutChangeInput) (out api.LayoutChangeOutput, err error) {
	l.changing.Lock()
	defer l.changing.Unlock()
	_, before := l.Current()
	if out.Revision, err = l.apply(in.Changes); err == nil && out.Revision > before {
		l.announce(api.Event{Type: api.EventLayout, Changes: in.Changes, Revision: out.Revision})
	}
	return out, err
}

func (l *Layouts) apply(changes []api.LayoutChange) (revision int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return 0, err
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	var before api.Layout
	if l.current != nil {
		before = *l.current
	}
	after := layout.Apply(before, changes...)
	if !reflect.DeepEqual(after, before) {
		l.current = &after
		// The focus concerns only the next dashboard.
		if slices.ContainsFunc(changes, func(c api.LayoutChange) bool { return c.Do != api.LayoutFocus }) {
			l.revision++
		}
	}
	return l.revision, nil
}

func (l *Layouts) put(_ context.Context, in api.LayoutPutInput) (api.Empty, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.saved == nil {
		l.saved = map[string]api.Layout{}
	}
	if l.err != nil {
		return api.Empty{}, l.err
	}
	if in.Name == "" {
		return api.Empty{}, api.Errorf(api.CodeConflict, "an older dashboard")
	}
	l.saved[in.Name] = in.Layout
	return api.Empty{}, nil
}

func (l *Layouts) remove(_ context.Context, in api.LayoutRemoveInput) (api.Empty, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.saved[in.Name]; !ok {
		return api.Empty{}, api.Errorf(api.CodeNotFound, "remove layout %q: no such layout", in.Name)
	}
	delete(l.saved, in.Name)
	return api.Empty{}, nil
}
