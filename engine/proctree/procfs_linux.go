package proctree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"tandem/engine/panics"
)

// A Process is what /proc/<pid>/stat says about one process,
// proc_pid_stat(5).
type Process struct {
	PID, Parent, Group, Session int
	Name                        string
	Zombie                      bool
	threads                     int
	CPU                         uint64 // clock ticks of its own and of the children it has waited for
	StartTime                   uint64 // clock ticks since boot
}

// A procfs reads /proc through one buffer, for one goroutine.
type procfs struct {
	dir *os.File
	buf [4096]byte // longer than any line of numbers there
	err error      // why a file could not be read whose process may be there
}

// read gives the beginning of a small file, valid until the next read; nil if
// it cannot be read, as when its process is gone.
func (p *procfs) read(path string) []byte {
	fd, err := unix.Openat(int(p.dir.Fd()), path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	n := 0
	if err == nil {
		n, err = unix.Read(fd, p.buf[:])
		unix.Close(fd)
	}
	switch err {
	case nil:
		return p.buf[:n]
	case unix.ENOENT, unix.ESRCH:
	default:
		p.err = err
	}
	return nil
}

// All reads the process table once. It is all of it or an error: who is
// not in it counts as gone.
func All() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]Process, len(names))
	err = inShares(dir, len(names), func(proc *procfs, from, to int) {
		for i := from; i < to; i++ {
			pid, err := strconv.Atoi(names[i])
			if err != nil {
				continue
			}
			if s, ok := parseStat(pid, proc.read(names[i]+"/stat")); ok {
				all[i] = s
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return slices.DeleteFunc(all, func(p Process) bool { return p.PID == 0 }), nil
}

// inShares has the numbers below n worked on by several goroutines, if there are
// many. The error is one that a read of theirs had.
func inShares(dir *os.File, n int, work func(proc *procfs, from, to int)) error {
	const least, most = 64, 4
	shares := make([]procfs, max(min(runtime.GOMAXPROCS(0), most, n/least), 1))
	var all panics.Group
	for i := range shares {
		shares[i].dir = dir
		all.Start(func() { work(&shares[i], n*i/len(shares), n*(i+1)/len(shares)) })
	}
	all.Wait()
	var err error
	for i := range shares {
		err = errors.Join(err, shares[i].err)
	}
	return err
}

// Read reads one process; ok is false when it is gone.
func Read(pid int) (s Process, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	return parseStat(pid, text)
}

// parseStat reads a line of /proc/<pid>/stat. The name in parentheses may hold
// anything, parentheses and newlines included.
func parseStat(pid int, text []byte) (s Process, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	f := numbers{text: text[end+1:]}
	state := f.word()
	if len(state) != 1 {
		return Process{}, false
	}
	s = Process{PID: pid, Name: string(text[open+1 : end]), Zombie: state[0] == 'Z' || state[0] == 'X'}
	s.Parent, s.Group, s.Session = int(f.next(4)), int(f.next(5)), int(f.next(6))
	s.CPU = f.next(14) + f.next(15) + f.next(16) + f.next(17)
	s.threads = int(f.next(20))
	s.StartTime = f.next(22)
	return s, !f.bad
}

// numbers takes a line of numbers apart, with the field numbers of the manual.
type numbers struct {
	text  []byte
	field int // of the last one taken; the first is 3, behind the name
	bad   bool
}

// word takes the next field, empty at the end.
func (n *numbers) word() []byte {
	n.field = max(n.field+1, 3)
	from := 0
	for from < len(n.text) && betweenFields(n.text[from]) {
		from++
	}
	to := from
	for to < len(n.text) && !betweenFields(n.text[to]) {
		to++
	}
	w := n.text[from:to]
	n.text = n.text[to:]
	return w
}

// next skips to a field and reads it; a negative number is 0.
func (n *numbers) next(field int) uint64 {
	for n.field < field-1 {
		n.word()
	}
	w := n.word()
	if len(w) > 1 && w[0] == '-' {
		return 0
	}
	v, err := strconv.ParseUint(string(w), 10, 64)
	n.bad = n.bad || err != nil
	return v
}

func betweenFields(c byte) bool { return c == ' ' || c == '\n' }
