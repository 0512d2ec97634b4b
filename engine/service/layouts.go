package service

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/persist/store"
)

// mostLayouts bounds how many are kept under names.
const mostLayouts = 200

// A layoutStore keeps layouts on disk. Tests have one that is slow.
type layoutStore interface {
	LoadLayouts() (store.Layouts, error)
	SaveLayouts(store.Layouts) error
}

// A keptLayout is what the next dashboard begins with.
type keptLayout struct {
	layout   *api.Layout // nil if there is none
	revision int64       // grows with each change, over all engines; 0 without one
}

// Layouts serves how dashboards arrange sessions.
type Layouts struct {
	Ended func(context.Context) (map[string]bool, error) // of all sessions and processes, by id
	Tell  func(api.Event)                                // publishes

	store layoutStore

	current atomic.Pointer[keptLayout] // read without waiting for the disk; nil if there is none

	changing sync.Mutex // serializes changes; held while one is written to disk

	mu    sync.Mutex
	saved map[string]api.Layout
}

// NewLayouts loads what is on disk; what cannot be understood is left out. After
// an error it has none.
func NewLayouts(store layoutStore) (*Layouts, error) {
	l := &Layouts{store: store, saved: map[string]api.Layout{}}
	on, err := store.LoadLayouts()
	if err != nil {
		return l, err
	}
	decode := func(raw json.RawMessage) (layout api.Layout, ok bool) {
		return layout, raw != nil && json.Unmarshal(raw, &layout) == nil && layout.Check() == nil
	}
	if current, ok := decode(on.Current); ok {
		l.current.Store(&keptLayout{&current, cmp.Or(on.Revision, nextRevision(0))})
	}
	for name, raw := range on.Saved {
		if layout, ok := decode(raw); ok && names.Check(name) == nil {
			l.saved[name] = layout
		}
	}
	return l, nil
}

// nextRevision is the number of a layout that follows another one. It goes by
// the clock, so that those of an engine before this one are lower.
func nextRevision(before int64) int64 { return max(before+1, time.Now().UnixMilli()) }

// now is what the next dashboard begins with.
func (l *Layouts) now() keptLayout {
	if kept := l.current.Load(); kept != nil {
		return *kept
	}
	return keptLayout{}
}

// Now is the layout that the next dashboard begins with and its revision; nil and 0
// if there is none.
func (l *Layouts) Now() (*api.Layout, int64) {
	kept := l.now()
	return kept.layout, kept.revision
}

func (l *Layouts) get() api.LayoutGetOutput {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.now()
	out := api.LayoutGetOutput{Current: kept.layout, Revision: kept.revision, Saved: []api.SavedLayout{}}
	for _, name := range slices.Sorted(maps.Keys(l.saved)) {
		out.Saved = append(out.Saved, api.SavedLayout{Name: name, Layout: l.saved[name]})
	}
	return out
}

// change saves a changed copy, and then makes it current.
func (l *Layouts) change(f func(current *keptLayout, saved map[string]api.Layout) error) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	kept, saved := l.now(), maps.Clone(l.saved) // only this call, which holds changing, may change them
	if err := f(&kept, saved); err != nil {
		return err
	}
	current := kept.layout
	on := store.Layouts{Saved: map[string]json.RawMessage{}, Revision: kept.revision}
	encode := func(layout api.Layout) json.RawMessage {
		raw, _ := json.Marshal(layout) // words and numbers always can be
		return raw
	}
	if current != nil {
		on.Current = encode(*current)
	}
	for name, layout := range saved {
		on.Saved[name] = encode(layout)
	}
	if err := l.store.SaveLayouts(on); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current.Store(&kept)
	l.saved = saved
	return nil
}

// Handle serves the operations on layouts.
func (l *Layouts) Handle(m *server.Mux) {
	server.Handle(m, api.LayoutGet, func(context.Context, api.Empty) (api.LayoutGetOutput, error) { return l.get(), nil })
	server.Handle(m, api.LayoutPut, l.put)
	server.Handle(m, api.LayoutRemove, l.remove)
}

func (l *Layouts) remove(_ context.Context, in api.LayoutRemoveInput) (api.Empty, error) {
	return api.Empty{}, l.change(func(_ *keptLayout, saved map[string]api.Layout) error {
		if _, ok := saved[in.Name]; !ok {
			return api.Errorf(api.CodeNotFound, "remove layout %s: no layout has this name", names.Shown(in.Name))
		}
		delete(saved, in.Name)
		return nil
	})
}

// putAway are the sessions that were put away before or are now: each dashboard
// knows of those that were there when it was opened, and of its own. Those that
// run again or are gone are left out.
func putAway(before *api.Layout, now api.Layout, ended map[string]bool) []string {
	all := slices.Clone(now.Closed)
	if before != nil {
		all = append(all, before.Closed...)
	}
	all = slices.DeleteFunc(all, func(id string) bool { return !ended[id] })
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), api.MaxClosed)]
}

func (l *Layouts) put(ctx context.Context, in api.LayoutPutInput) (api.LayoutPutOutput, error) {
	none := api.LayoutPutOutput{}
	err := in.Layout.Check()
	if err == nil && in.Name != "" {
		err = names.Check(in.Name)
	}
	if err != nil {
		return none, err
	}
	ended, err := l.Ended(ctx)
	if err != nil {
		return none, err
	}
	var changed bool
	var now keptLayout
	err = l.change(func(current *keptLayout, saved map[string]api.Layout) error {
		if in.Name == "" {
			changed, err = current.put(in, ended)
			now = *current
			return err
		}
		now = *current
		if saved[in.Name] = in.Layout; len(saved) > mostLayouts {
			return api.Errorf(api.CodeInvalid, "save layout %s: there are already %d", names.Shown(in.Name), mostLayouts)
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	if changed {
		l.Tell(api.Event{Type: api.EventKept, Layout: now.layout, Revision: now.revision})
	}
	if in.Show {
		l.Tell(api.Event{Type: api.EventLayout, Layout: &in.Layout})
	}
	return api.LayoutPutOutput{Revision: now.revision}, nil
}

// put makes a layout the one that the next dashboard begins with, and tells
// whether it is another one than before.
func (k *keptLayout) put(in api.LayoutPutInput, ended map[string]bool) (changed bool, err error) {
	in.Layout.Closed = putAway(k.layout, in.Layout, ended)
	switch {
	case k.layout != nil && reflect.DeepEqual(*k.layout, in.Layout): // the call was repeated
		return false, nil
	case in.Revision != 0 && in.Revision != k.revision:
		return false, api.Errorf(api.CodeConflict, "save layout: changed since revision %d", in.Revision).
			WithHint("Call layout.get for the current layout and its revision.")
	}
	k.layout, k.revision = &in.Layout, nextRevision(k.revision)
	return true, nil
}
