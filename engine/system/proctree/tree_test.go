package proctree

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/persist/store"
)

// startLeader runs a shell script as the leader of a session. told is the line of numbers the
// script prints first.
func startLeader(t *testing.T, script string) (root store.Identity, told []int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		cmd.Process.Wait()
	}()
	t.Cleanup(func() {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		<-waited
		out.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(line) {
		pid, _ := strconv.Atoi(word)
		told = append(told, pid)
		if child, err := store.Identify(pid); err == nil {
			t.Cleanup(func() {
				if child.Alive() { // it may have a session of its own
					unix.Kill(child.PID, unix.SIGKILL)
				}
			})
		}
	}
	root, err = store.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return root, told
}

// endTree stops a tree like that of a terminal, with a short stop timeout.
func endTree(root store.Identity, spared ...int) error {
	tree := NewTree(root, spared...)
	tree.Held = BootTicks()
	return tree.End(context.Background(), new(Table), TerminalSteps(300*time.Millisecond))
}

func TestEndKillsGrandchildIgnoringTermAndHangUp(t *testing.T) {
	t.Parallel()
	root, told := startLeader(t, `trap 'exit 0' HUP TERM
		sh -c 'trap "" HUP TERM; echo $$ '$$'; while :; do sleep 1; done' &
		wait`)
	if err := endTree(root); err != nil {
		t.Fatal(err)
	}
	for _, pid := range told {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
}

func TestEndReachesDescendantInOtherSession(t *testing.T) {
	t.Parallel()
	root, told := startLeader(t, `setsid sh -c 'echo $$; exec sleep 1000' & wait`)
	if err := endTree(root); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || alive(told[0]) {
		t.Errorf("processes %v", told)
	}
}

func TestEndSparesKeeperOfOtherDataDirectory(t *testing.T) {
	t.Parallel()
	ready := t.TempDir()
	root, told := startLeader(t, `
		env -u TANDEM_SESSION_ID TANDEM_DATA_DIR=/other setsid sh -c 'touch `+ready+`/1; exec sleep 1000' & a=$!
		env TANDEM_SESSION_ID=x TANDEM_DATA_DIR=/other setsid sh -c 'touch `+ready+`/2; exec sleep 1000' & b=$!
		env -u TANDEM_SESSION_ID TANDEM_DATA_DIR=/ours setsid sh -c 'touch `+ready+`/3; exec sleep 1000' & c=$!
		until [ -e `+ready+`/1 ] && [ -e `+ready+`/2 ] && [ -e `+ready+`/3 ]; do sleep 0.01; done
		echo $a $b $c; wait`)
	if len(told) != 3 {
		t.Fatalf("started %v", told)
	}
	tree := NewTree(root)
	tree.Held, tree.DataDir = BootTicks(), "/ours"
	if err := tree.End(context.Background(), new(Table), TerminalSteps(300*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for i, pid := range told {
		if want := i == 0; alive(pid) != want {
			t.Errorf("process %d of %d lives: %v", i+1, len(told), !want)
		}
	}
}

func TestEndContinuesStoppedProcesses(t *testing.T) {
	t.Parallel()
	root, _ := startLeader(t, `echo; kill -STOP $$; sleep 1000`)
	if err := endTree(root); err != nil {
		t.Fatal(err)
	}
	if alive(root.PID) {
		t.Error("it lives on")
	}
}

// Many programs take a second signal as a request to exit without cleaning up.
func TestEndSignalsEachGroupOnce(t *testing.T) {
	t.Parallel()
	var stops sync.WaitGroup // side by side: a stop waits until init has collected what was orphaned
	for n := range 30 {
		told := filepath.Join(t.TempDir(), "told")
		root, _ := startLeader(t, `trap 'echo asked >>'"`+told+`"'; exit' TERM; sleep 1000 &
			until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done; echo; wait`)
		stops.Go(func() {
			if err := NewTree(root).End(t.Context(), new(Table), StopSteps(unix.SIGTERM, time.Minute)); err != nil {
				t.Errorf("stop %d: %v", n, err)
			}
			if text, err := os.ReadFile(told); string(text) != "asked\n" {
				t.Errorf("stop %d: told %q: %v", n, text, err)
			}
		})
	}
	stops.Wait()
}

func TestEndNeverSignalsReusedPID(t *testing.T) {
	t.Parallel()
	root, _ := startLeader(t, `echo; sleep 1000`)
	old := root
	old.StartTime--
	if err := endTree(old); err != nil {
		t.Fatal(err)
	}
	other := root
	other.BootID = "another boot"
	if err := endTree(other); err != nil {
		t.Fatal(err)
	}
	if !alive(root.PID) {
		t.Error("another process was ended")
	}
}

func TestEndSparesExcludedProcesses(t *testing.T) {
	t.Parallel()
	root, told := startLeader(t, `setsid sh -c 'echo $$; exec sleep 1000' & wait`)
	spared := told[0]
	defer unix.Kill(spared, unix.SIGKILL)
	if err := endTree(root, spared); err != nil {
		t.Fatal(err)
	}
	if alive(root.PID) || !alive(spared) {
		t.Errorf("root lives %v, spared lives %v", alive(root.PID), alive(spared))
	}
}

// Once no process of a session is alive, its id can be reused by another session.
func TestTreeExcludesLaterSessionWithSameID(t *testing.T) {
	in := func(pid, session int, start uint64) Process {
		return Process{PID: pid, Parent: 1, Group: pid, Session: session, StartTime: start}
	}
	tests := map[string]struct {
		held uint64
		all  []Process
		want int
	}{
		"the root lives":                                {0, []Process{in(77, 77, 100), in(500, 77, 900)}, 2},
		"another process has its number":                {2000, []Process{in(77, 77, 800), in(500, 77, 900)}, 0},
		"the root has ended, nobody knows when":         {0, []Process{in(500, 77, 900)}, 0},
		"it ended before anybody there was started":     {850, []Process{in(500, 77, 900), in(501, 77, 950)}, 0},
		"it ended when one was there, and goes on":      {900, []Process{in(500, 77, 900), in(501, 77, 950)}, 2},
		"who is older than the root is another session": {900, []Process{in(500, 77, 50)}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree := NewTree(store.Identity{PID: 77, StartTime: 100})
			tree.Held = test.held
			if got := tree.members(newSnapshot(test.all, &marks{})); len(got) != test.want {
				t.Errorf("members %+v", got)
			}
		})
	}
}

func TestEndSignalsRootFirst(t *testing.T) {
	all := []Process{{PID: 77, Parent: 1, Group: 77, Session: 77, StartTime: 100}}
	for pid := 500; pid < 530; pid++ {
		all = append(all, Process{PID: pid, Parent: 77, Group: pid, Session: 77, StartTime: 200})
	}
	tree := NewTree(store.Identity{PID: 77, StartTime: 100})
	for range 20 {
		if got := tree.members(newSnapshot(all, &marks{})); len(got) != len(all) || got[0].PID != 77 {
			t.Fatalf("%d members, first %+v", len(got), got[0])
		}
	}
}

func TestSessionIsFollowedBetweenReadings(t *testing.T) {
	tree := NewTree(store.Identity{PID: 77, StartTime: 100})
	look := func(at uint64, all ...Process) int {
		s := newSnapshot(all, &marks{})
		s.began = at
		return len(tree.members(s))
	}
	child := Process{PID: 500, Parent: 1, Group: 77, Session: 77, StartTime: 1010}
	grandchild := Process{PID: 501, Parent: 1, Group: 77, Session: 77, StartTime: 1020}
	if n := look(1000, Process{PID: 77, Parent: 1, Group: 77, Session: 77, StartTime: 100}); n != 1 {
		t.Fatalf("%d at first", n)
	}
	if a, b := look(1015, child), look(1030, grandchild); a != 1 || b != 1 {
		t.Errorf("%d and %d whose parent has ended since the look before", a, b)
	}
	if n := look(9000); n != 0 {
		t.Errorf("%d when all have ended", n)
	}
	if n := look(9001, Process{PID: 600, Parent: 1, Group: 600, Session: 77, StartTime: 8900}); n != 0 {
		t.Errorf("%d of a later session", n)
	}
}

func TestWithMarkIncludesDescendants(t *testing.T) {
	s := newSnapshot([]Process{{PID: 5, Parent: 1}, {PID: 9, Parent: 1}, {PID: 7, Parent: 5}, {PID: 6, Parent: 5, State: 'Z'}, {PID: 8, Parent: 6}}, &marks{})
	mark := Mark{"a", "/data"}
	s.orphans = func() map[Mark][]int { return map[Mark][]int{mark: {5, 7}} }
	if got := s.WithMark(mark); !slices.Equal(got, []int{5, 7, 8}) {
		t.Errorf("members %v", got)
	}
	if got := s.WithMark(Mark{"b", "/data"}); len(got) != 0 {
		t.Errorf("members of another mark: %v", got)
	}
}

func TestMayHaveLeftFindsMarkedProcessStartedLater(t *testing.T) {
	before := exec.Command("true")
	if err := before.Run(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	cmd.Env = []string{IDVariable + "=a", DataDirVariable + "=/data"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !MayHaveLeft(before.Process.Pid, Mark{"a", "/data"}) {
		t.Error("not found")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// No pid is larger, so pids must have wrapped around, and the process may have left any pid.
	if !MayHaveLeft(1<<30, Mark{"a", "/data"}) {
		t.Error("pids count as ascending for ever")
	}
}

func alive(pid int) bool {
	s, ok := Read(pid)
	return ok && !s.IsZombie()
}
