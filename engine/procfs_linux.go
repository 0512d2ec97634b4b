package engine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A procStat is what /proc/<pid>/stat says about one process,
// proc_pid_stat(5).
type procStat struct {
	pid, parent, group, session int
	name                        string
	zombie                      bool
	threads                     int
	cpu                         uint64 // clock ticks of its own and of the children it has waited for
	startTime                   uint64 // clock ticks since boot
}

// A procfs reads /proc through one buffer. It has to be closed.
type procfs struct {
	dir *os.File
	buf [4096]byte // longer than any line of numbers there
}

func openProcfs() (*procfs, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %v", err)
	}
	return &procfs{dir: dir}, nil
}

func (p *procfs) close() { p.dir.Close() }

// read gives the beginning of a small file, valid until the next read; nil if
// it cannot be read, as when its process is gone.
func (p *procfs) read(path string) []byte {
	fd, err := unix.Openat(int(p.dir.Fd()), path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, p.buf[:])
	if err != nil {
		return nil
	}
	return p.buf[:n]
}

// processes reads the process table.
func (p *procfs) processes() ([]procStat, error) {
	names, err := p.dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %v", err)
	}
	all := make([]procStat, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, ok := parseStat(pid, p.read(name+"/stat")); ok {
			all = append(all, s)
		}
	}
	return all, nil
}

// allProcesses reads the process table once.
func allProcesses() ([]procStat, error) {
	p, err := openProcfs()
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.processes()
}

// readStat reads one process; ok is false when it is gone.
func readStat(pid int) (s procStat, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(pid, text)
}

// parseStat reads a line of /proc/<pid>/stat. The name in parentheses may hold
// anything, parentheses and newlines included.
func parseStat(pid int, text []byte) (s procStat, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return procStat{}, false
	}
	f := numbers{text: text[end+1:]}
	state := f.word()
	if len(state) != 1 {
		return procStat{}, false
	}
	s = procStat{pid: pid, name: string(text[open+1 : end]), zombie: state[0] == 'Z' || state[0] == 'X'}
	s.parent, s.group, s.session = int(f.next(4)), int(f.next(5)), int(f.next(6))
	s.cpu = f.next(14) + f.next(15) + f.next(16) + f.next(17)
	s.threads = int(f.next(20))
	s.startTime = f.next(22)
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
