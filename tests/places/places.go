// Package places limits how many tests of real processes run at once, in all test binaries of a run
// together. A test takes one of N places before it starts an engine, a keeper or a browser, so
// packages tested side by side do not overload the machine. A place is a lock on a file: the kernel
// frees it even if a test binary is killed.
package places

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pollGap is the time between two searches for a free place. Only the first test in the queue
// searches; the kernel cannot wait for the first of several locks.
const pollGap = 10 * time.Millisecond

// A Test is the part of testing.TB that Take uses. The T of a testscript has it too.
type Test interface {
	Name() string
	Attr(key, value string)
	Cleanup(func())
	Fatal(args ...any)
}

// shared has two places for each processor, because a test of real processes waits for them most of
// the time.
var shared = newPool(filepath.Join(os.TempDir(), fmt.Sprintf("places.%d", os.Getuid())), 2*runtime.GOMAXPROCS(0))

// Take blocks until a place is free and holds it until all cleanups registered after the call have
// run. Helpers call it before they start processes. A test and its subtests share one place: further
// calls return at once. A test holding a place must not have parallel subtests: they could wait for
// tests waiting for that place. Take also sets the attribute by which tests/report recognises tests
// of real processes.
func Take(t Test) { shared.take(t) }

// A pool holds the places in a directory.
type pool struct {
	dir string
	n   int

	queue sync.Mutex // of this process; its first test queues in the directory
	mu    sync.Mutex
	held  map[string]bool // by name of the test
}

func newPool(dir string, n int) *pool { return &pool{dir: dir, n: n, held: map[string]bool{}} }

func (p *pool) take(t Test) {
	t.Attr("processes", "real")
	if p.holds(t.Name()) {
		return
	}
	place, err := p.await()
	if err != nil {
		t.Fatal(fmt.Errorf("take a place: %w", err))
	}
	p.setHeld(t.Name(), true)
	t.Cleanup(func() {
		p.setHeld(t.Name(), false)
		place.Close()
	})
}

// holds reports whether a test or one of its parents holds a place.
func (p *pool) holds(test string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.held[test] {
			return true
		}
		i := strings.LastIndexByte(test, '/')
		if i < 0 {
			return false
		}
		test = test[:i]
	}
}

func (p *pool) setHeld(test string, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[test] = held
}

// await waits for a place, in the order of arrival.
func (p *pool) await() (place *os.File, err error) {
	p.queue.Lock()
	defer p.queue.Unlock()
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	first, err := p.lock("queue", unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	for {
		for i := range p.n {
			place, err := p.lock(strconv.Itoa(i), unix.LOCK_EX|unix.LOCK_NB)
			if !errors.Is(err, unix.EWOULDBLOCK) {
				return place, err
			}
		}
		time.Sleep(pollGap)
	}
}

func (p *pool) lock(name string, how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, err
		}
	}
}
