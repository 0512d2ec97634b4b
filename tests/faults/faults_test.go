// Package faults injects faults into system calls of the engine and the keeper: the n-th
// call during an operation returns an error or kills the process. No fault may run a
// command twice, lose a process or overwrite a record, and a later call must succeed.
//
// By default each scenario samples the calls. TANDEM_FAULTS=every injects every error into
// every call, which takes about ten minutes.
package faults

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/tests/harness"
	"tandem/tests/needs"
	"tandem/tests/seed"
	"tandem/tests/wait"
)

// A scenario is an operation with a fault in one of its system calls.
type scenario struct {
	name  string
	roles []string
	run   func(s *stage) // the fault is armed during this call
	step  int            // the largest distance between two sampled calls
}

var scenarios = []scenario{
	{"start", []string{"engine", "keeper"}, (*stage).startProcess, 4},
	{"exec", []string{"engine", "keeper"}, (*stage).exec, 4},
	{"session", []string{"engine", "keeper"}, (*stage).startSession, 4},
	{"stop", []string{"engine", "keeper"}, (*stage).stop, 4},
	{"adopt", []string{"engine", "keeper"}, (*stage).adopt, 4},
	{"handover", []string{"engine", "keeper"}, (*stage).handOver, 4},
	{"upgrade", []string{"engine", "keeper"}, (*stage).upgrade, 4},
	{"scrub", []string{"engine"}, (*stage).scrub, 40},
}

func TestFaultAtAnyCallLosesNothing(t *testing.T) {
	every := os.Getenv("TANDEM_FAULTS") == "every"
	for _, sc := range scenarios {
		for _, role := range sc.roles {
			t.Run(sc.name+"/"+role, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				random := seed.Rand(t)
				calls := 0
				for n := 1; ; n++ {
					if !every && n > 1 {
						n += random.IntN(sc.step)
					}
					errnos := []int{-1, n}
					if every {
						errnos = []int{-1, 0, 1, 2, 3}
					} else if random.IntN(2) == 0 {
						errnos = errnos[:1]
					} else {
						errnos = errnos[1:]
					}
					struck := false
					for _, errno := range errnos {
						f := &fault{role: role, n: n, errno: errno}
						struck = s.strike(sc, f) || struck
					}
					if !struck {
						break
					}
					calls = n
				}
				t.Logf("%d calls", calls)
			})
		}
	}
}

// strike runs sc with fault f, then checks all processes and records. It reports whether sc
// made enough calls to reach f.
func (s *stage) strike(sc scenario, f *fault) bool {
	s.f = f
	began := time.Now()
	defer func() {
		if took := time.Since(began); took > 2*time.Second {
			s.Logf("%s took %.1f s", f, took.Seconds())
		}
	}()
	sc.run(s)
	s.injector.set(nil)
	s.checkBase()
	s.checkLater()
	s.checkRuns()
	return f.call != ""
}

// A stage is a data directory with an engine and a keeper under an injector. Its programs must
// survive every fault.
type stage struct {
	*testing.T
	env      []string
	dir      string
	injector *injector
	socket   string
	client   *retry.Conn
	f        *fault
	base     []api.Process
	bases    int                // number of base processes started
	runs     map[string]verdict // by command id
	releases int
	// mayHangUp reports whether engine and keeper die together, which ends sessions.
	mayHangUp bool
	refusal   error // the last error to report that a command did not run
}

// A verdict classifies the reply to a call: did its command run?
type verdict int

const (
	ran verdict = iota
	mayHaveRun
	didNotRun
)

func newStage(t *testing.T) *stage {
	env, dir := harness.Stage(t)
	s := &stage{T: t, env: env, dir: dir, runs: map[string]verdict{}}
	s.injector, s.socket = newInjector(t, dir)
	if err := s.tandem("/proc/self/exe", "info"); err != nil && strings.Contains(err.Error(), installError) {
		needs.Kernel(t, "seccomp user notifications", err)
	} else if err != nil {
		t.Fatal(err)
	}
	c, err := retry.Connect(t.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: filepath.Join(dir, "d"), Name: "test", Version: "0.0.1"})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.client = c
	for i := range 3 {
		s.base = append(s.base, s.startBase(i))
	}
	return s
}

// startBase starts base process i: 0 is a session, 1 has KeepAlive.
func (s *stage) startBase(i int) api.Process {
	s.Helper()
	p, err := api.ProcessStart.Call(s.Context(), s.client, api.ProcessStartInput{
		Command: []string{"sh", "-c", "echo ran >> " + filepath.Join(s.dir, "base") + "; echo base; exec sleep 100000"},
		Name:    fmt.Sprintf("base-%d", i), TTY: i == 0, KeepAlive: i == 1,
	})
	if err != nil {
		s.Fatal(err)
	}
	s.bases++
	return p
}

// tandem runs program under the injector, including any engine and keeper it starts. The command
// may fail, but must not time out.
func (s *stage) tandem(program string, args ...string) error {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), wait.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(slices.Clone(s.env), injectorSocket+"="+s.socket)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	err = fmt.Errorf("tandem %s: %v: %s", strings.Join(args, " "), err, out)
	if strings.Contains(string(out), "within 30s") {
		s.Errorf("%s: %v", s.f, err)
	}
	return err
}

func (f *fault) String() string {
	if f == nil {
		return "no fault"
	}
	return fmt.Sprintf("%s call %d (%s)", f.role, f.n, f.call)
}

// newCommand returns a command that logs each run in its trace file, then runs rest.
func (s *stage) newCommand(rest string) (id string, argv []string) {
	raw := make([]byte, 6)
	rand.Read(raw)
	id = hex.EncodeToString(raw)
	return id, []string{"sh", "-c", "echo ran >> " + s.trace(id) + "; " + rest}
}

// trace returns the path of the file in which a command logs its runs.
func (s *stage) trace(id string) string { return filepath.Join(s.dir, "ran-"+id) }

// awaitTrace waits for the first run of a command.
func (s *stage) awaitTrace(id string) {
	s.Helper()
	wait.Poll(s, fmt.Sprintf("a run of %s, reported as run, after %s", id, s.f), func() (error, bool) {
		_, err := os.Stat(s.trace(id))
		return err, err == nil
	})
}

// noteStart records the verdict of a start that returned err.
func (s *stage) noteStart(id string, err error) {
	s.Helper()
	switch {
	case err == nil:
		s.runs[id] = ran
	case errors.Is(err, api.CodeUnsure):
		s.runs[id] = mayHaveRun
	case errors.Is(err, context.DeadlineExceeded):
		s.Errorf("%s: no answer: %v", s.f, err)
		s.runs[id] = mayHaveRun
	case s.hasRecord(id): // err may be about its output, for example
		s.runs[id] = mayHaveRun
	default:
		s.runs[id] = didNotRun
		s.refusal = err
	}
}

// hasRecord disarms the injector and reports whether the engine has a record of a command.
func (s *stage) hasRecord(id string) bool {
	s.injector.set(nil)
	ctx, cancel := s.callContext()
	defer cancel()
	_, err := api.ProcessGet.Call(ctx, s.client, api.IDInput{ID: id})
	return err == nil
}

// callContext returns a context for one call, with a timeout.
func (s *stage) callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Context(), wait.Timeout)
}

func (s *stage) startProcess() {
	id, argv := s.newCommand("exec sleep 100000")
	ctx, cancel := s.callContext()
	defer cancel()
	defer s.injector.arm(s.f)()
	_, err := api.ProcessStart.Call(ctx, s.client, api.ProcessStartInput{Command: argv, ID: id, KeepAlive: false})
	s.noteStart(id, err)
}

func (s *stage) startSession() {
	id, argv := s.newCommand("exec sleep 100000")
	ctx, cancel := s.callContext()
	defer cancel()
	defer s.injector.arm(s.f)()
	_, err := api.SessionStart.Call(ctx, s.client, api.SessionStartInput{Command: argv, ID: id})
	s.noteStart(id, err)
}

func (s *stage) exec() {
	id, argv := s.newCommand("exit 0")
	ctx, cancel := s.callContext()
	defer cancel()
	defer s.injector.arm(s.f)()
	_, err := api.Exec.Call(ctx, s.client, api.ExecInput{Command: argv, ID: id})
	s.noteStart(id, err)
}

func (s *stage) stop() {
	id, argv := s.newCommand("exec sleep 100000")
	ctx, cancel := s.callContext()
	defer cancel()
	p, err := api.ProcessStart.Call(ctx, s.client, api.ProcessStartInput{Command: argv, ID: id})
	if err != nil {
		s.Fatalf("%s: start before the fault: %v", s.f, err)
	}
	s.runs[id] = ran
	s.awaitTrace(id)
	disarm := s.injector.arm(s.f)
	_, err = api.ProcessStop.Call(ctx, s.client, api.ProcessStopInput{ID: id})
	disarm()
	if errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("%s: stop timed out", s.f)
	}
	s.stopByID(id)
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID)); err == nil && !exited.Match(stat) {
		s.Errorf("%s: process %d still runs after stop: %s", s.f, p.PID, stat)
	}
}

// exited matches /proc/PID/stat of a process that has exited but is still unreaped (proc(5)): a
// new keeper's first wait may come after the answer to a stop.
var exited = regexp.MustCompile(`\) [ZX] `)

// stopByID stops the process with an id, if it runs. It must succeed after any fault.
func (s *stage) stopByID(id string) {
	s.Helper()
	wait.Poll(s, fmt.Sprintf("%s to stop after %s", id, s.f), func() (error, bool) {
		ctx, cancel := s.callContext()
		defer cancel()
		p, err := api.ProcessStop.Call(ctx, s.client, api.ProcessStopInput{ID: id})
		return err, errors.Is(err, api.CodeNotFound) || errors.Is(err, api.CodeEnded) || err == nil && p.State.Ended()
	})
}

func (s *stage) adopt() {
	info := s.info()
	defer s.injector.arm(s.f)()
	s.mayHangUp = s.f.errno < 0 && s.f.role == "keeper"
	wait.Kill(s, info.EnginePID)
	s.awaitRoles(func(now api.Info) bool { return now.EnginePID != info.EnginePID })
}

func (s *stage) handOver() {
	info := s.info()
	defer s.injector.arm(s.f)()
	s.mayHangUp = s.f.errno < 0 && s.f.role == "engine"
	wait.Kill(s, info.KeeperPID)
	s.awaitRoles(func(now api.Info) bool { return now.KeeperPID != info.KeeperPID })
}

func (s *stage) upgrade() {
	s.releases++
	release := filepath.Join(s.dir, fmt.Sprintf("tandem-%d.0.0", s.releases))
	if s.releases == 1 {
		program, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			s.Fatal(err)
		}
		if err := harness.WriteExecutable(release, program); err != nil {
			s.Fatal(err)
		}
	} else if err := os.Link(filepath.Join(s.dir, "tandem-1.0.0"), release); err != nil {
		s.Fatal(err)
	}
	s.info()
	defer s.injector.arm(s.f)()
	wait.Poll(s, fmt.Sprintf("version %d after %s", s.releases, s.f), func() (error, bool) {
		err := s.tandem(release, "info")
		return err, err == nil
	})
	s.awaitRoles(func(api.Info) bool { return true })
}

// scrub prints a secret in a process and a one-shot command, and overwrites it. After any fault, a
// second attempt leaves nothing of it.
func (s *stage) scrub() {
	secret := "hush" + api.NewID()
	id, argv := s.newCommand("echo " + secret + "; exec sleep 100000")
	ctx, cancel := s.callContext()
	defer cancel()
	_, err := api.SessionStart.Call(ctx, s.client, api.SessionStartInput{Command: argv, ID: id})
	s.noteStart(id, err)
	if _, err := api.ProcessWait.Call(ctx, s.client, api.ProcessWaitInput{ID: id, Log: secret}); err != nil {
		s.Fatalf("%s: before the fault: %v", s.f, err)
	}
	in := api.ScrubInput{Texts: []string{secret}, All: true}
	before := s.info()
	s.f.inPlace = true
	disarm := s.injector.arm(s.f)
	_, err = api.ScrubRun.Call(ctx, s.client, in)
	if err == nil || s.f.errno < 0 && s.f.call != "" {
		s.awaitRoles(func(now api.Info) bool { return !now.StartedAt.Equal(before.StartedAt) })
	}
	disarm()
	wait.Poll(s, "nothing left after "+s.f.String(), func() (any, bool) {
		left, err := api.ScrubFind.Call(ctx, s.client, in)
		if err == nil && left.Count() > 0 {
			_, err = api.ScrubRun.Call(ctx, s.client, in)
		}
		return fmt.Sprintf("%+v, %v", left, err), err == nil && left.Count() == 0
	})
	s.wantOnDisk(false, []byte(secret))
	s.stopByID(id)
}

// info waits for an engine with a keeper and returns its info.
func (s *stage) info() api.Info {
	s.Helper()
	return s.awaitRoles(func(api.Info) bool { return true })
}

func (s *stage) awaitRoles(holds func(api.Info) bool) api.Info {
	s.Helper()
	return wait.Poll(s, fmt.Sprintf("engine and keeper after %s", s.f), func() (api.Info, bool) {
		ctx, cancel := context.WithTimeout(s.Context(), time.Second)
		defer cancel()
		info, err := api.EngineInfo.Call(ctx, s.client, api.Empty{})
		if err != nil {
			_ = s.tandem("/proc/self/exe", "info") // like a user's next command
		}
		return info, err == nil && info.KeeperPID != 0 && holds(info)
	})
}

// checkBase checks that the base processes still run, with unchanged records.
func (s *stage) checkBase() {
	s.Helper()
	s.info()
	for i, was := range s.base {
		ctx, cancel := s.callContext()
		now, err := api.ProcessGet.Call(ctx, s.client, api.IDInput{ID: was.ID})
		cancel()
		if err != nil {
			s.Fatalf("%s: %s is lost: %v", s.f, was.Name, err)
		}
		if s.mayHangUp && i == 0 && now.State != api.StateRunning {
			s.stopByID(was.ID)
			s.base[0] = s.startBase(0)
			continue
		}
		if now.PID != was.PID || now.State != api.StateRunning || now.Name != was.Name || now.Command != was.Command || now.KeepAlive != was.KeepAlive {
			s.Fatalf("%s: %s changed:\n%+v\nbefore:\n%+v", s.f, was.Name, now, was)
		}
	}
	wait.Poll(s, fmt.Sprintf("the screen of %s after %s", s.base[0].Name, s.f), func() (string, bool) {
		ctx, cancel := s.callContext()
		defer cancel()
		screen, err := api.SessionScreen.Call(ctx, s.client, api.SessionScreenInput{ID: s.base[0].ID})
		text := strings.Join(screen.Lines, "\n")
		return text, err == nil && strings.Contains(text, "base")
	})
	wait.Poll(s, fmt.Sprintf("each of %d programs to run after %s", s.bases, s.f), func() (times int, done bool) {
		text, err := os.ReadFile(filepath.Join(s.dir, "base"))
		times = strings.Count(string(text), "ran")
		if err != nil || times > s.bases {
			s.Fatalf("%s: %d programs ran %d times: %v", s.f, s.bases, times, err)
		}
		return times, times == s.bases
	})
	s.mayHangUp = false
}

// checkLater checks that a new command runs. While the keeper is replaced, calls may fail, but
// only with the code unavailable.
func (s *stage) checkLater() {
	s.Helper()
	for try := 1; ; try++ {
		id, argv := s.newCommand("exit 0")
		ctx, cancel := s.callContext()
		_, err := api.Exec.Call(ctx, s.client, api.ExecInput{Command: argv, ID: id})
		cancel()
		s.noteStart(id, err)
		if err == nil {
			return
		}
		if try == 5 || !errors.Is(err, api.CodeUnavailable) {
			s.Errorf("%s: attempt %d fails: %v", s.f, try, err)
			return
		}
	}
}

// checkRuns compares how often each command ran with its verdict.
func (s *stage) checkRuns() {
	s.Helper()
	for id, expected := range s.runs {
		if expected == ran {
			s.awaitTrace(id)
		}
		s.stopByID(id)
		text, err := os.ReadFile(s.trace(id))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Fatal(err)
		}
		switch times := strings.Count(string(text), "ran"); {
		case times > 1:
			s.Errorf("%s: %s ran %d times", s.f, id, times)
		case expected == didNotRun && times == 1:
			s.Errorf("%s: %s ran, but the call reported that it did not: %v", s.f, id, s.refusal)
		}
		delete(s.runs, id)
		s.remove(id)
	}
}

// remove deletes the record of a command, so that later rounds make the same calls.
func (s *stage) remove(id string) {
	ctx, cancel := s.callContext()
	defer cancel()
	if _, err := api.ProcessRemove.Call(ctx, s.client, api.IDInput{ID: id}); err != nil && !errors.Is(err, api.CodeNotFound) {
		s.Errorf("%s: remove %s: %v", s.f, id, err)
	}
}
