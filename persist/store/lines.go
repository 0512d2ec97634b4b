package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"

	"tandem/persist/regular"
)

// maxLines is the size in bytes at which a file of Lines is renamed and a new one begun. The file
// renamed before is dropped.
const maxLines = 16 << 20

// Lines is an append-only file of JSON values, one per line. It is safe for concurrent use within
// one process. The file stays open between appends.
type Lines struct {
	Flusher *Flusher // syncs what was appended; without one, a power failure may lose half a minute

	path  string
	limit int64

	mu     sync.Mutex
	file   *os.File // nil before the first append and after a failed one
	opened fs.FileInfo
}

// NewLines returns Lines in the file at path, which need not exist. Older lines are in a file with
// the suffix ".1".
func NewLines(path string) *Lines { return &Lines{path: path, limit: maxLines} }

// Append adds a value. Once it returns, the value survives a crash of all processes.
func (l *Lines) Append(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.appendLine(append(b, '\n')); err != nil {
		return fmt.Errorf("append to %s: %w", l.path, Cause(err))
	}
	return nil
}

func (l *Lines) appendLine(line []byte) error {
	size, err := l.open()
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(line)) > l.limit {
		// This drops the file renamed before.
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return err
		}
		return l.appendLine(line)
	}
	if _, err = l.file.Write(line); err != nil {
		l.close() // the next append ends a line written in part
	} else if l.Flusher != nil {
		l.Flusher.Add(l.path)
	}
	return err
}

// open opens the file, unless it is open already, and returns its size. It compares the open file
// with the one at path each time, because users delete, move and replace logs. A line is lost only
// if that happens while it is being written.
func (l *Lines) open() (size int64, err error) {
	if l.file != nil {
		info, err := os.Stat(l.path)
		if err == nil && os.SameFile(info, l.opened) {
			return info.Size(), nil
		}
		l.close()
	}
	l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	if l.opened, err = l.file.Stat(); err == nil {
		err = endLastLine(l.file, l.opened.Size())
	}
	if err != nil {
		l.close()
		return 0, err
	}
	return l.opened.Size(), nil
}

func (l *Lines) close() {
	l.file.Close()
	l.file = nil
}

// endLastLine ends a line that was written only in part, so it does not spoil the next one.
func endLastLine(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err := f.Write([]byte{'\n'})
	return err
}

// Newest yields the lines, the last one first, without their newlines. A line truncated by a crash
// is yielded as it is.
func (l *Lines) Newest() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		files, err := l.openAll()
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, f := range files {
			for line, err := range readBackward(f) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
	}
}

// openAll opens the existing files, the newest first. It takes the lock, so Append cannot rename a
// file that is already open. Such a file would be read twice.
func (l *Lines) openAll() (files []*os.File, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range []string{l.path, l.path + ".1"} {
		f, _, err := regular.Open(path)
		if err == nil {
			files = append(files, f)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
	}
	return files, nil
}

// backwardChunk is the size of a read in bytes.
const backwardChunk = 64 << 10

// readBackward yields the lines of a file from its end.
func readBackward(f *os.File) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		at, err := f.Seek(0, io.SeekEnd)
		var rest []byte // start of a file's part that may continue a line before it
		// Read backwards in chunks: files may be large, and callers want only the last lines.
		for at > 0 && err == nil {
			n := min(at, backwardChunk)
			at -= n
			chunk := make([]byte, n, int(n)+len(rest))
			if _, err = f.ReadAt(chunk, at); err != nil {
				break
			}
			rest = append(chunk, rest...)
			for i := bytes.LastIndexByte(rest, '\n'); i >= 0; i = bytes.LastIndexByte(rest, '\n') {
				if line := rest[i+1:]; len(line) > 0 && !yield(line, nil) {
					return
				}
				rest = rest[:i]
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if len(rest) > 0 {
			yield(rest, nil)
		}
	}
}
