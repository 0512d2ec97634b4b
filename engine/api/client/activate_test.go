package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api/sockets"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/scope"
)

// If this variable is set, the test binary is a keeper and its engine in one process. The value
// says how it behaves.
const fakeKeeperRole = "TANDEM_TEST_KEEPER"

// fakeVersion is the variable with the version of the fake engine.
const fakeVersion = "TANDEM_TEST_VERSION"

// fakeKeeper behaves to Activate like a keeper: it prints one line and, if it is the first one in
// its data folder, serves until engine.stop.
func fakeKeeper(role string) int {
	scope.Await(os.Stdin)
	switch role {
	case "silent":
		return 3
	case "failing":
		fmt.Println("cannot listen: somebody sits on the line")
		return 1
	case "stuck":
		time.Sleep(time.Hour)
	}
	dir := os.Getenv("TANDEM_DATA_DIR")
	if _, err := os.Stat(filepath.Join(dir, "keepers")); err != nil && strings.HasPrefix(role, "first") {
		_ = os.WriteFile(filepath.Join(dir, "keepers"), nil, 0o600)
		if role == "first gone" { // kill its engine once it is ready
			fmt.Println("ready")
		}
		return 3
	}
	if role == "slow" {
		_ = os.WriteFile(filepath.Join(dir, "begun"), nil, 0) // pipes: each waits for the test
		_, _ = os.ReadFile(filepath.Join(dir, "go"))
	}
	f, _ := os.OpenFile(filepath.Join(dir, "keepers"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	fmt.Fprintln(f, os.Getpid())
	f.Close()
	lock := flock.New(filepath.Join(dir, "keeper.lock"))
	if locked, err := lock.TryLock(); err != nil || !locked {
		fmt.Println("ready")
		return 0
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := infoMux(os.Getenv(fakeVersion))
	server.Handle(m, api.EngineStop, func(context.Context, api.EngineStopInput) (api.Empty, error) {
		cancel()
		return api.Empty{}, nil
	})
	socket, _ := sockets.Paths(dir)
	l, err := server.Listen(socket)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	os.Stdout.Close()
	fmt.Fprintln(os.Stderr, "engine is up")
	_ = m.Serve(ctx, l)
	return 0
}

// fakeOptions returns options for Activate to run the fake keeper. If that leaves an engine
// running, it is stopped at the end of the test.
func fakeOptions(t *testing.T, role, version string) Options {
	t.Helper()
	t.Setenv(fakeKeeperRole, role)
	t.Setenv(fakeVersion, version)
	o := Options{DataDir: filepath.Join(shortDir(t), "data"), Version: version, Command: []string{os.Args[0]}}
	t.Cleanup(func() { stopFake(t, o.DataDir) })
	return o
}

// stopFake stops the fake engine of dir, and waits until its process is gone.
func stopFake(t *testing.T, dir string) {
	t.Helper()
	ctx := context.Background()
	c, err := Connect(ctx, Options{DataDir: dir})
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := api.EngineStop.Call(ctx, c, api.EngineStopInput{All: true}); err != nil {
		t.Errorf("stop fake engine: %v", err)
	}
	lock := flock.New(filepath.Join(dir, "keeper.lock"))
	if _, err := lock.TryLockContext(ctx, time.Millisecond); err != nil {
		t.Errorf("wait for fake keeper: %v", err)
	}
	lock.Close()
}

func mustActivate(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := Activate(t.Context(), o)
	if err != nil {
		t.Fatalf("Activate: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestActivateStartsAKeeperIfNoEngineAnswers(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	c := mustActivate(t, o)
	info, err := api.EngineInfo.Call(t.Context(), c, api.Empty{})
	if err != nil || info.EnginePID == os.Getpid() {
		t.Fatalf("engine.info = %+v, %v; want the engine in another process", info, err)
	}
	if mode := mustStat(t, o.DataDir).Mode().Perm(); mode != 0o700 {
		t.Errorf("data folder has mode %o, want 700", mode)
	}
	if sid := sessionOf(t, info.EnginePID); sid != info.EnginePID {
		t.Errorf("keeper is in session %d, want its own, %d", sid, info.EnginePID)
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", info.EnginePID)); cwd != "/" {
		t.Errorf("keeper's working directory is %s, want /", cwd)
	}
	stopFake(t, o.DataDir)
	log, err := os.ReadFile(filepath.Join(o.DataDir, "engine.log"))
	if err != nil || !strings.Contains(string(log), "engine is up") {
		t.Errorf("engine.log = %q, %v; want what the keeper wrote to stderr", log, err)
	}
}

func TestKeeperInheritsNoDescriptorFromItsParent(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], 0); err != nil { // as a shell passes them on
		t.Fatal(err)
	}
	r := os.NewFile(uintptr(fds[0]), "pipe")
	defer r.Close()
	mustActivate(t, fakeOptions(t, "normal", "1.0.0"))
	if err := unix.Close(fds[1]); err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(fds[0], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("the pipe gives %d bytes and %v, want its end: the keeper holds it open", n, err)
	}
}

func TestActivateUsesARunningEngine(t *testing.T) {
	o := serve(t, infoMux("1.2.3"))
	o.Command = []string{"/nonexistent"}
	mustActivate(t, o)
}

func TestConcurrentActivationsStartOneKeeper(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			c, err := Activate(t.Context(), o)
			if err != nil {
				t.Errorf("Activate: %v", err)
				return
			}
			c.Close()
		})
	}
	wg.Wait()
	keepers, err := os.ReadFile(filepath.Join(o.DataDir, "keepers"))
	if err != nil || strings.Count(string(keepers), "\n") != 1 {
		t.Errorf("keepers that ran: %q, %v; want one", keepers, err)
	}
}

func TestActivateReplacesAnOlderEngine(t *testing.T) {
	o := fakeOptions(t, "normal", "2.0.0")
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	replace := make(chan string, 1)
	stopped := make(chan struct{})
	old := infoMux("1.9.9")
	server.Handle(old, api.EngineStop, func(_ context.Context, in api.EngineStopInput) (api.Empty, error) {
		replace <- in.Replace
		if in.InPlace { // it does not describe its start either
			t.Error("an engine of an earlier release was asked to be replaced in place")
		}
		close(stopped)
		return api.Empty{}, nil
	})
	stop := serveAt(t, old, o.DataDir)
	// This plays the keeper: the old engine goes, then the new one comes.
	var keeper sync.WaitGroup
	defer keeper.Wait()
	keeper.Go(func() {
		<-stopped
		stop()
		if err := runKeeper(t.Context(), o); err != nil {
			t.Errorf("run keeper: %v", err)
		}
	})
	c := mustActivate(t, o)
	if info, err := api.EngineInfo.Call(t.Context(), c, api.Empty{}); err != nil || info.Version != "2.0.0" {
		t.Errorf("engine.info = %+v, %v; want version 2.0.0", info, err)
	}
	if want, got := fmt.Sprintf("/proc/%d/exe", os.Getpid()), <-replace; got != want {
		t.Errorf("engine.stop was asked to replace with %q, want %q", got, want)
	}
}

func TestActivateLeavesANewerEngineAlone(t *testing.T) {
	o := serve(t, infoMux("3.0.0")) // serves no engine.stop
	o.Version = "2.0.0"
	mustActivate(t, o)
}

func TestActivateRejectsAnEngineOfAnotherProtocol(t *testing.T) {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Version: "9.0.0", Protocol: api.Protocol + 1}, nil
	})
	_, err := Activate(t.Context(), serve(t, m))
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeConflict || !strings.Contains(e.Message, "protocol") || e.Hint == "" {
		t.Errorf("Activate = %v, want CodeConflict that names the protocol, with a hint", err)
	}
}

func TestActivateReportsTheKeepersError(t *testing.T) {
	for role, want := range map[string]string{"failing": "somebody sits on the line", "silent": "exit status 3"} {
		t.Run(role, func(t *testing.T) {
			_, err := Activate(t.Context(), fakeOptions(t, role, "1.0.0"))
			var e *api.Error
			if !errors.As(err, &e) || e.Code != api.CodeUnavailable || !strings.Contains(e.Message, want) ||
				!strings.Contains(e.Hint, "engine.log") {
				t.Errorf("Activate = %v, want CodeUnavailable with %q and a hint at engine.log", err, want)
			}
		})
	}
}

func TestActivateRetriesAfterKeeperOrEngineIsKilled(t *testing.T) {
	for _, role := range []string{"first silent", "first gone"} {
		t.Run(role, func(t *testing.T) { mustActivate(t, fakeOptions(t, role, "1.0.0")) })
	}
}

func TestActivateRetriesReplacingAnOlderEngine(t *testing.T) {
	o := fakeOptions(t, "normal", "2.0.0")
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	asked, again := 0, make(chan struct{})
	old := infoMux("1.9.9")
	server.Handle(old, api.EngineStop, func(context.Context, api.EngineStopInput) (api.Empty, error) {
		if asked++; asked == 2 { // the first time, the keeper died before it stopped the engine
			close(again)
		}
		return api.Empty{}, nil
	})
	stop := serveAt(t, old, o.DataDir)
	var stopped sync.WaitGroup
	defer stopped.Wait()
	stopped.Go(func() {
		<-again
		stop()
	})
	if info, err := api.EngineInfo.Call(t.Context(), mustActivate(t, o), api.Empty{}); err != nil || info.Version != "2.0.0" {
		t.Errorf("engine.info = %+v, %v; want version 2.0.0", info, err)
	}
}

// holdActivateLock takes activate.lock on behalf of the process pid.
func holdActivateLock(t *testing.T, o Options, pid int) {
	t.Helper()
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.DataDir, "activate.lock")
	lock := flock.New(path)
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := os.WriteFile(path, fmt.Appendln(nil, pid), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestActivateErrorNamesTheLockHolder(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	o.timeout = 50 * time.Millisecond
	holdActivateLock(t, o, os.Getpid())
	_, err := Activate(t.Context(), o)
	if want := fmt.Sprintf("process %d holds activate.lock", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Activate = %v, want an error with %q", err, want)
	}
}

func TestActivateDoesNotWaitForASuspendedClient(t *testing.T) {
	o := fakeOptions(t, "normal", "1.0.0")
	suspended := exec.Command("sleep", "1000")
	if err := suspended.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { suspended.Process.Kill(); suspended.Wait() })
	if err := suspended.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	holdActivateLock(t, o, suspended.Process.Pid)
	mustActivate(t, o)
}

func TestActivateErrorNamesAMissingExecutable(t *testing.T) {
	o := Options{DataDir: filepath.Join(shortDir(t), "data"), Command: []string{"/nonexistent"}}
	if _, err := Activate(t.Context(), o); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Activate = %v, want CodeUnavailable", err)
	}
}

func TestActivateGivesUpOnAnEngineThatNeverAnswers(t *testing.T) {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(ctx context.Context, _ api.Empty) (api.Info, error) {
		<-ctx.Done()
		return api.Info{}, ctx.Err()
	})
	o := serve(t, m)
	o.timeout = 50 * time.Millisecond
	_, err := Activate(t.Context(), o)
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable || !strings.Contains(e.Hint, "engine.log") {
		t.Errorf("Activate = %v, want CodeUnavailable with a hint at engine.log", err)
	}
}

func TestActivateErrorNamesAnOldEngineThatDoesNotStepDown(t *testing.T) {
	ctx, timeout := context.WithCancel(t.Context())
	defer timeout()
	m := infoMux("1.0.0")
	server.Handle(m, api.EngineStop, func(context.Context, api.EngineStopInput) (api.Empty, error) {
		timeout() // while the engine that was asked still answers
		return api.Empty{}, nil
	})
	o := serve(t, m)
	o.Version = "2.0.0"
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	a := activation{Options: o, client: newClient(o)}
	defer a.client.Close()
	if err := a.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run = %v, want context.Canceled", err)
	}
	if err := a.timeoutError(); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Message, "1.0.0 was not replaced by 2.0.0") {
		t.Errorf("timeoutError = %v, want CodeUnavailable about the older engine", err)
	}
}

func TestActivateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := Options{DataDir: filepath.Join(shortDir(t), "data"), Command: []string{"/nonexistent"}}
	if _, err := Activate(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Activate = %v, want context.Canceled", err)
	}
}

// Whoever kills a client while it starts an engine must be able to stop that engine. So no engine
// may start after the client has exited.
func TestCancelledActivateWaitsForItsKeeper(t *testing.T) {
	o := fakeOptions(t, "slow", "1.0.0")
	if err := os.Mkdir(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	begun, proceed := filepath.Join(o.DataDir, "begun"), filepath.Join(o.DataDir, "go")
	for _, pipe := range []string{begun, proceed} {
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Activate(ctx, o)
		ended <- err
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := os.WriteFile(proceed, nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Activate = %v, want context.Canceled", err)
	}
	c, err := Connect(t.Context(), Options{DataDir: o.DataDir})
	if err != nil {
		t.Fatalf("no engine was waited for: %v", err)
	}
	c.Close()
}

func TestActivateErrorExplainsAnUnusableDataFolder(t *testing.T) {
	file := filepath.Join(shortDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unlockable := filepath.Join(shortDir(t), "data")
	if err := os.MkdirAll(filepath.Join(unlockable, "activate.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "data"), unlockable} {
		_, err := Activate(t.Context(), Options{DataDir: dir})
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeUnavailable || !strings.Contains(e.Message, dir) || e.Hint == "" {
			t.Errorf("Activate(%s) = %v, want CodeUnavailable that names the folder, with a hint", dir, err)
		}
	}
}

func mustStat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// sessionOf is field 6 of /proc/<pid>/stat.
func sessionOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	sid, _ := strconv.Atoi(fields[3])
	return sid
}
