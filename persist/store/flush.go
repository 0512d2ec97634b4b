package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/persist/datadir"
)

// A client must not wait for the disk: a sync takes milliseconds, and a hundred starts would need
// hundreds of them. Nor may its answer be lost in a power failure half a minute later, which is
// when the kernel would write the files by itself. So a file written without a sync is noted here,
// and synced together with all others of the same half second. syncfs would need no notes, but
// waits for everything that other programs have written.

const (
	// flushDelay is how long a written file waits for others to be synced with.
	flushDelay = 500 * time.Millisecond
	// flushBatch limits the files open at a time.
	flushBatch = 64
	// flushTime is how long before a power failure a file may have been written without reaching
	// the disk. It covers flushDelay and a slow disk.
	flushTime = 10 * time.Second
)

// A Flusher syncs files and their folders soon after they were written.
type Flusher struct {
	Failed func(error) // called with errors of the disk; nil if nobody needs to know

	sync func(*os.File) error // syncData, except in tests

	mu      sync.Mutex
	paths   map[string]struct{}
	syncing sync.Mutex // held during a flush
}

// Add notes a file that was written, or a folder whose entries have changed. From about a second
// later on, the change survives a power failure. Add does not wait for the disk.
func (f *Flusher) Add(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paths == nil {
		f.paths = make(map[string]struct{})
		time.AfterFunc(flushDelay, f.Flush)
	}
	f.paths[path] = struct{}{}
}

// Flush syncs everything noted. It returns once that is on disk, and a flush in progress has
// finished.
func (f *Flusher) Flush() {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.mu.Lock()
	paths := slices.Collect(maps.Keys(f.paths))
	f.paths = nil
	f.mu.Unlock()
	folders := make(map[string]struct{})
	for _, path := range paths {
		folder := filepath.Dir(path)
		folders[folder] = struct{}{}
		if all := filepath.Dir(folder); filepath.Base(all) == datadir.Processes {
			folders[all] = struct{}{} // for the name of a new process's folder
		}
	}
	err := errors.Join(f.syncAll(paths), f.syncAll(slices.Collect(maps.Keys(folders))))
	if err != nil && f.Failed != nil {
		f.Failed(err)
	}
}

// syncAll syncs files or folders. It skips those deleted meanwhile.
func (f *Flusher) syncAll(paths []string) (err error) {
	for batch := range slices.Chunk(paths, flushBatch) {
		var files []*os.File
		for _, path := range batch {
			file, wrong := os.Open(path)
			if wrong != nil {
				if !errors.Is(wrong, fs.ErrNotExist) {
					err = errors.Join(err, wrong)
				}
				continue
			}
			// After all writes have begun, the first sync commits the sizes of all files.
			beginWriteback(file)
			files = append(files, file)
		}
		for _, file := range files {
			err = errors.Join(err, f.sync(file), file.Close())
		}
	}
	return err
}

// addRecent notes a file that was written recently. Another process may have written it just before
// it was killed, without having synced it.
func (f *Flusher) addRecent(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < flushTime {
		f.Add(path)
	}
}

// replaceFile replaces the content of the file at path. If durable is not set, the content reaches
// the disk soon afterwards.
func (f *Flusher) replaceFile(path string, durable bool, parts ...[]byte) error {
	err := replaceFile(path, durable, parts...)
	if err == nil && !durable {
		f.Add(path)
	}
	return err
}

// A powerCheck finds files that may not have reached the disk because of a power failure.
type powerCheck struct {
	dir      string                 // the data directory
	bootedAt func() time.Time       // bootTime, except in tests
	bornAt   func(string) time.Time // birthTime, except in tests
}

// wasCutShort reports whether the content of the file at path is incomplete because the power failed
// just after the file was written.
func (c powerCheck) wasCutShort(path string, content []byte) bool {
	content = bytes.TrimRight(content, "\x00 \t\r\n")
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(content)).Decode(&value)
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	if folder := filepath.Dir(path); filepath.Dir(folder) == filepath.Join(c.dir, datadir.Processes) {
		return c.mayBeUnflushed(c.bornAt(folder)) // the record may be new, but not the process
	}
	info, err := os.Stat(path)
	return err == nil && c.mayBeUnflushed(info.ModTime())
}

// mayBeUnflushed reports whether a write at this time came at the end of an earlier boot. If that
// boot ended with a power failure, the write may not have reached the disk.
func (c powerCheck) mayBeUnflushed(at time.Time) bool {
	booted := c.bootedAt()
	return at.Before(booted) && !at.Add(flushTime).Before(c.lastWriteBefore(booted))
}

// removeUnused deletes the directory of a process if it has no record. A crash may have left it,
// with at most a sandbox.json in it, or a power failure. It skips recent directories, because
// another process may be about to write into them.
func (s *Store) removeUnused(e fs.DirEntry) {
	info, err := e.Info()
	if err != nil {
		return
	}
	dir := s.Dir(e.Name())
	inside, err := os.ReadDir(dir)
	if err == nil && s.power.mayBeUnflushed(s.power.bornAt(dir)) && !slices.ContainsFunc(inside, isAside) {
		_ = s.Discard(e.Name()) // otherwise it is of no use, but does no harm either
		return
	}
	if time.Since(info.ModTime()) < tempAge {
		return
	}
	if err == nil && len(inside) == 1 && inside[0].Name() == sandboxName {
		_ = os.Remove(filepath.Join(dir, sandboxName))
	}
	// If there is anything else in the directory, Remove fails and the directory stays.
	_ = os.Remove(dir)
}

// isAside reports whether a file was set aside.
func isAside(e fs.DirEntry) bool { return strings.Contains(e.Name(), asideSuffix) }

// lastWriteBefore returns the time of the last change in the data directory before limit.
func (c powerCheck) lastWriteBefore(limit time.Time) (last time.Time) {
	for _, pattern := range []string{"*", filepath.Join("*", "*"), filepath.Join("*", "*", "*")} {
		paths, _ := filepath.Glob(filepath.Join(escapeGlob(c.dir), pattern)) // the pattern is valid
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) && info.ModTime().Before(limit) {
				last = info.ModTime()
			}
		}
	}
	return last
}

// escapeGlob returns a pattern that matches path only.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
