// Package fleet measures a fleet: many machines without an engine but with the real fleet client,
// beside real ones, on a hub in another process.
//
//	go test -run xxx -bench . -benchtime 1x ./bench/fleet -machines 1000
package fleet

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/fleet/hub/embedded"
	"tandem/engine/remote/hosts/transport"
)

var (
	machines  = flag.Int("machines", 1000, "machines without an engine")
	processes = flag.Int("processes", 50, "processes on each")
	hold      = flag.Bool("hold", false, "only start the machines, invite a user and wait for an interrupt, for manual tests")
)

// asHub makes the test binary a hub. Its value is the hub's folder.
const asHub = "TANDEM_BENCH_HUB"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asHub); folder != "" {
		err := hub.Run(context.Background(), hub.Options{Folder: folder, Listen: os.Getenv("TANDEM_BENCH_LISTEN"), Start: embedded.Start},
			func(s hub.Status) { fmt.Println(s.Address) })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// A rig is a hub, its members, and a user who observes them.
type rig struct {
	*testing.B
	dir     string
	hub     *exec.Cmd
	address string
	account nkeys.KeyPair
	config  fleet.Config
	fakes   []*fake
	person  *fleet.Person
	program string
	cpu     time.Duration // of the last command
}

func newRig(b *testing.B) *rig {
	b.Helper()
	dir, err := os.MkdirTemp("", "fl")
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{B: b, dir: dir}
	b.Cleanup(func() { os.RemoveAll(dir) })
	r.startHub("127.0.0.1:0")
	b.Cleanup(r.killHub)
	seed, err := os.ReadFile(filepath.Join(r.hubFolder(), "keys", "account.nk"))
	if err != nil {
		b.Fatal(err)
	}
	if r.account, err = nkeys.FromSeed(seed); err != nil {
		b.Fatal(err)
	}
	r.config = fleet.Config{Hub: "tls://" + r.address, Authority: filepath.Join(r.hubFolder(), "keys", "authority.pem")}
	return r
}

func (r *rig) hubFolder() string { return filepath.Join(r.dir, "data", "hub") }

func (r *rig) startHub(listen string) {
	r.Helper()
	r.hub = exec.Command("/proc/self/exe")
	r.hub.Env = append(os.Environ(), asHub+"="+r.hubFolder(), "TANDEM_BENCH_LISTEN="+listen)
	r.hub.Stderr = os.Stderr
	out, err := r.hub.StdoutPipe()
	if err == nil {
		err = r.hub.Start()
	}
	if err != nil {
		r.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.Fatal(err)
	}
	r.address = strings.TrimSpace(line)
}

func (r *rig) killHub() {
	_ = r.hub.Process.Kill()
	_ = r.hub.Wait()
}

// credentials returns the credentials of a user as issued by the hub.
func (r *rig) credentials(u fleet.User) fleet.Credentials {
	r.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		r.Fatal(err)
	}
	public, _ := key.PublicKey()
	token, err := fleet.Issue(r.account, u, public)
	if err != nil {
		r.Fatal(err)
	}
	seed, _ := key.Seed()
	text := "-----BEGIN NATS USER JWT-----\n" + token + "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + string(seed) + "\n------END USER NKEY SEED------\n"
	creds, err := fleet.ParseCredentials([]byte(text))
	if err != nil {
		r.Fatal(err)
	}
	return creds
}

// A fake is a machine without an engine: it reports processes that do not exist, and answers a
// few operations immediately.
type fake struct {
	fleet.Machine
	events chan api.Event
}

// serveFakes serves the operations of all fakes.
func serveFakes(ctx context.Context) (*server.Mux, net.Listener) {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Version: "0.2.0", Protocol: api.Protocol, OldestProtocol: api.OldestProtocol}, nil
	})
	zero := 0
	server.Handle(m, api.Exec, func(_ context.Context, in api.ExecInput) (api.ExecOutput, error) {
		return api.ExecOutput{Process: api.Process{ID: in.ID, State: api.StateExited, ExitCode: &zero}, Stdout: "6.8.0\n"}, nil
	})
	server.Handle(m, api.ProcessList, func(context.Context, api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{Processes: processesOf(0)}, nil
	})
	server.Handle(m, api.HistorySearch, func(_ context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
		return searchHistory(in), nil
	})
	server.Handle(m, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		const text = "ready\nserved 17 requests\n"
		return api.ProcessLogOutput{Data: text, End: int64(len(text)), NextCursor: int64(len(text)), State: api.StateRunning}, nil
	})
	l := &idleListener{done: make(chan struct{})}
	go func() { _ = m.Serve(ctx, l) }()
	return m, l
}

// An idleListener never accepts a connection.
type idleListener struct {
	once sync.Once
	done chan struct{}
}

func (n *idleListener) Accept() (net.Conn, error) { <-n.done; return nil, net.ErrClosed }
func (n *idleListener) Close() error              { n.once.Do(func() { close(n.done) }); return nil }
func (n *idleListener) Addr() net.Addr            { return &net.UnixAddr{} }

// startFakes starts the fakes, 100 at a time.
func (r *rig) startFakes(count int) {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.Cleanup(cancel)
	mux, _ := serveFakes(ctx)
	slots := make(chan struct{}, 100)
	var all sync.WaitGroup
	r.fakes = make([]*fake, count)
	for i := range r.fakes {
		creds := r.credentials(fleet.User{Kind: fleet.KindMachine, Name: fmt.Sprintf("m%05d", i), Labels: labelsOf(i)})
		f := &fake{events: make(chan api.Event, 10)}
		f.Hello, f.Log = transport.Hello{Version: "0.2.0", Protocol: api.Protocol, OldestProtocol: api.OldestProtocol}, slog.New(slog.DiscardHandler)
		f.Facts = map[string]string{"os": "linux", "arch": "amd64", "version": "0.2.0"}
		f.Accept = func(c net.Conn, v fleet.Visitor) error {
			if v.Origin == "flood" {
				go flood(c)
				return nil
			}
			return mux.Receive(c, api.Origin{From: v.Person})
		}
		f.Events = func(ctx context.Context, send func(api.Event) error) error { return f.sendEvents(ctx, i, send) }
		r.fakes[i] = f
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := f.Start(r.config, creds); err != nil {
				r.Error(err)
			}
		})
	}
	all.Wait()
	r.Cleanup(func() {
		for _, f := range r.fakes {
			all.Go(f.Close)
		}
		all.Wait()
	})
}

// realMachines is the number of machines with an engine.
const realMachines = 3

// joinReal starts engines on this host and joins them, each with one process.
func (r *rig) joinReal() {
	r.Helper()
	for i := range realMachines {
		name := fmt.Sprintf("real-%d", i)
		r.joinFleet(name, "machine", name, "--label", "bench=1", "--label", "role=real")
		r.tandem(name, "start", "--name", "loop", "--", "sleep", "100000")
	}
}

// labelsOf returns the labels of a fake.
func labelsOf(number int) []string {
	return []string{"bench=1", "role=" + []string{"web", "worker", "db"}[number%3], "zone=" + []string{"a", "b"}[number%2]}
}

func flood(c net.Conn) {
	line := []byte(strings.Repeat("y\n", 4096))
	for {
		if _, err := c.Write(line); err != nil {
			c.Close()
			return
		}
	}
}

// processesOf returns the processes of the fake with this number.
func processesOf(number int) []api.Process {
	all := make([]api.Process, *processes)
	for i := range all {
		all[i] = api.Process{ID: fmt.Sprintf("%06d%06d", number, i), Kind: api.KindProcess, Name: fmt.Sprintf("worker-%d", i), State: api.StateRunning, PID: 1000 + i,
			CWD: "/srv/app", Command: "python3 -m worker --queue default", Actor: "person", StartedAt: time.Now().Add(-time.Duration(number+i) * time.Minute)}
		if one := 1; number%100 == 7 && i == 3 {
			all[i].State, all[i].PID, all[i].ExitCode = api.StateFailed, 0, &one
		}
	}
	return all
}

// searchHistory is a fake's answer to a history search.
func searchHistory(in api.HistorySearchInput) api.HistorySearchOutput {
	out := api.HistorySearchOutput{Rows: []api.HistoryRow{}}
	for i := range 200 {
		c := fmt.Sprintf("systemctl restart worker-%d", i)
		if !strings.Contains(c, in.Query) {
			continue
		}
		if out.Total++; out.Total > in.Offset && len(out.Rows) < in.Limit {
			out.Rows = append(out.Rows, api.HistoryRow{Runs: 1, Command: api.Command{ID: int64(200 - i), Command: c, CWD: "/srv/app", StartedAt: time.Now().Add(-time.Duration(i) * time.Minute), Actor: "person", Kind: "exec"}})
		}
	}
	return out
}

// sendEvents reports a fake's processes, then their changes.
func (f *fake) sendEvents(ctx context.Context, number int, send func(api.Event) error) error {
	if err := send(api.Event{Type: api.EventSnapshot, Processes: processesOf(number)}); err != nil {
		return err
	}
	for {
		select {
		case e := <-f.events:
			if err := send(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *rig) startPerson() {
	r.Helper()
	r.person = &fleet.Person{Log: slog.New(slog.DiscardHandler)}
	if err := r.person.Start(r.config, r.credentials(fleet.User{Kind: fleet.KindPerson, Name: "ann", Role: api.RoleOperate})); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(r.person.Close)
}

// await waits until holds is true, and returns the duration.
func (r *rig) await(what string, holds func() bool) time.Duration {
	r.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > 2*time.Minute {
			r.Fatalf("timed out waiting for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(began)
}

// countConnected returns the number of connected machines and of their running processes.
func (r *rig) countConnected() (connected, running int) {
	all, err := r.person.List(context.Background(), api.FleetListInput{})
	if err != nil {
		return 0, 0
	}
	for _, m := range all {
		if m.State == api.FleetConnected {
			connected++
			running += m.Processes
		}
	}
	return connected, running
}

// status returns the hub's status.
func (r *rig) status() hub.Status {
	r.Helper()
	c, creds, err := hub.Owner(r.hubFolder())
	if err != nil {
		r.Fatal(err)
	}
	out, err := hub.Ask(c, creds, "status", nil)
	if err != nil {
		r.Fatal(err)
	}
	return *out.Status
}

// tandem runs the program with the data folder of a member. It returns the output and the duration.
func (r *rig) tandem(member string, args ...string) (string, time.Duration) {
	r.Helper()
	if r.program == "" {
		r.program = filepath.Join(r.dir, "tandem")
		build := exec.Command("go", "build", "-o", r.program, "../..")
		if out, err := build.CombinedOutput(); err != nil {
			r.Fatalf("%v: %s", err, out)
		}
	}
	cmd := exec.Command(r.program, args...)
	cmd.Env = append(os.Environ(), "TANDEM_DATA_DIR="+filepath.Join(r.dir, member), "XDG_CONFIG_HOME="+filepath.Join(r.dir, member+"-config"))
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Logf("tandem %s: %v: %.2000s", strings.Join(args, " "), err, out)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return string(out), time.Since(began)
}

// joinFleet joins the engine of a data folder.
func (r *rig) joinFleet(member, kind, name string, more ...string) {
	r.Helper()
	line, _ := r.tandem("data", append([]string{"hub", "invite", kind, name}, more...)...)
	r.Cleanup(func() { r.tandem(member, "shutdown", "--all", "--yes") })
	r.tandem(member, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "tandem "))...)
}

func discardInput(c io.Reader) { _, _ = io.Copy(io.Discard, c) }
