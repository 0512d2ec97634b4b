package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/scope"
)

// A fakeManager is the user's systemd manager at a D-Bus of its own.
type fakeManager struct {
	t       *testing.T
	dataDir string
	exists  []string // prefixes of names of units that exist
	refuses bool     // answer with an error
	silent  bool     // never answer
	result  string   // of the job

	over chan struct{} // closed when the test ends

	mu    sync.Mutex
	bus   *dbus.Conn
	calls []startedScope
}

// A startedScope is a call of StartTransientUnit.
type startedScope struct {
	name       string
	pid        int
	properties map[string]any
}

// serve listens at a socket and returns the login of a user with this manager.
func (m *fakeManager) serve() *scope.Login {
	path := filepath.Join(shortDir(m.t), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		m.t.Fatal(err)
	}
	m.over = make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			m.accept(c)
		}
	}()
	m.t.Cleanup(func() {
		close(m.over)
		l.Close()
		<-done
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.bus != nil {
			m.bus.Close()
		}
	})
	return &scope.Login{Cgroup: "/user.slice/user-1000.slice/session-1.scope", UID: 1000, Lingering: true, Bus: path}
}

// accept authenticates a client and then answers its calls.
func (m *fakeManager) accept(c net.Conn) {
	client := bufio.NewReader(c)
	for line := ""; line != "BEGIN\r\n"; {
		var err error
		if line, err = client.ReadString('\n'); err != nil {
			m.t.Errorf("authenticate: %v", err)
			return
		}
		switch strings.Trim(line, "\x00\r\n") {
		case "AUTH":
			fmt.Fprint(c, "REJECTED EXTERNAL\r\n")
		case "AUTH EXTERNAL":
			fmt.Fprint(c, "OK 0123456789abcdef0123456789abcdef\r\n")
		}
	}
	// The library knows only the client's side of the handshake: it gets the answers from here.
	bus, err := dbus.NewConn(&authenticated{Conn: c, answers: strings.NewReader("REJECTED EXTERNAL\r\nOK 01\r\n"), rest: client})
	if err == nil {
		m.mu.Lock()
		m.bus = bus
		m.mu.Unlock()
		_ = bus.ExportMethodTable(map[string]any{
			"Hello":    func() (string, *dbus.Error) { return ":1.1", nil },
			"AddMatch": func(string) *dbus.Error { return nil },
		}, "/org/freedesktop/DBus", "org.freedesktop.DBus")
		_ = bus.ExportMethodTable(map[string]any{"StartTransientUnit": m.start}, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
		err = bus.Auth(nil)
	}
	if err != nil {
		m.t.Errorf("serve D-Bus: %v", err)
	}
}

// An authenticated connection answers the library's handshake itself.
type authenticated struct {
	net.Conn
	answers *strings.Reader
	rest    io.Reader
	begun   bool
}

func (c *authenticated) Read(p []byte) (int, error) {
	if c.answers.Len() > 0 {
		return c.answers.Read(p)
	}
	return c.rest.Read(p)
}

func (c *authenticated) Write(p []byte) (int, error) {
	if c.begun {
		return c.Conn.Write(p)
	}
	c.begun = strings.HasSuffix(string(p), "BEGIN\r\n")
	return len(p), nil
}

func (m *fakeManager) start(name, mode string, properties []struct {
	Name  string
	Value dbus.Variant
}, _ []struct {
	Name       string
	Properties []struct {
		Name  string
		Value dbus.Variant
	}
}) (dbus.ObjectPath, *dbus.Error) {
	s := startedScope{name: name, properties: map[string]any{"mode": mode}}
	for _, p := range properties {
		s.properties[p.Name] = p.Value.Value()
	}
	if pids, ok := s.properties["PIDs"].([]uint32); ok && len(pids) == 1 {
		s.pid = int(pids[0])
	}
	if unix.Kill(s.pid, 0) != nil {
		m.t.Errorf("process %d of %s is gone", s.pid, name)
	}
	if _, err := os.Stat(filepath.Join(m.dataDir, "keepers")); err == nil {
		m.t.Errorf("the keeper began before it was in %s", name)
	}
	m.mu.Lock()
	m.calls = append(m.calls, s)
	bus := m.bus
	m.mu.Unlock()
	switch {
	case m.silent:
		<-m.over
		return "", dbus.MakeFailedError(context.Canceled)
	case m.refuses:
		return "", dbus.MakeFailedError(fmt.Errorf("not today"))
	case slices.Contains(m.exists, name):
		return "", &dbus.Error{Name: "org.freedesktop.systemd1.UnitExists", Body: []any{"Unit " + name + " already exists."}}
	}
	go func() {
		const signal = "org.freedesktop.systemd1.Manager.JobRemoved"
		_ = bus.Emit("/org/freedesktop/systemd1", signal, uint32(1), dbus.ObjectPath("/job/1"), "other.scope", "failed")
		_ = bus.Emit("/org/freedesktop/systemd1", signal, uint32(2), dbus.ObjectPath("/job/2"), name, m.result)
	}()
	return "/job/2", nil
}

// started returns the calls of StartTransientUnit so far.
func (m *fakeManager) started() []startedScope {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// activateIn starts an engine and returns its pid, which is also the fake keeper's.
func activateIn(t *testing.T, o Options) int {
	t.Helper()
	c := mustActivate(t, o)
	info, err := api.EngineInfo.Call(t.Context(), c, api.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	return info.EnginePID
}

func TestKeeperIsMovedToItsScopeBeforeItBegins(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	m := &fakeManager{t: t, dataDir: o.DataDir, result: "done"}
	o.login = m.serve()
	pid := activateIn(t, o)
	if len(m.started()) != 1 || m.started()[0].pid != pid {
		t.Fatalf("scopes %+v; want one for process %d", m.started(), pid)
	}
	s := m.started()[0]
	if !scope.IsOwn(s.name, o.DataDir) || s.properties["mode"] != "fail" || s.properties["Delegate"] != true || s.properties["TasksMax"] != ^uint64(0) || s.properties["CollectMode"] != "inactive-or-failed" {
		t.Errorf("scope %+v", s)
	}
}

func TestKeeperGetsAnotherScopeIfTheFirstIsOccupied(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	first := &fakeManager{t: t, dataDir: o.DataDir, result: "done"}
	o.login = first.serve()
	activateIn(t, o)
	stopFake(t, o.DataDir)
	if err := os.Remove(filepath.Join(o.DataDir, "keepers")); err != nil {
		t.Fatal(err)
	}

	m := &fakeManager{t: t, dataDir: o.DataDir, result: "done", exists: []string{first.started()[0].name}}
	o.login = m.serve()
	pid := activateIn(t, o)
	if len(m.started()) != 2 || m.started()[1].pid != pid || !scope.IsOwn(m.started()[1].name, o.DataDir) {
		t.Errorf("scopes %+v; want a second one for process %d", m.started(), pid)
	}
}

func TestKeeperStaysWhereItIsIfItCannotBeMoved(t *testing.T) {
	for name, m := range map[string]*fakeManager{
		"refused": {refuses: true},
		"failed":  {result: "failed"},
		"silent":  {silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakeOptions(t, "normal", "1.0.0")
			m.t, m.dataDir = t, o.DataDir
			o.login = m.serve()
			pid := activateIn(t, o)
			if len(m.started()) != 1 || m.started()[0].pid == pid {
				t.Fatalf("scopes %+v, keeper %d; want a keeper that is not moved later", m.started(), pid)
			}
			if err := unix.Kill(m.started()[0].pid, 0); err != unix.ESRCH {
				t.Errorf("kill the keeper that was to be moved: %v; want that it is gone", err)
			}
		})
	}
}

func TestKeeperIsNotMovedToAScopeThatEndsEarlier(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	m := &fakeManager{t: t, dataDir: o.DataDir, result: "done"}
	o.login = m.serve()
	o.login.Lingering = false
	activateIn(t, o)
	if len(m.started()) != 0 {
		t.Errorf("scopes %+v; want none", m.started())
	}
}
