package ui

import (
	"context"
	"os"
	"sync"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/panes"
	"tandem/ui/attach"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

func TestPanicWhileZoomedRestoresTerminal(t *testing.T) {
	for name, crash := range map[string]func(*model) *client.Client{
		"in the session": func(*model) *client.Client { return new(client.Client) },
		"in the dashboard": func(m *model) *client.Client {
			return muteEngine(t, func() {
				m.sessions = nil
				notifyChan(m.zoom.news)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTerminalUser(t, newFakeEngine(), 80, 24)
			ctx, cancel := context.WithCancelCause(t.Context())
			l := conn.New(p.engine, func(context.Context) (panes.Engine, error) { return p.engine, nil })
			l.Crash = func(any) { cancel(nil) }
			o := Options{Settings: defaultSettings(), Input: p.slave, Output: p.slave}.withDefaults()
			terminal, err := screen.Open(p.slave, p.slave)
			if err != nil {
				t.Fatal(err)
			}
			in := &screen.Input{Notify: func() {}}
			m := newModel(ctx, o, l, in)
			if m.zoom.reader, err = screen.NewReader(p.slave, in); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.zoom.reader.Close)
			m.terminal, m.zoom.terminal = terminal, terminal
			zoom := &directZoom{zoom: &m.zoom, options: attach.Options{
				In: p.slave, Out: p.slave, InAltScreen: true, Cooked: terminal.Cooked(), Client: crash(m),
			}}
			func() {
				defer func() { _ = recover() }()
				_ = zoom.Run()
				terminal.Close() // as the dashboard does on exit
			}()
			if !zoom.out.began {
				t.Fatal("the session never had the terminal")
			}
			p.checkRestored()
		})
	}
}

// muteEngine returns a client of an engine that answers no question about a session but
// calls asked instead.
func muteEngine(t *testing.T, asked func()) *client.Client {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	mux := server.NewMux(nil)
	server.Handle(mux, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Version: "1.0.0", Protocol: api.Protocol}, nil
	})
	server.Handle(mux, api.SessionGet, func(ctx context.Context, _ api.IDInput) (api.Process, error) {
		asked()
		<-ctx.Done()
		return api.Process{}, ctx.Err()
	})
	socket, _ := api.Sockets(dir)
	listener, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = mux.Serve(ctx, listener) })
	c, err := client.Connect(t.Context(), client.Options{DataDir: dir, Version: "1.0.0", Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		stop()
		serving.Wait()
		os.RemoveAll(dir)
	})
	return c
}
