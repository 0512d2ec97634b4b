package engine

import (
	"testing"

	"tandem/engine/control/launch"
	"tandem/persist/store"
)

func TestTreeSparesAnotherKeeperForTheUserOnly(t *testing.T) {
	h := &host{o: Options{DataDir: "/d"}, link: launch.NewLink(newMemoryKeeper())}
	for _, test := range []struct {
		name   string
		change func(*store.Record)
		want   string
	}{
		{"user", func(*store.Record) {}, "/d"},
		{"agent", func(r *store.Record) { r.Actor = "agent:test" }, ""},
		{"owned", func(r *store.Record) { r.Owner = "0123" }, ""},
		{"sandboxed", func(r *store.Record) { r.Sandboxed = true }, ""},
	} {
		r := store.Record{Identity: new(store.Identity)}
		test.change(&r)
		if got := h.treeOf(r, 0).DataDir; got != test.want {
			t.Errorf("%s: got data folder %q, want %q", test.name, got, test.want)
		}
	}
}
