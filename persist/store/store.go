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

// removedPrefix marks the directory of a process that is being removed. No id starts with a dot.
const removedPrefix = ".removed-"

// adviseFolder is appended to errors that do not occur in another data directory.
const adviseFolder = "set TANDEM_DATA_DIR to a folder of your own"

// A Store is a data directory. It is safe for concurrent use with different ids.
type Store struct {
	Flusher Flusher // of everything written without a sync

	dir string // absolute

	mkdir   func(path string, mode fs.FileMode) error // os.Mkdir, except in tests
	readDir func(path string) ([]fs.DirEntry, error)  // os.ReadDir, except in tests

	power powerCheck

	mu      sync.Mutex          // guards what follows
	claims  map[string]struct{} // ids being claimed
	fresh   map[string]struct{} // ids whose directory entry may not be on disk yet
	next    *dirSync            // sync that has not begun; nil if no caller waits
	syncing sync.Mutex          // held while the processes directory is synced
}

// A dirSync is one sync of the processes directory. It is shared by all callers that asked for it
// before its start.
type dirSync struct {
	done chan struct{}
	err  error
}

// Open opens the data directory dir, and creates it (0700) if necessary. If the directory contains
// only Tandem's files and is open to other users, Open closes it to them. If an existing directory
// cannot be written, for example because the disk is full, Open returns both an error and the
// Store, which can still be read.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data folder %s: %w", dir, err)
	}
	s := &Store{dir: abs, mkdir: os.Mkdir, readDir: os.ReadDir, power: powerCheck{abs, bootTime, birthTime}, Flusher: Flusher{sync: syncData}, claims: make(map[string]struct{}), fresh: make(map[string]struct{})}
	for _, d := range []string{abs, s.processes()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("data folder %s cannot be created: %w; make room for it or %s", d, Cause(err), adviseFolder)
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

// holdsOther reports whether a directory contains files other than Tandem's. The user may have
// named a home directory or /tmp by mistake.
func holdsOther(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !datadir.Ours(e.Name())
	})
}

// makePrivate closes dir to other users. Root may use another user's directory, such as a mounted
// volume, if it is closed already.
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
		return fmt.Errorf("data folder %s is open to others and contains other files than Tandem's; close it (chmod 700) or %s", dir, adviseFolder)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("data folder %s is open to others and cannot be closed to them: %w; %s", dir, Cause(err), adviseFolder)
	}
	return nil
}

// checkWritable tries the same steps as every later write. Checking permission bits would not be
// enough: they do not apply to root, and do not show a read-only mount.
func checkWritable(dir string) error {
	f, err := createTemp(dir, "check")
	if err != nil {
		return err
	}
	_, err = f.WriteString("tandem\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (s *Store) processes() string { return filepath.Join(s.dir, datadir.Processes) }

// Dir returns the directory of a process. Save creates it.
func (s *Store) Dir(id string) string { return filepath.Join(s.processes(), id) }

// LogPath returns the path of a process's log, or of its standard output if the streams are split.
func (s *Store) LogPath(r Record) string {
	if r.SplitLog {
		return filepath.Join(s.Dir(r.ID), StdoutName)
	}
	return filepath.Join(s.Dir(r.ID), LogName)
}

// MayHaveLog reports whether a process has a log, or might have one. The log is created before the
// first child. The log of a private session may have been in the memory of an earlier engine.
func (s *Store) MayHaveLog(r Record) bool {
	if r.Private {
		return true
	}
	_, err := os.Stat(s.LogPath(r))
	return !errors.Is(err, fs.ErrNotExist)
}

// ErrorLogPath returns the path of a process's standard error log.
func (s *Store) ErrorLogPath(r Record) string {
	if r.SplitLog {
		return filepath.Join(s.Dir(r.ID), StderrName)
	}
	return s.LogPath(r)
}

// InputPath returns the path of the FIFO that serves as a process's standard input.
func (s *Store) InputPath(id string) string { return filepath.Join(s.Dir(id), stdinName) }

// pathOf returns the path of a file in a process's directory. It rejects ids that could lead out of
// the processes directory.
func (s *Store) pathOf(id, name string) (string, error) {
	if !validID(id) {
		return "", fmt.Errorf("find files of process: invalid id %q", id)
	}
	return filepath.Join(s.Dir(id), name), nil
}

// validID reports whether id is safe as a directory name: 1 to 64 letters, digits, "-" and "_".
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

// ErrNoID is returned for an id that is not 12 lower-case hex digits.
var ErrNoID = errors.New("not an id")

// Claim reserves an id by creating its directory. It returns fs.ErrExist if the id is taken. An id
// that was claimed before a crash and never used is free. A later Load removes the empty directory
// of an unused id.
func (s *Store) Claim(id string) error {
	if b, err := hex.DecodeString(id); err != nil || len(b) != 6 || strings.ToLower(id) != id {
		return fmt.Errorf("claim id %q: %w", id, ErrNoID)
	}
	s.mu.Lock()
	_, busy := s.claims[id]
	// If an earlier Claim of this process created the directory, the id is taken.
	_, ours := s.fresh[id]
	s.claims[id] = struct{}{}
	s.mu.Unlock()
	if busy {
		return fmt.Errorf("claim id %s: %w", id, fs.ErrExist)
	}
	// The lock is not held here, because creating a directory may be slow.
	err := s.mkdir(s.Dir(id), 0o700)
	if err != nil && !ours && s.isLeftOver(id) {
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

// isLeftOver reports whether a crash left the directory of an id before a record was saved.
// Temporary files do not count as a record.
func (s *Store) isLeftOver(id string) bool {
	entries, err := os.ReadDir(s.Dir(id))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != sandboxName && !isTemp(e.Name()) })
}

// Remove deletes a process's directory. It returns nil if there is none. If a crash interrupts it,
// Load does not find the process any more.
func (s *Store) Remove(id string) error { return s.removeDir(id, true) }

// Discard is like Remove, but does not wait for the disk. A power failure in the next second may
// restore the directory.
func (s *Store) Discard(id string) error { return s.removeDir(id, false) }

func (s *Store) removeDir(id string, durable bool) error {
	if !validID(id) {
		return fmt.Errorf("remove process: invalid id %q", id)
	}
	// Rename the directory first, so a crash during the deletion does not leave a directory that
	// looks like a process.
	removed := filepath.Join(s.processes(), removedPrefix+id)
	if err := os.RemoveAll(removed); err != nil {
		return fmt.Errorf("remove process %s: %w", id, err)
	}
	err := os.Rename(s.Dir(id), removed)
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
	} else {
		s.Flusher.Add(s.processes())
	}
	if err = errors.Join(err, os.RemoveAll(removed)); err != nil {
		return fmt.Errorf("remove process %s: %w", id, err)
	}
	return nil
}

// syncProcesses makes the entries of the processes directory durable. Callers that arrive during a
// sync share the next one, because the current one may miss their changes.
func (s *Store) syncProcesses() error {
	s.mu.Lock()
	// If a caller is already waiting to run the next sync, join it.
	d, mine := s.next, s.next == nil
	if mine {
		d = &dirSync{done: make(chan struct{})}
		s.next = d
	}
	s.mu.Unlock()
	if mine {
		s.syncing.Lock()
		// A caller that arrives from here on may be too late for this sync, and starts the next
		// one.
		s.mu.Lock()
		s.next = nil
		s.mu.Unlock()
		d.err = syncDir(s.processes())
		s.syncing.Unlock()
		close(d.done)
	}
	<-d.done
	return d.err
}

// finishRemoval deletes the rest of a directory after an interrupted Remove.
func (s *Store) finishRemoval(name string) error {
	if !strings.HasPrefix(name, removedPrefix) {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(s.processes(), name)); err != nil {
		return fmt.Errorf("remove process %s: %w", strings.TrimPrefix(name, removedPrefix), err)
	}
	return nil
}
