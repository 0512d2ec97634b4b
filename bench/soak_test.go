package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/wait"
)

const (
	soakSessions   = 100
	soakProcesses  = 200
	soakDashboards = 3 // at the same time
	soakAgents     = 3
	soakKillEvery  = 10 * time.Second
)

// A need is a resource of engine, keeper or data folder. At the end it may have grown by a tenth
// plus slack.
type need struct {
	name   string
	slack  float64
	values []float64
}

// BenchmarkSoak runs printing sessions, restarting processes, dashboards and agents for the
// duration in $SOAK, and kills the engine every ten seconds. The keeper is killed too in the
// first quarter, and must survive afterwards. No need may grow between the medians of the second
// and the last quarter.
func BenchmarkSoak(b *testing.B) {
	while, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		b.Log("set SOAK to a duration, for example 1h, or run soak.sh")
		return
	}
	s := startSoak(b)
	ctx, cancel := context.WithTimeout(b.Context(), while)
	defer cancel()
	var coming sync.WaitGroup
	for range soakDashboards {
		coming.Go(func() { s.comeAndGo(ctx, s.dashboard) })
	}
	for range soakAgents {
		coming.Go(func() { s.comeAndGo(ctx, s.agent) })
	}
	s.killAndMeasure(ctx, while)
	coming.Wait()
	s.report()
}

// A soak is the load with its measurements.
type soak struct {
	load
	b     *testing.B
	needs []*need

	dashboards, agents, refused, failed atomic.Int64
}

// soakSession prints a line a second and clears its scrollback now and then, because kept lines
// would be legitimate growth of memory.
const soakSession = `i=0; while :; do i=$((i+1)); echo "line $i"; [ $((i%300)) = 0 ] && printf '\033[3J'; sleep 1; done`

func startSoak(b *testing.B) *soak {
	s := &soak{load: load{build(b), map[string]int{}}, b: b}
	for _, n := range []need{
		{name: "engine-MB", slack: 5}, {name: "engine-fds", slack: 16}, {name: "engine-threads", slack: 8},
		{name: "keeper-MB", slack: 2}, {name: "keeper-fds", slack: 16}, {name: "keeper-threads", slack: 4},
		{name: "processes", slack: 20}, {name: "files", slack: 100},
	} {
		s.needs = append(s.needs, &n)
	}
	s.p.run(b, "info")
	c := connect(b, s.p)
	for i := range soakSessions {
		p := call(b, c, api.SessionStart, api.SessionStartInput{
			Name: fmt.Sprintf("session-%d", i), Command: []string{"sh", "-c", soakSession},
		})
		s.ids[p.ID] = p.PID
	}
	for i := range soakProcesses {
		call(b, c, api.ProcessStart, api.ProcessStartInput{
			Name: fmt.Sprintf("process-%d", i), Command: []string{"sh", "-c", fmt.Sprintf("echo up; exec sleep %d", 11+i%10)},
			Restart: &api.Restart{Policy: api.PolicyAlways},
		})
	}
	return s
}

// comeAndGo repeats a visit until ctx ends.
func (s *soak) comeAndGo(ctx context.Context, visit func(ctx context.Context) error) {
	for ctx.Err() == nil {
		if err := visit(ctx); err != nil {
			s.failed.Add(1)
			s.b.Log(err)
		}
	}
}

// pause waits for a random time of up to limit, or until ctx ends.
func pause(ctx context.Context, limit time.Duration) {
	select {
	case <-time.After(rand.N(limit)):
	case <-ctx.Done():
	}
}

// dashboard opens a dashboard, shows the processes, goes back, and leaves or is killed.
func (s *soak) dashboard(ctx context.Context) error {
	cmd := s.p.command()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return err
	}
	defer master.Close()
	go io.Copy(io.Discard, master)
	for _, keys := range []string{"\x1b2", "\x1b1", "\x02d"} {
		pause(ctx, 3*time.Second)
		io.WriteString(master, keys)
	}
	s.dashboards.Add(1)
	left := make(chan struct{})
	patience := time.AfterFunc(wait.Timeout, func() { cmd.Process.Kill() })
	if s.dashboards.Load()%3 == 0 {
		cmd.Process.Kill()
	}
	go func() {
		defer close(left)
		cmd.Wait()
	}()
	<-left
	if !patience.Stop() {
		return fmt.Errorf("a dashboard did not exit")
	}
	return nil
}

// agent starts a server, runs a command that exits and one that does not, and disconnects.
func (s *soak) agent(ctx context.Context) error {
	cmd := s.p.command("--serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	patience := time.AfterFunc(wait.Timeout, func() { cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	for i, request := range []string{
		`"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}`,
		`"method":"tools/call","params":{"name":"exec","arguments":{"command":"seq 1000"}}`,
		`"method":"tools/call","params":{"name":"exec","arguments":{"command":"sleep 20","timeoutMs":200}}`,
	} {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", i+1, request)
		answer, err := lines.ReadBytes('\n')
		for err == nil && !bytes.Contains(answer, fmt.Appendf(nil, `"id":%d,`, i+1)) {
			answer, err = lines.ReadBytes('\n')
		}
		if bytes.Contains(answer, []byte(`"isError":true`)) {
			s.refused.Add(1) // the engine was killed
		}
		pause(ctx, 2*time.Second)
	}
	in.Close()
	io.Copy(io.Discard, lines)
	s.agents.Add(1)
	if err := cmd.Wait(); err != nil || !patience.Stop() {
		return fmt.Errorf("an agent's server exited with %v", err)
	}
	return nil
}

// killAndMeasure measures and kills the engine in turns, until ctx ends.
func (s *soak) killAndMeasure(ctx context.Context, while time.Duration) {
	began, tick := time.Now(), time.NewTicker(soakKillEvery)
	defer tick.Stop()
	fmt.Printf("%8s", "")
	for _, n := range s.needs {
		fmt.Printf(" %14s", n.name)
	}
	fmt.Println()
	for round := 1; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.info(s.b)
		s.measure(time.Since(began), now, round%6 == 1)
		victim := now.EnginePID
		if round%3 == 0 && time.Since(began) < while/4 {
			victim = now.KeeperPID
		}
		unix.Kill(victim, unix.SIGKILL)
	}
}

// measure records the needs, and prints them if print is set.
func (s *soak) measure(at time.Duration, now info, print bool) {
	_, engine := rss(s.b, now.EnginePID)
	_, keeper := rss(s.b, now.KeeperPID)
	values := []float64{
		engine, countEntries("/proc/%d/fd", now.EnginePID), countEntries("/proc/%d/task", now.EnginePID),
		keeper, countEntries("/proc/%d/fd", now.KeeperPID), countEntries("/proc/%d/task", now.KeeperPID),
		s.processes(), countFiles(s.p.dataDir()),
	}
	for i, v := range values {
		s.needs[i].values = append(s.needs[i].values, v)
	}
	if print {
		fmt.Printf("%8s", at.Round(time.Second))
		for _, v := range values {
			fmt.Printf(" %14.1f", v)
		}
		fmt.Println()
	}
}

func countEntries(folder string, pid int) float64 {
	all, _ := os.ReadDir(fmt.Sprintf(folder, pid))
	return float64(len(all))
}

// processes counts the processes that belong to the data folder.
func (s *soak) processes() float64 {
	n, mark := 0.0, []byte("TANDEM_DATA_DIR="+s.p.dataDir())
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		if environ, err := os.ReadFile(path); err == nil && bytes.Contains(environ, mark) {
			n++
		}
	}
	return n
}

func countFiles(dir string) (n float64) {
	_ = filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error {
		if err == nil {
			n++
		}
		return nil
	})
	return n
}

// report prints the results, and fails if a need grew or data was lost.
func (s *soak) report() {
	s.info(s.b)
	c := connect(s.b, s.p)
	lost := 0
	for id, pid := range s.ids {
		if p, err := api.SessionGet.Call(context.Background(), c, api.IDInput{ID: id}); err != nil || p.PID != pid || !isRunning(pid) {
			lost++
		}
	}
	restarts, failed := 0, 0
	for _, p := range call(s.b, c, api.ProcessList, api.ProcessListInput{}).Processes {
		if !strings.HasPrefix(p.Name, "process-") {
			continue
		}
		restarts += p.Supervision.Restarts
		if p.State.Ended() {
			failed++
		}
	}
	fmt.Printf("%d kills, %d restarts, %d dashboards, %d agents with %d calls refused; %d visits failed, %d of %d sessions lost, %d of %d processes given up\n",
		len(s.needs[0].values), restarts, s.dashboards.Load(), s.agents.Load(), s.refused.Load(), s.failed.Load(), lost, soakSessions, failed, soakProcesses)
	if lost+failed+int(s.failed.Load()) > 0 {
		s.b.Fail()
	}
	for _, n := range s.needs {
		quarter := len(n.values) / 4
		if quarter == 0 {
			s.b.Fatal("the run was too short for a result")
		}
		second, last := middle(n.values[quarter:2*quarter]), middle(n.values[len(n.values)-quarter:])
		verdict := "ok"
		if last > second*1.1+n.slack {
			verdict = "GREW"
			s.b.Fail()
		}
		fmt.Printf("%-16s second quarter %8.1f, last quarter %8.1f  %s\n", n.name, second, last, verdict)
	}
}

func middle(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
