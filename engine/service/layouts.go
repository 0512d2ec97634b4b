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
	"tandem/engine/api/layout"
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

// A layoutState is the layout with its number.
type layoutState struct {
	layout   api.Layout
	revision int64 // increases with each change, across engines; 0 without a layout
}

// Layouts provides the current layout of the dashboards, and the layouts saved under a name.
type Layouts struct {
	Ended   func(context.Context) (map[string]bool, error) // reports by id whether a session or process has ended
	Publish func(api.Event)                                // sends an event to all watching clients

	store layoutStore

	current atomic.Pointer[layoutState] // read without waiting for the disk; nil without a layout

	changing sync.Mutex // serializes changes; held during the write to disk
	refused  bool       // the user was told of a dashboard of an older release

	mu    sync.Mutex
	saved map[string]api.Layout
}

// NewLayouts loads the layouts from disk and leaves out invalid ones. If it returns an error, the
// result is usable, but empty.
func NewLayouts(store layoutStore) (*Layouts, error) {
	l := &Layouts{store: store, saved: map[string]api.Layout{}}
	disk, err := store.LoadLayouts()
	if err != nil {
		return l, err
	}
	decode := func(raw json.RawMessage) (l api.Layout, ok bool) {
		return l, raw != nil && json.Unmarshal(raw, &l) == nil && l.Check() == nil
	}
	if current, ok := decode(disk.Current); ok {
		l.current.Store(&layoutState{current, cmp.Or(disk.Revision, nextRevision(0))})
	}
	for name, raw := range disk.Saved {
		if kept, ok := decode(raw); ok && names.CheckLabel(name) == nil {
			l.saved[name] = kept
		}
	}
	return l, nil
}

// nextRevision returns the revision that follows last. It is the time in milliseconds, if that is
// higher, so revisions also rise from one engine to the next.
func nextRevision(last int64) int64 { return max(last+1, time.Now().UnixMilli()) }

// Current returns the present layout and its revision, or nil and 0 if there is none.
func (l *Layouts) Current() (*api.Layout, int64) {
	kept := l.current.Load()
	if kept == nil {
		return nil, 0
	}
	return &kept.layout, kept.revision
}

func (l *Layouts) getLayouts() (out api.LayoutGetOutput) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out.Current, out.Revision = l.Current()
	out.Saved = []api.SavedLayout{}
	for _, name := range slices.Sorted(maps.Keys(l.saved)) {
		out.Saved = append(out.Saved, api.SavedLayout{Name: name, Layout: l.saved[name]})
	}
	return out
}

// save writes the layouts to disk and then shows them to readers. The caller holds changing.
func (l *Layouts) save(kept *layoutState, saved map[string]api.Layout) error {
	disk := store.Layouts{Saved: map[string]json.RawMessage{}}
	encode := func(l api.Layout) json.RawMessage {
		raw, _ := json.Marshal(l) // strings and numbers always encode
		return raw
	}
	if kept != nil {
		disk.Current, disk.Revision = encode(kept.layout), kept.revision
	}
	for name, l := range saved {
		disk.Saved[name] = encode(l)
	}
	if err := l.store.SaveLayouts(disk); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current.Store(kept)
	l.saved = saved
	return nil
}

// changeSaved applies change to a copy of the named layouts and saves it.
func (l *Layouts) changeSaved(change func(saved map[string]api.Layout) error) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	saved := maps.Clone(l.saved) // saved changes only under changing, so reading needs no mu
	if err := change(saved); err != nil {
		return err
	}
	return l.save(l.current.Load(), saved)
}

// Handle registers the operations on layouts.
func (l *Layouts) Handle(m *server.Mux) {
	server.Handle(m, api.LayoutGet, func(context.Context, api.Empty) (api.LayoutGetOutput, error) { return l.getLayouts(), nil })
	server.Handle(m, api.LayoutChanges, l.changeLayout)
	server.Handle(m, api.LayoutPut, l.putLayout)
	server.Handle(m, api.LayoutRemove, l.removeLayout)
}

func (l *Layouts) removeLayout(_ context.Context, in api.LayoutRemoveInput) (api.Empty, error) {
	return api.Empty{}, l.changeSaved(func(saved map[string]api.Layout) error {
		if _, ok := saved[in.Name]; !ok {
			return api.Errorf(api.CodeNotFound, "remove layout %s: no layout has this name", names.Shown(in.Name))
		}
		delete(saved, in.Name)
		return nil
	})
}

// putLayout saves a layout under a name. Dashboards of older releases send the present layout,
// without a name. Saving it would undo the changes of other dashboards.
func (l *Layouts) putLayout(_ context.Context, in api.LayoutPutInput) (api.Empty, error) {
	if in.Name == "" {
		return api.Empty{}, l.refuseOlder()
	}
	if err := cmp.Or(in.Layout.Check(), api.Invalid(names.CheckLabel(in.Name))); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, l.changeSaved(func(saved map[string]api.Layout) error {
		if saved[in.Name] = in.Layout; len(saved) > maxLayouts {
			return api.Errorf(api.CodeInvalid, "save layout %s: %d layouts are already saved", names.Shown(in.Name), maxLayouts)
		}
		return nil
	})
}

// refuseOlder rejects the layout of a dashboard of an older release. Such a dashboard does not show
// the error, so the user also gets a notice, once.
func (l *Layouts) refuseOlder() error {
	l.changing.Lock()
	defer l.changing.Unlock()
	if !l.refused {
		l.refused = true
		l.Publish(api.Event{Type: api.EventNotice, Notice: "a dashboard of an older release is open; restart the dashboard to change its layout"})
	}
	return api.Errorf(api.CodeConflict, "save layout: this dashboard is of an older release than the engine").WithHint("Restart the dashboard.")
}

// maxGone is the maximum number of panes that are kept for exited sessions. A session gets its pane
// back when it is started again.
const maxGone = 200

func (l *Layouts) changeLayout(ctx context.Context, in api.LayoutChangeInput) (out api.LayoutChangeOutput, err error) {
	if len(in.Changes) > api.MaxChanges {
		return out, api.Errorf(api.CodeInvalid, "change layout: more than %d changes", api.MaxChanges)
	}
	for _, c := range in.Changes {
		if err := c.Check(); err != nil {
			return out, err
		}
	}
	ended, err := l.Ended(ctx)
	if err != nil {
		return out, err
	}
	l.changing.Lock()
	defer l.changing.Unlock()
	before := layoutState{}
	if kept := l.current.Load(); kept != nil {
		before = *kept
	}
	now := layoutState{layout.Apply(before.layout, in.Changes...), before.revision}
	if gone := closeGone(now.layout, ended); gone != nil {
		in.Changes = append(in.Changes, gone...)
		now.layout = layout.Apply(now.layout, gone...)
	}
	now.layout.Closed = slices.DeleteFunc(slices.Clone(now.layout.Closed), func(id string) bool { return !ended[id] })
	if err := now.layout.Check(); err != nil {
		return out, err
	}
	// A change of focus alone is not announced: only a dashboard opened later uses it, and gets it
	// with its snapshot.
	shown := slices.ContainsFunc(in.Changes, func(c api.LayoutChange) bool { return c.Do != api.LayoutFocus })
	if shown {
		now.revision = nextRevision(before.revision)
	}
	if !reflect.DeepEqual(now.layout, before.layout) {
		if err := l.save(&now, l.saved); err != nil {
			return out, err
		}
		if shown {
			l.Publish(api.Event{Type: api.EventLayout, Changes: in.Changes, Revision: now.revision})
		}
	} else {
		now.revision = before.revision
	}
	if in.Show != "" {
		l.Publish(api.Event{Type: api.EventShow, ID: in.ShowIn, Show: in.Show})
	}
	return api.LayoutChangeOutput{Revision: now.revision}, nil
}

// closeGone returns changes that close panes of exited sessions, so that at most maxGone remain.
// The first ones in the layout are closed.
func closeGone(l api.Layout, ended map[string]bool) (changes []api.LayoutChange) {
	for _, t := range l.AllTabs() {
		for _, id := range layout.Sessions(t.Nodes) {
			if has, known := ended[id]; has || !known {
				changes = append(changes, api.LayoutChange{Do: api.LayoutClose, ID: id})
			}
		}
	}
	return changes[:max(len(changes)-maxGone, 0)]
}
