package proctree

import (
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/wait"
)

func self(t testing.TB) store.Identity {
	t.Helper()
	id, err := store.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func measureOne(t *testing.T, m *Meter, id store.Identity) api.Metrics {
	t.Helper()
	got := m.Measure([]store.Identity{id}, nil)
	if len(got) != 1 || got[0] == nil {
		t.Fatalf("measured %v", got)
	}
	return *got[0]
}

func TestMeasureReportsUseOfThisProcess(t *testing.T) {
	m := NewMeter()
	before := measureOne(t, m, self(t))
	if before.RSSBytes < 1<<20 || before.Threads < 2 || before.Processes < 1 {
		t.Errorf("measured %+v", before)
	}
	ours, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	if diff := before.OpenFiles - len(ours); diff < -20 || diff > 20 {
		t.Errorf("%d open files, /proc/self/fd has %d", before.OpenFiles, len(ours))
	}
}

func TestMeasureFindsIPv4AndIPv6Ports(t *testing.T) {
	m := NewMeter()
	var want []int
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("listen on %s: %v", address, err)
			continue
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		want = append(want, port)
		if got := measureOne(t, m, self(t)).Ports; !slices.Contains(got, port) {
			t.Errorf("listening on %s, measured ports %v", l.Addr(), got)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().(*net.TCPAddr).Port
	m.Measure([]store.Identity{self(t)}, nil)
	l.Close()
	got := measureOne(t, m, self(t)).Ports
	if slices.Contains(got, closed) || !slices.IsSorted(got) {
		t.Errorf("after closing %d of %v it has %v", closed, want, got)
	}
}

func TestMeasureIncludesTreeOfChild(t *testing.T) {
	id, told := startLeader(t, `setsid sh -c 'echo $$; exec sleep 1000' & wait`)
	got := NewMeter().Measure([]store.Identity{self(t), id}, nil)
	if len(told) != 1 || got[1] == nil || got[1].Processes != 2 || got[1].RSSBytes == 0 {
		t.Errorf("measured %+v", got[1])
	}
}

func TestPortIsFoundAtListeningDescendant(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	cmd.ExtraFiles = []*os.File{file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		cmd.Wait()
	}()
	id, err := store.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if got := measureOne(t, NewMeter(), id).Ports; !slices.Equal(got, []int{l.Addr().(*net.TCPAddr).Port}) {
		t.Errorf("a child that inherited %s has ports %v", l.Addr(), got)
	}
}

func TestDiagAndTableListenersAgree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	asked, read := make(map[uint32]int), make(map[uint32]int)
	if err := diagListeners(unix.AF_INET, asked); err != nil {
		t.Logf("sock_diag: %v", err)
		tableListeners(unix.AF_INET, asked)
	}
	tableListeners(unix.AF_INET, read)
	found := 0
	for inode, p := range asked {
		if p == port && read[inode] == port {
			found++
		}
	}
	if found != 1 {
		t.Errorf("port %d is %d times in both %v and %v", port, found, asked, read)
	}
}

func TestSocketInodeParsesLinks(t *testing.T) {
	for link, want := range map[string]uint32{
		"socket:[123]": 123, "socket:[4294967295]": 1<<32 - 1, "socket:[4294967296]": 0, "pipe:[123]": 0,
		"socket:[": 0, "socket:[12": 0, "socket:[x]": 0, "": 0, "/tmp/socket:[1]": 0,
	} {
		if got, ok := socketInode([]byte(link)); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %d, %v", link, got, ok)
		}
	}
}

func FuzzParseDiag(f *testing.F) {
	message := make([]byte, unix.SizeofNlMsghdr+diagAnswerSize)
	binary.NativeEndian.PutUint32(message, uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], diagByFamily)
	f.Add(message)
	f.Add(message[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		ports := make(map[uint32]int)
		_, _ = parseDiag(b, ports)
		if len(ports) > len(b)/diagAnswerSize {
			t.Fatalf("%d bytes gave %d ports", len(b), len(ports))
		}
	})
}

// BenchmarkMeasure500 measures 500 processes that each have a few descriptors.
func BenchmarkMeasure500(b *testing.B) {
	for _, listening := range []bool{false, true} {
		b.Run("listening="+strconv.FormatBool(listening), func(b *testing.B) { benchmarkMeasure(b, 500, listening) })
	}
}

func benchmarkMeasure(b *testing.B, n int, listening bool) {
	if listening {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
	}
	var ids []store.Identity
	for range n {
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
		id, err := store.Identify(cmd.Process.Pid)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	m := NewMeter()
	m.Measure(ids, nil)
	b.ReportAllocs()
	before := processorTime()
	for b.Loop() {
		if got := m.Measure(ids, nil); got[n-1] == nil {
			b.Fatal("not measured")
		}
	}
	b.ReportMetric(float64(processorTime()-before)/float64(b.N*n)/float64(time.Microsecond), "cpu-µs/process")
}

// processorTime returns the CPU time used by this process. Other processes on the machine disturb
// it less than the time of day.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestSampleReportsWhetherAnythingRan(t *testing.T) {
	shell := exec.Command("/bin/sh")
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); shell.Wait() }()
	id, err := store.Identify(shell.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMeter()
	sample := func() bool { return m.Sample([]store.Identity{id}, nil) }
	if !sample() {
		t.Error("a new process did not count as moved")
	}
	wait.Poll(t, "a shell that waits for input to be still", func() (moved, done bool) {
		moved = sample()
		return moved, !moved
	})
	if _, err := in.Write([]byte("echo\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if !sample() {
		t.Error("a shell has run a command and counts as still")
	}
}

func BenchmarkSample(b *testing.B) {
	m := NewMeter()
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { sleeper.Process.Kill(); sleeper.Wait() }()
	id, err := store.Identify(sleeper.Process.Pid)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("still", func(b *testing.B) {
		for b.Loop() {
			m.Sample([]store.Identity{id}, nil)
		}
	})
	b.Run("moved", func(b *testing.B) {
		for b.Loop() {
			m.members[id.PID].pulse = 0
			m.Sample([]store.Identity{id}, nil)
		}
	})
}
