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

	"tandem/engine/base/panics"
)

// A Process holds the fields used of /proc/<pid>/stat, see proc_pid_stat(5).
type Process struct {
	PID, Parent, Group, Session int
	Name                        string
	Zombie                      bool
	threads                     int
	CPU                         uint64 // clock ticks used by itself and by the children it has waited for
	StartTime                   uint64 // clock ticks since boot
}

// A procfs reads files in /proc through one buffer. It is not safe for concurrent use.
type procfs struct {
	dir *os.File
	buf [4096]byte // longer than any numeric line in /proc
	err error      // why a file of a process that may exist could not be read
}

// readFile returns the start of a small file, valid until the next read. It returns nil on an error,
// for example if the process has exited.
func (p *procfs) readFile(path string) []byte {
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

// All returns the complete process table, or an error: callers take a missing process for exited.
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
	err = splitWork(dir, len(names), func(proc *procfs, from, to int) {
		for i := from; i < to; i++ {
			pid, err := strconv.Atoi(names[i])
			if err != nil {
				continue
			}
			if s, ok := parseStat(pid, proc.readFile(names[i]+"/stat")); ok {
				all[i] = s
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return slices.DeleteFunc(all, func(p Process) bool { return p.PID == 0 }), nil
}

// splitWork divides the indexes 0 to n-1 among several goroutines if n is large, and returns the
// errors of their reads.
func splitWork(dir *os.File, n int, work func(proc *procfs, from, to int)) error {
	const minShare, maxShares = 64, 4
	// One buffer per goroutine.
	shares := make([]procfs, max(min(runtime.GOMAXPROCS(0), maxShares, n/minShare), 1))
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

// Read reads one process; ok is false if it has exited.
func Read(pid int) (s Process, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	return parseStat(pid, text)
}

// parseStat parses /proc/<pid>/stat. The name in parentheses may contain anything, including
// parentheses and newlines.
func parseStat(pid int, text []byte) (s Process, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	f := numbers{text: text[end+1:]}
	state := f.nextWord()
	if len(state) != 1 {
		return Process{}, false
	}
	s = Process{PID: pid, Name: string(text[open+1 : end]), Zombie: state[0] == 'Z' || state[0] == 'X'}
	s.Parent, s.Group, s.Session = int(f.nextNumber(4)), int(f.nextNumber(5)), int(f.nextNumber(6))
	s.CPU = f.nextNumber(14) + f.nextNumber(15) + f.nextNumber(16) + f.nextNumber(17)
	s.threads = int(f.nextNumber(20))
	s.StartTime = f.nextNumber(22)
	return s, !f.bad
}

// numbers parses a line of numbers, using the field numbers of the manual.
type numbers struct {
	text  []byte
	field int // number of the last field read; the first after the name is 3
	bad   bool
}

// nextWord returns the next field, empty at the end.
func (n *numbers) nextWord() []byte {
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

// nextNumber skips to a field and parses it; a negative number becomes 0.
func (n *numbers) nextNumber(field int) uint64 {
	for n.field < field-1 {
		n.nextWord()
	}
	w := n.nextWord()
	if len(w) > 1 && w[0] == '-' {
		return 0
	}
	v, err := strconv.ParseUint(string(w), 10, 64)
	n.bad = n.bad || err != nil
	return v
}

func betweenFields(c byte) bool { return c == ' ' || c == '\n' }
