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
)

// linesLimit is how large a file of Lines becomes before it is put aside for a
// new one; the one before that is dropped.
const linesLimit = 16 << 20

// Lines is a file of JSON values, one a line, that only grows. It is safe for
// concurrent use by one process.
type Lines struct {
	path  string
	limit int64

	mu sync.Mutex
}

// NewLines uses the file at path, which need not exist yet. What does not fit
// goes to path with ".1".
func NewLines(path string) *Lines { return &Lines{path: path, limit: linesLimit} }

// Append adds a value. It is in the file when Append returns, and survives the
// death of every process.
func (l *Lines) Append(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.append(append(b, '\n')); err != nil {
		return fmt.Errorf("append to %s: %w", l.path, Cause(err))
	}
	return nil
}

func (l *Lines) append(line []byte) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 && info.Size()+int64(len(line)) > l.limit {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return err
		}
		return l.append(line)
	}
	_, err = f.Write(line)
	return err
}

// Newest gives the lines from the last one on, without their ends. A line that
// a crash has cut is given as it is.
func (l *Lines) Newest() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, path := range []string{l.path, l.path + ".1"} {
			for line, err := range backward(path) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
	}
}

// backwardChunk is how much is read at a time.
const backwardChunk = 64 << 10

// backward gives the lines of a file from the end; a file that is not there has
// none.
func backward(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		at, err := f.Seek(0, io.SeekEnd)
		var rest []byte // the beginning of a line that ends in it
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
