package proctree

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/base/panics"
	"tandem/persist/procstat"
)

// A Process is one process of the table.
type Process = procstat.Process

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

const (
	scarcePause = 20 * time.Millisecond
	scarceTries = 25
)

// All returns the complete process table, or an error, because callers take a missing process for an
// exited one. While no descriptor is free, it tries again for half a second.
func All() ([]Process, error) {
	for try := 1; ; try++ {
		all, err := readAll()
		if try == scarceTries || !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) {
			return all, err
		}
		time.Sleep(scarcePause)
	}
}

func readAll() ([]Process, error) {
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
			if _, err := strconv.Atoi(names[i]); err == nil {
				all[i], _ = procstat.Parse(proc.readFile(names[i] + "/stat")) // fails for one that has exited
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
func Read(pid int) (p Process, ok bool) {
	p, err := procstat.Read(pid)
	return p, err == nil
}
