package usage

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

func TestUsageIsSampledWithoutReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		u := NewMeter(func(context.Context) ([]supervise.Measurable, error) {
			looks.Add(1)
			return nil, nil
		}, new(proctree.Table), "")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go u.Sample(ctx)
		for i, after := range []time.Duration{sampleInterval, idleSampleInterval, idleSampleInterval} {
			time.Sleep(after)
			synctest.Wait()
			if n := int(looks.Load()); n != i+1 {
				t.Fatalf("%d samples after %d intervals", n, i+1)
			}
		}
	})
}

// The program that uses the port is named, so that an agent knows why its server cannot start.
func TestPortHolderNamesTheListeningProgram(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	self, ok := proctree.Read(os.Getpid())
	boot, err := store.BootID()
	if !ok || err != nil {
		t.Fatal(err)
	}
	own := supervise.Measurable{View: api.Process{ID: "a", Name: "web"}, Who: store.Identity{PID: self.PID, StartTime: self.StartTime, BootID: boot}}
	idle := supervise.Measurable{View: api.Process{ID: "b", Name: "job"}}
	program := filepath.Base(os.Args[0])
	for _, c := range []struct {
		all  []supervise.Measurable
		err  error
		id   string
		port int
		want string
	}{
		{[]supervise.Measurable{own, idle}, nil, "a", port, ""},
		{[]supervise.Measurable{own, idle}, nil, "b", port, "web (a)"},
		{[]supervise.Measurable{idle}, nil, "b", port, program[:min(15, len(program))] + " (pid "},
		{nil, api.ErrEnding(), "b", port, ""},
		{[]supervise.Measurable{own}, nil, "b", 1, ""},
	} {
		u := NewMeter(func(context.Context) ([]supervise.Measurable, error) { return slices.Clone(c.all), c.err }, new(proctree.Table), t.TempDir())
		if got := u.PortHolder(t.Context(), c.id, c.port); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("for %s of %d: %q, want %q", c.id, len(c.all), got, c.want)
		}
		if got := u.IsListening(own, c.port); got != (c.port == port) {
			t.Errorf("listening on %d: %v", c.port, got)
		}
	}
}

// Programs left by an exited process are found by the mark in their environment.
func TestRemainsAreFoundByTheMarkInTheirEnvironment(t *testing.T) {
	boot, err := store.BootID()
	if err != nil {
		t.Fatal(err)
	}
	u := NewMeter(nil, new(proctree.Table), "/data")
	who := store.Identity{PID: 10, StartTime: 1, BootID: boot}
	all := []supervise.Measurable{
		{View: api.Process{ID: "exited"}},
		{View: api.Process{ID: "running"}, Who: who},
		{View: api.Process{ID: "session", Terminal: &api.Terminal{}}},
		{View: api.Process{ID: "clean"}},
	}
	procs := []proctree.Process{{PID: 20, StartTime: 5, State: 'Z'}, {PID: 21, StartTime: 6}, {PID: 22, StartTime: 7}}
	mark := func(id string) proctree.Mark { return proctree.Mark{ID: id, DataDir: "/data"} }
	marked := map[proctree.Mark][]int{
		mark("exited"): {20, 99, 21, 22}, mark("running"): {22}, mark("session"): {21}, mark("unknown"): {21},
		{ID: "clean", DataDir: "/other"}: {21},
	}
	found := u.findRemains(all, procs, marked)
	if len(found) != 1 || found[0] != (store.Identity{PID: 21, StartTime: 6, BootID: boot}) {
		t.Errorf("remains are %+v", found)
	}
	if got := u.orphans(all, marked); len(got) != 1 || got[22] != who {
		t.Errorf("orphans are %+v", got)
	}
}
