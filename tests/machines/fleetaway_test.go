package machines

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/harness"
	"tandem/tests/wait"
)

// A cable carries connections between a machine and the hub, and can be cut.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// newCable listens on a port and relays to the address to.
func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l, to: to}
	t.Cleanup(func() { l.Close(); c.setCut(true) })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go c.join(near)
		}
	}()
	return c
}

func (c *cable) join(local net.Conn) {
	remote, err := net.Dial("tcp", c.to)
	if err != nil {
		local.Close()
		return
	}
	c.mu.Lock()
	if c.cut {
		local.Close()
		remote.Close()
	}
	c.conns = append(c.conns, local, remote)
	c.mu.Unlock()
	go func() { _, _ = io.Copy(remote, local); remote.Close() }()
	_, _ = io.Copy(local, remote)
	local.Close()
}

// setCut cuts or restores the cable.
func (c *cable) setCut(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// inUse reports whether a connection passes through the cable.
func (c *cable) inUse() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns) > 0
}

// cutFor returns the minimum time a machine stays cut off: TANDEM_TEST_CUT, for example "60s".
// The default is as short as the test allows, about 12 seconds.
func cutFor(t *testing.T) time.Duration {
	t.Helper()
	text := cmp.Or(os.Getenv("TANDEM_TEST_CUT"), "0s")
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A disconnected machine's rows stay listed, marked as offline. After it reconnects they are
// current again, and a log followed throughout has every line.
func TestDisconnectedMachineRecovers(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("box")
	c.joinPerson("ann", api.RoleOperate)
	to := newCable(t, c.hub.Status().Address)
	path := filepath.Join(c.dir, "box-config", "tandem", "config.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), c.hub.Status().Address, to.Addr().String(), 1)
	if err := os.WriteFile(path, []byte(moved), 0o600); err != nil || moved == string(text) {
		t.Fatalf("%v; the configuration is %s", err, text)
	}
	engine, err := client.Connect(t.Context(), client.Options{DataDir: filepath.Join(c.dir, "ann"), Version: harness.Version, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	rows := func() string {
		out, err := api.FleetList.Call(t.Context(), engine, api.FleetListInput{Rows: true})
		if err != nil {
			return err.Error()
		}
		var all []string
		for _, m := range out.Machines {
			for _, p := range m.Rows { // by their start
				all = append(all, fmt.Sprintf("%s %s %v", p.Name, p.State, m.State == api.FleetAway))
			}
		}
		return strings.Join(all, ", ")
	}
	awaitRows := func(want string) {
		t.Helper()
		wait.Poll(t, want, func() (string, bool) {
			got := rows()
			return got, got == want
		})
	}
	c.mustRun("box", "start", "--name", "counter", "--", "sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done")
	c.mustRun("box", "start", "--name", "ends", "--", "sleep", "1000")
	wait.Poll(t, "the machine to connect through the cable", func() (string, bool) {
		if !to.inUse() {
			return "the cable is not in use", false
		}
		_, stderr, status := c.run("ann", "--host", "box", "info")
		return stderr, status == 0
	})
	awaitRows("counter running false, ends running false")

	ctx, stop := context.WithTimeout(t.Context(), 4*wait.Timeout+cutFor(t))
	defer stop()
	followed, err := os.Create(filepath.Join(c.dir, "followed"))
	if err != nil {
		t.Fatal(err)
	}
	defer followed.Close()
	lines := func() string {
		text, err := os.ReadFile(followed.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	follow := exec.CommandContext(ctx, os.Args[0], "--host", "box", "logs", "-f", "counter")
	follow.Env = append(c.env, "TANDEM_DATA_DIR="+filepath.Join(c.dir, "ann"), "XDG_CONFIG_HOME="+filepath.Join(c.dir, "ann-config"))
	follow.Stdout, follow.Stderr = followed, os.Stderr
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	goesOn := func() {
		t.Helper()
		printed := func() int { return strings.Count(c.mustRun("box", "logs", "counter"), "\n") }
		want := printed() + 20
		wait.Poll(t, fmt.Sprintf("more than %d lines of the log", want), func() (int, bool) {
			n := printed()
			return n, n > want
		})
	}
	wait.Poll(t, "a line of the log", func() (string, bool) {
		text := lines()
		return text, text != ""
	})
	to.setCut(true)
	long := time.After(cutFor(t))
	awaitRows("counter running true, ends running true")
	goesOn()
	c.mustRun("box", "stop", "ends")
	c.mustRun("box", "start", "--name", "new", "--", "sleep", "1000")
	<-long
	awaitRows("counter running true, ends running true")
	to.setCut(false)
	awaitRows("counter running false, ends stopped false, new running false")
	goesOn()
	c.mustRun("box", "stop", "counter")
	if err := follow.Wait(); err != nil {
		t.Errorf("following the log: %v", err)
	}
	want := c.mustRun("box", "logs", "counter")
	if lines() != want {
		t.Errorf("%d lines followed, the log has %d", strings.Count(lines(), "\n"), strings.Count(want, "\n"))
	}
}

// A viewer that stops reading must not fill the hub's memory, however much its session prints.
// Other viewers are served meanwhile.
func TestSlowViewerLeavesNothingAtTheHub(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("box")
	c.joinPerson("ann", api.RoleOperate)
	c.mustRun("box", "new", "--name", "flood", "--", "yes")
	c.mustRun("box", "new", "--name", "echo", "--", "cat")
	attach := func(id string) *client.Attachment {
		t.Helper()
		on, err := client.ConnectMachine(t.Context(), client.Options{DataDir: filepath.Join(c.dir, "ann"), Version: harness.Version, Name: "test"}, "box")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(on.Close)
		a, err := on.Attach(t.Context(), api.AttachOptions{ID: id, Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	const printed = 10 << 20
	engine, err := client.Connect(t.Context(), client.Options{DataDir: filepath.Join(c.dir, "box"), Version: harness.Version, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	end := func() int64 {
		log, err := api.ProcessLog.Call(t.Context(), engine, api.ProcessLogInput{ID: "flood", Max: 1})
		if err != nil {
			t.Fatal(err)
		}
		return log.End
	}
	before, began := c.hub.Status().InBytes, end()
	attach("flood")
	viewer := attach("echo")
	wait.Poll(t, "the session to print", func() (int64, bool) {
		now := end()
		return now, now > began+printed
	})
	for _, key := range "0123456789" {
		if err := viewer.Send(api.Input{Bytes: []byte(string(key))}); err != nil {
			t.Fatal(err)
		}
		for text := ""; !strings.ContainsRune(text, key); {
			out, err := viewer.Receive()
			if err != nil {
				t.Fatal(err)
			}
			text = string(out.Bytes)
		}
	}
	if grown := c.hub.Status().InBytes - before; grown > printed/10 {
		t.Errorf("the hub received %d bytes", grown)
	}
}
