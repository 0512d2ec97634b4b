package host

import (
	"os"
	"testing"

	"tandem/engine/control/launch"
	"tandem/persist/store"
)

// An ownKeeper is a keeper in the test's own process.
type ownKeeper struct{ launch.Keeper }

func (ownKeeper) PID() int { return os.Getpid() }

func TestOnlyTheUsersTreeSparesAnotherKeeper(t *testing.T) {
	h := &Host{o: Options{DataDir: "/d"}, Link: launch.NewLink(ownKeeper{})}
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
