package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/tests/wait"

	"golang.org/x/sys/unix"
)

const (
	faultProcesses = 20
	faultSessions  = 10
)

// A tally counts the damage done by a fault.
type tally struct {
	times                         int // how often the fault was injected
	lost, doubled, wrong, unknown int
	note                          string
}

// BenchmarkFaults injects faults under load and prints the damage of each kind. A figure other
// than 0 is either documented in the README or a defect.
func BenchmarkFaults(b *testing.B) {
	type row struct {
		name string
		make func(b *testing.B) tally
	}
	rows := []row{
		{"engine killed", func(b *testing.B) tally { return killRoles(b, repeatCount("ENGINE_KILLS", 300), true, false) }},
		{"keeper killed", func(b *testing.B) tally { return killRoles(b, repeatCount("KEEPER_KILLS", 50), false, true) }},
		{"both killed", func(b *testing.B) tally { return killRoles(b, repeatCount("BOTH_KILLS", 30), true, true) }},
		{"keeper killed during starts", startStorm},
		{"commands while the engine is away", withoutEngine},
		{"disk full", fullDisk},
		{"256 open files", fewFiles},
		{"keys while sessions come and go", func(b *testing.B) tally {
			return keysAmongSessions(b, repeatCount("INPUT_SESSIONS", 200), false)
		}},
		{"keys while a pane is zoomed", func(b *testing.B) tally {
			return keysAmongSessions(b, repeatCount("INPUT_SESSIONS", 200), true)
		}},
	}
	for _, client := range [][]string{{"attach", "typed"}, nil} {
		name := "the dashboard"
		if len(client) > 0 {
			name = "attach"
		}
		for _, upgrades := range []bool{false, true} {
			where, rounds := name, repeatCount("INPUT_FAULTS", 200)
			if upgrades {
				where += ", upgrades"
			}
			rows = append(rows,
				row{"keys in " + where, func(b *testing.B) tally { return keysThroughFaults(b, upgrades, rounds, client...) }},
				row{"pastes in " + where, func(b *testing.B) tally { return pastesThroughFaults(b, upgrades, rounds, client...) }})
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-32s %6s %6s %8s %6s %8s  %s\n", "", "times", "lost", "doubled", "wrong", "unknown", "")
	for _, row := range rows {
		b.Run(strings.ReplaceAll(row.name, " ", "-"), func(b *testing.B) {
			t := row.make(b)
			fmt.Fprintf(&table, "%-32s %6d %6d %8d %6d %8d  %s\n", row.name, t.times, t.lost, t.doubled, t.wrong, t.unknown, t.note)
		})
	}
	fmt.Print("\n" + table.String())
}

func repeatCount(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// A load is a set of sessions and processes printing a count.
type load struct {
	p   program
	ids map[string]int // pid by id
}

func startLoad(b *testing.B) load {
	b.Helper()
	l := load{build(b), map[string]int{}}
	l.p.run(b, "info")
	c := connect(b, l.p)
	count := []string{"sh", "-c", `i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.02; done`}
	for i := range faultProcesses + faultSessions {
		var err error
		var started api.Process
		if i < faultProcesses {
			started, err = api.ProcessStart.Call(context.Background(), c, api.ProcessStartInput{Command: count, Name: fmt.Sprintf("process-%d", i), KeepAlive: i%2 == 0})
		} else {
			started, err = api.SessionStart.Call(context.Background(), c, api.SessionStartInput{Command: count, Name: fmt.Sprintf("session-%d", i)})
		}
		if err != nil {
			b.Fatal(err)
		}
		l.ids[started.ID] = started.PID
	}
	return l
}

// info waits for an engine with a keeper, and returns its pids.
func (l load) info(b *testing.B) info {
	b.Helper()
	return wait.Poll(b, "an engine", func() (i info, done bool) {
		out, err := l.p.command("info", "--json").Output()
		return i, err == nil && json.Unmarshal(out, &i) == nil && i.KeeperPID != 0
	})
}

// killRoles kills the engine, the keeper or both n times, and checks the load afterwards.
func killRoles(b *testing.B, n int, engine, keeper bool) tally {
	l, t := startLoad(b), tally{times: n}
	for i := range n {
		now := l.info(b)
		if engine && keeper {
			unix.Kill(now.EnginePID, unix.SIGSTOP) // so that neither restarts the other
		}
		if keeper {
			unix.Kill(now.KeeperPID, unix.SIGKILL)
		}
		if engine {
			unix.Kill(now.EnginePID, unix.SIGKILL)
		}
		time.Sleep(time.Duration(i%7) * 5 * time.Millisecond)
	}
	l.info(b)
	both := engine && keeper
	for id, pid := range l.ids {
		l.check(b, &t, id, pid, both)
	}
	if both {
		t.note = "sessions get a hangup, as the README says"
	}
	return t
}

// check examines one process of the load. hangup reports whether sessions may have been hung up.
func (l load) check(b *testing.B, t *tally, id string, pid int, hangup bool) {
	b.Helper()
	c := connect(b, l.p)
	defer c.Close()
	p, err := api.ProcessGet.Call(context.Background(), c, api.IDInput{ID: id})
	switch {
	case err != nil:
		t.lost++
		return
	case p.Kind == api.KindSession && hangup:
		return
	case p.PID != pid:
		t.lost++
	case !isRunning(pid):
		t.wrong++
	}
	if p.Supervision != nil && p.Supervision.Restarts > 0 {
		t.doubled++
	}
	if p.ExitUnknown {
		t.unknown++
	}
	if gap := gapIn(p.LogPath); gap != "" {
		t.wrong++
		b.Logf("%s: %s", p.Name, gap)
	}
}

// isRunning reports whether a process runs. A zombie does not.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// gapIn describes the first line of a log that does not follow its predecessor.
func gapIn(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	before := 0
	for line := range bytes.Lines(bytes.Trim(text, "\x00")) {
		var n int
		if _, err := fmt.Sscanf(string(line), "line %d", &n); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			continue // the last line is still being written
		}
		if before != 0 && n != before+1 {
			return fmt.Sprintf("line %d follows line %d", n, before)
		}
		before = n
	}
	return ""
}

// startStorm kills keepers during starts, and counts running processes unknown to the engine.
func startStorm(b *testing.B) tally {
	l, t := load{build(b), map[string]int{}}, tally{times: repeatCount("KEEPER_KILLS", 50)}
	l.p.run(b, "info")
	mark := newSleep()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				l.p.command(append([]string{"start", "--"}, mark.argv()...)...).Run()
			}
		}
	}()
	for i := range t.times {
		unix.Kill(l.info(b).KeeperPID, unix.SIGKILL)
		time.Sleep(time.Duration(20+i%5*10) * time.Millisecond)
	}
	close(stop)
	<-done
	l.info(b)
	c := connect(b, l.p)
	known := 0
	out, err := api.ProcessList.Call(context.Background(), c, api.ProcessListInput{})
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range out.Processes {
		if p.PID != 0 {
			known++
		}
	}
	l.p.run(b, "shutdown", "--all", "--yes")
	t.note = fmt.Sprintf("%d were started; lost are those that outlive shutdown --all", known)
	t.lost = mark.countRunning(b)
	return t
}

// countRunning counts the processes with this command line.
func (s sleep) countRunning(b *testing.B) (n int) {
	b.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range lines {
		if line, _ := os.ReadFile(path); string(line) == "sleep\x00"+s.seconds+"\x00" {
			n++
		}
	}
	return n
}

// withoutEngine runs commands while no engine answers. None may report that nothing runs.
func withoutEngine(b *testing.B) tally {
	l, t := startLoad(b), tally{}
	for _, verb := range [][]string{{"ps"}, {"ls"}, {"stop", "process-0"}, {"logs", "process-1"}} {
		unix.Kill(l.info(b).EnginePID, unix.SIGKILL)
		out, err := l.p.command(verb...).CombinedOutput()
		t.times++
		if err == nil && len(bytes.TrimSpace(out)) == 0 {
			t.wrong++
			b.Logf("%v prints nothing", verb)
		}
	}
	unix.Kill(l.info(b).EnginePID, unix.SIGKILL)
	l.p.command("shutdown", "--all", "--yes").Run()
	t.times++
	for id, pid := range l.ids {
		if isRunning(pid) {
			t.lost++
			b.Logf("%s (pid %d) outlives shutdown --all", id, pid)
		}
	}
	return t
}

// fullDisk takes away the keeper's and engine's disk space, and kills the engine.
func fullDisk(b *testing.B) tally {
	l, t := startLoad(b), tally{times: 1}
	now := l.info(b)
	limit := unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(now.KeeperPID, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		b.Fatal(err)
	}
	unix.Kill(now.EnginePID, unix.SIGKILL)
	l.info(b)
	c := connect(b, l.p)
	out, err := api.ProcessList.Call(context.Background(), c, api.ProcessListInput{})
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range out.Processes {
		if p.PID != l.ids[p.ID] {
			t.lost++
		}
	}
	t.lost += len(l.ids) - len(out.Processes)
	return t
}

// fewFiles limits keeper and engine to 256 open files and starts sessions until that fails. All
// of them must be stoppable.
func fewFiles(b *testing.B) tally {
	l, t := load{build(b), map[string]int{}}, tally{times: 1}
	limited := exec.Command("sh", "-c", `ulimit -n 256; exec "$0" info`, l.p.path)
	limited.Env = l.p.env
	if out, err := limited.CombinedOutput(); err != nil {
		b.Fatalf("start the engine: %v\n%s", err, out)
	}
	c := connect(b, l.p)
	for range 256 {
		started, err := api.SessionStart.Call(context.Background(), c, api.SessionStartInput{Command: []string{"sleep", "100000"}})
		if err != nil {
			t.note = fmt.Sprintf("with %d sessions: %v", len(l.ids), err)
			break
		}
		l.ids[started.ID] = started.PID
	}
	unix.Kill(l.info(b).KeeperPID, unix.SIGKILL) // the next keeper can be started
	l.info(b)
	if out, err := l.p.command("shutdown", "--all", "--yes").CombinedOutput(); err != nil {
		b.Logf("shutdown --all: %v: %s", err, out)
		t.wrong++
	}
	for _, pid := range l.ids {
		if isRunning(pid) {
			t.lost++
		}
	}
	return t
}
