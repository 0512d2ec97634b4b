package fleet_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/hosts/transport"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A stumbler panics on its first call.
type stumbler struct{ calls atomic.Int32 }

func (s *stumbler) panicOnce() {
	if s.calls.Add(1) == 1 {
		panic("stumbled")
	}
}

func TestMachineStaysInTheFleetAfterAPanic(t *testing.T) {
	needs.FullRun(t)
	r := newRig(t)
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindMachine, Name: "web-1"})
	var accept, events stumbler
	m := &fleet.Machine{
		Hello: transport.Hello{Version: "1.2.3", Protocol: 1}, Log: slog.New(slog.DiscardHandler),
		Accept: func(c net.Conn, _ fleet.Visitor) error {
			accept.panicOnce()
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "hello")
			}()
			return nil
		},
		Events: func(ctx context.Context, send func(api.Event) error) error {
			events.panicOnce()
			err := send(api.Event{Type: api.EventSnapshot, Processes: []api.Process{{ID: "p", State: api.StateRunning}}})
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		},
	}
	if err := m.Start(c, creds); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	ann := r.person("ann", api.RoleOperate)
	r.list(ann, api.FleetListInput{Rows: true}, "the machine's process", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].Processes == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan struct{})
	go func() { // never answered
		defer close(failed)
		_, _, _ = ann.Open(ctx, "web-1", transport.Preface{})
	}()
	wait.Poll(t, "a panic", func() (int32, bool) {
		calls := accept.calls.Load()
		return calls, calls > 0
	})
	cancel()
	<-failed
	conn, _, err := ann.Open(t.Context(), "web-1", transport.Preface{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); string(text) != "hello" {
		t.Errorf("read %q, %v", text, err)
	}
}
