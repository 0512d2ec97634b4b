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
	"tandem/engine/base/names"
	"tandem/persist/store"
)

// maxLayouts limits the layouts saved under names.
const maxLayouts = 200

// A layoutStore keeps layouts on disk. Tests use a slow one.
type layoutStore interface {
	LoadLayouts() (store.Layouts, error)
	SaveLayouts(store.Layouts) error
}

// A layoutState is the layout the next dashboard opens with.
type layoutState struct {
	layout   *api.Layout // nil if there is none
	revision int64       // increases with each change, across engines; 0 without a layout

	earlier []api.Layout // earlier ones with other sessions, newest first
}

// Layouts serves the arrangements of panes in dashboards.
type Layouts struct {
	Ended   func(context.Context) (map[string]bool, error) // reports by id whether a session or process has ended
	Publish func(api.Event)                                // sends an event to all watching clients

	store layoutStore

	current atomic.Pointer[layoutState] // read without waiting for the disk; nil without a layout

	changing sync.Mutex // serializes changes; held during the write to disk

	mu    sync.Mutex
	saved map[string]api.Layout
}

// NewLayouts loads the layouts from disk, omitting invalid ones. With an error, the result is
// usable and empty.
func NewLayouts(store layoutStore) (*Layouts, error) {
	l := &Layouts{store: store, saved: map[string]api.Layout{}}
	disk, err := store.LoadLayouts()
	if err != nil {
		return l, err
	}
	decode := func(raw json.RawMessage) (layout api.Layout, ok bool) {
		return layout, raw != nil && json.Unmarshal(raw, &layout) == nil && layout.Check() == nil
	}
	if current, ok := decode(disk.Current); ok {
		state := &layoutState{layout: &current, revision: cmp.Or(disk.Revision, nextRevision(0))}
		for _, raw := range disk.Earlier {
			if layout, ok := decode(raw); ok {
				state.earlier = append(state.earlier, layout)
			}
		}
		l.current.Store(state)
	}
	for name, raw := range disk.Saved {
		if layout, ok := decode(raw); ok && names.CheckLabel(name) == nil {
			l.saved[name] = layout
		}
	}
	return l, nil
}

// nextRevision returns the revision after before. It follows the clock, so it exceeds those of
// earlier engines.
func nextRevision(before int64) int64 { return max(before+1, time.Now().UnixMilli()) }

// loadState returns the current layout and its revision.
func (l *Layouts) loadState() layoutState {
	if kept := l.current.Load(); kept != nil {
		return *kept
	}
	return layoutState{}
}

// Current returns the layout the next dashboard opens with, and its revision; nil and 0 if there is
// none.
func (l *Layouts) Current() (*api.Layout, int64) {
	kept := l.loadState()
	return kept.layout, kept.revision
}

func (l *Layouts) getLayouts() api.LayoutGetOutput {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.loadState()
	out := api.LayoutGetOutput{Current: kept.layout, Revision: kept.revision, Saved: []api.SavedLayout{}}
	for _, name := range slices.Sorted(maps.Keys(l.saved)) {
		out.Saved = append(out.Saved, api.SavedLayout{Name: name, Layout: l.saved[name]})
	}
	return out
}

// changeLayouts saves a changed copy to disk, then makes it current.
func (l *Layouts) changeLayouts(f func(current *layoutState, saved map[string]api.Layout) error) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	kept, saved := l.loadState(), maps.Clone(l.saved) // saved changes only under changing, so reading needs no mu
	if err := f(&kept, saved); err != nil {
		return err
	}
	current := kept.layout
	disk := store.Layouts{Saved: map[string]json.RawMessage{}, Revision: kept.revision}
	encode := func(layout api.Layout) json.RawMessage {
		raw, _ := json.Marshal(layout) // strings and numbers always encode
		return raw
	}
	if current != nil {
		disk.Current = encode(*current)
	}
	for _, layout := range kept.earlier {
		disk.Earlier = append(disk.Earlier, encode(layout))
	}
	for name, layout := range saved {
		disk.Saved[name] = encode(layout)
	}
	if err := l.store.SaveLayouts(disk); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current.Store(&kept)
	l.saved = saved
	return nil
}

// Handle registers the operations on layouts.
func (l *Layouts) Handle(m *server.Mux) {
	server.Handle(m, api.LayoutGet, func(context.Context, api.Empty) (api.LayoutGetOutput, error) { return l.getLayouts(), nil })
	server.Handle(m, api.LayoutPut, l.putLayout)
	server.Handle(m, api.LayoutRemove, l.removeLayout)
}

func (l *Layouts) removeLayout(_ context.Context, in api.LayoutRemoveInput) (api.Empty, error) {
	return api.Empty{}, l.changeLayouts(func(_ *layoutState, saved map[string]api.Layout) error {
		if _, ok := saved[in.Name]; !ok {
			return api.Errorf(api.CodeNotFound, "remove layout %s: no layout has this name", names.Shown(in.Name))
		}
		delete(saved, in.Name)
		return nil
	})
}

// mergeHidden returns the ended sessions hidden before or now. Each dashboard knows only the
// sessions present when it was opened and those it hid itself, hence the union. Sessions running
// again or removed are dropped.
func mergeHidden(before *api.Layout, now api.Layout, ended map[string]bool) []string {
	all := slices.Clone(now.Closed)
	if before != nil {
		all = append(all, before.Closed...)
	}
	all = slices.DeleteFunc(all, func(id string) bool { return !ended[id] })
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), api.MaxClosed)]
}

func (l *Layouts) putLayout(ctx context.Context, in api.LayoutPutInput) (api.LayoutPutOutput, error) {
	none := api.LayoutPutOutput{}
	err := in.Layout.Check()
	if err == nil && in.Name != "" {
		err = api.Invalid(names.CheckLabel(in.Name))
	}
	if err != nil {
		return none, err
	}
	ended, err := l.Ended(ctx)
	if err != nil {
		return none, err
	}
	var changed bool
	var now layoutState
	err = l.changeLayouts(func(current *layoutState, saved map[string]api.Layout) error {
		if in.Name == "" {
			changed, err = current.replace(in, ended)
			now = *current
			return err
		}
		now = *current
		if saved[in.Name] = in.Layout; len(saved) > maxLayouts {
			return api.Errorf(api.CodeInvalid, "save layout %s: %d layouts are already saved", names.Shown(in.Name), maxLayouts)
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	// Events follow the save, so that no dashboard shows a layout that is not on disk.
	if changed {
		l.Publish(api.Event{Type: api.EventKept, Layout: now.layout, Revision: now.revision})
	}
	if in.ShowIn != "" {
		l.Publish(api.Event{Type: api.EventLayout, ID: in.ShowIn, Layout: &in.Layout})
	}
	return api.LayoutPutOutput{Revision: now.revision}, nil
}

// replace makes a layout the current one, and reports whether that changed it or its revision.
func (k *layoutState) replace(in api.LayoutPutInput, ended map[string]bool) (changed bool, err error) {
	in.Layout.Closed = mergeHidden(k.layout, in.Layout, ended)
	switch {
	// A repeated call. One without a revision must override an earlier call still on its way.
	case in.Revision != 0 && k.layout != nil && reflect.DeepEqual(*k.layout, in.Layout):
		return false, nil
	case in.Revision != 0 && in.Revision != k.revision:
		return false, api.Errorf(api.CodeConflict, "save layout: changed since revision %d", in.Revision).
			WithHint("Call layout.get for the current layout and its revision.")
	}
	k.keepEarlier(in.Layout)
	k.layout, k.revision = &in.Layout, nextRevision(k.revision)
	return true, nil
}
