package scrub

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"tandem/persist/datadir"
	"tandem/persist/sparse"
	"tandem/persist/store"
)

// A Plan is a list of places in a data directory to be overwritten. It does not contain their text.
type Plan struct {
	Files []file `json:"files,omitempty"`
	Rows  []row  `json:"rows,omitempty"`
}

// A file has spans to be overwritten.
type file struct {
	Path       string `json:"path"` // relative to the data directory
	Inode      uint64 `json:"inode"`
	Size       int64  `json:"size"`          // when the spans were found
	Sum        string `json:"sum,omitempty"` // of the content afterwards; "" for a log
	Spans      []span `json:"spans,omitempty"`
	Base64     []span `json:"base64,omitempty"`     // to be overwritten by encoded text
	Log        bool   `json:"log,omitempty"`        // grows, loses its start, and space after its end
	Checkpoint bool   `json:"checkpoint,omitempty"` // spans are those of its repaint
}

// A row has spans to be overwritten in a column of a database.
type row struct {
	Database string `json:"database"` // path relative to the data directory
	Table    string `json:"table"`
	Column   string `json:"column"`
	Key      string `json:"key"` // of its column id
	Spans    []span `json:"spans"`
}

// IsEmpty reports whether there is nothing to overwrite.
func (p *Plan) IsEmpty() bool { return len(p.Files) == 0 && len(p.Rows) == 0 }

// Run overwrites all places of a plan with x. No other process may change files of the plan,
// except that logs may grow. If this process is killed, Finish completes it.
func (p *Plan) Run(dir string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, datadir.Scrub)
	if err := store.Replace(path, text); err != nil {
		return fmt.Errorf("write list of places %s: %w", path, err)
	}
	return p.finish(dir)
}

// Finish completes a plan begun by a killed process, before anything else reads the data
// directory. If that fails, the next call tries again.
func Finish(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, datadir.Scrub))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p Plan
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return fmt.Errorf("finish scrub: %w", err)
	}
	return p.finish(dir)
}

func (p *Plan) finish(dir string) error {
	var errs []error
	for _, f := range p.Files {
		errs = append(errs, f.overwrite(dir))
	}
	if err := errors.Join(append(errs, overwriteRows(dir, p.Rows))...); err != nil {
		return fmt.Errorf("finish scrub: %w", err)
	}
	return os.Remove(filepath.Join(dir, datadir.Scrub))
}

// overwrite overwrites the spans of a file. A file replaced or changed meanwhile is left alone.
func (f *file) overwrite(dir string) error {
	path := filepath.Join(dir, f.Path)
	to, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return store.Cause(err)
	}
	info, err := to.Stat()
	if err == nil && inodeOf(info) == f.Inode && (f.Log || info.Size() == f.Size) {
		err = f.overwriteOpen(to, info.Size())
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("overwrite %s: %w", path, err)
	}
	return nil
}

// sumOf returns a checksum of content after the spans are overwritten. It is the same if some are
// already.
func (f *file) sumOf(content []byte) string {
	content = bytes.Clone(content)
	overwrite(content, f.Spans)
	overwriteBase64(content, f.Base64)
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func (f *file) overwriteOpen(to *os.File, size int64) error {
	if f.Checkpoint {
		return errors.Join(store.RewriteCheckpoint(to, func(repaint []byte) {
			if f.sumOf(repaint) == f.Sum {
				overwrite(repaint, f.Spans)
			}
		}), to.Sync())
	}
	if !f.Log {
		content, err := io.ReadAll(to)
		if err != nil || f.sumOf(content) != f.Sum {
			return err // it has changed since
		}
	}
	first := int64(0) // a span before it would fill the hole at the start of a log again
	if f.Log {
		at, err := sparse.System().NextData(to, 0)
		if err == nil {
			first = at
		}
	}
	var errs []error
	for _, s := range f.Spans {
		errs = append(errs, writeSpan(to, span{max(s[0], first), min(s[1], size)}, overwrite))
	}
	for _, s := range f.Base64 {
		errs = append(errs, writeSpan(to, s, overwriteBase64))
	}
	return errors.Join(append(errs, to.Sync())...)
}

// writeSpan changes a span of a file.
func writeSpan(to *os.File, s span, change func([]byte, []span)) error {
	if s[0] >= s[1] {
		return nil
	}
	data := make([]byte, s[1]-s[0])
	if _, err := to.ReadAt(data, s[0]); err != nil {
		return err
	}
	change(data, []span{{0, int64(len(data))}})
	_, err := to.WriteAt(data, s[0])
	return err
}

func inodeOf(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ino
}
