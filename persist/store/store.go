package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"tandem/persist/datadir"
)

// removedPrefix marks a process folder whose deletion was begun. No id starts
// with a dot.
const removedPrefix = ".removed-"

// adviseFolder ends every error that another data folder would solve.
const adviseFolder = "set TANDEM_DATA_DIR to a folder of your own"

// A Store is the data folder. Safe for concurrent use on different ids.
type Store struct {
	dir string // absolute

	mkdir   func(path string, mode fs.FileMode) error // os.Mkdir, except in tests
	readDir func(path string) ([]fs.DirEntry, error)  // os.ReadDir, except in tests

	mu     sync.Mutex          // guards what follows
	claims map[string]struct{} // ids that are being claimed
	fresh  map[string]struct{} // ids whose folder's name may not be on disk yet
	next   *dirSync            // not begun yet; nil if nobody waits
	during sync.Mutex          // held during a synchronisation of processes
}

// A dirSync is one synchronisation of the processes folder, for everybody who
// asked before it started.
type dirSync struct {
	done chan struct{}
	err  error
}

// Open makes the folder (0700) if needed and checks that it can be written. A
// folder of ours that others may enter is closed to them. Errors say what to
// do. Of a folder that is there and cannot be written, because the disk is full
// for example, the store is given beside the error: what it holds can be read.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data folder %s: %w", dir, err)
	}
	s := &Store{dir: abs, mkdir: os.Mkdir, readDir: os.ReadDir, claims: make(map[string]struct{}), fresh: make(map[string]struct{})}
	for _, d := range []string{abs, s.processes()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("data folder %s cannot be made: %w; make room for it or %s", d, Cause(err), adviseFolder)
		}
		if err := makePrivate(d); err != nil {
			return nil, err
		}
		if err := checkWritable(d); err != nil {
			return s, fmt.Errorf("data folder %s cannot be written: %w; make room for it, make it writable or %s", d, Cause(err), adviseFolder)
		}
	}
	return s, nil
}

// holdsOther reports whether a folder has anything in it that is not Tandem's:
// it was named by mistake, say a home folder or /tmp.
func holdsOther(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !datadir.Ours(e.Name())
	})
}

// makePrivate sees to it that nobody but this user can enter dir. Root may use
// the folder of another user, a mounted volume for example, if it is closed.
func makePrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data folder %s cannot be read: %w; %s", dir, Cause(err), adviseFolder)
	}
	open := info.Mode().Perm()&0o077 != 0
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Geteuid() && (open || os.Geteuid() != 0) {
		return fmt.Errorf("data folder %s belongs to uid %d and this is uid %d; %s", dir, st.Uid, os.Geteuid(), adviseFolder)
	}
	if !open {
		return nil
	}
	if filepath.Base(dir) != datadir.Processes && holdsOther(dir) {
		return fmt.Errorf("data folder %s is open to others and holds other things than Tandem's; close it (chmod 700) or %s", dir, adviseFolder)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("data folder %s is open to others and cannot be closed to them: %w; %s", dir, Cause(err), adviseFolder)
	}
	return nil
}

// checkWritable tries what every later write does. Permission bits alone would
// not tell: they do not bind root and know nothing of read-only mounts.
func checkWritable(dir string) error {
	f, err := createTemp(dir, "check")
	if err != nil {
		return err
	}
	_, err = f.WriteString("tandem\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (s *Store) processes() string { return filepath.Join(s.dir, datadir.Processes) }

// Dir is the folder of one process. Save makes it.
func (s *Store) Dir(id string) string { return filepath.Join(s.processes(), id) }

// LogPath is the file of a process's output, or of the standard output where it
// is split.
func (s *Store) LogPath(r Record) string {
	if r.SplitLog {
		return filepath.Join(s.Dir(r.ID), StdoutName)
	}
	return filepath.Join(s.Dir(r.ID), LogName)
}

// MayHaveLog reports whether a process has a log, or may have one. The log is created before
// the first child.
func (s *Store) MayHaveLog(r Record) bool {
	_, err := os.Stat(s.LogPath(r))
	return !errors.Is(err, fs.ErrNotExist)
}

// ErrorLogPath is the file of what a process writes to standard error.
func (s *Store) ErrorLogPath(r Record) string {
	if r.SplitLog {
		return filepath.Join(s.Dir(r.ID), StderrName)
	}
	return s.LogPath(r)
}

// InputPath is the FIFO that is the standard input of a process that has one.
func (s *Store) InputPath(id string) string { return filepath.Join(s.Dir(id), stdinName) }

// file is the path of one file of a process; an id that could lead out of the
// processes folder is an error.
func (s *Store) file(id, name string) (string, error) {
	if !validID(id) {
		return "", fmt.Errorf("find files of process: invalid id %q", id)
	}
	return filepath.Join(s.Dir(id), name), nil
}

// validID reports whether id is safe as a folder's name: 1 to 64 letters,
// digits, "-" and "_".
func validID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// ErrNoID is the error of an id that is not 12 lower-case hex digits.
var ErrNoID = errors.New("not an id")

// Claim takes an id, unless a folder has it
// (fs.ErrExist). One that was claimed before a crash, and came to nothing, is free.
// If it comes to nothing the folder, which is empty, goes with a later Load.
func (s *Store) Claim(id string) error {
	if b, err := hex.DecodeString(id); err != nil || len(b) != 6 || strings.ToLower(id) != id {
		return fmt.Errorf("claim id %q: %w", id, ErrNoID)
	}
	s.mu.Lock()
	_, busy := s.claims[id]
	_, ours := s.fresh[id]
	s.claims[id] = struct{}{}
	s.mu.Unlock()
	if busy {
		return fmt.Errorf("claim id %s: %w", id, fs.ErrExist)
	}
	err := s.mkdir(s.Dir(id), 0o700)
	if err != nil && !ours && s.leftOver(id) {
		err = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.claims, id)
	if err != nil {
		return fmt.Errorf("claim id: %w", err)
	}
	s.fresh[id] = struct{}{}
	return nil
}

// leftOver reports whether a crash has left an id's folder before there was a
// record in it. A file still being written at the crash does not count as a record.
func (s *Store) leftOver(id string) bool {
	entries, err := os.ReadDir(s.Dir(id))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != sandboxName && !isTemp(e.Name()) })
}

// Remove deletes a process's folder with all that is in it; one that is not
// there is no error. A crash halfway leaves nothing that Load would see.
func (s *Store) Remove(id string) error { return s.remove(id, true) }

// Discard is Remove that does not wait for the disk: a loss of power may bring
// the folder back.
func (s *Store) Discard(id string) error { return s.remove(id, false) }

func (s *Store) remove(id string, durable bool) error {
	if !validID(id) {
		return fmt.Errorf("remove process: invalid id %q", id)
	}
	grave := filepath.Join(s.processes(), removedPrefix+id)
	if err := os.RemoveAll(grave); err != nil {
		return fmt.Errorf("remove process %s: %w", id, err)
	}
	err := os.Rename(s.Dir(id), grave)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove process %s: %w", id, err)
	}
	s.mu.Lock()
	delete(s.fresh, id)
	s.mu.Unlock()
	if durable {
		err = s.syncProcesses()
	}
	if err = errors.Join(err, os.RemoveAll(grave)); err != nil {
		return fmt.Errorf("remove process %s: %w", id, err)
	}
	return nil
}

// syncProcesses makes the names of the process folders durable. Whoever asks
// while that is being done shares the next time, which begins after they asked.
func (s *Store) syncProcesses() error {
	s.mu.Lock()
	d, mine := s.next, s.next == nil
	if mine {
		d = &dirSync{done: make(chan struct{})}
		s.next = d
	}
	s.mu.Unlock()
	if mine {
		s.during.Lock()
		s.mu.Lock()
		s.next = nil
		s.mu.Unlock()
		d.err = syncDir(s.processes())
		s.during.Unlock()
		close(d.done)
	}
	<-d.done
	return d.err
}

// finishRemoval deletes what a Remove that was cut short has left.
func (s *Store) finishRemoval(name string) error {
	if !strings.HasPrefix(name, removedPrefix) {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(s.processes(), name)); err != nil {
		return fmt.Errorf("remove process %s: %w", strings.TrimPrefix(name, removedPrefix), err)
	}
	return nil
}
